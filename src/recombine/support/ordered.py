"""Classes that look ordered: words of a scale that people know, or a number in each (2 stars, 3 – neutral).

They are taken as classes, each as unlike the next as any other; only a person knows whether they are steps.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

FEWEST = 3
"""Classes from which an order says more than which of two."""
SCALES = (
    ("strongly disagree", "disagree", "somewhat disagree", "slightly disagree", "neither agree nor disagree", "neutral",
     "undecided", "slightly agree", "somewhat agree", "agree", "strongly agree"),
    ("very dissatisfied", "dissatisfied", "somewhat dissatisfied", "neutral", "somewhat satisfied", "satisfied",
     "very satisfied"),
    ("very unlikely", "unlikely", "neutral", "likely", "very likely"),
    ("never", "rarely", "occasionally", "sometimes", "often", "very often", "always"),
    ("never", "seldom", "sometimes", "usually", "always"),
    ("none", "very low", "low", "medium", "high", "very high"),
    ("very low", "low", "moderate", "high", "very high"),
    ("low", "middle", "high"),
    ("none", "mild", "moderate", "severe", "very severe"),
    ("very small", "small", "medium", "large", "very large"),
    ("xs", "s", "m", "l", "xl", "xxl"),
    ("very poor", "poor", "fair", "average", "good", "very good", "excellent"),
    ("very bad", "bad", "okay", "good", "very good"),
    ("much worse", "worse", "same", "better", "much better"),
    ("not at all", "a little", "slightly", "somewhat", "moderately", "quite a bit", "very", "very much", "extremely"),
)  # fmt: skip
FIRST = re.compile(r"\s*(\d{1,2})(?:\s|[-–:)(]|\.\s)\W*[^\W\d].*", re.DOTALL)
"""A number and words: 2 stars, 3 – neutral."""
LAST = re.compile(r"\s*(?:grade|stage|level|score|rating|rank|step|degree)\s*\W?\s*(\d{1,2})\s*", re.IGNORECASE)
"""A word of order and its number: grade 2."""


def ordered(classes: Sequence[str]) -> list[str] | None:
    """The same classes in their order, if they look as if they had one."""
    if len(classes) < FEWEST:
        return None
    plain = {" ".join(c.casefold().replace("-", " ").replace("_", " ").split()): c for c in classes}
    if len(plain) < len(classes):
        return None
    for scale in SCALES:
        if plain.keys() <= {*scale}:
            return [plain[word] for word in scale if word in plain]
    for form in (FIRST, LAST):
        found = {c: int(m[1]) for c in classes if (m := form.fullmatch(c))}
        if len(found) == len(classes) == len({*found.values()}):
            return sorted(classes, key=found.__getitem__)
    return None
