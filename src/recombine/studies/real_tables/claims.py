"""What is asked of the tables. Most criteria were written before any table but those that come with the package was
fitted with this code; quantiles of a first trial (an additive ridge fit and a forest, on tables of both halves) had
been seen. When results of the development half were known, or may have been, `more-than-one-factor` and
`more-than-one-mostly` were added, `structured-harder` got another measure, `pairs-win` was restricted to the tables
that its sentence names and `crossover` was reworded: see the notes. None was changed after opening the locked half."""

from __future__ import annotations

from typing import Any

import polars as pl

from recombine.studies._cells import CORRELATION, Cells, cells, rising
from recombine.studies.claims import Claim, Test
from recombine.studies.real_tables.collecting import ADVISED, ELL, FEW, MORE, RANDOM, STAIR, VARIANCE
from recombine.studies.real_tables.contest import BOOSTED, FOREST, ONE, RECOMMENDED
from recombine.studies.real_tables.networks import FIRST, LAZY, RICH

LOCKED = pl.col("half") == "locked"
JUDGED = LOCKED.any() == LOCKED
"""The locked half once it was opened; what there is before."""
VALUE = pl.col("value")
CLIPPED = VALUE.clip(-1.0, 1.0)
"""R² has no lower end, and one table should not decide."""


def _of(what: str, rule: str = "", holes: str | tuple[str, ...] = "random", value: Any = VALUE, **more: Any) -> Cells:
    """One value per table."""
    return cells(value, "measured", JUDGED, unit="table", what=what, rule=rule, holes=holes, **more)


def _error(rule: str, holes: str = "random", **labels: Any) -> Cells:
    return _of("log error", rule, holes, **labels)


def _errs_less(rule: str, than: str, holes: str = "random", **labels: Any) -> Test:
    """The first errs less than the second, table by table; errors are compared as ratios."""
    return _error(than, holes, **labels).minus(_error(rule, holes, **labels), pair="table").above()


def _asked(id: str, sentence: str, test: Test, source: str, unit: str) -> Claim:
    return Claim(id, sentence, test, "ours", source=source, unit=unit)


SUM, FORETOLD, SINGLE, CONTEST, THEORY, COLLECT, STRUCTURE = (
    "how much of the world is the sum of its parts", "does “check” say beforehand how wrong it will be",
    "which cells will be wrong", "who beats adding up", "does kernel theory foretell networks on real tables",
    "what to collect", "new places in the last years")  # fmt: skip
SHARE, LOG, RHO = "of tables", "log of a ratio of errors", "Spearman's ρ"

