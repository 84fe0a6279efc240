"""The playground as one file: its modules put into the page one after the other, and nothing else to load."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from numpy.typing import NDArray

from recombine import __version__
from recombine.errors import InputError
from recombine.figures.export import write
from recombine.playground.still import still_picture
from recombine.support.table import Table, read_tables

HERE = Path(__file__).parent
FEWEST, MOST = 2, 24
"""Levels of a factor that the page draws."""
LARGEST = 1e9
LONGEST = 40

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)


def page(given: Mapping[str, Any] | None = None) -> str:
    """The whole page; ``given`` is a state to begin with, such as `given_table` reads."""
    script, style = inlined("main", "worker"), (HERE / "style.css").read_text(encoding="utf-8")
    told = json.dumps(given, allow_nan=False).replace("<", "\\u003c")
    template = Environment(loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined).get_template(
        "page.html.j2"
    )
    return template.render(
        script=Markup(script),
        style=Markup(style),
        script_hash=_hash(script),
        style_hash=_hash(style),
        given=Markup(told),
        still=still_picture(),
        version=__version__,
    )


def write_page(path: Path, given: Mapping[str, Any] | None = None) -> Path:
    """The page as a file."""
    return write(path, page(given).encode())


def inlined(*entries: str) -> str:
    """The modules that ``entries`` need as one script, each after what it imports. A browser refuses a script in which
    two of them declare one name."""
    order: list[str] = []

    def visit(name: str) -> None:
        if name in order:
            return
        for needed in _IMPORT.findall((HERE / f"{name}.js").read_text(encoding="utf-8")):
            visit(needed)
        order.append(name)

    for entry in entries:
        visit(entry)
    parts = []
    for name in order:
        source = (HERE / f"{name}.js").read_text(encoding="utf-8")
        parts.append(re.sub(r"^export ", "", _IMPORT.sub("", source), flags=re.MULTILINE))
    script = "\n".join(parts)
    if "</script" in script or "<!--" in script:
        raise ValueError("a module holds what would end its script element")
    return script


def given_table(table: Any, factors: Sequence[str], target: str | None) -> dict[str, Any]:
    """A table of two factors as the state the page begins with: its combinations are seen, its mean answers true."""
    if len(factors) != 2:
        raise InputError(f"the playground shows two factors, got {len(factors)}; name two columns: --factors a,b.")
    read = read_tables([table], factors, target=target)[0]
    for factor in read.space.factors:
        if not FEWEST <= len(factor) <= MOST:
            raise InputError(
                f"the factor {factor.name[:80]!r} has {len(factor):,} level{'s' * (len(factor) != 1)}; the playground "
                f"draws {FEWEST} to {MOST}. recombine check has no such limit."
            )
    values, seen = _answers(read)
    rows, columns = read.space.shape
    return {
        "rows": rows,
        "columns": columns,
        "names": [_tidy(name) for name in read.space.names],
        "target": _tidy(target or "y"),
        "levels": [_distinct([_tidy(level) for level in factor.levels or ()]) for factor in read.space.factors],
        "rule": "own" if target else "sum",
        "values": [None if np.isnan(v) else float(v) for v in values] if target else None,
        "seen": seen.astype(int).tolist(),
    }


def _answers(read: Table) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The answer of every cell (NaN where the table has none) and which cells are seen."""
    cells = read.space.index(read.codes.astype(np.int64))
    seen = np.zeros(read.space.size, dtype=bool)
    values = np.full(read.space.size, np.nan)
    target = read.target
    if target is None:
        seen[cells] = True
        return values, seen
    if target.classes is not None and len(target.classes) != 2:
        raise InputError(
            f"the target {target.name[:80]!r} has {len(target.classes)} class{'es' * (len(target.classes) != 1)}; the "
            "playground draws numbers or two."
        )
    told = target.mean if target.classes is None else 2 * target.mean[:, 1] - 1
    if (np.abs(told) > LARGEST).any():
        raise InputError(f"the target {target.name[:80]!r} holds {np.abs(told).max():g}; at most {LARGEST:g} is drawn.")
    use = target.count > 0
    seen[cells[use]], values[cells[use]] = True, told[use]
    return values, seen


def _tidy(name: object) -> str:
    """A name as one short line of text."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in str(name)).split())
    return f"{line[: LONGEST - 1]}…" if len(line) > LONGEST else line or "(empty)"


def _distinct(names: Sequence[str]) -> list[str]:
    """The same names, a number behind one that is there already: long names may be alike once they are cut."""
    taken: list[str] = []
    for name in names:
        free = (name, *(f"{name} ({n})" for n in range(2, len(names) + 2)))
        taken.append(next(one for one in free if one not in taken))
    return taken


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
