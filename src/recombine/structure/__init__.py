"""What is inside it: find, evaluate and remove the part of a network that computes a subroutine."""

from recombine.structure._dissect import Dissection as Dissection, dissect as dissect
from recombine.structure._modularity import modularity as modularity
from recombine.structure.attribution import attribution_masks as attribution_masks
from recombine.structure.calling import accuracy as accuracy, as_problems as as_problems, respond as respond
from recombine.structure.choose import Choice as Choice, chosen as chosen, depths as depths, weights_of as weights_of
from recombine.structure.controls import shuffled as shuffled, untrained as untrained
from recombine.structure.evaluate import (
    ablated as ablated,
    overlap as overlap,
    same_size as same_size,
    subnetwork as subnetwork,
)
from recombine.structure.learning import History as History
from recombine.structure.masks import Mask as Mask, Masked as Masked
from recombine.structure.methods import (
    ContinuousSparsification as ContinuousSparsification,
    HardConcrete as HardConcrete,
    MagnitudePruning as MagnitudePruning,
    Method as Method,
    StraightThroughGumbel as StraightThroughGumbel,
    TopK as TopK,
)
from recombine.structure.planted import planted_negative as planted_negative, planted_positive as planted_positive
from recombine.structure.problem_files import read_problems as read_problems
from recombine.structure.protocol import (
    Findings as Findings,
    Network as Network,
    Protocol as Protocol,
    carry_out as carry_out,
)
from recombine.structure.saved import load_model as load_model, save_model as save_model
from recombine.structure.schedule import Geometric as Geometric, Linear as Linear, Temperature as Temperature
from recombine.structure.search import MaskSearch as MaskSearch, find_masks as find_masks
from recombine.structure.settings import MaskSettings as MaskSettings, grid as grid
from recombine.structure.subroutines import Subroutine as Subroutine, subroutines_of as subroutines_of
from recombine.structure.summary import summarise_masks as summarise_masks
from recombine.structure.units import Units as Units, units_of as units_of
