"""Numbers with their intervals, rank correlations and tests: the one place where any of them is worked out.

`scipy.special` has the quantiles bit for bit as `scipy.stats` has them and loads in a third of the time.
"""

from recombine.statistics._interval import (
    FloatArray as FloatArray,
    Interval as Interval,
    t_quantile as t_quantile,
)
from recombine.statistics.combinations import (
    FEW as FEW,
    T_BELOW as T_BELOW,
    Over as Over,
    Statistic as Statistic,
    over_combinations as over_combinations,
    over_examples as over_examples,
)
from recombine.statistics.means import (
    crossed_error as crossed_error,
    crossed_interval as crossed_interval,
    difference as difference,
    interval as interval,
    summarise as summarise,
)
from recombine.statistics.permutations import (
    by_base as by_base,
    handed_out as handed_out,
    sign_flip as sign_flip,
    wild_cluster as wild_cluster,
)
from recombine.statistics.ranks import (
    jackknife as jackknife,
    jackknife_spearman as jackknife_spearman,
    partial_spearman as partial_spearman,
    spearman as spearman,
)
from recombine.statistics.shares import (
    more_often as more_often,
    share_apart_from as share_apart_from,
    share_interval as share_interval,
    shares_apart as shares_apart,
    wilson as wilson,
)
