"""What follows where repeats share runs, days or blocks (`shared`): what is said, and what is no longer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from recombine.checks.adds_up.additivity import additivity
from recombine.checks.adds_up.tested import Additivity
from recombine.checks.as_read import per_cent, shown
from recombine.checks.columns.shared import CHANCE, Places, by_order, too_near
from recombine.checks.columns.taken_off import Off, same_levels, without_column
from recombine.checks.columns.unnamed import MOST_ROWS, in_parts
from recombine.checks.columns.within_bins import Within, within_bins
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.given import Given
from recombine.checks.headed import Headed, Moving
from recombine.checks.judging import Judged, beside_factor, one_or_the_other, tested_anew, with_shared_repeats
from recombine.checks.rules.scales import scaled
from recombine.errors import InputError
from recombine.space import quoted
from recombine.support.pasted import hint
from recombine.support.table import Table, read_tables

NTH = ("first", "second", "third", "fourth")
NO_NOISE = "is then no noise of a mean: nothing is said against means of very many rows"
DRIFT = "a line and a bend along the rows of the table"
GIST = "Repeated rows seem to share runs, days or blocks, and all answers are of these; a note says what to do."


def shared_repeats(
    table: Any, given: Given, known: Identifiability, judged: Judged, said: Sequence[str], how: dict[str, Any]
) -> tuple[Judged, list[str]]:
    """What is judged, and a note, where answers are moved by a column that is told of already (in what was ``said`` of
    columns), or rows of a combination are not independent: by their order in the table, or because means lie too near
    to sums."""
    train = given.train
    if train.target is None or given.shifts is not None:
        return judged, []
    moving = next((note.moving for note in said if isinstance(note, Headed) and note.moving), None)
    if not train.target.numeric:
        test = None if moving is None or not judged.contradicted else with_factor(table, train, known, moving.name, how)
        return (judged if moving is None or test is None else beside_factor(judged, test, quoted(moving.name))), []
    if moving is not None:
        return _beside(moving, table, train, known, judged, how), []
    if not train.target.conflicts:
        return judged, []
    places, notes = None, list[str]()
    if train.rows <= MOST_ROWS and how["bins"]:
        with suppress(InputError):
            if (within := within_bins(table, train, known, **how)) is not None:
                notes = [_by_value(within)]
                judged, train, known = _without_slopes(within, train, known, judged)
    stands = judged.contradicted or judged.rescaled is not None  # beside a scatter that is too large all the more
    if train.rows <= MOST_ROWS and not how["bins"]:
        with suppress(InputError):  # what other columns hold is no reason to stop
            places = by_order(table, train, known, **how)
    if places is not None:
        shared, off = with_shared_repeats(judged), places.without
        if places.drift is not None:
            sure = off is not None and not off.goes_with_effects
            return _without(off, DRIFT, sure, known, shared), [_drifting(places.drift, places.p_value)]
        where = f" within each {places.factor}" if places.factor else ""
        if off is not None and not stands:
            shared = tested_anew(shared, known, off.table, f"with shifts of first, second … rows{where} taken off")
        return shared, [_in_order(places)]
    on = None if judged.forecast is None else judged.forecast.scale
    assert train.target is not None
    near = too_near(known, train.target if on is None or on.learnt else scaled(train.target, on))
    if near is None or near[1] >= CHANCE:
        return judged, notes
    shared = with_shared_repeats(judged)
    if not stands:
        shared = tested_anew(shared, known, _once(train), "each combination counted once")
    return shared, [*notes, _near(*near)]


def with_factor(
    table: Any, train: Table, known: Identifiability, column: str, how: dict[str, Any]
) -> Additivity | None:
    """The test of adding up with a column as one more factor; None where it cannot be read so."""
    with suppress(InputError):
        read = read_tables([table], [*train.space.names, column], once=True, **{**how, "missing": "drop"})[0]
        if read.target is None or not same_levels(read, train) or known.order > 1:
            return None
        codes, levels = read.codes.astype(np.int64), [factor.levels or () for factor in read.space.factors]
        more = Identifiability(codes, read.space.shape, known.order, known.curves)
        return additivity(more, read.target, read.space.names, levels)
    return None


def _beside(
    moving: Moving, table: Any, train: Table, known: Identifiability, judged: Judged, how: dict[str, Any]
) -> Judged:
    """What is judged with what a column moves taken off."""
    measured = moving.lined and moving.kind == "number" and not moving.numbers_rows
    if judged.scale is not None:  # there it is not rejected, and shifts in the answer's own units would be wrong
        return judged if measured or moving.between else with_shared_repeats(judged)
    off = None if measured and not judged.contradicted else without_column(table, train, known, moving, **how)
    if off is None:
        return judged
    if train.target is not None and train.target.conflicts and not (moving.between or measured):
        judged = with_shared_repeats(judged)
    what = f"{'a line and a bend along' if moving.lined else 'shifts of'} {quoted(moving.name)}"
    sure = moving.kind == "time" or (moving.numbers_rows and not off.goes_with_effects)
    return _without(off, what, sure, known, judged)


def _without(off: Off | None, what: str, sure: bool, known: Identifiability, judged: Judged) -> Judged:
    """What is judged with that taken off; ``sure``: whether it surely was there before the answers."""
    if off is None:
        return judged
    anew = tested_anew(judged, known, off.table, f"with {what} taken off")
    return anew if sure else one_or_the_other(judged, anew, what)


def _without_slopes(
    within: Within, train: Table, known: Identifiability, judged: Judged
) -> tuple[Judged, Table, Identifiability]:
    """What is judged with slopes within bins taken off, and of which table that is."""
    if within.off is None:
        return judged, train, known
    off, names = within.off.table, " and ".join(map(quoted, within.names))
    judged = tested_anew(with_shared_repeats(judged), known, off, f"with slopes within bins of {names} taken off")
    return judged, off, Identifiability(off.codes.astype(np.int64), known.shape, known.order, known.curves)


def _by_value(found: Within) -> str:
    names = " and ".join(map(quoted, found.names))
    return (
        f"rows in one bin of {names} differ by their exact values: slopes within bins explain {per_cent(found.share)} "
        f"of what rows of combinations differ by ({_chance(found.p_value)}). The scatter of repeats {NO_NOISE}, and "
        f"adding up is tested with these slopes taken off. More bins tell more of {names}, or all of it "
        f"{hint('numeric', *found.names)}."
    )


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
    run, anew = "--block (blocks)", f"{found.factor}:run"
    run = (
        f"{hint('block', anew)}, if it is called run and numbered anew in each {found.factor}" if found.factor else run
    )
    return Headed(
        f"{rows} ({_chance(found.p_value)}): repeats seem to come in runs, days or blocks that combinations share. "
        f"Their scatter {NO_NOISE}, and adding up, unless it is rejected anyway, is tested with these shifts "
        "taken off. If so, number the runs in a column, unless there is one, and name it with "
        f"{run}: answers are then those of an average run, and the range of one row that of a new one.",
        GIST,
    )


def _drifting(share: float, p: float) -> str:
    return Headed(
        f"{DRIFT} explain {per_cent(share)} of what rows of combinations differ by ({_chance(p)}): if they stand in "
        f"the order in which they were run, answers drift. The scatter of repeats {NO_NOISE}, and adding up is tested "
        f"with that taken off. If so, number the rows in a column, run, and take its shifts off in parts with "
        f"{in_parts('run')}.",
        "Answers seem to drift along the rows of the table; a note says what to do.",
        along_rows=True,
    )


def _near(fit: float, p: float) -> str:
    return Headed(
        f"means of combinations lie nearer to sums of effects than the scatter of repeated rows allows (lack-of-fit F "
        f"of {fit:.2g}, {_chance(p)} at its lower end): repeats are not independent, as rows are not that share a run, "
        f"a day or a plate with those of other combinations. Their scatter {NO_NOISE}, and adding up, unless it is "
        "rejected anyway, is tested with each combination counted once. If there is such a run or day, write it into a "
        "column and name it with --block (blocks).",
        GIST,
    )
