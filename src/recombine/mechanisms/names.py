"""What stands inside our sentences: names, never longer than a sentence can bear, and shares."""

from __future__ import annotations

import math

from recombine.statistics import Interval

LONGEST = 60
NOTHING = 1e-9
"""A share below it is rounding."""


def brief(name: object, limit: int = LONGEST) -> str:
    """The name on one line, cut where it is too long to be read."""
    text = " ".join(str(name)[: 4 * limit].split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def share(value: float) -> str:
    """Two decimals, or two digits where that would be nothing: errors of rare events are far below a hundredth."""
    if not math.isfinite(value) or abs(value) >= 0.1 or abs(value) < NOTHING:
        return f"{0.0 if abs(value) < NOTHING else value:.2f}"
    return f"{value:.2f}" if round(value, 2) == value else f"{value:.2g}"


def ranged(figure: Interval) -> str:
    """A share with its interval."""
    return share(figure.mean) + (f" [{share(figure.low)}, {share(figure.high)}]" if figure.bounded else "")
