"""What would be forecast without combinations that may be slips, or without levels that respond unlike the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from recombine.checks.adds_up.tested import Additivity
from recombine.checks.as_read import shown
from recombine.checks.asked.queries_asked import Asked
from recombine.checks.exact.identifiability import DETERMINED, Identifiability
from recombine.checks.exact.modular import Ints
from recombine.checks.forecasts.expected import Forecast
from recombine.checks.forecasts.forecast import forecast
from recombine.checks.holes.ends_early import ends_early
from recombine.checks.rules.seen_cells import Cells
from recombine.checks.slips.words import coded, in_common
from recombine.support.table import Table, Target


def without_slips(
    slips: list[str], cells: list[int], train: Table, known: Identifiability, asked: Asked, rules: Sequence[str],
    seed: int, above: Forecast | None,
) -> list[str]:  # fmt: skip
    """The same sentences, the last with what would be forecast if these combinations had not been seen. Not where they
    share a level, or have one that errs more: a real effect left out is missing from the forecast too (of planted
    tables of such effects its interval held 4 of 36, of slips 14 of 14). Nor where that is larger than the forecast
    ``above`` or wider, as if the smaller table were the worse one."""
    if not cells or train.target is None or asked.worst == "seen":
        return slips
    if coded(train) is None and (common := in_common(cells, train, () if above is None else above.harder)):
        return [*slips[:-1], f"{slips[-1]} {common}"]
    which = "that combination" if len(cells) == 1 else "these combinations"
    found, _ = _forecast_without(cells, train, train.target, known, asked, asked.codes, rules, seed)
    if found is None:
        return [*slips[:-1], f"{slips[-1]} Without {which} nothing is forecast."]
    if worse := _worse(found, above):
        left = int((train.target.count > 0).sum()) - len(cells)
        why = f"by the {left:,} others {worse}, perhaps as fewer tell less: no sign that the answer is right"
        return [*slips[:-1], f"{slips[-1]} Without {which} no forecast is given: {why}."]
    real = "If it is a real effect, expect the forecast above, not this one, and more where two of its levels meet"
    return [*slips[:-1], f"{slips[-1]} Without {which} the forecast is {_told(found)}. {real}."]


def _worse(found: Forecast, above: Forecast | None) -> str:
    """In what a forecast is worse than the one above, in words; else nothing."""
    if above is None or found.metric != above.metric:
        return ""
    larger, wider = found.error > above.error, found.high - found.low > above.high - above.low
    if larger:
        return "the error would be larger" + (" and its interval wider" if wider else "")
    return "its interval would be wider" if wider else ""


def without_level(
    against: Additivity | None, train: Table, known: Identifiability, asked: Asked, rules: Sequence[str], seed: int
) -> list[str]:
    """What would be forecast for the others without the rows of a level that responds unlike them, or of a pair of
    levels that lies apart."""
    if against is None or train.target is None:
        return []
    on = f" on the {against.scale} scale" if against.scale else ""
    if against.odd is not None:
        k, code = against.odd.at(train.space)
        theirs, wanted = (codes[:, k] == code for codes in (train.codes, asked.codes))
        which, how = f"{against.odd.factor} {against.odd.level} may be alone in not adding up{on}", ""
    elif against.pair is not None and against.pair.alone:
        j, k, *both = against.pair.at(train.space)
        theirs, wanted = ((codes[:, [j, k]] == both).all(axis=1) for codes in (train.codes, asked.codes))
        which, by = f"{against.pair.which} may be alone in not adding up{on}", against.pair.by
        how = f"its combinations lie {shown(abs(by))} {'above' if by > 0 else 'below'} the sum of effects of the others"
    else:
        return []
    some = [how] if how else []
    if asked.worst != "seen":
        others, cells = asked.codes[~wanted], np.flatnonzero(theirs).tolist()
        found, many = _forecast_without(cells, train, train.target, known, asked, others, rules, seed)
        if found is not None:
            of = f"the {many:,} asked combinations of the others is {_told(found)}"
            some.append(f"without its rows the forecast for {of}")
    return [f"{which}: {'; '.join(some)}."] if some else []


def _forecast_without(
    cells: list[int], train: Table, target: Target, known: Identifiability, asked: Asked, some: Ints,
    rules: Sequence[str], seed: int,
) -> tuple[Forecast | None, int]:  # fmt: skip
    """The forecast for some asked combinations that others than these cells determine, and how many these are."""
    use = target.count > 0
    use[cells] = False
    kept = replace(target, count=np.where(use, target.count, 0))
    left = Cells.of(known.codes, known.shape, kept, known.curves, asked.weights)
    less = Identifiability(known.codes[use], known.shape, known.order, known.curves)
    codes = some[less.status(some) == DETERMINED].astype(np.int64)
    early = ends_early(less, codes, train.space) if len(asked.codes) == asked.total else None
    series = None if early is None else early.series
    found = forecast(left, codes, assumed=known.order, more=rules, seed=seed, series=series)
    return None if isinstance(found, str) else found, len(codes)


def _told(found: Forecast) -> str:
    return f"{shown(found.error)} ({shown(found.low)} to {shown(found.high)}) by the rule “{found.rule}”"
