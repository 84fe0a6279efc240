"""Which of four does not belong? Problems from any table of factors, from contours, and from sentences."""

from recombine.tasks.odd_one_out.contour_items import Contours
from recombine.tasks.odd_one_out.masked_words import MaskedWords
from recombine.tasks.odd_one_out.problems import Family, ProblemSet, Source, build, shared_items
from recombine.tasks.odd_one_out.sentences import Sentences, retokenized
from recombine.tasks.odd_one_out.table import FactorTable
from recombine.tasks.odd_one_out.task import OddOneOutTask
from recombine.tasks.odd_one_out.views import TwoViews

__all__ = [
    "Contours",
    "FactorTable",
    "Family",
    "MaskedWords",
    "OddOneOutTask",
    "ProblemSet",
    "Sentences",
    "Source",
    "TwoViews",
    "build",
    "retokenized",
    "shared_items",
]
