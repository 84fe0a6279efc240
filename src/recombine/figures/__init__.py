"""How a table becomes a picture: one obvious chart for each kind of table.

Names are looked up when they are first used, so that words and numbers do not wait for the drawing library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_WHERE = {
    "Region": "regions",
    "claims": "_claims",
    "column": "_column",
    "curves": "_curves",
    "drawn_for": "theme",
    "forest": "_forest",
    "lines_of_members": "member_lines",
    "maps": "_maps",
    "members": "_members",
    "phase": "_phase",
    "save_figure": "export",
    "scatter": "_scatter",
    "specification": "export",
    "strips": "_strips",
    "to_svg": "export",
    "verdict_table": "_verdict_table",
}

if TYPE_CHECKING:
    from recombine.figures._claims import claims as claims
    from recombine.figures._column import column as column
    from recombine.figures._curves import curves as curves
    from recombine.figures._forest import forest as forest
    from recombine.figures._maps import maps as maps
    from recombine.figures._members import members as members
    from recombine.figures._phase import phase as phase
    from recombine.figures._scatter import scatter as scatter
    from recombine.figures._strips import strips as strips
    from recombine.figures._verdict_table import verdict_table as verdict_table
    from recombine.figures.export import save_figure as save_figure, specification as specification, to_svg as to_svg
    from recombine.figures.member_lines import lines_of_members as lines_of_members
    from recombine.figures.regions import Region as Region
    from recombine.figures.theme import drawn_for as drawn_for


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_WHERE)


if not TYPE_CHECKING:  # type checkers read the imports above instead
    __all__ = __dir__()
