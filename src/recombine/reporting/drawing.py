"""A figure of a study, drawn when it is first asked for: for the page, and as files.

What was drawn before is found again by the table the figure shows and the code that draws it, so a page that is
written again is not drawn again. Only the studies of this package are found so: the code of others is not known here.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Mapping
from functools import cache, cached_property, partial
from importlib.metadata import version
from pathlib import Path

import altair as alt
import polars as pl
from markupsafe import Markup

import recombine
from recombine.figures import theme
from recombine.figures.cache import recall
from recombine.figures.export import COLUMN, FILES, Drawn, column_files, figure_files
from recombine.reporting.html import inline_svg, responsive


class Drawing:
    """One figure: ``table`` is what it depends on, ``rows`` the part of it that is shown.

    ``kept`` is the name of its study, where this package has all the code that draws it: it is then found again."""

    def __init__(
        self,
        kept: str | None,
        name: str,
        table: bytes,
        rows: Callable[[], pl.DataFrame],
        draw: Callable[[pl.DataFrame], alt.TopLevelMixin],
    ) -> None:
        self.kept, self.name, self.table, self.draw = kept, name, table, draw
        self._make_rows = rows

    @cached_property
    def rows(self) -> pl.DataFrame:
        return self._make_rows()

    @cached_property
    def wide(self) -> Drawn:
        with theme.drawn_for("double"):
            return Drawn(self.draw(self.rows))

    @cached_property
    def narrow(self) -> Drawn:
        with theme.drawn_for("phone"):
            return Drawn(self.draw(self.rows))

    def on_page(self, alt_text: str) -> Markup:
        """The figure for a page, named for those who do not see it."""
        # What was kept was `Markup` when it was made.
        return Markup(
            self._recall(
                f"page {alt_text}", lambda: responsive(self.wide, self.narrow, alt_text, self.name).encode()
            ).decode()
        )

    def on_card(self, alt_text: str) -> Markup:
        """The figure where there is little room: as it is drawn for a telephone."""
        return Markup(
            self._recall(f"card {alt_text}", lambda: inline_svg(self.narrow, alt_text, self.name).encode()).decode()
        )

    def files(self) -> Mapping[str, bytes]:
        """The figure as files, by ending."""
        return {ending: self._recall(ending, partial(self._file, ending)) for ending in FILES | COLUMN}

    def _file(self, ending: str) -> bytes:
        return self._files[ending]

    @cached_property
    def _files(self) -> Mapping[str, bytes]:
        return figure_files(self.wide, self.rows) | column_files(self.narrow)

    def _recall(self, part: str, make: Callable[[], bytes]) -> bytes:
        if self.kept is None:
            return make()
        return recall(lambda: ["drawing", _code(), self.kept, self.name, self._digest, part], make)

    @cached_property
    def _digest(self) -> str:
        return hashlib.sha256(self.table).hexdigest()


@cache
def _code() -> str:
    """The hash of everything that turns a table into a picture: this package, and the libraries it draws with."""
    digest = hashlib.sha256(platform.python_version().encode())
    for library in ("altair", "numpy", "polars", "scipy", "vl-convert-python"):
        digest.update(f"{library} {version(library)}\n".encode())
    root = Path(recombine.__file__).parent
    for path in sorted(root.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()
