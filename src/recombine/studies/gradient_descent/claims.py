"""The claims of the study: what the paper says of its three experiments, and what it leaves open, each with a
criterion.

The paper prints curves and no numbers, so no claim has a published figure.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import polars as pl

from recombine.measures.resistance import at_the_end, resistance
from recombine.studies import gradient_toy
from recombine.studies.claims import Claim, Evidence, Order, Sign, Tables
from recombine.studies.gradient_descent.tables import ONE_STEP, OPTIMIZERS, PAIRS, REMEDIES, SCANS

EARLY = 25
"""The paper sees SCAN's training lead “in steps 10–25”."""
HALF = 100
"""The digit pairs' training lead is judged over the first half of its 200 steps."""


def _fit(table: pl.DataFrame) -> pl.DataFrame:
    return table.filter(pl.col("fitted").fill_null(True))


def _count(table: pl.DataFrame) -> int:
    return table["member"].n_unique()


def _curves(tables: Tables, name: str, first: str, second: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    found = tables[name]
    return found.filter(pl.col("setting") == first), found.filter(pl.col("setting") == second)


def _compared(
    tables: Tables, name: str, redundant: str, control: str, column: str, until: int | None = None
) -> Evidence:
    """One figure a member of `resistance` between two settings."""
    a, b = _curves(tables, name, redundant, control)
    found = resistance(_fit(a), _fit(b), until)
    return Evidence.of(found[column], members=_count(a))


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
        evidence=lambda t: _compared(t, "pairs", PAIRS["pair-a"], title, "resistance"),
        source="section 5.1, figure 3a" if control == "pair-b" else
        "not in the paper: its B trains on the combinations that are tested; added here",
        unit="accuracy",
        explanation="A right half that was blank throughout training is not ignored but unknown: the weights that "
        "read it are where they started, and any digit there is noise to the answer. How much, hangs on the network."
        if control == "pair-blank" else "",
    )  # fmt: skip


def _gaps(tables: Tables, name: str, a: str, b: str) -> Evidence:
    sides = []
    for title in (b, a):
        mine = _fit(tables[name].filter(pl.col("setting") == title))
        sides.append(at_the_end(mine).select("member", gap=pl.col("trained") - pl.col("unseen")))
    both = sides[0].join(sides[1], on="member", suffix="_a").sort("member")
    return Evidence.of(
        both["gap"], both["gap_a"], members=_count(tables[name].filter(pl.col("setting") == a)), paired=True
    )


def _dependence(tables: Tables, column: str) -> Evidence:
    rows = tables["dependence"].filter(pl.col("component") == "digit_2")
    return _end_pair(rows, column, PAIRS["pair-b"], PAIRS["pair-a"])


def _end_pair(rows: pl.DataFrame, column: str, first: str, second: str) -> Evidence:
    sides = [_fit(rows.filter(pl.col("setting") == title)) for title in (first, second)]
    ends = [side.filter(pl.col("step") == pl.col("step").max()).select("member", column) for side in sides]
    both = ends[0].join(ends[1], on="member", suffix="_second").sort("member")
    members = _count(rows.filter(pl.col("setting") == second))
    return Evidence.of(both[column], both[f"{column}_second"], members=members, paired=True)


def _shares(tables: Tables) -> Evidence:
    rows = tables["parts"].filter(pl.col("part").is_in(["2", "1·2"]))
    total = rows.group_by("setting", "member", "step", "fitted", maintain_order=True).agg(pl.col("share").sum())
    return _end_pair(total, "share", PAIRS["pair-b"], PAIRS["pair-a"])


def _snapped(tables: Tables) -> Evidence:
    mine = tables["wrong"].filter(pl.col("setting") == PAIRS["pair-a"])
    good = _fit(mine).drop_nulls("snapped")
    return Evidence.of(good["snapped"] - good["chance"], members=_count(mine))


def _moves(tables: Tables) -> Evidence:
    mine = tables["hard"].filter((pl.col("setting") == PAIRS["pair-a"]) & (pl.col("information") > 0))
    return Evidence.of(_fit(mine)["moves"], members=_count(mine))


