"""Figures of committed results in README and docs: none is typed, each is filled in from ``results``.

    costs <!--= gradient-descent/pair-resistance-b -->.24<!--/--> accuracy

A mark names a study and a claim; what stands between it and ``<!--/-->`` is its measured figure. ``:interval`` is that
with its interval, ``:range`` “from low to high”; ``:low``, ``:high``, ``:members``, ``:fitted`` and ``:published`` are
other columns, and a minus before the study turns the sign. ``study@table:column:mean:run=a,step=4`` is a mean (or
``count``, ``n_unique``, ``min``, ``max``) over the rows of a committed table where columns have these values, with
``layers^stage`` those that begin so; ``_`` stands for a space; ``interval`` is one row with its columns low and high.
``measured.3`` and ``mean.3`` have three decimals. ``run:STUDY/RUN:members`` is what ``study.json`` records of a run,
``runs:all`` and ``runs:cuda`` how many there are, ``seconds:STUDY`` their time on a GPU. ``<!--= table -->`` is the
table of all studies, ``<!--= count:WHOSE:STATUS -->`` a number over all of them, or one
(``:STUDY``; ``inside``: matched by value, the
published figure in our interval); ``tables:locked`` how many real tables are in that half;
``benchmark:PAGE:ROW:COLUMN`` a figure of ``benchmarks/results/PAGE.md`` (column: its place). ``printed:STUDY`` is the
table of every figure that the paper prints (``docs/printed/STUDY.csv``) beside ours, ``printed:STUDY:matched`` (or
``missed``, ``left``, ``no-test``, ``outside``: matched, and outside our interval, ``all``, ``same-sign`` …) how many
there are, ``printed:STUDY:matched:Standard_dev`` under headings that begin so, with a minus before these under all
others. ``<!--= bibtex -->`` are the entries of this package and of the papers. A mark that began a line would end its
paragraph. ``python docs/quoted.py`` fills in every page and what the package carries; a test asserts that nothing would
change.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recombine.figures.data import decimals_for
from recombine.reporting.citing import package_entry, paper_entry
from recombine.statistics import interval
from recombine.studies import STUDIES
from recombine.studies.committed import carry
from recombine.studies.real_tables.registry import registered
from recombine.studies.real_tables.summaries import carry_for_check

ROOT = Path(__file__).parents[1]
MARK = re.compile(r"<!--= (\S+) -->.*?<!--/-->", re.DOTALL)
STATUSES = ("holds", "fails", "open", "not fitted", "not run")
"""The last: declared with its criterion, and a run that it needs is not committed."""
APART = (
    "redundant-many", "uninformative-many", "map-equivalence", "bert-grid", "digit-pairs-when", "sums-alike-1",
    "bumps-alike-1", "sums-many-1", "bumps-many-1", "resnet18-half",
    *(f"digit-pairs-{name}-closely" for name in ("many", "eight", "one")), *(f"faithful-{bases}-{base}" for bases in
                                        ("agreement", "pretrained", "longer", "contours") for base in range(3)),
)  # fmt: skip
"""Runs whose members are no units of their own: most are those of another run, searched or looked at again."""
PAPERS = {
    "gradient-toy": "Li et al., section 6",
    "gradient-descent": "Li et al.",
    "kernel-theory": "Lippl and Stachenfeld",
    "first-principles": "Wiedemer et al.",
    "forced-rendering": "Liang et al.",
    "break-it-down": "Lepori et al.",
    "together": "all five",
    "real-tables": "none: real tables",
}


def filled(text: str) -> str:
    """The text with every mark filled in."""
    return MARK.sub(lambda found: f"<!--= {found[1]} -->{_value(found[1])}<!--/-->", text)


def pages() -> Iterator[Path]:
    """Every page that may quote results."""
    yield ROOT / "README.md"
    yield ROOT / "CHANGELOG.md"
    yield from sorted((ROOT / "docs").glob("**/*.md"))


@cache
def claims(study: str) -> dict[str, dict[str, Any]]:
    """The committed claims of a study by id."""
    told = json.loads((ROOT / "results" / study / "claims.json").read_text(encoding="utf-8"))
    return {claim["id"]: claim for claim in told["claims"]}


def short(number: float, digits: int = 2) -> str:
    """As in a sentence: .46, −.46, 1.00."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{round(number, digits) + 0.0:.{digits}f}").replace("-", "−")


