"""How a table becomes a picture: one obvious chart for each kind of table."""

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
