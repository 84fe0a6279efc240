"""Moved to `recombine.statistics`; here until no study asks for it by this name."""

from recombine.statistics import Interval, interval, share_interval, shares_apart, summarise

__all__ = ["Interval", "interval", "share_interval", "shares_apart", "summarise"]
