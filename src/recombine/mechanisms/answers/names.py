"""What stands inside our sentences: names, never longer than a sentence can bear, and shares."""

from __future__ import annotations

import math

from recombine.statistics import Interval

LONGEST = 60
NOTHING = 1e-9
"""A share below it is rounding."""
BESIDE = 1e-5
"""So is the end of an interval below this share of the rest."""


def brief(name: object, limit: int = LONGEST) -> str:
    """The name on one line, cut where it is too long to be read."""
    text = " ".join(str(name)[: 4 * limit].split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def share(value: float | None) -> str:
    """Two decimals, or two digits where that would be nothing: errors of rare events are far below a hundredth."""
    if value is None or not math.isfinite(value):
        return "–"
    if abs(value) < NOTHING:
        return "0.00"
    tiny = abs(value) < 0.1 and round(value, 2) != value
    text = f"{value:.2g}" if tiny else f"{value:,.{2 if abs(value) < 1000 else 0}f}"
    return text.replace("-", "−")


def told_apart(one: float, two: float) -> tuple[str, str]:
    """Two shares that are compared, with as many digits as it takes to see which is more; alike where they are."""
    first, second = share(one), share(two)
    if first != second or not (math.isfinite(one) and math.isfinite(two)) or math.isclose(one, two, rel_tol=1e-6):
        return first, second
    digits = next(d for d in range(3, 9) if f"{one:.{d}g}" != f"{two:.{d}g}")
    return f"{one:.{digits}g}".replace("-", "−"), f"{two:.{digits}g}".replace("-", "−")


def score(name: str, value: float | None) -> str:
    """What people quote of a model; of a share explained as many digits as tell it from all."""
    if value is not None and name == "r2" and 0.9 < value < 1:
        return f"{value:.{min(12, 1 - math.floor(math.log10(1 - value)))}f}"
    if value is None or not math.isfinite(value):
        return "–"
    return (f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}").replace("-", "−")


def ranged(figure: Interval) -> str:
    """A share with its interval; an end that is nothing beside the rest is rounding."""
    if not figure.bounded:
        return share(figure.mean)
    least = BESIDE * max(abs(figure.mean), abs(figure.low), abs(figure.high))
    low, high = (share(0.0 if abs(end) < least else end) for end in (figure.low, figure.high))
    return f"{share(figure.mean)} [{low}, {high}]"


def figure_words(figure: Interval) -> str:
    """A share with its interval, and what that is over."""
    return ranged(figure) + f", {figure.whom}" * figure.bounded
