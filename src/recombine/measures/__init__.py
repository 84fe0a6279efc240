"""What a trained ensemble does. A measure is a function of (ensemble, task) that returns a table, a row a member."""

from recombine.measures.boundary import boundary, decision_map
from recombine.measures.gap import Gap, gap, per_combination, r_squared
from recombine.measures.influence import influence
from recombine.measures.interval import Interval, interval, summarise

__all__ = [
    "Gap",
    "Interval",
    "boundary",
    "decision_map",
    "gap",
    "influence",
    "interval",
    "per_combination",
    "r_squared",
    "summarise",
]
