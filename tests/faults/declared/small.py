"""Three small trainings."""

from small_study import make_study

STUDY = make_study("small")
