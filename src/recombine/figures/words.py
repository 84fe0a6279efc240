"""Words in a figure: how wide they are and where a line ends, so that none is cut off or runs into its neighbour."""

from __future__ import annotations

import json
from collections.abc import Iterable

from recombine.figures import theme

_WIDTHS = {
    **dict.fromkeys("ijl'|", 0.222),
    **dict.fromkeys(" ft.,:;!/I[]·", 0.278),
    **dict.fromkeys("r()-*`", 0.34),
    **dict.fromkeys("ckvsxyzJ", 0.5),
    **dict.fromkeys("ABEKPSVXYw&", 0.69),
    **dict.fromkeys("CDGHNOQRU", 0.75),
    **dict.fromkeys("mMW%@", 0.88),
}
"""Parts of the size; Helvetica's other letters and its digits are near .556."""


def text_width(text: str, size: float = theme.SMALL) -> float:
    """About how wide a text is in the theme's font, in pixels."""
    return size * sum(_WIDTHS.get(letter, 0.556) for letter in text)


def wrapped(text: str, width: float, size: float = theme.SMALL) -> list[str]:
    """The text in lines that end at spaces and are no wider than ``width``, where its words allow it."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and text_width(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def in_lines(names: Iterable[str], width: float) -> str:
    """The expression that sets each of these labels in lines no wider than ``width``."""
    known = list(names)
    lines = [wrapped(name, width) for name in known]
    # By place and not by key, of which some, such as __proto__, mean something else.
    return f"{json.dumps(lines, ensure_ascii=False)}[indexof({json.dumps(known, ensure_ascii=False)}, datum.label)]"
