"""Which of four does not belong? Problems from any table of factors, from contours, and from sentences."""

from recombine.tasks.odd_one_out.contour_items import Contours as Contours
from recombine.tasks.odd_one_out.masked_words import MaskedWords as MaskedWords
from recombine.tasks.odd_one_out.problems import (
    Family as Family,
    ProblemSet as ProblemSet,
    Source as Source,
    build as build,
)
from recombine.tasks.odd_one_out.sentences import Sentences as Sentences
from recombine.tasks.odd_one_out.table import FactorTable as FactorTable
from recombine.tasks.odd_one_out.task import OddOneOutTask as OddOneOutTask
from recombine.tasks.odd_one_out.views import TwoViews as TwoViews
