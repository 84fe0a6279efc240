"""Numbers as people write them: 2,5 · 1,000 · 1.000,5 · 10 % · - for nothing.

A column is read as numbers where all of its texts agree on one way of writing; which way it was is said in a sentence.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recombine.errors import InputError

EMPTY_TEXTS = ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "#N/A"]
"""Texts that mean "missing"."""
DASHES = ("-", "–", "—", "?", ".")
"""What stands for nothing in a column of numbers, and may be a level elsewhere."""
PERHAPS_EMPTY = re.compile(r"n\.?a\.?|n/a\.?|nan|null|missing|<na>|#n/a|#null!|not available", re.IGNORECASE)
"""Levels that may mean "missing" (as None does, which Python writes), though they are not read so as they stand."""
MOST_ALIKE = 10
"""Groups of texts that differ only in spaces or capitals and are named."""
MOST_DIGITS = 7
"""Decimals up to which numbers count as rounded."""
FEWEST_OF_UNIT = 3
"""Different numbers of a unit, on average, where there are several units."""
LARGEST = 1e100
"""Numbers beyond it cannot be squared and added up."""
LARGEST_WHOLE = 2.0**53
"""Whole numbers up to which each is one of its own."""
LARGEST_ANSWER, SMALLEST_ANSWER = 1e49, 1e-49
"""Answers beyond which, or all of them below which, their errors cannot be squared twice."""

BETWEEN, ZEROS = re.compile(r"(?<=[^\W_])[-_–\s]+(?=[^\W_])"), re.compile(r"(?<![0-9.,])0+(?=[0-9])")
GAPS = re.compile(r"(?<![0-9]) | (?![0-9])")
"""Spaces but for those between two digits."""
SPACES = re.compile(r"(?<=[0-9])[\s\u00a0\u202f](?=[0-9]{3}(?![0-9]))")
THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?")
WITH_UNIT = re.compile(r"[+-]?[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)?\s*([^\s0-9.,].{0,15})")
PLUS_MINUS = re.compile(r"[+-]?[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)?\s*(?:±|\+/?-)\s*[0-9].*")
"""A number and its error, 3.1 ± 0.5."""
IN_BRACKETS = re.compile(r"\(\s*[0-9][0-9.,]*\s*\)")
"""A negative number as accounts write it, (10.40)."""
PREFIXED = re.compile(r"[TGMkdcmµμunp]?(g|[lL]|m|s|mol|M|Hz|V|A|W|J|Pa|bar|eV|Ω)")
"""A unit that may have a prefix, mg, and the one that it is a part of."""
IN_FRONT = re.compile(r"[+-]?([A-Z]{0,3}[$€£¥₩₹₽]|USD|EUR|GBP|CHF|JPY)\s*[+-]?[0-9][0-9.,]*")
LETTERS = re.compile(r"(?<=[0-9.,Oo])[Oo](?=[0-9.,Oo]*\s*$)|[Oo](?=[.,][0-9])|[Il](?=[.,]?[0-9])")
"""Letters where a digit must be meant: no unit stands there (5 l are litres)."""
CLOCK = re.compile(r"[+-]?[0-9]+(:[0-5][0-9]){1,2}([.,][0-9]+)?")
"""A duration, 01:10:00 or 12:30.5."""
DECIMAL_COMMA = re.compile(r"[+-]?([0-9]+|[0-9]{1,3}(\.[0-9]{3})+)(,[0-9]+)?")


@dataclass(frozen=True)
class Numbers:
    """The number that each text stands for; texts that mean "missing" are left out."""

    values: dict[str, float]
    notes: tuple[str, ...] = ()

    def column(self, column: pl.Expr) -> pl.Expr:
        return column.replace_strict(
            list(self.values), list(self.values.values()), default=None, return_dtype=pl.Float64
        )


def is_blank(text: str) -> bool:
    """Whether a text means "missing" wherever it stands."""
    return text.strip() in EMPTY_TEXTS


def as_number(text: str) -> float | None:
    """A finite number written plainly; texts such as 007 and 1_000 are none."""
    value = _float(text)
    return value if value is not None and math.isfinite(value) else None


def _float(text: str) -> float | None:
    digits = text.lstrip("+-")
    if "_" in text or (digits[:1] == "0" and digits[1:2].isdigit()):
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _decimal(text: str) -> str | None:
    """1.000,5 → 1000.5"""
    return text.replace(".", "").replace(",", ".") if DECIMAL_COMMA.fullmatch(text) else None


def _thousands(text: str) -> str | None:
    """1,000.5 → 1000.5; no number of thousands is 0,847"""
    if "," in text and (not THOUSANDS.fullmatch(text) or text.lstrip("+-").startswith("0")):
        return None
    return text.replace(",", "")


def read_numbers(name: str, texts: Iterable[str], commas_are_decimal: bool = False) -> Numbers | None:
    """The texts of a column as numbers, or None where they are not; an infinite or enormous one is refused.

    ``commas_are_decimal``: 1,234 is 1.234, as where columns are separated by semicolons.
    """
    told = sorted(t for t in texts if not is_blank(t))
    dashes = [t for t in told if t.strip() in DASHES]
    bare = {t: SPACES.sub("", t.strip()) for t in told if t.strip() not in DASHES}
    percent = [t for t in bare if t.strip().endswith("%")]
    if not bare or (percent and len(percent) < len(bare)):
        return None
    bare = {t: b.removesuffix("%").rstrip() for t, b in bare.items()}
    notes = []
    if old := next((b for b in bare.values() if "," in b), None):
        ways = [_decimal, _thousands] if commas_are_decimal else [_thousands, _decimal]
        way = next((w for w in ways if all(w(b) is not None for b in bare.values())), None)
        if way is None:
            return None
        bare = {t: way(b) or "" for t, b in bare.items()}
        word = "thousands" if way is _thousands else "decimal points"
        notes.append(f"The commas in {name!r} are read as {word}: {old} is {way(old)}.")
    values = {t: _float(b) for t, b in bare.items()}
    if any(v is None for v in values.values()):
        return None
    found = {t: v for t, v in values.items() if v is not None and not math.isnan(v)}
    refuse_enormous(name, found.values())
    if percent:
        notes.append(f"The % signs in {name!r} are left out: {percent[0].strip()} is {found[percent[0]]:g}.")
    if dashes:
        notes.append(f"{dashes[0].strip()!r} in {name!r} is read as missing.")
    return Numbers(found, tuple(notes)) if found else None


def step(answers: NDArray[np.float64]) -> float:
    """What single answers are rounded to: 1, 0.1, …, or 0 where they have more digits than people write."""
    for digits in range(MOST_DIGITS if len(answers) else 0):
        # Of millions the first few tell that most digits are too few.
        if all((np.abs(y - np.round(y, digits)) <= 1e-12 * np.abs(y)).all() for y in (answers[:1_000], answers)):
            return float(10.0**-digits)
    return 0.0


def lattice(answers: NDArray[np.float64]) -> float:
    """The step by which single answers lie apart, the largest of which all their differences are multiples: 1 of prices
    that end in .99, 5, or 1000, where `step` is of the last digit; of other units it is as many times as large."""
    digit = step(answers)
    if not digit or np.abs(answers).max() >= LARGEST_WHOLE * digit:
        return digit
    whole = np.round(answers / digit).astype(np.int64)
    return digit * max(int(np.gcd.reduce(whole - whole[0])), 1)


def unit_of(texts: Iterable[str]) -> str | None:
    """What stands behind the number in every one of these texts, or a currency in front of it, if it is the same: C in
    20 C and 25 C."""
    found = [_unit(t) for t in texts]
    units = {m[1] if m else None for m in found}
    return units.pop() if len(units) == 1 else None


def mistyped(texts: Iterable[str]) -> dict[str, str]:
    """Of texts that are numbers but for letters that look like 0 or 1: 2O.5 for 20.5."""
    meant = {t: LETTERS.sub(lambda m: "0" if m[0] in "Oo" else "1", t) for t in texts}
    return {t: n.strip() for t, n in meant.items() if n != t and as_number(n.replace(",", ".")) is not None}


def units_of(texts: Iterable[str]) -> list[str]:
    """The few units of texts that are all numbers with one, such as 5.1 g and 5100 mg, some with decimals; none where
    they may be names: each unit stands in several, or they are of one quantity."""
    texts = list(texts)
    found = [_unit(t) for t in texts]
    units = sorted({m[1] for m in found if m})
    if same := of_one_quantity(texts):
        return same
    named = all(m and (m[1][0].isalpha() or m[1][0] in "°%$€£¥₩₹₽") for m in found)
    broken = any("." in t or "," in t for t in texts)
    return units if named and broken and 1 < len(units) <= len(texts) / FEWEST_OF_UNIT else []


def of_one_quantity(texts: Iterable[str]) -> list[str]:
    """The units of texts that are all numbers with one, where these differ by their prefix alone: g and mg."""
    found = [_unit(t) for t in texts]
    units = {m[1] if m else "" for m in found}
    whole = {part[1] if (part := PREFIXED.fullmatch(unit)) else "" for unit in units}
    return sorted(units) if len(units) > 1 and len(whole) == 1 and whole != {""} else []


def with_errors(texts: Iterable[str]) -> bool:
    """Whether all of these texts are a number and its error."""
    return all(PLUS_MINUS.fullmatch(t.strip()) for t in texts)


def in_brackets(texts: Iterable[str]) -> bool:
    """Whether all of these texts are numbers in brackets."""
    return all(IN_BRACKETS.fullmatch(t.strip()) for t in texts)


def _unit(text: str) -> re.Match[str] | None:
    return WITH_UNIT.fullmatch(text.strip()) or IN_FRONT.fullmatch(text.strip())


def durations(texts: Iterable[str]) -> bool:
    """Whether all of these texts are hours, minutes and seconds, as clocks show them."""
    return all(CLOCK.fullmatch(t.strip()) for t in texts)


def refuse_enormous(
    name: str, values: Iterable[float], where: Callable[[], str] = lambda: "", most: float = LARGEST
) -> None:
    """``where``: in which rows, asked for where there is something to refuse; ``most``: what is not refused yet."""
    odd = next((v for v in values if not abs(v) <= most), None)
    if odd is not None:
        finite = math.isfinite(odd)
        what = f"{odd:.3g}, too large to calculate with" if finite else f"the infinite number {odd:g}"
        unit = ", or give all in a larger unit" * finite
        raise InputError(f"column {name!r} holds {what}{where()}; correct such cells or leave them blank{unit}.")


def refuse_tiny(name: str, values: Iterable[float]) -> None:
    """An error where all answers are too small to be calculated with, and not all 0."""
    size = max(map(abs, values), default=0.0)
    if 0 < size < SMALLEST_ANSWER:
        raise InputError(
            f"no number in column {name!r} is beyond {size:.3g}: too small to calculate with; give all in a smaller "
            "unit."
        )


def one_of_alike(texts: Iterable[str], rows: Mapping[str, int] | None = None) -> dict[str, str]:
    """For each text the one that stands for all that differ from it only in spaces, capitals or the way a letter is
    encoded: without spaces around it, if there is such a one, and of several the one in most ``rows``."""
    together: dict[str, list[str]] = {}
    for text in sorted(texts, key=lambda t: (t != t.strip(), -(rows or {}).get(t, 0), t)):
        together.setdefault(same(text), []).append(text)
    return {text: group[0] for group in together.values() for text in group}


def same(text: str) -> str:
    """The same of all texts that differ only in spaces, capitals or the way a letter is encoded; a space between digits
    counts: 1 0 is not 10."""
    return GAPS.sub("", " ".join(unicodedata.normalize("NFKC", text).casefold().split()))


def nearly(text: str) -> str:
    """The same of texts that differ in dashes or leading zeros besides; between digits a dash is a gap: 1-0 is not
    10."""
    return ZEROS.sub("", GAPS.sub("", BETWEEN.sub(" ", same(text))))


def _listed(groups: list[list[str]]) -> str:
    more = f" and {len(groups) - MOST_ALIKE:,} more" if len(groups) > MOST_ALIKE else ""
    return ", ".join(" and ".join(repr(t[:40]) for t in group[:3]) for group in groups[:MOST_ALIKE]) + more


def alike(
    name: str,
    texts: Iterable[str],
    what: str = "levels",
    merged: bool | None = None,
    rows: Mapping[str, int] | None = None,
) -> list[str]:
    """Sentences on texts that differ in spaces, capitals or the way a letter is encoded, and on those that differ in
    dashes or leading zeros. ``merged``: whether the former count as one; None where nobody can ask for it."""
    texts = sorted(texts)
    together: dict[str, list[str]] = {}
    for text, one in one_of_alike(texts, rows).items():
        together.setdefault(one, []).append(text)
    as_one = [group for group in together.values() if len(group) > 1]
    fate = {
        True: "each counts as the first",
        False: "they count as different; if they are the same, --merge-alike (merge_alike=True) counts them as one",
        None: "they count as different, so clean them if they are the same",
    }[merged]
    notes = []
    if as_one:
        notes.append(f"Column {name!r} has {what} that differ only in spaces or capitals: {_listed(as_one)}; {fate}.")
    close: dict[str, list[str]] = {}
    for one in together:
        close.setdefault(nearly(one), []).append(one)
    if maybe := [group for group in close.values() if len(group) > 1]:
        differ = f"differ only in dashes or leading zeros: {_listed(maybe)}; they count as different"
        notes.append(f"Column {name!r} has {what} that {differ}, so clean them if they are the same.")
    dashes = [t for t in texts if t.strip() in DASHES] if "+" not in texts else []
    empty = [t for t in texts if t.strip() == "None" or PERHAPS_EMPTY.fullmatch(t.strip())]
    if (dashes or empty) and len(texts) > 2:
        named = ", ".join(repr(t) for t in [*dashes, *empty])
        are = "is one" if len(dashes) + len(empty) == 1 else "are some"
        notes.append(f"{named} {are} of the {what} of {name!r}; leave such cells blank if they mean missing.")
    return notes
