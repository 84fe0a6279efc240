"""What a trained ensemble does. A measure is a function of (ensemble, task) that returns a table, a row a member."""

from recombine.measures.additivity import additivity, effects
from recombine.measures.boundary import boundary, decision_map
from recombine.measures.callback import lightning_callback
from recombine.measures.component_influence import component_influence
from recombine.measures.decoded import decoded
from recombine.measures.derivatives import derivative_blocks
from recombine.measures.drawing import drawing
from recombine.measures.embedding import embedding
from recombine.measures.factorization import factorization
from recombine.measures.gaps import Gap, gap, per_combination, r_squared
from recombine.measures.generalization import generalization
from recombine.measures.geometry import geometry
from recombine.measures.hard_answer import hard_answer
from recombine.measures.influence import influence
from recombine.measures.information import conditional_information, information
from recombine.measures.interval import Interval, interval, summarise
from recombine.measures.latent_map import latent_map
from recombine.measures.leak import leak
from recombine.measures.lenses import lenses
from recombine.measures.measure import measure
from recombine.measures.nearest_seen import nearest_seen
from recombine.measures.one_step import one_step
from recombine.measures.probes import probes
from recombine.measures.ranks import jackknife, partial_spearman, spearman
from recombine.measures.reconstruction import reconstruction
from recombine.measures.recovery import composition_shares, recombination, recovery
from recombine.measures.rendering import rendering
from recombine.measures.resistance import area, resistance
from recombine.measures.responses import Responses, responses
from recombine.measures.salience import salience
from recombine.measures.step_matrix import step_matrix
from recombine.measures.sufficiency import check_theorem, sufficient_support, theorem_table
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
    "check_theorem",
    "component_influence",
    "composition_shares",
    "conditional_information",
    "decision_map",
    "decoded",
    "derivative_blocks",
    "drawing",
    "effects",
    "embedding",
    "factorization",
    "gap",
    "generalization",
    "geometry",
    "hard_answer",
    "influence",
    "information",
    "interval",
    "jackknife",
    "latent_map",
    "leak",
    "lenses",
    "lightning_callback",
    "measure",
    "nearest_seen",
    "one_step",
    "partial_spearman",
    "per_combination",
    "probes",
    "r_squared",
    "recombination",
    "reconstruction",
    "recovery",
    "rendering",
    "resistance",
    "responses",
    "salience",
    "spearman",
    "step_matrix",
    "sufficient_support",
    "summarise",
    "superposition",
    "swap",
    "theorem_table",
    "transport",
    "variance",
    "views",
]