def runs(study: str) -> dict[str, dict[str, Any]]:
    """What was recorded of the committed runs of a study, by name."""
    told = json.loads((ROOT / "results" / study / "study.json").read_text(encoding="utf-8"))
    return dict(told["runs"])


def _value(key: str) -> str:
    if key == "table":
        return _table()
    if key == "bibtex":
        return _bibtex()
    name, *rest = key.split(":")
    if name == "count":
        return str(sum(_count(study, rest[0], rest[1].replace("-", " ")) for study in rest[2:] or PAPERS))
    if name == "printed":
        return _printed(*rest)
    if name == "tables":
        return str(sum(entry.source.half == rest[0] for entry in registered().values()))
    if name == "benchmark":
        return _benchmark(*rest)
    if name == "run":
        study, _, run = rest[0].partition("/")
        told = runs(study)[run][rest[1]]
        return f"{told:.0f}" if isinstance(told, float) else str(told)
    if name == "runs":
        return str(sum(rest[0] in ("all", run["device"]) for study in PAPERS for run in runs(study).values()))
    if name == "seconds":
        return f"{sum(run['seconds'] for run in runs(rest[0]).values() if run['device'] == 'cuda'):.0f}"
    if "@" in name:
        return _from_table(*name.split("@"), *rest)
    sign = -1 if name.startswith("-") else 1
    study, _, claim = name.lstrip("-").partition("/")
    row, (column, _, places) = claims(study)[claim], (rest[0] if rest else "measured").partition(".")
    if column in ("members", "fitted", "status"):
        return str(row[column])
    if column == "published":
        return short(sign * row[column])
    low, mean, high = sorted(sign * row[name] for name in ("low", "measured", "high"))
    if column == "interval":
        return _interval(mean, low, high, places)
    digits = int(places) if places else max(2, decimals_for(low, high) or 0)
    if column == "range":
        return f"from {short(low, digits)} to {short(high, digits)}"
    return short({"low": low, "measured": mean, "high": high}[column], digits)


def _interval(mean: float, low: float, high: float, places: str) -> str:
    digits = int(places) if places else max(2, decimals_for(low, high) or 0)
    return f"{short(mean, digits)} [{short(low, digits)}, {short(high, digits)}]"


def _from_table(study: str, table: str, column: str, how: str, where: str = "") -> str:
    """A figure over the rows of a committed table."""
    rows = _rows(study, table, where)
    values = rows[column].drop_nulls()
    if how == "n_unique":
        return str(values.n_unique())
    if how == "count":
        return str(values.sum() if values.dtype == pl.Boolean else len(values))
    how, _, places = how.partition(".")
    if how == "interval":
        if len(rows) > 1:
            raise KeyError(f"{study}@{table} has {len(rows)} rows where {where}, an interval is of one")
        return _interval(*rows.select(column, "low", "high").row(0), places)
    return short(float(getattr(values.cast(pl.Float64), how)()), int(places or 2))


def _rows(study: str, table: str, where: str) -> pl.DataFrame:
    rows = _table_of(study, table)
    for condition in where.split(",") if where else ():
        name, sign, wanted = re.split("([=^])", condition, maxsplit=1)
        told = pl.col(name).cast(pl.String).str.replace_all(" ", "_")
        rows = rows.filter(told == wanted if sign == "=" else told.str.starts_with(wanted))
    if rows.is_empty():
        raise KeyError(f"{study}@{table} has no row where {where}")
    return rows


def _benchmark(page: str, row: str, column: str) -> str:
    """A figure of a table that a benchmark wrote; of ``all`` rows the sum, of “19 of 20” as of 19."""
    text = (ROOT / "benchmarks" / "results" / f"{page}.md").read_text(encoding="utf-8")
    if row == "all":
        cells = [line.split("|")[1 + int(column)].strip() for line in text.splitlines() if line.startswith("|")]
        counts = [cell.split(" of ") for cell in cells if re.fullmatch(r"\d+( of \d+)?", cell)]
        if not counts:
            raise KeyError(f"{page} has no counts in column {column}")
        return " of ".join(str(sum(map(int, part))) for part in zip(*counts, strict=True))
    found = [line for line in text.splitlines() if line.startswith(f"| {row.replace('_', ' ')} |")]
    if len(found) != 1:
        raise KeyError(f"{page} has {len(found)} rows {row}")
    return re.sub(r"^(-?)0\.", r"\1.", found[0].split("|")[1 + int(column)].strip())


