"""What the paper says of pairs of digits (section 5.1), and what can be measured on them beside it."""

from __future__ import annotations

import polars as pl

from recombine.studies.claims import Claim, Evidence, Order, Sign, Tables
from recombine.studies.gradient_descent.evidence import OURS, compared, count, end_pair, fitted, gaps
from recombine.studies.gradient_descent.tables import PAIRS

HALF = 100
"""The training lead is judged over the first half of its 200 steps."""


def _resistance(control: str) -> Claim:
    title = PAIRS[control]
    same = {
        "pair-b": "",
        "pair-noise": ", which has seen no tested combination either",
        "pair-blank": ", likewise unseen",
    }
    return Claim(
        id=f"{control.replace('pair-', 'pair-resistance-')}",
        sentence=f"On unseen pairs of digits A does worse than {title}{same[control]}.",
        criterion=Sign("above", 0.0),
        evidence=lambda t: compared(t, "pairs", PAIRS["pair-a"], title, "resistance"),
        source="section 5.1, figure 3a" if control == "pair-b" else
        "not in the paper: its B trains on the combinations that are tested; added here",
        unit="accuracy",
        explanation="A right half that was blank throughout training is not ignored but unknown: the weights that "
        "read it are where they started, and any digit there is noise to the answer. How much, hangs on the network."
        if control == "pair-blank" else "",
    )  # fmt: skip


def _dependence(tables: Tables, column: str) -> Evidence:
    rows = tables["dependence"].filter(pl.col("component") == "digit_2")
    return end_pair(rows, column, PAIRS["pair-b"], PAIRS["pair-a"])


def _shares(tables: Tables) -> Evidence:
    rows = tables["parts"].filter(pl.col("part").is_in(["2", "1·2"]))
    total = rows.group_by("setting", "member", "step", "fitted", maintain_order=True).agg(pl.col("share").sum())
    return end_pair(total, "share", PAIRS["pair-b"], PAIRS["pair-a"])


def _snapped(tables: Tables) -> Evidence:
    mine = tables["wrong"].filter(pl.col("setting") == PAIRS["pair-a"])
    good = fitted(mine).drop_nulls("snapped")
    return Evidence.of(good["snapped"] - good["chance"], members=count(mine))


def _moves(tables: Tables) -> Evidence:
    mine = tables["hard"].filter(pl.col("setting") == PAIRS["pair-a"])
    return Evidence.of(fitted(mine).filter(pl.col("information") > 0)["moves"], members=count(mine))


PAIR_CLAIMS = (
    Claim(
        id="pair-gap",
        sentence="The gap between trained and unseen pairs is larger with a redundant X₂ than with an uninformative "
        "one.",
        criterion=Order(("gap in B", "gap in A")),
        evidence=lambda t: gaps(t, "pairs", PAIRS["pair-a"], PAIRS["pair-b"]),
        source="section 5.1: “the gap of training and test accuracy is significantly larger”; figure 3a",
        unit="accuracy",
    ),
    *(_resistance(control) for control in ("pair-b", "pair-noise", "pair-blank")),
    Claim(
        id="pair-speed",
        sentence="A redundant X₂ makes training faster.",
        criterion=Sign("above", 0.0),
        evidence=lambda t: compared(t, "pairs", PAIRS["pair-a"], PAIRS["pair-b"], "speed", HALF),
        source="section 5.1: “X₂ helps to train the model quickly”; mean lead of A over the first 100 steps",
        unit="accuracy",
    ),
    Claim(
        id="pair-swap",
        sentence="Exchanging X₂ changes the answer more often after training in A than in B.",
        criterion=Order(("flips in B", "flips in A")),
        evidence=lambda t: _dependence(t, "flip"),
        source=f"the conditional independence property of section 3, as an intervention; {OURS}",
        unit="of answers",
    ),
    Claim(
        id="pair-information",
        sentence="Given Y₁, the answer says more of Y₂ in A than in B.",
        criterion=Order(("I(Ŷ; Y₂ | Y₁) in B", "in A")),
        evidence=lambda t: _dependence(t, "information"),
        source=f"proposition 4 in its own terms, less the within-stratum null; {OURS}",
        unit="nats",
    ),
    Claim(
        id="pair-influence",
        sentence="X₂ has a larger share of the influence ∂Ŷ/∂X in A than in B.",
        criterion=Order(("share in B", "share in A")),
        evidence=lambda t: _dependence(t, "share"),
        source="proposition 4: ∂Ŷ/∂X₂ ≠ 0; how large is not said",
        unit="of influence",
    ),
    Claim(
        id="pair-variance",
        sentence="X₂, alone or with X₁, carries a larger share of the scores' variance in A than in B.",
        criterion=Order(("share in B", "share in A")),
        evidence=_shares,
        source=OURS,
        unit="of variance",
    ),
    Claim(
        id="pair-snap",
        sentence="Wrong answers to unseen pairs go to pairs that training saw, more than chance would send them there.",
        criterion=Sign("above", 0.0),
        evidence=_snapped,
        source=f"the authors' later work counts such answers; {OURS}",
        unit="of wrong answers",
    ),
    Claim(
        id="pair-hard-answer",
        sentence="Where ∂Y/∂X exists, an answer that is informative of X has ∂Y/∂X ≠ 0.",
        criterion=Sign("above", 0.01),
        evidence=_moves,
        source="proposition 1; judged by the inputs around which the answer moves at all when moved by 10⁻⁴",
        unit="of inputs",
        explanation=(
            "False as written: the answer that is given, argmax ŷ, says much of X and has the derivative 0 around "
            "almost every input. The proposition holds for scores, and there “≠ 0” says nothing of size."
        ),
    ),
    Claim(
        id="three-resistance",
        sentence="With three convolutions, too, unseen pairs are answered worse in A than in B.",
        criterion=Sign("above", 0.0),
        evidence=lambda t: compared(t, "pairs", PAIRS["three-a"], PAIRS["three-b"], "resistance"),
        source="section 5.1 counts three convolutions, appendix A lists two; at paper scale only",
        unit="accuracy",
    ),
)
