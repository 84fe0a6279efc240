"""Numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Callable


def per_cent(share: float, decimals: int = 0) -> str:
    """A share as a person reads it; 100 % only where it is all."""
    most = 100.0 if share >= 1 else 100 - 10.0**-decimals
    return f"{min(100 * share, most):.{decimals}f} %"


def shown(value: float, share: bool = False) -> str:
    """Three digits, and no power of ten where people write thousands; a share in per cent."""
    if share:
        return f"{shown(100 * value)} %"
    return f"{value:,.0f}" if 1_000 <= abs(value) < 1e9 else f"{value:.3g}"


def range_of(low: float, high: float, say: Callable[[float], str] = shown) -> str:
    """A range as people say it, also one that is open at an end."""
    if math.isinf(low) or math.isinf(high):
        ends = [f"{say(end)} or {which}" for end, which in ((low, "more"), (high, "less")) if math.isfinite(end)]
        return ends[0] if ends else "any number"
    return f"{say(low)} to {say(high)}"


def apart(one: float, two: float, share: bool = False) -> tuple[str, str]:
    """Two values as shown, with a fourth digit where three do not tell them apart."""
    if share:
        first, second = apart(100 * one, 100 * two)
        return f"{first} %", f"{second} %"
    if shown(one) != shown(two) or f"{one:.4g}" == f"{two:.4g}" or abs(one) >= 1_000:
        return shown(one), shown(two)
    return f"{one:#.4g}", f"{two:#.4g}"
