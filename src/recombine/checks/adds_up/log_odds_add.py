"""Do effects add up in the log-odds of classes, on the combinations that were seen?

Score tests of every pair on top of the additive log-odds (`logits`), their largest compared with answers drawn from
that fit; with several rows in a cell also its deviance, compared likewise; where repeated rows always agree, whether
any additive log-odds separates the classes (linear programme).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from recombine.checks.adds_up.tested import Additivity, Found, untested, verdict
from recombine.checks.exact.modular import Floats
from recombine.checks.rules.logits import Logits
from recombine.support.table import Target

ONE_CLASS = "only one class occurs in training, so nothing contradicts an additive log-odds."
SEVERAL, BESIDE = 5, 3
"""Rows in a cell, on average, from which a deviance tells enough by itself, and beside tests of pairs."""


def log_odds(
    x: Floats, pairs: Mapping[str, Floats], target: Target, use: NDArray[np.bool_], rank: int, largest: int
) -> Additivity:
    """The tests of ``pairs`` on top of effects ``x`` of that rank; ``largest``: numbers that a linear programme may
    have."""
    shares, counts = target.mean[use], target.count[use].astype(np.float64)
    if shares.shape[1] < 2:
        return _separated(ONE_CLASS)
    certain = bool(((shares > 0).sum(axis=1) == 1).all())
    if certain and counts.sum() > len(counts):
        return _separable(x, shares.argmax(axis=1), largest)
    several = counts.mean() >= (BESIDE if pairs else SEVERAL) and len(shares) > rank
    if not (pairs or several):
        return untested("too few rows per combination to tell noise from answers that do not add up.")
    fit = Logits.of(x, shares, counts).less_sure(shares)
    answers = np.concatenate([shares[:, :, None], fit.drawn()], axis=2)
    left, gained = fit.left(answers)
    tests = [_score(fit, pairs, left)] if pairs else []
    if several:
        tests.append(_deviance(fit.deviance(answers) - gained))
    return verdict(tests, "an additive log-odds")


def _score(fit: Logits, pairs: Mapping[str, Floats], left: Floats) -> Found:
    """The largest standardised score of any pair and class, compared with answers drawn from the additive fit."""
    weights = np.maximum(fit.counts[:, None] * fit.p * (1 - fit.p), 1e-9)
    largest, drawn, where = -np.inf, np.full(left.shape[2] - 1, -np.inf), ""
    for c in range(left.shape[1]) if left.shape[1] > 2 else [1]:
        for name, indicators in pairs.items():
            values = ((indicators.T @ left[:, c]) ** 2 / ((indicators**2).T @ weights[:, c])[:, None]).sum(axis=0)
            values = (values - values[1:].mean()) / (values[1:].std() or 1.0)
            if values[0] > largest:
                largest, where = float(values[0]), name
            drawn = np.maximum(drawn, values[1:])
    p_value = (1 + int((drawn >= largest).sum())) / (1 + len(drawn))
    return Found("interaction", p_value, f"score test of {where} among all pairs")


def _separable(x: Floats, label: NDArray[np.int64], largest: int) -> Additivity:
    """Is there W with (w_y − w_k) · x ≥ 1 for every cell and every other class k?"""
    from scipy.optimize import linprog
    from scipy.sparse import lil_array

    present = np.unique(label)
    if len(present) < 2:
        return _separated(ONE_CLASS)
    features = x.shape[1]
    if len(x) * (len(present) - 1) * 2 * features > largest:
        return untested("the table is too large for the separability test.")
    place = {int(c): i for i, c in enumerate(present)}
    free = len(present) - 1
    matrix = lil_array((len(x) * free, features * free))
    line = 0
    for row, own in zip(x, label, strict=True):
        for other in range(len(present)):
            mine = place[int(own)]
            if other == mine:
                continue
            if mine < free:
                matrix[[line], mine * features : (mine + 1) * features] = -row[None, :]
            if other < free:
                matrix[[line], other * features : (other + 1) * features] = row[None, :]
            line += 1
    found = linprog(
        np.zeros(features * free), A_ub=matrix.tocsr(), b_ub=-np.ones(line), bounds=(None, None), method="highs"
    )
    if found.status == 2:
        why = "no additive log-odds gives the classes that every repeated row confirms (linear programme)"
        return Additivity("separability", True, None, None, f"additivity is rejected: {why}.", why)
    return _separated("an additive log-odds gives every class seen.")


def _separated(words: str) -> Additivity:
    return Additivity("separability", False, None, None, words)


def _deviance(deviance: Floats) -> Found:
    """Of the first of these against a multiple of χ² that has mean and variance of the others, drawn from the fit. Of
    few rows, or of rare classes, χ² of the degrees of freedom is off."""
    from scipy.special import gammaincc

    mean, variance = float(deviance[1:].mean()), float(deviance[1:].var())
    p = float(gammaincc(mean**2 / variance, max(float(deviance[0]), 0.0) * mean / variance))
    return Found("deviance", p, "deviance test")
