"""Are numbers given to unseen combinations those of training rows, digit by digit?

Where rows share a combination and are noisy, a learner that repeats single rows (a nearest neighbour) is near no
combination's mean answer, but its numbers are training's to the last digit. It says where answers come from, and by
itself not that they are wrong: a learner that reads more than the factors may copy the right neighbour.
"""

from __future__ import annotations

import polars as pl

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.finding import Finding
from recombine.mechanisms.causes.simpler_rules import BEHAVIOUR, COPIED, accounted
from recombine.mechanisms.compared.comparing import uncertain
from recombine.statistics import Over
from recombine.support.scan import collect

LITERAL = "copy of a row"
DIGITS = 6
"""Numbers that agree in so many digits are the same."""
DISTINCT = 0.9
"""Share of training answers that have to differ from each other: else numbers coincide by chance, …"""
RARE = 0.05
"""… as do right answers, of which no more than this may be among training's."""


def literal(asked: Answers, over: Over) -> Finding | None:
    """The share of answers to unseen combinations that are those of training rows; None where that is not known."""
    if asked.copied is None:
        return None
    given, right = asked.copied
    value, due, wrong = over.mean(given[None], ranges=[(0, 1)]).within(0, 1), float(right.mean()), asked.wrong()
    return Finding(
        LITERAL, "memorization: a copied answer", f"answers that are a training row's own, to {DIGITS} digits",
        uncertain(value),
        chance=due, reference="of the right ones", speaks=value.bounded and value.low >= COPIED and due <= RARE,
        explained=accounted(given[None], wrong, over), limit=BEHAVIOUR,
    )  # fmt: skip


def among(frame: pl.LazyFrame, train: pl.LazyFrame, target: str, prediction: str) -> tuple[pl.Expr, pl.Expr] | None:
    """Whether each row's prediction, and its right answer, is one of training's; None where hardly any prediction is,
    or training's answers are not nearly all different."""
    known = collect(train.select(_rounded(target).drop_nulls().alias("y")))["y"]
    if known.n_unique() < max(2.0, DISTINCT * len(known)):
        return None
    values = known.unique().implode()
    given, right = (_rounded(name).is_in(values).cast(pl.Float64) for name in (prediction, target))
    return (given, right) if collect(frame.select(given.mean().alias("given")))[0, 0] >= COPIED else None


def _rounded(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.Float64, strict=False).round_sig_figs(DIGITS)
