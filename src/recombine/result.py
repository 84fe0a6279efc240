"""What `check`, `measure` and `dissect` return: a frozen value that can show itself.

A result knows its data and nothing of drawing. `figures` and `reporting` register how each kind of result is drawn;
the lookup happens when somebody asks, so a person who only wants numbers never imports a drawing library.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from recombine.errors import InputError

if TYPE_CHECKING:
    import polars as pl

Renderer = Callable[[Any], Any]
_RENDERERS: dict[tuple[str, str], Renderer] = {}

TABLES = (".json", ".csv", ".parquet")
PICTURES = (".svg", ".pdf", ".png")
CITATION = ".bib"
ENDINGS = (".html", *TABLES, *PICTURES, CITATION)
"""How a result can be saved."""


def register(kind: str, what: str, renderer: Renderer) -> None:
    """Say how results of ``kind`` are drawn as ``what``: ``"plot"`` (an Altair chart), ``"page"`` (HTML text) or
    ``"citation"`` (BibTeX)."""
    _RENDERERS[kind, what] = renderer


def as_json(value: Any, **how: Any) -> str:
    """Valid JSON whatever the numbers: what it cannot hold, NaN and the infinities, is null."""
    try:
        return json.dumps(value, allow_nan=False, **how)
    except ValueError:
        return json.dumps(_finite(value), allow_nan=False, **how)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, (list, tuple)) else value


def safe_csv(frame: pl.DataFrame) -> str:
    """The table as CSV. A text that a spreadsheet would calculate (=1+1, @SUM(A1)) begins with an apostrophe there."""
    import polars as pl

    texts = pl.col(pl.String)
    formula = texts.str.contains(r"^[=+\-@\t\r].") & texts.cast(pl.Float64, strict=False).is_null()
    safe = frame.with_columns(pl.when(formula).then("'" + texts).otherwise(texts).name.keep())
    names = ["'" + name if name[:1] in ("=", "+", "-", "@", "\t", "\r") else name for name in safe.columns]
    return safe.rename(dict(zip(safe.columns, names, strict=True))).write_csv()


class Result:
    """Base of all results. A subclass sets ``kind`` and gives ``to_frame`` and ``to_dict``."""

    kind: ClassVar[str] = "result"

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "__repr__" not in cls.__dict__:  # Said here, or a dataclass would list everything that it holds.
            cls.__repr__ = Result.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        """What was found, as a person would say it; all of it is in `to_frame` and `to_dict`."""
        sentence, verdict = getattr(self, "sentence", None), getattr(self, "verdict", None)
        found = " — ".join(str(part) for part in (verdict, sentence() if sentence else None) if part)
        return f"<{type(self).__name__}: {found}>" if found else f"<{type(self).__name__}>"

    def to_frame(self) -> pl.DataFrame:
        """The result as one table."""
        raise TypeError(f"{type(self).__name__} has no table")

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        raise TypeError(f"{type(self).__name__} has no dictionary")

    def to_json(self, indent: int | None = None) -> str:
        return as_json(self.to_dict(), ensure_ascii=False, indent=indent)

    def plot(self) -> Any:
        """The one obvious picture of this result, an Altair chart."""
        return self._render("plot")

    def _repr_html_(self) -> str:
        return str(self._render("page"))

    def _render(self, what: str) -> Any:
        renderer = _RENDERERS.get((self.kind, what))
        if renderer is None:
            raise InputError(f"nothing is registered to draw a {self.kind} result as {what}; import recombine first.")
        return renderer(self)

    def save(self, path: str | Path) -> Path:
        """Write the result; the ending says how: .json .csv .parquet (data), .svg .pdf .png (picture), .html (page),
        .bib (what to cite)."""
        path = Path(path)
        ending = path.suffix.lower()
        if ending not in ENDINGS:
            what = repr(ending) if ending else f"{str(path)!r}, which has no ending"
            claims = "; the claims of a study are written by recombine.reporting.claims_latex and claims_markdown"
            told = claims if ending in (".tex", ".md") else ""
            raise InputError(f"cannot save a result as {what}; use one of {' '.join(ENDINGS)}{told}.")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._write(path, ending)
        except OSError as error:
            raise InputError(f"{str(path)!r} cannot be written: {error.strerror or error}.") from None
        return path

    def _write(self, path: Path, ending: str) -> None:
        if ending == ".json":
            path.write_text(self.to_json(indent=1), encoding="utf-8")
        elif ending == ".csv":
            path.write_text(safe_csv(self.to_frame()), encoding="utf-8")
        elif ending == ".parquet":
            self.to_frame().write_parquet(path)
        elif ending == ".html":
            path.write_text(self._repr_html_(), encoding="utf-8")
        elif ending == CITATION:
            path.write_text(self._render("citation"), encoding="utf-8")
        else:
            self.plot().save(str(path))
