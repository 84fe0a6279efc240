"""Two trainings, one of them a run of the small study."""

from small_study import make_study

STUDY = make_study("other")
