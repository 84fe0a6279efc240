"""Cells named in part, as people write them: {"shape": "disc", "size": 2} is every combination with these levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from recombine.checks.design import Mask
from recombine.space import Codes, FactorSpace, Level
from recombine.support.numerals import as_number


def level_code(space: FactorSpace, name: str, level: Level) -> int:
    """The code of a level, also where a command line could only give it as text."""
    factor = space[name]
    text = str(level).strip().lower()
    same = [i for i, known in enumerate(factor.levels or ()) if str(known).strip().lower() == text]
    if not same and (value := as_number(text.removesuffix("%").rstrip())) is not None:
        same = [i for i, known in enumerate(factor.levels or ()) if not isinstance(known, str) and known == value]
    return same[0] if len(same) == 1 else factor.code(level)


def cells_with(space: FactorSpace, codes: Codes, records: Sequence[Mapping[str, Level]]) -> Mask:
    """Which combinations have all levels of one of the records."""
    found = np.zeros(len(codes), dtype=bool)
    for record in records:
        part = np.ones(len(codes), dtype=bool)
        for name, level in record.items():
            part &= codes[:, space.position(name)] == level_code(space, name, level)
        found |= part
    return found