@cache
def _table_of(study: str, table: str) -> pl.DataFrame:
    return pl.read_parquet(ROOT / "results" / study / "tables" / f"{table}.parquet")


def _printed(study: str, asked: str = "", under: str = "") -> str:
    """Every printed figure: ours, and whether they agree. One that is missed has the reason that was tried (after
    ``missed::`` where the rule cannot say so), one that is left, or run far too short, what it costs (``left::``), one
    that could hardly differ why (``no test::``)."""
    with (ROOT / "docs" / "printed" / f"{study}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    counts, shown, group = Counter[str](), list[str](), ""
    for row in rows:
        if None in row or None in row.values():
            raise KeyError(f"{study}: {row['what']} has too few or too many fields; a comma in one wants quotes.")
        said, _, note = row["note"].rpartition("::")
        ours = _ours(study, row["ours"]) if row["ours"] else []
        verdict = said or _agree(row, ours)
        if (verdict in ("missed", "no test") and not note) or (verdict == "left") != ("GPU h" in note and bool(said)):
            raise KeyError(f"{study}: {row['what']} ({verdict}) has no reason, or no cost")
        if row["where"].replace(" ", "_").startswith(under.lstrip("-")) != under.startswith("-"):
            counts.update((verdict, "all", *(["outside"] if verdict == "matched" and _outside(row, ours) else [])))
        if row["where"] != group:
            group = row["where"]
            shown += ["", f"**{group}**", "", "| figure | theirs | ours | |", "|---|---|---|---|"]
        why = f": {note}" if note and verdict in ("missed", "left", "no test") else ""
        printed = re.sub(r"^(-?)0\.", r"\1.", row["printed"]).replace("-", "−")
        verdict += _of_its_own(row["within"]) if verdict in ("matched", "missed") else ""
        shown.append(f"| {row['what']} | {printed} | {_shown(row, ours) if ours else ''} | {verdict}{why} |")
    if under and counts["all"] in (0, len(rows)):
        raise KeyError(f"{study} has no heading, or no other, that begins with {under}")
    return str(counts[asked.replace("-", " ")]) if asked else "\n" + "\n".join(shown) + "\n\n"


@cache
def _ours(study: str, told: str) -> list[float]:
    """One value per network that fitted (per network, where none did, or all are asked for by ``;every``; per member of
    several runs by ``;member``): ``column``, ``ln column``, ``column*.5+1``; ``sd column`` is one value, their standard
    deviation."""
    table, column, where = told.split(":")
    where, _, which = where.partition(";")
    found = re.fullmatch(r"(ln |sd )?(\w+)(?:\*([\d.]+))?(?:\+([\d.]+))?", column)
    assert found is not None, column
    how, name, factor, added = found.groups()
    rows = _rows(study, table, where)
    fitted = rows.filter(pl.col("fitted").fill_null(True)) if "fitted" in rows.columns else rows
    kept = fitted if len(fitted) and which != "every" else rows
    # Masks of a base, and networks with the same map, are no units of their own.
    if unit := "base" if "base" in kept.columns else which if which == "member" else "":
        kept = kept.group_by(unit, maintain_order=True).agg(pl.col(name).mean())
    values = kept[name].drop_nulls().cast(pl.Float64)
    if how == "sd ":
        return [float(np.std(values.to_numpy(), ddof=1))]
    return list((values.log() if how else values) * float(factor or 1) + float(added or 0))


def _agree(row: dict[str, str], ours: list[float]) -> str:
    """By a difference from our mean or a factor (x1.1; x6.3:3.3 from a 6.3rd to 3.3 times), or the sign of its
    interval; what was printed for one network lies among ours."""
    printed, within, mean = float(row["printed"]), row["within"], sum(ours) / len(ours)
    if within == "sign":
        found = interval(ours)
        if len(ours) < 2 or found.low <= 0 <= found.high:
            return "not told"
        return "same sign" if mean * printed > 0 else "other sign"
    if within == "among":
        rounding = 0.5 * 10.0 ** int(Decimal(row["printed"]).as_tuple().exponent)  # of its last digit
        agree = min(ours) - rounding <= printed <= max(ours) + rounding
    elif within.startswith("x"):
        below, _, above = within[1:].partition(":")
        agree = 1 / float(below) <= mean / printed <= float(above or below)
    else:
        agree = abs(mean - printed) <= float(within)
    return "matched" if agree else "missed"


def _outside(row: dict[str, str], ours: list[float]) -> bool:
    """Whether the printed figure lies outside the interval of the mean of ours, however near to that."""
    if row["within"] == "among" or len(ours) < 2:
        return False
    found = interval(ours)
    return not found.low <= float(row["printed"]) <= found.high


def _of_its_own(within: str) -> str:
    """A distance that is none of those that the page begins with."""
    if within.startswith("x") or within in ("sign", "among", "0.05", "0.03"):
        return f" (a factor of {within[1:]})" if re.fullmatch(r"x1\.[2-9]\d*", within) else ""
    return f" (± {within.removeprefix('0')})"


def _shown(row: dict[str, str], ours: list[float]) -> str:
    """A range where one network was printed, else a mean with its interval."""
    low, mean, high = min(ours), sum(ours) / len(ours), max(ours)
    if row["within"] != "among" and len(ours) > 1:
        found = interval(ours)
        low, high = found.low, found.high
        low = max(low, 0.0) if row["within"].startswith("x") else low
        high = min(high, 1.0) if "R²" in row["what"] else high
    if 0 < abs(mean) < 0.01:
        low_, mean_, high_ = (f"{value:.1e}".replace("e-0", "e−").replace("-", "−") for value in (low, mean, high))
    else:
        low_, mean_, high_ = (short(value, 3 if abs(mean) < 2 else 1) for value in (low, mean, high))
    if len(ours) == 1:
        return mean_
    return f"{low_} to {high_}" if row["within"] == "among" else f"{mean_} [{low_}, {high_}]"


def _count(study: str, whose: str, status: str) -> int:
    rows = (row for row in claims(study).values() if row["whose"] == whose)
    return sum(status in ("all", row["status"], row["how"], _inside(row)) for row in rows)


def _inside(row: dict[str, Any]) -> str | None:
    """Of claims matched by value those whose published figure is in our interval, not only within the tolerance."""
    return "inside" if row["how"] == "value matched" and row["low"] <= row["published"] <= row["high"] else None


def _bibtex() -> str:
    """How this package and the papers are cited, as LaTeX tables of claims do."""
    papers = dict.fromkeys(study.paper for study in STUDIES.values() if study.paper)
    entries = (package_entry(), *map(paper_entry, papers))
    return "\n\n```bibtex\n" + "\n".join(line for entry in entries for line in entry) + "\n```\n\n"


def _table() -> str:
    """One row per study: what the paper claims, what of it holds by value and by direction, and what we ask."""
    heads = ["study", "paper", "its claims: hold", "of these by value", "fail", *STATUSES[2:], "ours: hold", "fail",
             *STATUSES[2:], "members"]  # fmt: skip
    rows = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for study, paper in PAPERS.items():
        first, *others = (str(_count(study, "paper", status)) for status in STATUSES)
        ours = [str(_count(study, "ours", status)) for status in STATUSES]
        matched = _count(study, "paper", "value matched")
        members = str(sum(run["members"] or 0 for name, run in runs(study).items() if name not in APART))
        if study == "real-tables":
            members = f"{_rows(study, 'measured', '')['table'].n_unique()} tables"
        rows.append(f"| {' | '.join([f'`{study}`', paper, first, str(matched), *others, *ours, members])} |")
    return "\n\n" + "\n".join(rows) + f"\n\n{_apart()}\n\n"


def _apart() -> str:
    """What is not among the members, because it is some of them again, or few starts many times."""
    plane = _rows("kernel-theory", "map", "")
    starts = plane.unique("width")["networks"].sum()
    return (
        "Members: networks; kernels or samples where nothing is trained. Not counted, asked for by few claims: "
        f"{runs('gradient-toy')[APART[0]]['members']} toy networks\nof each of two settings, the first "
        f"{runs('gradient-toy')['redundant']['members']} of which are counted, and a map of {starts} starts at "
        f"{plane.select('rate', 'sigma').n_unique()} places each;\nnor, the second time, networks of "
        "`break-it-down` that were searched twice."
    )


if __name__ == "__main__":
    carry(ROOT / "results")  # what the package itself repeats of them
    carry_for_check(ROOT / "results")
    for page in pages():
        before = page.read_text(encoding="utf-8")
        if (after := filled(before)) != before:
            page.write_text(after, encoding="utf-8")
            print(page.relative_to(ROOT))
