"""What the learner sees and must say: a combination becomes an input and a target."""

from recombine.tasks.bump_reading import BumpReading
from recombine.tasks.bumps import BumpTask
from recombine.tasks.digit_pairs import DigitPairs
from recombine.tasks.draws import Draws
from recombine.tasks.encodings import Encoding, Fourier, OneHot, Population, Ramp
from recombine.tasks.images import ImageTask
from recombine.tasks.losses import correct, cross_entropy, squared_error
from recombine.tasks.odd_one_out import (
    Contours,
    FactorTable,
    Family,
    MaskedWords,
    OddOneOutTask,
    ProblemSet,
    Sentences,
    TwoViews,
)
from recombine.tasks.problems import Problems
from recombine.tasks.scan import ScanTask
from recombine.tasks.sign_products import SignProducts
from recombine.tasks.sprites import SpriteTask
from recombine.tasks.symbolic import SymbolicTask
from recombine.tasks.task import FixedTask, Inputs, Task
from recombine.tasks.toy import ToyTask
from recombine.tasks.toy_both import ToyBoth
from recombine.tasks.vector_parts import VectorParts

__all__ = [
    "BumpReading",
    "BumpTask",
    "Contours",
    "DigitPairs",
    "Draws",
    "Encoding",
    "FactorTable",
    "Family",
    "FixedTask",
    "Fourier",
    "ImageTask",
    "Inputs",
    "MaskedWords",
    "OddOneOutTask",
    "OneHot",
    "Population",
    "ProblemSet",
    "Problems",
    "Ramp",
    "ScanTask",
    "Sentences",
    "SignProducts",
    "SpriteTask",
    "SymbolicTask",
    "Task",
    "ToyBoth",
    "ToyTask",
    "TwoViews",
    "VectorParts",
    "correct",
    "cross_entropy",
    "squared_error",
]
