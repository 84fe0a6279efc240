"""Options that several verbs share, said once, and how their words are read."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter, Token

from recombine.errors import InputError
from recombine.result import ENDINGS
from recombine.space import Level

READ = Group("How the table is read", sort_key=2)
OUTPUT = Group("Output", sort_key=9)
"""Options that stand together in a long --help."""

Scale = Annotated[
    Literal["smoke", "quick", "paper"],
    Parameter(help="smoke: seconds, for tests; quick: minutes on two cores; paper: hours without a GPU."),
]


def _members(_type: object, tokens: Sequence[Token]) -> int:
    # Cyclopts would cut 2.5 down to 2.
    text = tokens[0].value
    try:
        members = int(text)
    except ValueError:
        raise InputError(f"the number of members must be a whole number, got {text[:80]!r}.") from None
    if members < 2:
        raise InputError(f"a study needs at least 2 members to give an interval, got {members}.")
    return members


def _seed(_type: object, tokens: Sequence[Token]) -> int:
    text = tokens[0].value
    if not (text.isdecimal() and text.isascii() and int(text) < 2**63):
        raise InputError(f"a whole number from 0 on is needed, got {text[:80]!r}.")
    return int(text)


Members = Annotated[
    int | None, Parameter(converter=_members, help="Train this many members instead of the scale's own number.")
]
Seed = Annotated[int, Parameter(converter=_seed, help="Seed of everything that is drawn at random.")]
Precision = Annotated[
    Literal["float32", "tf32", "bfloat16"],
    Parameter(help="How products of trainings are rounded; tf32 and bfloat16 need a GPU, and are other runs."),
]
Device = Annotated[str, Parameter(help="auto, cpu or cuda.")]
On = Annotated[
    str,
    Parameter(
        name="--on",
        help="Where runs are computed: here, processes (one per core), processes:4, ray (this machine, or the cluster "
        "of RAY_ADDRESS) or ray://HOST:PORT. The tables are the same.",
    ),
]
DryRun = Annotated[
    bool,
    Parameter(
        name="--dry-run",
        negative=(),
        show_default=False,
        help="Say what would be computed, how long it might take and in how much memory; write nothing.",
    ),
]
StorePath = Annotated[
    str,
    Parameter(
        name="--store", env_var="RECOMBINE_STORE", help="The directory of the store, or a URL such as s3://bucket/path."
    ),
]
Out = Annotated[Path, Parameter(group=OUTPUT, name="--out", help="Where the page, figures and tables are written.")]
MaxRows = Annotated[
    int, Parameter(group=READ, show_default="{:,}".format, help="Refuse a file with more rows, before it is expanded.")
]
MaxBytes = Annotated[
    int,
    Parameter(
        group=READ,
        show_default=lambda count: f"{count / 2**30:g} GiB",
        help="Refuse a file that is larger, or would be once it is decompressed.",
    ),
]
Factors = Annotated[str, Parameter(help="Columns that are recombined: a,b,c.")]
TargetKind = Annotated[
    Literal["number", "class"] | None, Parameter(group=READ, help="What the answer is, where it is not plain.")
]
Bins = Annotated[
    list[str] | None, Parameter(group=READ, help="column=k: cut a column of decimals into k bins.", negative=())
]
Numeric = Annotated[
    list[str] | None,
    Parameter(
        group=READ,
        help="Factors that are numbers: with dose,age=spline dose acts along a straight line, age along a curve.",
        negative=(),
    ),
]
Missing = Annotated[
    Literal["error", "drop", "level"],
    Parameter(group=READ, help="Missing values: refuse the table, leave the rows out, or a level of its own."),
]
MergeAlike = Annotated[
    bool,
    Parameter(
        group=READ, help="Levels that differ only in spaces or capitals are one.", negative=(), show_default=False
    ),
]
OutFile = Annotated[
    Path | None,
    Parameter(
        group=OUTPUT,
        help="Write the result as this file: .html (page), .json .csv .parquet, .svg .pdf .png, .bib (what to cite).",
    ),
]
Json = Annotated[
    bool,
    Parameter(
        group=OUTPUT, name="--json", negative=(), show_default=False, help="Print one JSON object and nothing else."
    ),
]
FailOn = Annotated[
    list[Literal["fails", "open", "not fitted", "not run"]] | None,
    Parameter(group=OUTPUT, name="--fail-on", negative=(), help="Exit with 1 where a claim has this status."),
]

STORE = ".recombine"
OUT = Path("recombine-report")


def words(text: str) -> list[str]:
    """The parts of a,b,c; one that holds a comma itself stands in double quotes."""
    return [part.strip() for part in next(csv.reader([text], skipinitialspace=True), []) if part.strip()]


def pairs(text: str, option: str) -> dict[str, str]:
    """The parts of column=value,column=value."""
    found = {}
    for part in words(text):
        name, sign, value = (piece.strip() for piece in part.partition("="))
        if not (sign and name and value):
            raise InputError(
                f"{option} {text[:80]!r} has the part {part[:80]!r}; write column=value, in double quotes where it "
                "holds a comma."
            )
        found[name] = value
    return found


def bin_counts(texts: Iterable[str]) -> dict[str, int]:
    """How many bins each column is cut into."""
    bins = {}
    for name, value in (pair for text in texts for pair in pairs(text, "--bins").items()):
        if not value.isdecimal():
            raise InputError(f"--bins {name}={value[:80]} needs a whole number after the sign.")
        bins[name] = int(value)
    return bins


def shapes(texts: Iterable[str]) -> dict[str, str]:
    """The parts of column,column=spline: what each number acts along."""
    parts = (part.rpartition("=") for text in texts for part in words(text))
    return {name.strip() if sign else shape: shape.strip() if sign else "linear" for name, sign, shape in parts}


def numbers(text: str | None, option: str) -> dict[str, float]:
    """The parts of column=number,column=number."""
    found = pairs(text, option) if text else {}
    try:
        return {name: float(value) for name, value in found.items()}
    except ValueError:
        raise InputError(f"{option} {str(text)[:80]!r} needs a number after each sign.") from None


def prices(texts: Iterable[str]) -> dict[str, dict[Level, float]]:
    """The parts of column=level:price,column=level:price."""
    found: dict[str, dict[Level, float]] = {}
    for part in (part for text in texts for part in words(text)):
        name, sign, rest = (piece.strip() for piece in part.partition("="))
        level, colon, price = (piece.strip() for piece in rest.rpartition(":"))
        try:
            found.setdefault(name, {})[level] = float(price if sign and colon and level else "")
        except ValueError:
            raise InputError(f"--cost {part[:80]!r} is not understood; write column=level:price.") from None
    return found


def levels_of(text: str) -> dict[str, int | list[Level]]:
    """The parts of column=3,column=red:green: how many levels, or which."""
    found: dict[str, int | list[Level]] = {}
    for name, value in pairs(text, "--levels").items():
        found[name] = int(value) if value.isdecimal() else [level.strip() for level in value.split(":")]
    return found


def check_file(out: Path | None, *read: Path | None, option: str = "--out") -> None:
    """Say at once that a result could not be written to this file, or would take the place of what is read."""
    if out is None:
        return
    if any(path is not None and path.exists() and out.exists() and out.samefile(path) for path in read):
        raise InputError(f"{str(out)!r} is a file that is read here; {option} would write over it.")
    if out.is_dir():
        raise InputError(f"{str(out)!r} is a folder; {option} names a file that ends in one of {' '.join(ENDINGS)}.")
    if out.suffix.lower() not in ENDINGS:
        raise InputError(f"{option} {out.name!r} cannot be written; its ending must be one of {' '.join(ENDINGS)}.")
    if not out.parent.is_dir():
        raise InputError(f"there is no folder {str(out.parent)!r} to write {out.name!r} into.")
