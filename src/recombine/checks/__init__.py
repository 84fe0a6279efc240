"""What can be answered at all: coverage, identifiability, what to collect, and what the usual learners will do."""

from recombine.checks.advice import Advice, advise
from recombine.checks.check import check
from recombine.checks.coverage import Coverage, coverage
from recombine.checks.design import grid_rank
from recombine.checks.identifiability import STATUSES, Identifiability
from recombine.checks.verdict import CheckResult, Query

__all__ = [
    "STATUSES",
    "Advice",
    "CheckResult",
    "Coverage",
    "Identifiability",
    "Query",
    "advise",
    "check",
    "coverage",
    "grid_rank",
]
