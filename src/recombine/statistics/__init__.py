"""Numbers with their intervals, rank correlations and tests: the one place where any of them is worked out.

`scipy.special` has the quantiles bit for bit as `scipy.stats` has them and loads in a third of the time.
"""

from recombine.statistics._interval import T_BELOW, FloatArray, Interval
from recombine.statistics.combinations import Statistic, Summary, over_combinations, over_examples
from recombine.statistics.means import difference, interval, summarise
from recombine.statistics.permutations import by_base, permutation, sign_flip, wild_cluster
from recombine.statistics.ranks import jackknife, partial_spearman, spearman
from recombine.statistics.shares import share_interval, shares_apart

__all__ = [
    "T_BELOW",
    "FloatArray",
    "Interval",
    "Statistic",
    "Summary",
    "by_base",
    "difference",
    "interval",
    "jackknife",
    "over_combinations",
    "over_examples",
    "partial_spearman",
    "permutation",
    "share_interval",
    "shares_apart",
    "sign_flip",
    "spearman",
    "summarise",
    "wild_cluster",
]
