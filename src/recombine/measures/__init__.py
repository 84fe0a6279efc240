"""What a trained ensemble does. A measure is a function of (ensemble, task) that returns a table, a row a member."""

from recombine.measures.additivity import additivity as additivity, effects as effects
from recombine.measures.boundary import boundary as boundary, decision_map as decision_map
from recombine.measures.callback import lightning_callback as lightning_callback
from recombine.measures.component_influence import component_influence as component_influence
from recombine.measures.decoded import decoded as decoded
from recombine.measures.derivatives import derivative_blocks as derivative_blocks
from recombine.measures.drawing import drawing as drawing
from recombine.measures.embedding import embedding as embedding
from recombine.measures.factorization import factorization as factorization
from recombine.measures.gaps import Gap as Gap, gap as gap, per_combination as per_combination, r_squared as r_squared
from recombine.measures.generalization import generalization as generalization
from recombine.measures.geometry import geometry as geometry
from recombine.measures.hard_answer import hard_answer as hard_answer
from recombine.measures.influence import influence as influence
from recombine.measures.information import (
    conditional_information as conditional_information,
    information as information,
)
from recombine.measures.latent_map import latent_map as latent_map
from recombine.measures.leak import leak as leak
from recombine.measures.lenses import lenses as lenses
from recombine.measures.measure import measure as measure
from recombine.measures.nearest_seen import nearest_seen as nearest_seen
from recombine.measures.one_step import one_step as one_step
from recombine.measures.probes import probes as probes
from recombine.measures.reconstruction import reconstruction as reconstruction
from recombine.measures.recovery import (
    composition_shares as composition_shares,
    recombination as recombination,
    recovery as recovery,
)
from recombine.measures.rendering import rendering as rendering
from recombine.measures.resistance import area as area, resistance as resistance
from recombine.measures.responses import Responses as Responses, responses as responses
from recombine.measures.salience import salience as salience
from recombine.measures.step_matrix import step_matrix as step_matrix
from recombine.measures.sufficiency import (
    check_theorem as check_theorem,
    sufficient_support as sufficient_support,
    theorem_table as theorem_table,
)
from recombine.measures.superposition import superposition as superposition
from recombine.measures.swap import swap as swap
from recombine.measures.transport import transport as transport
from recombine.measures.variance import variance as variance
from recombine.measures.views import views as views
from recombine.statistics import (
    Interval as Interval,
    interval as interval,
    jackknife as jackknife,
    partial_spearman as partial_spearman,
    spearman as spearman,
    summarise as summarise,
)
