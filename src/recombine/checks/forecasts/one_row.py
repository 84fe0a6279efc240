"""On which scale single rows scatter alike around the mean of their combination: as far everywhere, or in proportion.

    Σ f log V  against  Σ f log (V' / slope²),   V = Σ s / Σ f,  V' = Σ s slope² / Σ f

With f + 1 rows of a combination, s their sum of squares, and slope how fast a scale changes with the answer there: the
smaller of the two is that of the likelier rows. Where effects multiply, rows often scatter by a factor, and one number
in the answer's units is far too much for small answers and too little for large ones; but the noise may be that of a
device, the same for all.
"""

from __future__ import annotations

import numpy as np
from scipy.special import chdtri, stdtrit

from recombine.checks.as_read import shown
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats
from recombine.checks.rules.noisy import row_noise
from recombine.checks.rules.scales import PLAIN, Scale, scaled, slopes
from recombine.support.table import Target

FEW_REPEATS = 10
"""Rows beyond the first of their combination up to which rows may scatter half as far again as they seem to."""


def scale_of_rows(target: Target, scale: Scale | None) -> Scale:
    """This scale, or the answer's own where rows are likelier there. Of ranks the answer's own: they end with the seen
    means, and single rows do not."""
    if scale is None or scale.learnt or not target.numeric or not target.conflicts:
        return PLAIN
    told = target.count > 1
    freedom, steep = target.count[told] - 1.0, slopes(target, scale)[told]
    own, other = (float((target.spread[told] * by).sum()) for by in (1.0, steep**2))
    return scale if np.log(own / other) > -2 * float(np.average(np.log(steep), weights=freedom)) else PLAIN


def next_rows(known: Identifiability, target: Target, scale: Scale | None) -> tuple[Floats, Floats] | None:
    """Where a further row of each combination is expected nine times in ten, by its own scatter and that of the mean of
    those seen: as rows scatter in all alike on their scale, or in a level that is noisier. None where none differ."""
    if not target.numeric or not target.conflicts:
        return None
    on, rows = scale_of_rows(target, scale), np.where(target.count > 0, target.weight, 1.0)
    there = target if on is PLAIN else scaled(target, on)
    noise = row_noise(known.codes, there.count, there.spread, known.curves)
    assert noise is not None
    variance, freedom = noise.of(known.codes)
    half = stdtrit(freedom, 0.95) * np.sqrt(variance * (1 + 1 / rows))
    low, high = (max(target.bounds[0], on.ends[0]), min(target.bounds[1], on.ends[1]))
    ends = (np.clip(on.back(there.mean + side * half), low, high) for side in (-1, 1))
    return next(ends), next(ends)


def scattered(target: Target, scale: Scale | None) -> str:
    """How far single rows scatter, in words; of few repeats with the 90 % interval of such a standard deviation."""
    on, freedom = scale_of_rows(target, scale), int(np.maximum(target.count - 1, 0).sum())
    found = (target if on is PLAIN else scaled(target, on)).scatter or 0.0
    ends = [found * np.sqrt(freedom / chdtri(freedom, chance)) for chance in (0.05, 0.95)]
    told, low, high = (shown(float(value if on is PLAIN else np.exp(value))) for value in (found, *ends))
    few = f" (90 %: {low} to {high}, by {freedom} repeated row{'s' if freedom > 1 else ''} alone)"
    odds = " in the odds" if on.name == "log-odds" else ""
    return f"by {'' if on is PLAIN else 'a factor of '}{told}{odds}{few if freedom < FEW_REPEATS else ''}"
