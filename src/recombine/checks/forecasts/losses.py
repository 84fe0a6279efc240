"""Losses of the cells that stand in for asked ones, and what is charged for what rules learnt from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.effects import LEAST_FREEDOM
from recombine.checks.rules.odds import Odds
from recombine.checks.rules.rule import Rule
from recombine.checks.rules.seen_cells import Cells


def metric_of(cells: Cells) -> str:
    if cells.numeric:
        return "rmse"
    return "error rate" if (cells.answers.max(axis=1) == 1).all() else "log loss"


def losses_of(truth: Floats, said: Floats, metric: str) -> Floats:
    """The loss of each cell: squared error, share of rows wrong, or minus log probability."""
    if metric == "rmse":
        return np.asarray((truth - said[:, 0]) ** 2)
    if metric == "error rate":
        return np.asarray(1 - truth[np.arange(len(truth)), said.argmax(axis=1)])
    return np.asarray(-(truth * np.log(np.clip(said, 1e-6, 1))).sum(axis=1))


def sure_of(additive: Rule, cells: int) -> Floats:
    """What a squared error of each seen cell counts where rules are compared: less where few rows make its mean."""
    return additive.sure if isinstance(additive, Adding) else np.ones(cells)


def learnt(rule: Rule, cells: Cells) -> float:
    """What the variances of a rule's blocks make its loss look too small: they are learnt with the stand-ins. Charged
    as by degrees of freedom, of pairs as tried."""
    if isinstance(rule, Adding):
        return rule.charge
    return float(len(cells.codes) / max(len(cells.codes) - 1 - rule.variances, 1)) if isinstance(rule, Odds) else 1.0


def as_learnt(losses: Floats, least: Floats, rule: Rule, cells: Cells) -> Floats:
    """Losses charged for what the rule learnt with the stand-ins. Of a log loss only what is more than ``least``, the
    entropy of the cells' own rows, is any rule's doing; of a few rows, whose entropy is too small, the fourth root of
    the whole is charged, if that is less."""
    cost, whole = learnt(rule, cells), max(float(losses.mean()), 1e-300)
    if cells.numeric or cells.certain:
        return np.asarray(losses * cost)
    return np.asarray(losses * min(1 + (cost - 1) * (1 - float(least.mean()) / whole), cost**0.25))


def proof_of(rule: Rule, said: Floats, firsts: Sequence[int], cells: Cells, sure: Floats) -> Floats:
    """Losses of stand-ins by which rules are held against each other: squared errors, or how far the shares of classes
    are off what was said, Σ t log t / p, which of several rows is a squared error in units of their noise."""
    truth, weight = cells.answers[list(firsts)], sure[list(firsts)]
    if cells.numeric:
        return np.asarray(losses_of(truth, said, "rmse") * learnt(rule, cells) * weight)
    off = losses_of(truth, said, "log loss") - losses_of(truth, truth, "log loss")
    return np.asarray(off * weight * (learnt(rule, cells) if cells.quadratic else 1.0))


def many_rows(losses: Floats, rule: Rule, cells: Cells, firsts: list[int], asked: Ints, sure: Floats) -> float | None:
    """Share of a squared error that is left against means of very many rows: without the noise that stand-ins' own
    means have, pure / rows. At least what the fit itself is unsure of."""
    if not cells.pure or cells.rows.sum() - len(cells.rows) < LEAST_FREEDOM:
        return None
    one_row = rule.row_variance() if isinstance(rule, Adding) else np.full(len(cells.rows), cells.pure)
    own, weight = (one_row / cells.weight)[firsts], sure[firsts] ** 2
    least = rule.unsure(asked) if isinstance(rule, Adding) else 0.0
    left = max(float(np.average(losses - own, weights=weight)), least)
    return left / (left + float(own.mean()))
