"""What one gradient step does (propositions 3 to 5), and what training does where two answers are asked."""

from __future__ import annotations

import polars as pl

from recombine.studies.claims import Claim, Evidence, Order, Sign, Tables
from recombine.studies.gradient_descent.evidence import OURS, compared, count, end_pair, paired
from recombine.studies.gradient_descent.tables import BOTH, ONE_STEP


def _added(tables: Tables) -> Evidence:
    rows = tables["one_step"].filter(pl.col("component") == "y2")
    return end_pair(rows, "added", ONE_STEP["one-step-b"], ONE_STEP["one-step-a"])


def _survives(tables: Tables) -> Evidence:
    rows = tables["one_step"].filter((pl.col("component") == "y2") & (pl.col("setting") == ONE_STEP["one-step-a"]))
    return Evidence.of(rows["cancellation"], members=count(rows))


def _both_added(tables: Tables) -> Evidence:
    """Mean over i ≠ j of what the step adds to the influence of X_j on Ŷ_i."""
    rows = tables["both_step"].filter(pl.col("output") != pl.col("component"))
    means = rows.group_by("setting", "member", "step", maintain_order=True).agg(pl.col("added").mean())
    b, a = (means.filter(pl.col("setting") == BOTH[name]) for name in ("both-b", "both-a"))
    return paired(b, a, "added", members=count(a))


def _both_survives(tables: Tables) -> Evidence:
    rows = tables["both_step"].filter(pl.col("setting") == BOTH["both-a"]).unique("member", maintain_order=True)
    return Evidence.of(rows["cancellation"], members=len(rows))


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
    Claim(
        id="both-added",
        sentence="Where both answers are asked, the first gradient step adds more influence of each input on the other "
        "answer where it is redundant than where it says nothing.",
        criterion=Order(("added in B", "added in A")),
        evidence=_both_added,
        source="proposition 5: ∂Ŷᵢ/∂Xⱼ ≠ 0; on the toy with two outputs, with the control the paper has not",
    ),
    Claim(
        id="both-cancel",
        sentence="The terms of the two answers do not cancel in that step: most of their length survives the sum.",
        criterion=Sign("above", 0.5),
        evidence=_both_survives,
        source="proposition 5, as one-step-cancel, with a term an answer instead of a term a score",
        unit="of length",
    ),
    Claim(
        id="both-resistance",
        sentence="Where both answers are asked, the unseen combination is named less often after training in A than "
        "in B.",
        criterion=Sign("above", 0.0),
        evidence=lambda t: compared(t, "both", BOTH["both-a"], BOTH["both-b"], "resistance"),
        source=f"the paper's definition of compositional generalisation, for two outputs; {OURS}",
        unit="accuracy of both answers",
    ),
)
