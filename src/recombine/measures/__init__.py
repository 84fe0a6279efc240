"""What a trained ensemble does. A measure is a function of (ensemble, task) that returns a table, a row per member."""

from recombine.measures._additivity import additivity as additivity, effects as effects
from recombine.measures._boundary import boundary as boundary, decision_map as decision_map
from recombine.measures._component_influence import component_influence as component_influence
from recombine.measures._decoded import decoded as decoded
from recombine.measures._drawing import drawing as drawing
from recombine.measures._embedding import embedding as embedding
from recombine.measures._factorization import factorization as factorization
from recombine.measures._generalization import generalization as generalization
from recombine.measures._geometry import geometry as geometry
from recombine.measures._hard_answer import hard_answer as hard_answer
from recombine.measures._influence import influence as influence
from recombine.measures._information import (
    conditional_information as conditional_information,
    information as information,
)
from recombine.measures._kernel_leak import kernel_leak as kernel_leak
from recombine.measures._latent_map import latent_map as latent_map
from recombine.measures._leak import leak as leak
from recombine.measures._lenses import lenses as lenses
from recombine.measures._measure import measure as measure
from recombine.measures._nearest_seen import nearest_seen as nearest_seen
from recombine.measures._one_step import one_step as one_step
from recombine.measures._probes import probes as probes
from recombine.measures._reconstruction import reconstruction as reconstruction
from recombine.measures._recovery import (
    composition_shares as composition_shares,
    recombination as recombination,
    recovery as recovery,
)
from recombine.measures._rendering import rendering as rendering
from recombine.measures._resistance import area as area, resistance as resistance
from recombine.measures._responses import Responses as Responses, responses as responses
from recombine.measures._salience import salience as salience
from recombine.measures._step_matrix import step_matrix as step_matrix
from recombine.measures._superposition import superposition as superposition
from recombine.measures._swap import swap as swap
from recombine.measures._transport import transport as transport
from recombine.measures._variance import variance as variance
from recombine.measures._views import views as views
from recombine.measures.callback import lightning_callback as lightning_callback
from recombine.measures.derivatives import derivative_blocks as derivative_blocks
from recombine.measures.gaps import Gap as Gap, gap as gap, per_combination as per_combination, r_squared as r_squared
from recombine.measures.sufficiency import (
    check_theorem as check_theorem,
    sufficient_support as sufficient_support,
    theorem_table as theorem_table,
)
from recombine.statistics import (
    Interval as Interval,
    interval as interval,
    jackknife as jackknife,
    partial_spearman as partial_spearman,
    spearman as spearman,
    summarise as summarise,
)
