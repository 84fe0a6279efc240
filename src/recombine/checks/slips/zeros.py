"""A few answers of zero or less among many that are positive: they take the log scale away.

    ln L = −n/2 · ln(Σ e² / n)  in the answer's units,    the same of logarithms  − Σ ln y

of sums fitted to the positive answers alone tells whether that scale is missed.
"""

from __future__ import annotations

import math

import numpy as np

from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats
from recombine.support.answers import Target

FEW = 0.1
"""Share of combinations, at most, that have such an answer."""
SPAN = 20
"""Times the smallest positive answer that the largest is."""
LIKELIER = 3.0
"""By how much the logarithm of the likelihood is larger."""
LARGEST = 5_000_000
"""Combinations × effects up to which this is tried."""


def zeros(target: Target | None, known: Identifiability) -> list[str]:
    """A sentence on them, where the positive answers are likelier on that scale."""
    if target is None or not target.numeric or target.cases is not None:
        return []
    told = target.count > 0
    y, codes = target.mean[told], known.codes[told]
    above = y > 0
    lost = len(y) - int(above.sum())
    if not 0 < lost <= max(1, FEW * len(y)) or y.max() <= SPAN * y[above].min():
        return []
    if len(y) * known.rank > LARGEST or not _likelier_in_logs(known.rows.floats(codes[above]), y[above]):
        return []
    have = "1 combination has an answer" if lost == 1 else f"{lost:,} combinations have answers"
    kind = "of 0" if y.min() == 0 else "of 0 or less"
    return [
        f"{have} {kind}, so no log scale is tried, though the positive answers are likelier on one: leave such rows "
        "out, or write what they stand for (such as half of the least that can be measured), and it is."
    ]


def _likelier_in_logs(x: Floats, y: Floats) -> bool:
    plain, logs = (_log_likelihood(x, v) for v in (y, np.log(y)))
    return logs - float(np.log(y).sum()) > plain + LIKELIER


def _log_likelihood(x: Floats, y: Floats) -> float:
    beta, _, rank, _ = np.linalg.lstsq(x, y, rcond=1e-9)
    left = float(np.square(y - x @ beta).sum())
    if len(y) <= rank or left <= 0:
        return -math.inf
    return -len(y) / 2 * math.log(left / len(y))
