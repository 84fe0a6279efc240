"""What kernel machines do on unseen combinations, exactly.

A kernel whose similarity depends only on the shared components is a table of saliences, one per conjunction
(`Kernel`). `nngp` gives the table of a wide random network by depth; `fit_least_squares` and `fit_hard_margin`
solve for the function it learns from any training set, for whole batches of kernels and sets, and a `Solution`
splits that function into its conjunctions. `closed_forms` has the answers that need no fit; `problems` has the
task sets they speak about. After Lippl & Stachenfeld, ICLR 2025, arXiv 2405.16391.
"""

from recombine.kernels import closed_forms as closed_forms, problems as problems
from recombine.kernels.combinations import full_grid as full_grid, shared_components as shared_components
from recombine.kernels.moebius import (
    count_saliences as count_saliences,
    count_similarities as count_similarities,
    subset_orders as subset_orders,
    subset_saliences as subset_saliences,
    subset_similarities as subset_similarities,
    subsets as subsets,
)
from recombine.kernels.network import (
    Activation as Activation,
    Gaussian as Gaussian,
    LeakyReLU as LeakyReLU,
    RectifiedQuadratic as RectifiedQuadratic,
    ReLU as ReLU,
    nngp as nngp,
)
from recombine.kernels.problems import Problem as Problem
from recombine.kernels.salience import Kernel as Kernel
from recombine.kernels.shrinkage import expected_shrinkage as expected_shrinkage
from recombine.kernels.solution import Solution as Solution
from recombine.kernels.solver import (
    fit_hard_margin as fit_hard_margin,
    fit_least_squares as fit_least_squares,
)
from recombine.kernels.spectrum import Spectrum as Spectrum
