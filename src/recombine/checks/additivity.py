"""Is the answer additive on the combinations that *were* seen? A test of the assumption everything else rests on.

numbers:  with repeated rows, lack of fit — F = (SS_lack / (cells − rank)) / (SS_pure / (rows − cells));
          without, Tukey's one degree of freedom (1949): does the squared fit explain what the fit leaves?
classes:  every cell of one class — can any additive logit separate the classes? (linear programme; infeasible =
rejected)
          otherwise the deviance of the additive logit against one probability a cell, χ² with cells − rank degrees
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recombine.checks.identifiability import Identifiability
from recombine.checks.modular import Floats
from recombine.support.table import Target

LEVEL = 0.01
LARGEST = 3_000_000
"""Cells × effects up to which the test is run."""


@dataclass(frozen=True)
class Additivity:
    """The outcome of one test; ``rejected`` is None where the seen data cannot test the assumption."""

    test: str
    rejected: bool | None
    p_value: float | None
    explained: float | None
    """Share of the variance between cells that the additive fit explains (numbers)."""
    words: str


def additivity(known: Identifiability, target: Target) -> Additivity:
    """Test effects of the given order on the seen combinations."""
    use = target.count > 0
    cells = int(use.sum())
    if cells * known.rank > LARGEST:
        return _untested("the table is too large for this test of additivity.")
    if cells <= known.rank:
        return _untested(f"{cells} seen combinations cannot test {known.rank} effects: every pattern fits.")
    x = known.rows.rows(known.codes[use]).astype(np.float64)
    if target.classes is None:
        return _numbers(
            x, target.mean[use], target.count[use].astype(np.float64), float(target.spread[use].sum()), known.rank
        )
    return _classes(x, target, use, known.rank)


def _untested(why: str, explained: float | None = None) -> Additivity:
    return Additivity("none", None, None, explained, why)


def _numbers(x: Floats, mean: Floats, count: Floats, pure: float, rank: int) -> Additivity:
    from scipy.special import fdtrc

    root = np.sqrt(count)
    effects = np.linalg.lstsq(x * root[:, None], mean * root, rcond=None)[0]
    fit = x @ effects
    lack = float((count * (mean - fit) ** 2).sum())
    between = float((count * (mean - np.average(mean, weights=count)) ** 2).sum())
    explained = 1.0 - lack / between if between > 0 else 1.0
    cells, rows = len(mean), float(count.sum())
    if lack <= 1e-18 * max(1.0, float((count * mean**2).sum())):
        return Additivity("exact fit", False, 1.0, 1.0, "the seen answers are exactly additive.")
    if rows > cells and pure > 1e-18 * max(1.0, float((count * mean**2).sum())):
        f = (lack / (cells - rank)) / (pure / (rows - cells))
        p = float(fdtrc(cells - rank, rows - cells, f))
        return Additivity("lack of fit", p < LEVEL, p, explained, _verdict(p, explained, "lack-of-fit F test"))
    if rows > cells:
        words = _verdict(0.0, explained, "repeated rows agree exactly, the additive fit does not")
        return Additivity("lack of fit", True, 0.0, explained, words)
    return _tukey(x, mean, fit, rank, explained)


def _tukey(x: Floats, mean: Floats, fit: Floats, rank: int, explained: float) -> Additivity:
    from scipy.special import fdtrc

    freedom = len(mean) - rank - 1
    curve = fit**2
    curve = curve - x @ np.linalg.lstsq(x, curve, rcond=None)[0]
    residual = mean - fit
    strength = float(curve @ curve)
    if freedom < 1 or strength <= 1e-18 * max(1.0, float(fit @ fit) ** 2):
        nothing = "one row a combination leaves nothing to test with"
        return _untested(f"{nothing}; the additive fit explains {explained:.0%} of the seen differences.", explained)
    gain = float(residual @ curve) ** 2 / strength
    left = max(float(residual @ residual) - gain, 0.0)
    p = 0.0 if left == 0.0 else float(fdtrc(1, freedom, gain / (left / freedom)))
    words = _verdict(p, explained, "Tukey's test, one row a combination")
    return Additivity("Tukey one degree of freedom", p < LEVEL, p, explained, words)


def _verdict(p: float, explained: float, test: str) -> str:
    word = "rejected" if p < LEVEL else "not rejected"
    fit = f"the additive fit explains {explained:.0%} of the differences between them."
    return f"additivity is {word} on the seen combinations (p = {p:.2g}, {test}); {fit}"


def _classes(x: Floats, target: Target, use: NDArray[np.bool_], rank: int) -> Additivity:
    shares = target.mean[use]
    if ((shares > 0).sum(axis=1) == 1).all():
        return _separable(x, shares.argmax(axis=1), len(target.classes or ()))
    counts = target.count[use].astype(np.float64)
    if counts.mean() < 5:
        return _untested("conflicting answers with fewer than five rows a combination cannot test an additive logit.")
    return _deviance(x, shares, counts, rank, target.classes or ())


def _separable(x: Floats, label: NDArray[np.int64], classes: int) -> Additivity:
    """Is there W with (w_y − w_k) · x ≥ 1 for every cell and every other class k?"""
    from scipy.optimize import linprog
    from scipy.sparse import lil_array

    present = np.unique(label)
    if len(present) < 2:
        return _separated(False, "only one class occurs in training, so nothing contradicts an additive logit.")
    features = x.shape[1]
    if len(x) * (len(present) - 1) * 2 * features > LARGEST:
        return _untested("the table is too large for the separability test.")
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
        return _separated(
            True,
            "no additive logit reproduces the classes already seen (linear programme infeasible): the additive "
            "assumption is rejected.",
        )
    return _separated(False, "an additive logit reproduces every class seen.")


def _separated(rejected: bool, words: str) -> Additivity:
    return Additivity("separability", rejected, None, None, words)


def _deviance(x: Floats, shares: Floats, counts: Floats, rank: int, classes: tuple[str, ...]) -> Additivity:
    from scipy.special import gammaincc, xlogy

    smallest = 1.0
    tried = range(len(classes)) if len(classes) > 2 else range(1)
    for c in tried:
        y = shares[:, c]
        p = _logit_fit(x, y, counts)
        deviance = 2 * float(
            (counts * (xlogy(y, y / np.maximum(p, 1e-300)) + xlogy(1 - y, (1 - y) / np.maximum(1 - p, 1e-300)))).sum()
        )
        smallest = min(smallest, float(gammaincc((len(y) - rank) / 2, max(deviance, 0.0) / 2)))
    smallest = min(1.0, smallest * len(tried))
    word = "rejected" if smallest < LEVEL else "not rejected"
    words = f"an additive logit is {word} on the seen combinations (p = {smallest:.2g}, deviance test)."
    return Additivity("deviance", smallest < LEVEL, smallest, None, words)


def _logit_fit(x: Floats, y: Floats, counts: Floats) -> Floats:
    """Additive logit by iterated least squares, a whisper of ridge so that separated cells stay finite."""
    effects = np.zeros(x.shape[1])
    ridge = 1e-6 * np.eye(x.shape[1])
    for _ in range(100):
        p = 1 / (1 + np.exp(-np.clip(x @ effects, -30, 30)))
        weight = counts * np.maximum(p * (1 - p), 1e-9)
        step = np.linalg.solve((x * weight[:, None]).T @ x + ridge, x.T @ (counts * (y - p)) - ridge @ effects)
        effects += step
        if np.abs(step).max() < 1e-9:
            break
    return np.asarray(1 / (1 + np.exp(-np.clip(x @ effects, -30, 30))))
