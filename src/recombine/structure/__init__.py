"""What is inside it: find, evaluate and remove the part of a network that computes a subroutine."""

from recombine.structure.calling import accuracy, as_problems, respond
from recombine.structure.choose import Choice, chosen, depths, weights_of
from recombine.structure.controls import shuffled, untrained
from recombine.structure.dissect import Dissection, dissect
from recombine.structure.evaluate import ablated, overlap, same_size, subnetwork
from recombine.structure.learning import History
from recombine.structure.masks import Mask, Masked
from recombine.structure.methods import (
    ContinuousSparsification,
    HardConcrete,
    MagnitudePruning,
    Method,
    StraightThroughGumbel,
    TopK,
)
from recombine.structure.modularity import modularity
from recombine.structure.planted import planted_negative, planted_positive
from recombine.structure.problem_files import read_problems
from recombine.structure.protocol import Findings, Network, Protocol, carry_out
from recombine.structure.saved import load_model, save_model
from recombine.structure.schedule import Geometric, Linear, Temperature
from recombine.structure.search import MaskSearch, find_masks
from recombine.structure.settings import MaskSettings, grid
from recombine.structure.subroutines import Subroutine, subroutines_of
from recombine.structure.summary import summarise_masks
from recombine.structure.units import Units, units_of

__all__ = [
    "Choice",
    "ContinuousSparsification",
    "Dissection",
    "Findings",
    "Geometric",
    "HardConcrete",
    "History",
    "Linear",
    "MagnitudePruning",
    "Mask",
    "MaskSearch",
    "MaskSettings",
    "Masked",
    "Method",
    "Network",
    "Protocol",
    "StraightThroughGumbel",
    "Subroutine",
    "Temperature",
    "TopK",
    "Units",
    "ablated",
    "accuracy",
    "as_problems",
    "carry_out",
    "chosen",
    "depths",
    "dissect",
    "find_masks",
    "grid",
    "load_model",
    "modularity",
    "overlap",
    "planted_negative",
    "planted_positive",
    "read_problems",
    "respond",
    "same_size",
    "save_model",
    "shuffled",
    "subnetwork",
    "subroutines_of",
    "summarise_masks",
    "units_of",
    "untrained",
    "weights_of",
]
