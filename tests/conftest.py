"""What all tests share."""

from __future__ import annotations

import os

from hypothesis import settings

# Two workers with two threads each on two cores wait for each other most of the time, and what they compute is small.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The same examples every time, and no limit on how long one takes: a busy machine is no finding.
settings.register_profile("recombine", deadline=None, derandomize=True)
settings.load_profile("recombine")
