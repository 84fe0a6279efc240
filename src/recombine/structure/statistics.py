"""Moved to `recombine.statistics`; here until no study asks for it by this name."""

from recombine.statistics import by_base, sign_flip, wild_cluster

__all__ = ["by_base", "sign_flip", "wild_cluster"]
