"""What the learner sees and must say: a combination becomes an input and a target."""

from recombine.tasks.bump_reading import BumpReading
from recombine.tasks.bumps import BumpTask
from recombine.tasks.digit_pairs import DigitPairs
from recombine.tasks.draws import Draws
from recombine.tasks.encodings import Encoding, Fourier, OneHot, Population, Ramp
from recombine.tasks.images import ImageTask
from recombine.tasks.losses import correct, cross_entropy, squared_error
from recombine.tasks.scan import ScanTask
from recombine.tasks.symbolic import SymbolicTask
from recombine.tasks.task import FixedTask, Inputs, Task
from recombine.tasks.toy import ToyTask

__all__ = [
    "BumpReading",
    "BumpTask",
    "DigitPairs",
    "Draws",
    "Encoding",
    "FixedTask",
    "Fourier",
    "ImageTask",
    "Inputs",
    "OneHot",
    "Population",
    "Ramp",
    "ScanTask",
    "SymbolicTask",
    "Task",
    "ToyTask",
    "correct",
    "cross_entropy",
    "squared_error",
]
