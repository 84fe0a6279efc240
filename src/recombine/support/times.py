"""Texts that are times, in the order in which they pass.

A text begins with a day (`2024-12-9`, `9.12.2024`, `12/9/24`, `Dec 9 2024`, `9 December 2024`) and may go on with a
clock (`17:05`, `5:05:30 pm`, `17:05+01:00`). Which number of a day is the month is told by the whole column: the orders
of day, month and year that give a day of the calendar in every row must agree on what comes first.
Other texts are taken as they stand if they sort as they pass: all alike, such as `2024-W07` or `17:05`.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recombine.errors import InputError

CLOCK = r"(?:[T,\s]+(\d{1,2}):(\d\d)(?::(\d\d(?:[.,]\d+)?))?\s*([AaPp]\.?[Mm]\.?)?\s*(Z|[+-]\d\d:?\d\d)?)?"
DAYS = {
    "year, month, day": (re.compile(rf"(\d{{4}}|\d\d)([-/.])(\d{{1,2}})\2(\d{{1,2}}){CLOCK}"), (0, 2, 3)),
    "day, month, year": (re.compile(rf"(\d{{1,2}})([-/. ])(\d{{1,2}})\2(\d{{4}}|\d\d){CLOCK}"), (3, 2, 0)),
    "month, day, year": (re.compile(rf"(\d{{1,2}})([-/. ])(\d{{1,2}})\2(\d{{4}}|\d\d){CLOCK}"), (3, 0, 2)),
    "day, name of the month, year": (
        re.compile(rf"(?:[A-Za-z]+,?\s+)?(\d{{1,2}})(\.?[-/\s]*)([A-Za-z]{{3,9}})[-/.,\s]*(\d{{4}}|\d\d){CLOCK}"),
        (3, 2, 0),
    ),
    "name of the month, day, year": (
        re.compile(rf"(?:[A-Za-z]+,\s+)?([A-Za-z]{{3,9}})(\.?[-/\s]*)(\d{{1,2}})[-/,\s]+(\d{{4}}|\d\d){CLOCK}"),
        (3, 0, 2),
    ),
}
"""Kinds of day: their pattern, and which of its parts are the year, the month and the day."""
SORTED = re.compile(r"\d{4}[-/ ]?([QH]\d|W\d\d(-?\d)?|\d{2,3})|\d\d:\d\d(:\d\d(\.\d+)?)?")
YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
NAMED = re.compile(r"time|date|epoch|unix|utc|(?<![a-z])ts(?![a-z])")
"""Words in the name of a column that may hold moments counted from 1970 on."""
FROM, UNTIL, CALENDAR = 946_684_800, 2_524_608_000, (19_000_101, 21_001_231)
"""Seconds from 1970 on between which such moments lie (2000 to 2050); days written as one number."""
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def ranks(name: str, times: pl.Series) -> NDArray[np.int64]:
    """The rank of each time of a column: numbers, dates, or texts that are either."""
    if times.dtype in (pl.Categorical, pl.Enum):
        times = times.cast(pl.String)
    times = times.fill_nan(None) if times.dtype.is_float() else times
    if times.null_count():
        raise InputError(f"the time column {name!r} has missing values; fill them in or leave those rows out.")
    numbers = times.cast(pl.Float64, strict=False).fill_nan(None) if times.dtype == pl.String else times
    if not numbers.null_count():
        return np.asarray(numbers.rank("dense").to_numpy(), dtype=np.int64)
    texts, place = np.unique(times.str.strip_chars().to_numpy().astype(str), return_inverse=True)
    if len({re.sub(r"\d", "0", t) for t in texts}) == 1 and SORTED.fullmatch(texts[0]):
        return np.asarray(place + 1, dtype=np.int64)
    found = {kind: order for kind in DAYS if (order := _order(texts.tolist(), kind)) is not None}
    iso = "write them as ISO does, 2024-12-09 or 2024-12-09 17:05"
    if not found:
        raise InputError(f"the time column {name!r} holds texts such as {_odd(texts.tolist())!r} that cannot be put in "
                         f"order as times; {iso}, or give numbers.")  # fmt: skip
    first, *others = found.values()
    if any((other != first).any() for other in others):
        raise InputError(f"the time column {name!r} can be read in {len(found)} ways ({'; '.join(found)}), which "
                         f"differ in what comes first: no number in it tells them apart; {iso}.")  # fmt: skip
    return np.asarray(first[place], dtype=np.int64)


def are_days(texts: Collection[str]) -> bool:
    """Whether all of these texts are days of one kind, with their year in full: shorter ones may be names."""
    full = bool(texts) and all(YEAR.search(text) for text in texts)
    return full and any(all(_moment(text.strip(), kind) for text in texts) for kind in DAYS)


def are_moments(name: str, numbers: Sequence[Any]) -> bool:
    """Whether numbers are days, written as 20240301, or by their name seconds or milliseconds counted from 1970 on."""
    if not numbers or any(isinstance(v, (str, bool)) for v in numbers):
        return False
    low, high = min(numbers), max(numbers)
    if CALENDAR[0] <= low and high <= CALENDAR[1]:
        return all(v == int(v) and _is_day(int(v)) for v in numbers)
    counted = any(FROM * unit <= low and high < UNTIL * unit for unit in (1, 1_000))
    return counted and NAMED.search(name.lower()) is not None


def _is_day(number: int) -> bool:
    try:
        datetime.date(number // 10_000, number // 100 % 100, number % 100)
    except ValueError:
        return False
    return True


def _order(texts: list[str], kind: str) -> NDArray[np.int64] | None:
    """The rank of each text as such a day; None where one is none, or some have a time zone and others not."""
    moments = list[datetime.datetime]()
    for text in texts:
        moment = _moment(text, kind)
        if moment is None or (moments and (moment.tzinfo is None) != (moments[0].tzinfo is None)):
            return None
        moments.append(moment)
    rank = {moment: i for i, moment in enumerate(sorted(set(moments)), 1)}
    return np.array([rank[moment] for moment in moments])


def _moment(text: str, kind: str) -> datetime.datetime | None:
    pattern, places = DAYS[kind]
    found = pattern.fullmatch(text)
    if found is None:
        return None
    parts, (hour, minute, second, half, zone) = found.groups()[:4], found.groups()[4:]
    year, month, day = (parts[k] for k in places)
    if month.isalpha():
        near = month.lower()[:3]
        month = str(MONTHS.index(near) + 1) if near in MONTHS else "0"
    full = year if len(year) == 4 else f"{'20' if int(year) < 69 else '19'}{year}"
    hours = int(hour or 0)
    if half and 1 <= hours <= 12:
        hours = hours % 12 + (12 if half[0] in "Pp" else 0)
    seconds = float((second or "0").replace(",", "."))
    try:
        moment = datetime.datetime(int(full), int(month), int(day), hours, int(minute or 0), int(seconds))
    except ValueError:
        return None
    moment += datetime.timedelta(microseconds=round(seconds % 1 * 1e6))
    if zone is None:
        return moment
    ahead = 0 if zone == "Z" else int(zone[:3]) * 60 + int(zone[0] + zone[-2:])
    return moment.replace(tzinfo=datetime.timezone(datetime.timedelta(minutes=ahead)))


def _odd(texts: list[str]) -> str:
    """A text that is no day of any kind, if there is one."""
    return next((t for t in texts if all(_moment(t, kind) is None for kind in DAYS)), texts[0])[:80]