def _scan_several(tables: Tables) -> Evidence:
    a, b = _curves(tables, "scan", SCANS["scan-a"], SCANS["scan-b"])
    first, second = (
        side.filter(pl.col("view") != "trained").with_columns(pl.col("view").replace("several words", "trained"))
        for side in (_fit(a), _fit(b))
    )
    return Evidence.of(resistance(first, second, EARLY)["speed"], members=_count(a))


def _structure(tables: Tables) -> Evidence:
    a, b = _curves(tables, "scan", SCANS["scan-a"], SCANS["scan-b"])
    found = resistance(_fit(a), _fit(b), score="structure")
    return Evidence.of(found["resistance"], members=_count(a))


def _added(tables: Tables) -> Evidence:
    rows = tables["one_step"].filter(pl.col("component") == "y2")
    return _end_pair(rows, "added", ONE_STEP["one-step-b"], ONE_STEP["one-step-a"])


def _survives(tables: Tables) -> Evidence:
    rows = tables["one_step"].filter((pl.col("component") == "y2") & (pl.col("setting") == ONE_STEP["one-step-a"]))
    return Evidence.of(rows["cancellation"], members=_count(rows))


def _strengths(tables: Tables, *strengths: float) -> list[pl.Series]:
    """Unseen accuracy of the members that fitted at all of these strengths, a column each."""
    rows = _fit(tables["strength"])
    parts = [rows.filter(pl.col("strength") == s).select("member", pl.col("unseen").alias(f"{s}")) for s in strengths]
    wide = reduce(lambda one, other: one.join(other, on="member"), parts).sort("member")
    return [wide[f"{s}"] for s in strengths]


def _order_of_strengths(tables: Tables) -> Evidence:
    return Evidence.of(*_strengths(tables, 1.0, 0.9, 0.5, 0.0), members=_count(tables["strength"]), paired=True)


def _halved(tables: Tables) -> Evidence:
    full, most, none = _strengths(tables, 1.0, 0.9, 0.0)
    return Evidence.of((none - full) / 2 - (none - most), members=_count(tables["strength"]))


def _equal(tables: Tables, task: str, optimizer: str) -> Evidence:
    mine = tables["optimizers"].filter((pl.col("task") == task) & (pl.col("optimizer") == OPTIMIZERS[optimizer]))
    a, b = (_fit(mine.filter(pl.col("setting") == setting)).select("member", "unseen") for setting in ("A", "B"))
    both = a.join(b, on="member", suffix="_b").sort("member")
    return Evidence.of(both["unseen"], both["unseen_b"], members=_count(mine), paired=True)


def _special(tables: Tables) -> Evidence:
    rows = tables["optimizers"].filter((pl.col("task") == "toy") & (pl.col("setting") == "A"))
    sides = [rows.filter(pl.col("optimizer") == OPTIMIZERS[name]) for name in ("sgd", "evolution")]
    groups = [_fit(side)["unseen"] for side in sides]
    return Evidence.of(*groups, members=min(_count(side) for side in sides))


def _remedy(tables: Tables, worse: str, better: str) -> Evidence:
    rows = tables["remedies"]
    sides = [
        _fit(rows.filter(pl.col("remedy") == REMEDIES[name])).select("member", "unseen") for name in (worse, better)
    ]
    both = sides[0].join(sides[1], on="member", suffix="_better").sort("member")
    members = _count(rows.filter(pl.col("remedy") == REMEDIES[worse]))
    return Evidence.of(both["unseen"], both["unseen_better"], members=members, paired=True)


def _of_toy(claim: Claim) -> Claim:
    """A claim of the study `gradient-toy`, read from the tables of this one."""
    own = ("accuracy", "influence", "boundary", "map")
    return replace(claim, evidence=lambda t: claim.evidence({name: t[f"toy_{name}"] for name in own}))


OURS = "not in the paper: added here"

