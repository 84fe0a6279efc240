"""What kernel machines do on unseen combinations, exactly.

A kernel whose similarity depends only on the shared components is a table of saliences, one per conjunction
(`Kernel`). `nngp` and `ntk` give the table of a wide random network by depth; `fit_least_squares`,
`fit_hard_margin` and `fit_soft_margin` solve for the function it learns from any training set, for whole
batches of kernels and sets, and a `Solution` splits that function into its conjunctions. `closed_forms` has
the answers that need no fit; `problems` has the task sets they speak about. After Lippl & Stachenfeld, ICLR
2025, arXiv 2405.16391.
"""

from recombine.kernels import closed_forms, problems
from recombine.kernels.combinations import full_grid, shared_components
from recombine.kernels.moebius import (
    count_saliences,
    count_similarities,
    subset_orders,
    subset_saliences,
    subset_similarities,
    subsets,
)
from recombine.kernels.network import (
    Activation,
    Erf,
    Gaussian,
    LeakyReLU,
    RectifiedQuadratic,
    ReLU,
    Step,
    nngp,
    ntk,
)
from recombine.kernels.problems import Problem
from recombine.kernels.salience import Kernel
from recombine.kernels.shrinkage import expected_shrinkage
from recombine.kernels.solution import Solution
from recombine.kernels.solver import fit_hard_margin, fit_least_squares, fit_soft_margin
from recombine.kernels.spectrum import Spectrum

__all__ = [
    "Activation",
    "Erf",
    "Gaussian",
    "Kernel",
    "LeakyReLU",
    "Problem",
    "ReLU",
    "RectifiedQuadratic",
    "Solution",
    "Spectrum",
    "Step",
    "closed_forms",
    "count_saliences",
    "count_similarities",
    "expected_shrinkage",
    "fit_hard_margin",
    "fit_least_squares",
    "fit_soft_margin",
    "full_grid",
    "nngp",
    "ntk",
    "problems",
    "shared_components",
    "subset_orders",
    "subset_saliences",
    "subset_similarities",
    "subsets",
]
