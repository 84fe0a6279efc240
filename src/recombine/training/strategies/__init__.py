"""How a stack is stepped: member by member, all at once, or all at once from a captured graph."""

from recombine.training.strategies.captured import Captured
from recombine.training.strategies.loop import Loop, draws_inside
from recombine.training.strategies.stacked import Stacked

STRATEGIES: dict[str, type[Loop] | type[Stacked]] = {"loop": Loop, "stacked": Stacked, "captured": Captured}

__all__ = ["STRATEGIES", "Captured", "Loop", "Stacked", "draws_inside"]
