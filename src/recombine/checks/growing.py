"""Rows that scatter more the larger their answer, where the ranges are of rows that all scatter alike."""

from __future__ import annotations

import numpy as np

from recombine.checks.as_read import shown
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.judging import Judged
from recombine.checks.plans.uneven import Uneven
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.along import RATIOS
from recombine.checks.rules.scales import PLAIN
from recombine.support.table import Target

SURE = 0.95
"""How likely it is that they do, from which it is said."""
TIMES = 1.5
"""How many times as far, at least."""
LARGEST = 5_000_000
"""Combinations × effects up to which this is looked at."""


def growing(target: Target | None, known: Identifiability, judged: Judged) -> list[str]:
    """A sentence on it, where sums in the answer's own units answer, beat the same answer for all, and nothing speaks
    against them: what they err by would pass for scatter."""
    told = judged.forecast
    if target is None or not target.numeric or told is None or not told.beats or judged.contradicted:
        return []
    rule = told.recommended
    if not isinstance(rule, Adding) or rule.scale is not PLAIN or rule.noisy or told.rule != "additive":
        return []
    if target.weights is not None or len(known.codes) * known.rank > LARGEST:
        return []
    found = Uneven.of(known, target)
    if found is None or float(found.along.likely[RATIOS > 1].sum()) < SURE:
        return []
    times = float(np.exp(found.along.likely @ np.log(RATIOS)))
    if times < TIMES:
        return []
    return [
        f"rows scatter about {shown(times)} times as far at the largest fitted answers as at the smallest, and ranges "
        "are of rows that all scatter alike: where answers are large they are too narrow, where small too wide."
    ]
