"""What is asked of the lenses. No paper published these figures; criteria were written before they were seen, but for
one-lens-elsewhere and what is asked beyond count and making."""

from __future__ import annotations

from typing import Any

import polars as pl

from recombine.studies._cells import CORRELATION, Cells, cells, rising
from recombine.studies.claims import Claim, Test
from recombine.studies.together.lenses import ACROSS, ELSEWHERE, GIVEN_COUNT, GIVEN_MADE, GIVEN_SUPPORT, SAME_ROWS

SETTING = ("task", "split")
RHO = pl.col("rho")


def _of(kind: str, lens: str, **task: Any) -> Cells:
    """The values of one lens in one kind of comparison, per setting: networks on the same rows count once."""
    return cells("rho", "by_setting", kind=kind, lens=lens, unit=SETTING, limits=CORRELATION, **task)


def _better(kind: str, first: str, second: str, *names: str) -> Test:
    return rising(_of(kind, first), _of(kind, second), names=names, pair=SETTING)


def _off(column: str) -> Cells:
    """How far a forecast is off, in every setting that has networks to foretell."""
    return cells(column, "forecasts", unit=SETTING, asked=cells("error", "networks", unit=SETTING))


def _asked(id: str, sentence: str, test: Test, source: str, unit: str = "Spearman's ρ") -> Claim:
    return Claim(id, sentence, test, "ours", source=source, unit=unit)


FIRST, THEORY, LATENT, GRADIENT, PARTS = (
    "the theorem of first-principles", "the theory of kernel-theory", "the scores of forced-rendering",
    "the derivatives of gradient-descent", "the masks of break-it-down")  # fmt: skip
CLAIMS = (
    _asked("support-across-splits", "The support verdict orders networks across splits: where training determines more "
           "of the unseen combinations, networks err less on them.", _of(ACROSS, "support").above(), FIRST),
    _asked("support-over-count",
           "The verdict orders networks better than the mere number of combinations that were seen.",
           _better(ACROSS, "share_seen", "support", "number seen", "support"), FIRST),
    _asked("untrained-kernel-across-splits", "Regression on the representation of the untrained network foretells, "
           "across splits, which networks will err.", _of(ACROSS, "kernel_start").above(), THEORY),
    _asked("kernel-across-splits", "Regression on the trained representation foretells it.",
           _of(ACROSS, "kernel").above(), THEORY),
    _asked("factorization-across-splits", "The more of the representation is a sum of one part per factor, the smaller "
           "the error on unseen combinations.", _of(ACROSS, "factorization").above(), LATENT),
    _asked("influence-across-splits", "The more a part of the answer listens to the factor that it does not depend on, "
           "the larger the error.", _of(ACROSS, "influence").above(), GRADIENT),
    _asked("structure-across-splits", "The better the part for one factor can be taken out without the other, the "
           "smaller the error.", _of(ACROSS, "structure").above(), PARTS),
    _asked("kernel-same-rows", "Among networks trained on the same rows, regression on the trained representation "
           "tells who composes.", _of(SAME_ROWS, "kernel").above(), THEORY),
    _asked("factorization-same-rows", "Among networks trained on the same rows, factorization tells who composes.",
           _of(SAME_ROWS, "factorization").above(), LATENT),
    _asked("influence-same-rows", "Among networks trained on the same rows, redundant influence tells who fails.",
           _of(SAME_ROWS, "influence").above(), GRADIENT),
    _asked("structure-same-rows", "Among networks trained on the same rows, structure tells who composes.",
           _of(SAME_ROWS, "structure").above(), PARTS),
    _asked("training-matters", "On the same rows, what training made of the representation tells more than what it was "
           "before.", _better(SAME_ROWS, "kernel_start", "kernel", "untrained kernel", "kernel"), THEORY),
    _asked("kernel-over-influence", "On the same rows, the kernel prediction tells better than influence.",
           _better(SAME_ROWS, "influence", "kernel", "influence", "kernel"), "two lenses that both tell"),
    _asked("kernel-beyond-support", "The kernel prediction says more than the support verdict: its rank correlation "
           "stays when the verdict is held still.", _of(GIVEN_SUPPORT, "kernel").above(), THEORY),
    _asked("influence-beyond-count",
           "Influence tells networks apart across splits that have seen as many combinations.",
           _of(GIVEN_COUNT, "influence").above(), GRADIENT),
    # By task: their mean, .49, is of two tasks that it orders and one that it orders the wrong way.
    *(_asked(f"kernel-beyond-count-{task}", "The kernel prediction tells networks apart across splits that have seen "
             f"as many combinations ({task}).", _of(GIVEN_COUNT, "kernel", task=task).above(), THEORY)
      for task in ("digits", "bumps", "sums")),
    *(_asked(f"{lens}-beyond-making", f"{what} tells networks apart that saw the same rows and were made alike "
             "(size of the first weights, rate, decay).", _of(GIVEN_MADE, lens).above(), source)
      for lens, what, source in (("kernel", "The kernel prediction", THEORY), ("influence", "Influence", GRADIENT))),
    _asked("one-lens-elsewhere", "One lens is enough: the one that tells most on the other two tasks accounts for more "
           "than half of the variance of ranks among networks trained on the same rows of a third.",
           # A lens that has nothing to do with the error points either way.
           cells(RHO * RHO.abs(), "by_setting", kind=ELSEWHERE, unit="task", limits=CORRELATION)
           .above(0.5, nothing=0.0),
           "in place of no-single-lens, whose best lens was chosen on what it was judged by", "ρ |ρ|"),
    _asked("together-over-best", "The five together rank the networks of a setting that was left out better than the "
           "best single lens.", rising(_off("together"), _off("single"), names=("five together", "best single lens"),
           pair=SETTING), "is there more than one thing to see?", "of the range of ranks"),
)  # fmt: skip
