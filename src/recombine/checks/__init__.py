"""What can be answered at all: coverage, identifiability, what to collect, and what the usual learners will do."""

from recombine.checks._check import check as check
from recombine.checks.asked.query import Query as Query
from recombine.checks.exact._coverage import Coverage as Coverage, coverage as coverage
from recombine.checks.exact.advice import Advice as Advice, advise as advise
from recombine.checks.exact.design import grid_rank as grid_rank
from recombine.checks.exact.identifiability import STATUSES as STATUSES, Identifiability as Identifiability
from recombine.checks.plans.collecting import Purpose as Purpose
from recombine.checks.plans.from_nothing import PlanResult as PlanResult, plan as plan
from recombine.checks.plans.planned import Plan as Plan
from recombine.checks.splitting import CombinationSplit as CombinationSplit
from recombine.checks.theorem._companions import companions as companions
from recombine.checks.theorem.compositional_support import Marginal as Marginal, marginals as marginals
from recombine.checks.theorem.connected_support import Connectedness as Connectedness, connectedness as connectedness
from recombine.checks.theorem.promised import Assumption as Assumption, TheoremResult as TheoremResult
from recombine.checks.theorem.sufficient_support import (
    ComponentSupport as ComponentSupport,
    Rank as Rank,
    rank_of_blocks as rank_of_blocks,
    rank_of_jacobians as rank_of_jacobians,
)
from recombine.checks.verdicts.verdict import CheckResult as CheckResult
