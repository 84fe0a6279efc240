"""How a table becomes a picture: one obvious chart for each kind of table."""

from recombine.figures.claims import claims
from recombine.figures.column import column
from recombine.figures.curves import curves
from recombine.figures.export import save_figure, specification, to_svg
from recombine.figures.forest import forest
from recombine.figures.maps import maps
from recombine.figures.member_lines import lines_of_members
from recombine.figures.members import members
from recombine.figures.phase import phase
from recombine.figures.regions import Region
from recombine.figures.scatter import scatter
from recombine.figures.theme import drawn_for
from recombine.figures.verdict_table import verdict_table

__all__ = [
    "Region",
    "claims",
    "column",
    "curves",
    "drawn_for",
    "forest",
    "lines_of_members",
    "maps",
    "members",
    "phase",
    "save_figure",
    "scatter",
    "specification",
    "to_svg",
    "verdict_table",
]
