"""What a trained ensemble does. A measure is a function of (ensemble, task) that returns a table, a row a member."""

from recombine.measures.additivity import additivity, effects
from recombine.measures.boundary import boundary, decision_map
from recombine.measures.gap import Gap, gap, per_combination, r_squared
from recombine.measures.influence import influence
from recombine.measures.interval import Interval, interval, summarise
from recombine.measures.leak import leak
from recombine.measures.responses import Responses, responses
from recombine.measures.salience import salience

__all__ = [
    "Gap",
    "Interval",
    "Responses",
    "additivity",
    "boundary",
    "decision_map",
    "effects",
    "gap",
    "influence",
    "interval",
    "leak",
    "per_combination",
    "r_squared",
    "responses",
    "salience",
    "summarise",
]