PAIR_CLAIMS = (
    Claim(
        id="pair-gap",
        sentence="The gap between trained and unseen pairs is larger with a redundant X₂ than with an uninformative "
        "one.",
        criterion=Order(("gap in B", "gap in A")),
        evidence=lambda t: _gaps(t, "pairs", PAIRS["pair-a"], PAIRS["pair-b"]),
        source="section 5.1: “the gap of training and test accuracy is significantly larger”; figure 3a",
        unit="accuracy",
    ),
    *(_resistance(control) for control in ("pair-b", "pair-noise", "pair-blank")),
    Claim(
        id="pair-speed",
        sentence="A redundant X₂ makes training faster.",
        criterion=Sign("above", 0.0),
        evidence=lambda t: _compared(t, "pairs", PAIRS["pair-a"], PAIRS["pair-b"], "speed", HALF),
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
)

SCAN_CLAIMS = (
    Claim(
        id="scan-gap",
        sentence="On SCAN the gap between trained and unseen commands is larger in A than in B.",
        criterion=Order(("gap in B", "gap in A")),
        evidence=lambda t: _gaps(t, "scan", SCANS["scan-a"], SCANS["scan-b"]),
        source="section 5.2, figure 3b",
        unit="accuracy",
    ),
    Claim(
        id="scan-resistance",
        sentence="Unseen commands with “jump” are answered worse in A than in B.",
        criterion=Sign("above", 0.0),
        evidence=lambda t: _compared(t, "scan", SCANS["scan-a"], SCANS["scan-b"], "resistance"),
        source="section 5.2, figure 3b",
        unit="accuracy",
    ),
    Claim(
        id="scan-speed",
        sentence="Training accuracy rises sooner in A, in steps 10 to 25.",
        criterion=Sign("above", 0.0),
        evidence=lambda t: _compared(t, "scan", SCANS["scan-a"], SCANS["scan-b"], "speed", EARLY),
        source="section 5.2: “increases faster during the early training (steps 10-25)”",
        unit="accuracy",
        explanation="The lead is that of one command, “jump” alone, a tenth of A's samples: see scan-speed-several.",
    ),
    Claim(
        id="scan-speed-several",
        sentence="That early lead is also there on commands of several words.",
        criterion=Sign("above", 0.0),
        evidence=_scan_several,
        source=f"{OURS}: the training set repeats the one-word command “jump” until it is a tenth",
        unit="accuracy",
        explanation=(
            "It is not, or hardly: the lead of A in the paper's figure is the one-word command “jump”, a tenth of A's "
            "samples; B spreads the same tenth over four words. On the full grammar no other command is answered by "
            "then."
        ),
    ),
    Claim(
        id="scan-structure",
        sentence="A's unseen commands fail in their structure too: not only is the new action wrong, so is where it "
        "stands.",
        criterion=Sign("above", 0.0),
        evidence=_structure,
        source=f"section 5.2 calls syntax and semantics the two components; {OURS}",
        unit="accuracy of the structure",
    ),
)

STEP_CLAIMS = (
    Claim(
        id="one-step-added",
        sentence="The first gradient step adds more influence of X₂ where X₂ is redundant than where it says nothing.",
        criterion=Order(("added in B", "added in A")),
        evidence=_added,
        source="propositions 3 and 4, at the start of the toy; with the control the paper has not",
    ),
    Claim(
        id="one-step-cancel",
        sentence="The outputs' terms of that step do not cancel: most of their length survives the sum.",
        criterion=Sign("above", 0.5),
        evidence=_survives,
        source="proposition 5: “it is unlikely that a Δθᵢ can be cancelled by the sum of other Δθⱼ”",
        unit="of length",
        explanation="Judged by ‖Σ gᵢ‖ / Σ ‖gᵢ‖ > ½, a line drawn by us: the paper names none.",
    ),
)

STRENGTH_CLAIMS = (
    Claim(
        id="strength-order",
        sentence="The less the other digit is bound to the first, the better unseen pairs are answered.",
        criterion=Order(("100 % bound", "90 %", "50 %", "0 %")),
        evidence=_order_of_strengths,
        source=f"the paper has the two ends; {OURS}",
        unit="accuracy",
    ),
    Claim(
        id="strength-halved",
        sentence="One free example in ten takes away more than half of the resistance.",
        criterion=Sign("above", 0.0),
        evidence=_halved,
        source=OURS,
        unit="accuracy",
        explanation="The resistance falls steeply at the end of the sweep, though not by half for the first tenth.",
    ),
)

OPTIMIZER_CLAIMS = (
    *(
        Claim(
            id=f"optimizer-{name}",
            sentence=f"At equal training loss, digit pairs trained with {OPTIMIZERS[name]} resist.",
            criterion=Order(("unseen in A", "unseen in B")),
            evidence=lambda t, name=name: _equal(t, "digit pairs", name),  # type: ignore[misc]
            source=f"section 4 argues for gradient descent in general; {OURS}",
            unit="accuracy",
        )
        for name in ("sgd", "momentum", "adam", "sign")
    ),
    Claim(
        id="optimizer-evolution",
        sentence="At equal training loss, a search that never takes a gradient resists too.",
        criterion=Order(("unseen in A", "unseen in B")),
        evidence=lambda t: _equal(t, "toy", "evolution"),
        source=f"the control that the paper's title asks for, on the toy; {OURS}",
        unit="accuracy",
    ),
    Claim(
        id="optimizer-special",
        sentence="Gradient descent resists more than that search does.",
        criterion=Order(("gradient descent", "evolution")),
        evidence=_special,
        source="the title and the conclusion: the bias “is caused by gradient descent”",
        unit="accuracy on the unseen quarter, in A",
        explanation=(
            "At the same training loss a search without gradients cannot be told from gradient descent on the unseen "
            "quarter: what resists is any way to lower this loss on these data, not the gradient. Its networks "
            "differ from each other more than those of gradient descent do."
        ),
    ),
)

REMEDY_CLAIMS = (
    Claim(
        id="remedy-streams",
        sentence="Structure alone does not cure it: with a network of its own for each digit, unseen pairs stay "
        "below B.",
        criterion=Order(("two streams in A", "one network in B")),
        evidence=lambda t: _remedy(t, "remedy-streams", "strength-0"),
        source="section 7: “if only model structure design is considered … it is hard to achieve good "
        "compositionality”",
        unit="accuracy",
    ),
    Claim(
        id="remedy-noise",
        sentence="Noise on the representation and a charge for its size (entropy regularisation) help.",
        criterion=Order(("no remedy", "noise")),
        evidence=lambda t: _remedy(t, "strength-1", "remedy-noise"),
        source=f"the authors' remedy for SCAN (Li et al. 2019), applied here; {OURS}",
        unit="accuracy",
        explanation=(
            "Noise makes the representation say less of the input as a whole; it does not say which digit to give "
            "up, and a redundant one is what a noisy reader leans on."
        ),
    ),
    Claim(
        id="remedy-dropout",
        sentence="Hiding the redundant digit half of the time helps.",
        criterion=Order(("no remedy", "component dropout")),
        evidence=lambda t: _remedy(t, "strength-1", "remedy-dropout"),
        source=OURS,
        unit="accuracy",
    ),
    Claim(
        id="remedy-gradient",
        sentence="A penalty on the gradient at the redundant digit helps.",
        criterion=Order(("no remedy", "gradient penalty")),
        evidence=lambda t: _remedy(t, "strength-1", "remedy-gradient"),
        source=OURS,
        unit="accuracy",
    ),
    Claim(
        id="remedy-balanced",
        sentence="Where one example in ten is free, drawing all combinations alike helps.",
        criterion=Order(("as they come", "balanced")),
        evidence=lambda t: _remedy(t, "strength-0.9", "remedy-balanced"),
        source=OURS,
        unit="accuracy",
    ),
)

CLAIMS = (
    *PAIR_CLAIMS,
    *SCAN_CLAIMS,
    *(_of_toy(claim) for claim in gradient_toy.CLAIMS),
    *STEP_CLAIMS,
    *STRENGTH_CLAIMS,
    *OPTIMIZER_CLAIMS,
    *REMEDY_CLAIMS,
)
