"""Examples in cells (``# %%``, as Jupytext and editors read them): run from top to bottom, shown as a page, and saved
as a notebook with what they print."""

from __future__ import annotations

import contextlib
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples"
_HEAD = re.compile(r"^# %%( \[markdown\])?\n", re.MULTILINE)


@dataclass(frozen=True)
class Cell:
    """A piece of prose, or of code with what it printed."""

    code: bool
    source: str
    printed: str = ""


def notebooks() -> list[Path]:
    """The examples that are written in cells."""
    return [path for path in sorted(EXAMPLES.glob("*.py")) if _HEAD.match(path.read_text(encoding="utf-8"))]


def cells(path: Path) -> list[Cell]:
    """The cells of an example, none of them run."""
    parts = _HEAD.split(path.read_text(encoding="utf-8"))[1:]
    found = []
    for kind, text in zip(parts[::2], parts[1::2], strict=True):
        prose = re.sub(r"^# ?", "", text.strip(), flags=re.MULTILINE)
        found.append(Cell(False, prose) if kind else Cell(True, text.strip()))
    return found


def run(path: Path) -> list[Cell]:
    """The cells, each with what it prints after those above it."""
    names: dict[str, Any] = {"__name__": "__main__"}
    done = []
    for cell in cells(path):
        printed = io.StringIO()
        if cell.code:
            with contextlib.redirect_stdout(printed):
                exec(compile(cell.source, str(path), "exec"), names)
        done.append(Cell(cell.code, cell.source, printed.getvalue()))
    return done


def as_page(path: Path, found: list[Cell]) -> str:
    """The cells as Markdown, with a link to the notebook."""
    shown = [f"```python\n{c.source}\n```" if c.code else c.source for c in found]
    told = [f"\n\n```text\n{c.printed}```" if c.printed else "" for c in found]
    link = f'<a href="{path.stem}.ipynb" download>As a notebook</a>; the file is `examples/{path.name}`.'
    return "\n\n".join([*(a + b for a, b in zip(shown, told, strict=True)), link, ""])


def as_notebook(found: list[Cell]) -> str:
    """The cells as a Jupyter notebook (nbformat 4.5)."""

    def one(place: int, cell: Cell) -> dict[str, Any]:
        kept = {"id": f"cell-{place}", "metadata": {}, "source": cell.source.splitlines(keepends=True)}
        if not cell.code:
            return {"cell_type": "markdown", **kept}
        said = {"output_type": "stream", "name": "stdout", "text": cell.printed.splitlines(keepends=True)}
        return {"cell_type": "code", "execution_count": place, "outputs": [said] if cell.printed else [], **kept}

    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    body = {"nbformat": 4, "nbformat_minor": 5, "metadata": kernel,
            "cells": [one(i, cell) for i, cell in enumerate(found, 1)]}  # fmt: skip
    return json.dumps(body, ensure_ascii=False, indent=1) + "\n"
