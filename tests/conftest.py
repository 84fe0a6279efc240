"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# The same examples every time, and no limit on how long one takes: a busy machine is no finding.
settings.register_profile("recombine", deadline=None, derandomize=True)
settings.load_profile("recombine")
