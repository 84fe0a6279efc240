"""How a stack is stepped: member by member, all at once, from a captured graph, or from a compiled one."""

from recombine.training.strategies.captured import Captured
from recombine.training.strategies.compiled import Compiled, can_compile
from recombine.training.strategies.loop import Loop, draws_inside
from recombine.training.strategies.stacked import Stacked

STRATEGIES: dict[str, type[Loop] | type[Stacked]] = {
    "loop": Loop,
    "stacked": Stacked,
    "captured": Captured,
    "compiled": Compiled,
}

__all__ = ["STRATEGIES", "Captured", "Compiled", "Loop", "Stacked", "can_compile", "draws_inside"]
