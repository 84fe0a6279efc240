"""How strong the redundancy is, and what helps against it."""

from __future__ import annotations

from functools import reduce

import polars as pl

from recombine.studies.claims import Claim, Evidence, Order, Sign, Tables
from recombine.studies.gradient_descent.evidence import OURS, count, fitted, paired
from recombine.studies.gradient_descent.tables import REMEDIES


def _strengths(tables: Tables, *strengths: float) -> list[pl.Series]:
    """Unseen accuracy of the members that fitted at all of these strengths, a column each."""
    rows = fitted(tables["strength"])
    parts = [rows.filter(pl.col("strength") == s).select("member", pl.col("unseen").alias(f"{s}")) for s in strengths]
    wide = reduce(lambda one, other: one.join(other, on="member"), parts).sort("member")
    return [wide[f"{s}"] for s in strengths]


def _order_of_strengths(tables: Tables) -> Evidence:
    return Evidence.of(*_strengths(tables, 1.0, 0.9, 0.5, 0.0), members=count(tables["strength"]), paired=True)


def _halved(tables: Tables) -> Evidence:
    full, most, none = _strengths(tables, 1.0, 0.9, 0.0)
    return Evidence.of((none - full) / 2 - (none - most), members=count(tables["strength"]))


def _remedy(tables: Tables, worse: str, better: str) -> Evidence:
    rows = tables["remedies"]
    sides = [
        fitted(rows.filter(pl.col("remedy") == REMEDIES[name])).select("member", "unseen") for name in (worse, better)
    ]
    members = count(rows.filter(pl.col("remedy") == REMEDIES[worse]))
    return paired(sides[0], sides[1], "unseen", members)


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
