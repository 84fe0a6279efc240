"""What the learner sees and must say: a combination becomes an input and a target."""

from recombine.tasks.draws import Draws
from recombine.tasks.images import ImageTask
from recombine.tasks.losses import correct, cross_entropy, squared_error
from recombine.tasks.symbolic import SymbolicTask
from recombine.tasks.task import FixedTask, Inputs, Task
from recombine.tasks.toy import ToyTask

__all__ = [
    "Draws",
    "FixedTask",
    "ImageTask",
    "Inputs",
    "SymbolicTask",
    "Task",
    "ToyTask",
    "correct",
    "cross_entropy",
    "squared_error",
]
