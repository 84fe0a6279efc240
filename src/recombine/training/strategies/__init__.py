"""How a stack is stepped: by member, all at once, from a captured graph or one of each member, as its branches,
compiled, or fused."""

from recombine.training.stack import Objective, Stack
from recombine.training.strategies.branches import Branches as Branches, CompiledBranches as CompiledBranches
from recombine.training.strategies.captured import Captured as Captured
from recombine.training.strategies.compiled import Compiled as Compiled, can_compile as can_compile
from recombine.training.strategies.fused import Fused as Fused, can_fuse as can_fuse
from recombine.training.strategies.loop import Loop as Loop, draws_inside as draws_inside
from recombine.training.strategies.replayed import Replayed as Replayed, can_replay as can_replay
from recombine.training.strategies.stacked import Stacked as Stacked, member_step

STRATEGIES: dict[str, type[Loop] | type[Stacked] | type[Fused]] = {
    "loop": Loop,
    "replayed": Replayed,
    "stacked": Stacked,
    "captured": Captured,
    "branches": Branches,
    "compiled-branches": CompiledBranches,
    "compiled": Compiled,
    "fused": Fused,
}


def strategy_for(name: str, stack: Stack, objective: Objective, shared: bool) -> Loop | Stacked | Fused:
    """The strategy of that name for members of a stack; ``shared`` where all members and steps see one batch."""
    kind = STRATEGIES[name]
    if issubclass(kind, Stacked) and not issubclass(kind, Branches):
        return kind(stack, member_step(stack, objective, shared), shared)
    return kind(stack, objective, shared)
