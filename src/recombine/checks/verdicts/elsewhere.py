"""What adding up explained of unseen combinations in real tables like this one: numbers of the study `real-tables`.

``elsewhere.json`` has, for each table of both halves, its number of factors and pairs of the share of its cells that
was seen and R² of adding up on the others, drawn at random; `python docs/quoted.py` writes it from the committed
results.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np

from recombine.checks.as_read import per_cent

FILE = Path(__file__).with_suffix(".json")
ALIKE, FEWEST = 0.15, 12
"""How far the share seen may be off, and of how many tables at least something is said."""


@cache
def _told() -> list[tuple[int, list[tuple[float, float]]]]:
    found: list[tuple[int, list[tuple[float, float]]]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def elsewhere(factors: int, seen: float) -> str | None:
    """The middle half over tables with as many factors of which about as much was seen; None where these are few."""
    nearest = [min(tried, key=lambda one: abs(one[0] - seen)) for count, tried in _told() if count == factors]
    r2 = [value for share, value in nearest if abs(share - seen) <= ALIKE]
    if len(r2) < FEWEST:
        return None
    low, high = np.quantile(r2, [0.25, 0.75])
    alike = f"{factors} factors, about {per_cent(seen)} seen"
    like = f"not from this table: of {len(r2)} other real ones ({alike}) adding up explained, in the middle half,"
    return f"{like} {per_cent(low)} to {per_cent(high)} of what varies among unseen combinations"
