"""Moved to `recombine.statistics`; here until no study asks for it by this name."""

from recombine.statistics import jackknife, partial_spearman, spearman

__all__ = ["jackknife", "partial_spearman", "spearman"]
