"""What a trained ensemble does. A measure is a function of (ensemble, task) that returns a table, a row a member."""

from recombine.measures.additivity import additivity, effects
from recombine.measures.boundary import boundary, decision_map
from recombine.measures.component_influence import component_influence
from recombine.measures.drawing import drawing
from recombine.measures.embedding import embedding
from recombine.measures.factorization import factorization
from recombine.measures.gap import Gap, gap, per_combination, r_squared
from recombine.measures.geometry import geometry
from recombine.measures.hard_answer import hard_answer
from recombine.measures.influence import influence
from recombine.measures.information import conditional_information, information
from recombine.measures.interval import Interval, interval, summarise
from recombine.measures.leak import leak
from recombine.measures.one_step import one_step
from recombine.measures.probes import probes
from recombine.measures.rendering import rendering
from recombine.measures.resistance import area, resistance
from recombine.measures.responses import Responses, responses
from recombine.measures.salience import salience
from recombine.measures.snap import snap
from recombine.measures.superposition import superposition
from recombine.measures.swap import swap
from recombine.measures.transport import transport
from recombine.measures.variance import variance
from recombine.measures.views import views

__all__ = [
    "Gap",
    "Interval",
    "Responses",
    "additivity",
    "area",
    "boundary",
    "component_influence",
    "conditional_information",
    "decision_map",
    "drawing",
    "effects",
    "embedding",
    "factorization",
    "gap",
    "geometry",
    "hard_answer",
    "influence",
    "information",
    "interval",
    "leak",
    "one_step",
    "per_combination",
    "probes",
    "r_squared",
    "rendering",
    "resistance",
    "responses",
    "salience",
    "snap",
    "summarise",
    "superposition",
    "swap",
    "transport",
    "variance",
    "views",
]
