"""What can be answered at all: coverage, identifiability, what to collect, and what the usual learners will do."""

from recombine.checks.advice import Advice, advise
from recombine.checks.check import check
from recombine.checks.companions import companions
from recombine.checks.compositional_support import Marginal, marginals
from recombine.checks.connected_support import Connectedness, connectedness
from recombine.checks.coverage import Coverage, coverage
from recombine.checks.design import grid_rank
from recombine.checks.identifiability import STATUSES, Identifiability
from recombine.checks.sufficient_support import ComponentSupport, Rank, rank_of_blocks, rank_of_jacobians
from recombine.checks.theorem import Assumption, TheoremResult
from recombine.checks.verdict import CheckResult, Query

__all__ = [
    "STATUSES",
    "Advice",
    "Assumption",
    "CheckResult",
    "ComponentSupport",
    "Connectedness",
    "Coverage",
    "Identifiability",
    "Marginal",
    "Query",
    "Rank",
    "TheoremResult",
    "advise",
    "check",
    "companions",
    "connectedness",
    "coverage",
    "grid_rank",
    "marginals",
    "rank_of_blocks",
    "rank_of_jacobians",
]
