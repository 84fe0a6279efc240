"""The pages of this folder as programs: run from top to bottom, and what they print compared with what they show.

In a page, ``python`` blocks are run, and lines of ``sh`` blocks that start with ``recombine``; a block with the name of
a file, such as ``csv NAME`` or ``python NAME``, is written as that file; a ``text`` block shows what the block before
it printed. There, … stands for anything, and a decimal number may be off by two in its last digit. An SVG of
``pictures`` is the ``chart`` of the block before it and says what that says; other pictures are files.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

from markdown_it import MarkdownIt

HERE = Path(__file__).parent
READER = MarkdownIt("commonmark").enable("table")
EXITS = re.compile(r"# exits with (\d+)")
DECIMAL = re.compile(r"\d*\\\.\d+")
"""A decimal number in escaped text."""


def pages() -> list[Path]:
    """Every page, those of the index in its order first."""
    first = HERE / "index.md"
    linked = [first.parent / target for target in links(first) if target.endswith(".md")]
    inside = [page for page in linked if page.resolve().is_relative_to(HERE)]
    return list(dict.fromkeys([first, *inside, *sorted(HERE.glob("**/*.md"))]))


def links(page: Path) -> list[str]:
    """Where a page points to inside this repository, without the place in the page."""
    found = [
        str(child.attrs.get("href", child.attrs.get("src")))
        for token in READER.parse(page.read_text(encoding="utf-8"))
        for child in token.children or ()
        if child.type in ("link_open", "image")
    ]
    return [target.split("#")[0] for target in found if not re.match(r"\w+:|#", target)]


@dataclass(frozen=True)
class Shown:
    """What a block should print, and what it printed."""

    line: int
    expected: str
    printed: str

    @property
    def matches(self) -> bool:
        expected, printed = _tidy(self.expected), _tidy(self.printed)
        escaped = re.escape(expected).replace("…", ".*?")
        found = re.fullmatch(DECIMAL.sub(lambda _: r"(\d*\.\d+)", escaped), printed, re.DOTALL)
        if found is None:
            return False
        wanted = [number.replace("\\", "") for number in DECIMAL.findall(escaped)]
        return all(
            abs(float(one) - float(other)) <= 2.001 * 10.0 ** -len(one.partition(".")[2])
            for one, other in zip(wanted, found.groups(), strict=True)
        )


@dataclass(frozen=True)
class Picture:
    """An image of a page, the line of its block, the chart that this has made, and how it is drawn anew."""

    name: str
    alt: str
    line: int
    chart: Any
    draw: Callable[[], Any]

    @property
    def file(self) -> Path:
        return HERE / "pictures" / f"{self.name}.svg"

    def beside_kept(self, drawn: str) -> Shown:
        """The words and numbers in the picture that is kept, and those that are drawn now."""
        kept = self.file.read_text(encoding="utf-8") if self.file.is_file() else ""
        return Shown(self.line, words_in(kept) if kept else "", words_in(drawn))


def words_in(svg: str) -> str:
    """What a picture says, one text a line."""
    return "\n".join("".join(text.itertext()) for text in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"))


def play(page: Path, folder: Path) -> Iterator[Shown | Picture]:
    """Run a page in a folder of its own."""
    tokens = READER.parse(page.read_text(encoding="utf-8"))
    module = ModuleType(f"page_{page.stem.replace('-', '_')}")
    code, printed, line, owed = "", "", 0, False
    with contextlib.chdir(folder), _known(module):
        for token in tokens:
            kind, _, name = token.info.partition(" ") if token.type == "fence" else ("", "", "")
            if owed and kind and kind != "text":
                yield Shown(line, "", printed)
                owed = False
            line = token.map[0] + 1 if token.map else line
            if kind == "text":
                yield Shown(line, token.content, printed)
                owed = False
            elif name:
                Path(name).write_text(token.content, encoding="utf-8")
            elif kind == "python":
                code = token.content
                made = compile(code, f"{page.name}:{line}", "exec")
                printed = _printed(partial(exec, made, module.__dict__))
                owed = bool(printed.strip())
            elif kind == "sh":
                printed = "".join(_command(text) for text in token.content.splitlines())
            for child in token.children or ():
                source = Path(str(child.attrs.get("src", "")))
                if child.type == "image" and source.suffix == ".svg" and source.parent.name == "pictures":
                    draw, name = _drawn(code, module), source.stem
                    yield Picture(name, child.content, line, module.__dict__.get("chart"), draw)
        if owed:
            yield Shown(line, "", printed)


@contextlib.contextmanager
def _known(module: ModuleType) -> Iterator[None]:
    """Classes that a page defines look their module up by name."""
    sys.modules[module.__name__] = module
    try:
        yield
    finally:
        del sys.modules[module.__name__]


def _drawn(code: str, module: ModuleType) -> Callable[[], Any]:
    """Drawing runs the block again, so that a chart is as wide as the page asks for at that moment."""

    def draw() -> Any:
        exec(code, module.__dict__)
        return module.__dict__["chart"]

    return draw


def _command(text: str) -> str:
    if not text.startswith("recombine "):
        return ""
    from recombine.cli import main

    exits = EXITS.search(text)
    wanted, ended = int(exits[1]) if exits else 0, io.StringIO()

    def call() -> None:
        try:
            main(shlex.split(text, comments=True)[1:])
        except SystemExit as end:
            ended.write(str(end.code or 0))

    with mock.patch.dict(os.environ, {"COLUMNS": "88", "NO_COLOR": "1"}):
        printed = _printed(call)
    if ended.getvalue() != str(wanted):
        raise AssertionError(f"{text!r} exits with {ended.getvalue()}, not {wanted}")
    return printed


def _printed(call: Callable[[], Any]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        call()
    return out.getvalue()


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()).rstrip()
