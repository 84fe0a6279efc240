"""What a check is given: the training table, what is asked about, and what is worth saying about both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from recombine.checks.asked.cells import cells_with, existing
from recombine.checks.columns.blocks import Shifts
from recombine.checks.exact.identifiability import Members
from recombine.checks.holes.itself import left_out, with_itself
from recombine.checks.reading import blocks_of, both, read
from recombine.checks.rules.weighing import AskedWeights
from recombine.errors import InputError
from recombine.space import Codes, FactorSpace, Level, about, quoted
from recombine.support.pasted import chosen
from recombine.support.table import Table, factor_names

MOST_LISTED = 200_000
"""Combinations of a grid that are asked about one by one."""
MOST_WRITTEN = 10**15


@dataclass(frozen=True, eq=False)
class Given:
    """What was read, and what of it is asked about."""

    train: Table
    asked: Table | None
    """None: the grid of the table's levels minus training."""
    words: str
    """What is asked about."""
    on_grid: bool
    """Whether the grid is asked about, alone or as well."""
    exclude: Sequence[Mapping[str, Level]]
    """Combinations that cannot exist."""
    blocks: tuple[str, ...]
    """Columns whose shifts were taken off the answers, and these shifts."""
    shifts: Shifts | None
    notes: list[str]
    """On what is not asked about, then on what was read."""

    @property
    def asked_weights(self) -> AskedWeights | None:
        """What they weigh, where rows do."""
        weight = None if self.asked is None else self.asked.weight
        return None if self.asked is None or weight is None else AskedWeights(self.asked.codes, weight)

    @property
    def wanted(self) -> Codes | None:
        """The combinations that are asked about; None: the grid."""
        return None if self.asked is None else self.asked.codes.astype(np.int64)


def read_given(
    table: Any,
    test: Any,
    factors: Sequence[str],
    *,
    grid: bool,
    blocks: str | Sequence[str],
    min_support: int,
    order: int,
    **how: Any,
) -> Given:
    """Read the tables and settle what is asked about: a test table, a split, rows without an answer, the grid of levels
    where there is none of these, or several of them. ``how`` is what `read_tables` takes."""
    nuisances, inside = blocks_of(blocks, factor_names(factors)) if blocks else ((), {})
    train, asked, questions, notes, shifts = read(table, test, factors, min_support, nuisances, order, inside, **how)
    there = train.codes if asked is None else np.vstack([train.codes, asked.codes])
    itself, both_names = with_itself(there, train.space)
    exclude = [*_left(train, how["exclude"]), *itself]
    split = how["split"]
    blanks = questions if test is None and split is None and not grid else None
    hidden = _hidden_grid(train, blanks, exclude)
    if (grid or hidden) and asked is not None:
        asked = _with_grid(asked, train, exclude) if grid or train.space.size <= MOST_LISTED else None
    on_grid = asked is None or grid or bool(hidden)
    besides, unasked = _not_asked(train, None if hidden else blanks, exclude)
    without, twice = left_out(both_names if on_grid else ())
    words = _in_words(questions if asked is not None else None, split, test, grid or bool(hidden)) + without + besides
    said = [*unasked, *twice, *_weighed(train, asked), *notes, *hidden]
    return Given(train, asked, words, on_grid, exclude, nuisances, shifts, said)


def _left(train: Table, exclude: Sequence[Mapping[str, Level]]) -> list[Mapping[str, Level]]:
    """Those that can still be told: a level all of whose rows were left out is none any more."""
    return [record for record in exclude if record not in train.excluded or _told(train.space, record)]


def _told(space: FactorSpace, record: Mapping[str, Level]) -> bool:
    try:
        cells_with(space, np.zeros((0, len(space)), np.int64), [record])
    except InputError:
        return False
    return True


def _weighed(train: Table, asked: Table | None) -> list[str]:
    """What rows weigh, and what asked combinations do of which nobody says."""
    if train.weights is None:
        return []
    told = asked is not None and asked.weight is not None and not np.isnan(asked.weight).any()
    return [f"{train.weights.words}{'' if told or train.weights.even else f'; {train.weights.untold}'}."]


def _in_words(questions: Table | None, split: tuple[str, str] | None, test: Any, grid: bool) -> str:
    """What is asked about."""
    parts = []
    if split:
        parts.append(f"the rows with {quoted(split[0])} = {quoted(split[1])}")
    if test is not None:
        parts.append(f"the test table {test}" if isinstance(test, (str, Path)) else "the test table")
    if questions is not None:
        parts.append("the rows without an answer")
    if grid or not parts:
        parts.append("the grid of the table's levels minus training")
    return ", and ".join(parts)


def _hidden_grid(train: Table, questions: Table | None, exclude: Sequence[Mapping[str, Level]]) -> list[str]:
    """A note where rows without an answer alone would be asked about, all of them seen, though combinations are
    missing: a gap in the measurements is no question, and must not keep anyone from what was never seen."""
    if questions is None or len(_new(train, questions)) or not _missing(train.space, train.codes, exclude):
        return []
    return [
        "Every combination of the rows without an answer was seen in training, so the combinations that are missing "
        "are asked about as well, as they are without such rows."
    ]


def _with_grid(asked: Table, train: Table, exclude: Sequence[Mapping[str, Level]]) -> Table:
    """What is asked about, then the combinations of the table's levels that are missing and not in it."""
    if train.space.size > MOST_LISTED:
        raise InputError(
            f"to ask about the grid as well it is listed; {train.space.size:.3g} combinations are too many. Without "
            "rows that lack an answer, and without a test table or split, the grid alone is asked about."
        )
    cells = existing(train.space, exclude)
    cells = cells[~train.support().contains(cells)]
    return both(asked, replace(train, codes=cells, counts=np.zeros(len(cells), np.int64), target=None, weight=None))


def _not_asked(train: Table, questions: Table | None, exclude: Sequence[Mapping[str, Level]]) -> tuple[str, list[str]]:
    """What rows without an answer leave out where they alone are asked about: words to add to what is asked, and a
    note."""
    if questions is None:
        return "", []
    new = _new(train, questions)
    if not len(new):
        return "; their combinations were all seen in training", []
    missing = _missing(train.space, np.concatenate([train.codes, new]), exclude)
    if not missing:
        return "", []
    one, many = missing == 1, f"{missing:,}" if missing < MOST_WRITTEN else about(missing)
    words = f"combination{'' if one else 's'} of the table's levels {'is' if one else 'are'} missing"
    further = f"{many} further {words} and not asked about"
    return f"; {further}", [f"{further}; ask for {'it' if one else 'them'} too with {chosen('grid', True)}."]


def _new(train: Table, questions: Table) -> Codes:
    return questions.codes[~Members(train.codes, train.space.shape).contains(questions.codes)]


def _missing(space: FactorSpace, seen: Codes, exclude: Sequence[Mapping[str, Level]]) -> int:
    """Combinations that can exist and are not among these."""
    if not exclude or space.size > MOST_LISTED:
        return max(0, space.size - len(seen))
    return int((~Members(seen, space.shape).contains(existing(space, exclude))).sum())