CLAIMS = (
    _asked("adds-up-mostly", "On most tables adding up explains more than half of what varies among unseen "
           "combinations.", _of("R²", "additive", value=VALUE > 0.5, counted=True).above(0.5, nothing=0.5), SUM, SHARE),
    _asked("adds-up-something", "On more than eight of ten tables adding up is better than the same answer for all.",
           _of("R²", "additive", value=VALUE > 0, counted=True).above(0.8, nothing=0.5), SUM, SHARE),
    _asked("more-than-one-factor", "It is not one factor alone: adding up errs less than the best single factor, "
           "chosen in hindsight.", _errs_less("additive", ONE), SUM, LOG),
    _asked("more-than-one-mostly", "On most tables adding up explains more than the best single factor by .05 or more.",
           cells(pl.col("beyond one") >= 0.05, "each", JUDGED, unit="table", counted=True).above(0.5, nothing=0.5),
           SUM, SHARE),
    _asked("adds-up-beyond-noise", "Where cells have several rows, more than half of what is not noise within cells is "
           "the sum of its parts.", _of("R² beyond noise", "additive", value=CLIPPED).above(0.5, nothing=0.0), SUM,
           "R²"),
    _asked("panels-over-crops", "Panels of places and years add up more than field trials.",
           rising(*(_of("R²", "additive", value=CLIPPED, kind=kind) for kind in ("crops", "panels")),
                  names=("crops", "panels")), SUM, "R²"),
    _asked("forecast-centred", "The forecast error is neither too small nor too large: the mean of log (forecast / "
           "realised) is 0.", _of("log of forecast over realised error").near(0.1, theory=0.0), FORETOLD, LOG),
    _asked("forecast-centred-structured", "Where whole pairs of levels are held out, the forecast error is neither too "
          "small nor too large, either.",
           _of("log of forecast over realised error", holes="structured").near(0.1, theory=0.0), FORETOLD, LOG),
    _asked("forecast-interval", "The 90 % interval of the forecast holds the realised error nine times in ten.",
           _of("forecast interval holds", holes=("random", "structured")).near(0.05, theory=0.9), FORETOLD,
           "of hold-outs"),
    _asked("cell-intervals", "The 90 % interval of a cell holds its answer nine times in ten.",
           _of("cell intervals hold").near(0.05, theory=0.9), FORETOLD, "of cells"),
    _asked("cell-intervals-sparse", "The 90 % interval of a cell holds its answer nine times in ten where hardly more "
          "cells are seen than adding up needs, too.",
           _of("cell intervals hold", holes="sparse").near(0.05, theory=0.9), FORETOLD, "of cells"),
    _asked("textbook-intervals-sparse", "Where hardly more cells are seen than adding up needs, the 90 % intervals of "
          "least squares hold less often than they say.",
           _of("textbook cell intervals hold", holes="sparse").below(0.9, nothing=0.9), FORETOLD, "of cells"),
    *(_asked(f"{id}-orders-errors", f"{name} orders the errors of single cells.",
             _of(f"{what} orders errors", holes="sparse", limits=CORRELATION).above(), SINGLE, RHO)
      for id, name, what in (("leverage", "Leverage", "leverage"), ("cut", "The smallest cut", "cut"),
                             ("deviation", "The standard deviation that “check” gives", "standard deviation"))),
    _asked("undetermined-errs-more", "Cells that training does not determine are answered worse than those it does.",
           _of("log error, undetermined", "additive", "sparse")
           .minus(_of("log error, determined", "additive", "sparse"), pair="table").above(), SINGLE, LOG),
    _asked("forest-loses", "Adding up errs less than a forest.", _errs_less("additive", FOREST), CONTEST, LOG),
    _asked("boosted-loses", "Adding up errs less than boosted trees.", _errs_less("additive", BOOSTED), CONTEST, LOG),
    _asked("lazy-networks-lose", "Adding up errs less than an ensemble of lazy networks.",
           _errs_less("additive", LAZY, FIRST), CONTEST, LOG),
    _asked("rich-networks-lose", "Adding up errs less than an ensemble of rich networks.",
           _errs_less("additive", RICH, FIRST), CONTEST, LOG),
    _asked("pairs-win", "With three or more factors, effects of pairs err less than effects of single factors.",
           _errs_less("pairs", "additive", factors=[3, 4]), CONTEST, LOG),
    _asked("recommended-wins", "The rule that “check” recommends errs less than adding up.",
           _errs_less(RECOMMENDED, "additive"), CONTEST, LOG),
    _asked("crossover", "In the ratio of errors a forest loses less to adding up on tables where adding up "
           "explains less than half (of structured holes, so that the errors compared are others).",
           rising(*(cells("gain", "each", JUDGED, unit="table", low=low) for low in (False, True)),
                  names=("adds up", "does not")), CONTEST, LOG),
    _asked("kernel-foretells-lazy", "What an ensemble of lazy networks answers to unseen cells, kernel theory "
           "foretells (correlation above .9).", _of("correlation with the kernel", LAZY, FIRST, limits=CORRELATION)
           .above(0.9, nothing=0.0), THEORY, "correlation"),
    _asked("kernel-foretells-lazy-best", "Kernel theory foretells lazy networks better than rich ones.",
           rising(*(_of("correlation with the kernel", rule, FIRST, limits=CORRELATION) for rule in (RICH, LAZY)),
                  names=("rich", "lazy"), pair="table"), THEORY, "correlation"),
    _asked("kernel-over-adding-up", "What lazy networks answer lies nearer to what the kernel says than to adding up.",
           rising(_of("distance to the kernel", LAZY, FIRST), _of("distance to adding up", LAZY, FIRST),
                  names=("to the kernel", "to adding up"), pair="table"), THEORY, "standard deviations of the seen"),
    _asked("kernel-foretells-shrinkage", "How far lazy networks shrink the effects that they learnt, kernel theory "
           "foretells better than that they add up.",
           rising(_of("off by the kernel's shrinkage", LAZY, FIRST), _of("off by no shrinkage", LAZY, FIRST),
                  names=("the kernel's", "none"), pair="table"), THEORY, "shrinkage"),
    *(_asked(f"advice-over-{id}", f"After as many cells, adding up errs less on the rest if the cells are those that "
             f"“check” advises than {name}.", _errs_less(ADVISED, rule, budget), COLLECT, LOG)
      for id, name, rule, budget in (
          ("random", "if they are drawn at random", RANDOM, MORE), ("l", "by the plan L", ELL, FEW),
          ("stair", "by the plan Stair", STAIR, FEW),
          ("variance", "if each is the one of the largest variance", VARIANCE, MORE))),
    _asked("structured-harder", "Whole pairs of levels are answered worse than as many cells at random (errors "
           "over the variance of all cells).", _of("log error over all", "additive", "structured")
           .minus(_of("log error over all", "additive", "as many at random"), pair="table").above(), STRUCTURE, LOG),
)  # fmt: skip
