"""What follows where repeats share runs, days or blocks (`shared`): what is said, and what is no longer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from recombine.checks.as_read import shown
from recombine.checks.columns.shared import CHANCE, Places, by_order, too_near, without_column
from recombine.checks.columns.unnamed import MOST_ROWS
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.given import Given
from recombine.checks.headed import Headed
from recombine.checks.judging import Judged, with_shared_repeats
from recombine.checks.rules.scales import scaled
from recombine.errors import InputError
from recombine.space import quoted
from recombine.support.table import Table

NTH = ("first", "second", "third", "fourth")
NO_NOISE = (
    "is then no noise of a mean: nothing is said against means of very many rows, and adding up, unless it is rejected "
    "anyway, is tested with"
)
GIST = "Repeated rows seem to share runs, days or blocks, and all answers are of these; a note says what to do."


def shared_repeats(
    table: Any, given: Given, known: Identifiability, judged: Judged, said: Sequence[str], how: dict[str, Any]
) -> tuple[Judged, list[str]]:
    """What is judged, and a note, where rows of a combination are not independent: by a column that is named already
    (in what was ``said`` of columns), by their order in the table, or because means lie too near to sums."""
    train = given.train
    if train.target is None or not train.target.numeric or not train.target.conflicts or given.shifts is not None:
        return judged, []
    column = next((note.shifts for note in said if isinstance(note, Headed) and note.shifts), "")
    if column:
        off = without_column(table, train, column, **how)
        if off is not None:
            judged = with_shared_repeats(judged, known, off, f"with shifts of {quoted(column)} taken off")
        return judged, []
    places = None
    if train.rows <= MOST_ROWS and not how["bins"]:
        with suppress(InputError):  # what other columns hold is no reason to stop
            places = by_order(table, train, **how)
    if places is not None:
        where = f" within each {places.factor}" if places.factor else ""
        shifts = f"with shifts of first, second … rows{where} taken off"
        return with_shared_repeats(judged, known, places.without, shifts), [_in_order(places)]
    on = None if judged.forecast is None else judged.forecast.scale
    near = too_near(known, train.target if on is None or on.learnt else scaled(train.target, on))
    if near is None or near[1] >= CHANCE:
        return judged, []
    return with_shared_repeats(judged, known, _once(train), "each combination counted once"), [_near(*near)]


def _once(train: Table) -> Table:
    """Means of combinations, each taken for one row."""
    assert train.target is not None
    told = train.target.count > 0
    count, none = told.astype(np.int64), np.zeros(len(told))
    return replace(train, counts=count, target=replace(train.target, count=count, spread=none, ends=None))


def _chance(p: float) -> str:
    return f"p = {p:.1g}" if p >= 1e-4 else "p below 0.0001"


def _in_order(found: Places) -> str:
    many, order = len(found.shifts), "rows of combinations, in the order of the table,"
    named = f"{', '.join(NTH[: many - 1])} and {NTH[many - 1]}" if many <= len(NTH) else "first, second …"
    if found.factor:
        rows = f"within each {found.factor} the {named} {order} differ"
    elif many <= len(NTH):
        each = ", ".join(f"{shift:+.3g}" for shift in found.shifts)
        rows = f"the {named} {order} are off the means of theirs by {each} on average"
    else:
        rows = f"the {named} {order} differ by up to {shown(float(np.ptp(found.shifts)))} on average"
    run = f"--block {found.factor}:column, if it is numbered anew in each {found.factor}" if found.factor else "--block"
    return Headed(
        f"{rows} ({_chance(found.p_value)}): repeats seem to come in runs, days or blocks that combinations share. "
        f"Their scatter {NO_NOISE} these shifts taken off. If so, number the runs in a column, unless there is one, "
        f"and name it with {run} (blocks): answers are then those of an average run, and the range of one row that of "
        "a new one.",
        GIST,
    )


def _near(fit: float, p: float) -> str:
    return Headed(
        f"means of combinations lie nearer to sums of effects than the scatter of repeated rows allows (lack-of-fit F "
        f"of {fit:.2g}, {_chance(p)} at its lower end): repeats are not independent, as rows are not that share a run, "
        f"a day or a plate with those of other combinations. Their scatter {NO_NOISE} each combination counted once. "
        f"If there is such a run or day, write it into a column and name it with --block (blocks).",
        GIST,
    )
