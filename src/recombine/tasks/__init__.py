"""What the learner sees and must say: a combination becomes an input and a target."""

from recombine.tasks.bump_reading import BumpReading as BumpReading
from recombine.tasks.bumps import BumpTask as BumpTask
from recombine.tasks.digit_pairs import DigitPairs as DigitPairs
from recombine.tasks.draws import Draws as Draws
from recombine.tasks.encodings import (
    Encoding as Encoding,
    Fourier as Fourier,
    OneHot as OneHot,
    Population as Population,
    Ramp as Ramp,
)
from recombine.tasks.images import ImageTask as ImageTask
from recombine.tasks.losses import correct as correct, cross_entropy as cross_entropy, squared_error as squared_error
from recombine.tasks.odd_one_out import (
    Contours as Contours,
    FactorTable as FactorTable,
    Family as Family,
    MaskedWords as MaskedWords,
    OddOneOutTask as OddOneOutTask,
    ProblemSet as ProblemSet,
    Sentences as Sentences,
    TwoViews as TwoViews,
)
from recombine.tasks.per_member import PerMember as PerMember
from recombine.tasks.problems import Problems as Problems
from recombine.tasks.scan import ScanTask as ScanTask
from recombine.tasks.sign_products import SignProducts as SignProducts
from recombine.tasks.sprites import SpriteTask as SpriteTask
from recombine.tasks.symbolic import SymbolicTask as SymbolicTask
from recombine.tasks.task import FixedTask as FixedTask, Inputs as Inputs, Task as Task
from recombine.tasks.toy import ToyTask as ToyTask
from recombine.tasks.toy_both import ToyBoth as ToyBoth
from recombine.tasks.vector_parts import VectorParts as VectorParts
