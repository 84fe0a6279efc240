"""What a kernel will do on a named task, as a formula: no training set is built and nothing is fitted."""

from recombine.kernels.closed_forms.context import (
    context_margin_hard as context_margin_hard,
    context_margin_least_squares as context_margin_least_squares,
)
from recombine.kernels.closed_forms.graph_filter import GraphFilter as GraphFilter
from recombine.kernels.closed_forms.leak import Leak as Leak, memorization_leak as memorization_leak
