"""A training that ends well and one that diverges."""

from small_study import make_study

STUDY = make_study("diverging")
