"""What a kernel will do on a named task, as a formula: no training set is built and nothing is fitted."""

from recombine.kernels.closed_forms.context import context_margin_hard, context_margin_least_squares
from recombine.kernels.closed_forms.exposure import invariance_margin, partial_exposure_margin
from recombine.kernels.closed_forms.graph_filter import GraphFilter
from recombine.kernels.closed_forms.leak import Leak, memorization_leak
from recombine.kernels.closed_forms.relations import (
    EquivalenceOutputs,
    margins_by_distance,
    transitive_equivalence_outputs,
    transitive_ordering_margins,
)

__all__ = [
    "EquivalenceOutputs",
    "GraphFilter",
    "Leak",
    "context_margin_hard",
    "context_margin_least_squares",
    "invariance_margin",
    "margins_by_distance",
    "memorization_leak",
    "partial_exposure_margin",
    "transitive_equivalence_outputs",
    "transitive_ordering_margins",
]
