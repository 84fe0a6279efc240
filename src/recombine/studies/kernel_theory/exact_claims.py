"""What the paper says of kernels, judged on exact solutions."""

from __future__ import annotations

import polars as pl

from recombine.studies.claims import Claim, Evidence, Order, Sign, Tables, Value
from recombine.studies.kernel_theory.evidence import kernels, paired_kernels, weights

ALIKE = pl.col("problem").str.contains("|".join([r"\(1, 1\) anchors", r"\(2, 2\) anchors", r"\(4, 4\) anchors"]))
ONE_LAYER = (pl.col("s1") - 0.4264).abs() < 1e-4
REP_1, REP_2 = 6, 2
"""Places in the depth sweep: the rectified quadratic network, and ReLU with three layers."""


def _unequal(tables: Tables) -> Evidence:
    """Accuracy of kernels that answer something: one that says 0 would be right half the time."""
    rows = tables["kernels"].filter((pl.col("sweep") == "equivalence") & ~ALIKE)
    said = rows.filter(pl.col("largest") > 1e-3)
    return Evidence.of(said["right"], [1.0] * len(said), members=len(rows), paired=True)


CD3 = pl.col("problem") == "CD-3"
SQUARES, MARGIN = pl.col("fit") == "least squares", pl.col("fit") == "hard margin"


EXACT = (
    Claim(
        id="kernel-additive",
        sentence="On unseen combinations a kernel machine is a sum of values of seen sub-combinations, exactly.",
        criterion=Sign("below", 1e-10),
        evidence=kernels("random", pl.lit(True), "additive_error"),
        source="Thm 4.2, Eq. 2; 600 random fits of two to four components, largest deviation",
    ),
    Claim(
        id="leak-theory-one",
        sentence="With one anchor a one-layer ReLU kernel applies .743 of the rule, whichever the anchor.",
        criterion=Value(0.0005),
        evidence=kernels("leak", ONE_LAYER & (pl.col("problem").str.contains(r"\(\d,\)")), "slope"),
        published=0.743,
        source="Prop. 5.1, Eq. 3 at S(1;2) = .4264; solved for each of the nine anchors",
    ),
    Claim(
        id="leak-theory-two",
        sentence="With two anchors it applies .853, whether they interpolate or extrapolate.",
        criterion=Value(0.0005),
        evidence=kernels("leak", ONE_LAYER & (pl.col("problem").str.contains(r"\(\d, \d\)")), "slope"),
        published=0.853,
        source="Prop. 5.1, Eq. 3 at S(1;2) = .4264; solved for each of the 36 pairs",
    ),
    Claim(
        id="dispersed-error",
        sentence="Dispersed training pairs leave an error of about 2.84 at S = .4.",
        criterion=Value(0.4),
        evidence=kernels("dispersed", (pl.col("s1") - 0.4).abs() < 1e-6, "error"),
        published=2.84,
        source="dispersed-addition figure, 9 sets; its regression stops at ε = .1. Exact on the same 50 sets: 3.08",
    ),
    Claim(
        id="context-area-squares",
        sentence="Least squares solve CD-3 over 72 % of the salience triangle.",
        criterion=Value(0.04),
        evidence=kernels("context", CD3 & SQUARES & (pl.col("s2") > 0), "right"),
        published=0.72,
        source="exact sweep (fact sheet); the paper draws the diagram for support vector machines only",
    ),
    Claim(
        id="context-area-margin",
        sentence="The hard margin solves CD-3 over only 51 % of it.",
        criterion=Value(0.04),
        evidence=kernels("context", CD3 & MARGIN & (pl.col("s2") > 0), "right"),
        published=0.51,
        source="figure 3, phase diagram",
    ),
    Claim(
        id="context-nested",
        sentence="What solves CD-3 solves CD-2, and what solves CD-2 solves CD-1.",
        criterion=Order(("CD-3", "CD-2", "CD-1")),
        evidence=paired_kernels("context", [MARGIN & (pl.col("problem") == f"CD-{k}") for k in (3, 2, 1)], "right"),
        published=0.064,
        source="figure 3: nested regions; 211, 378 and 406 of 435 kernels, so the smallest step is .064",
    ),
    Claim(
        id="context-pairs-needed",
        sentence="A kernel without salience on pairs of components solves none of them.",
        criterion=Sign("below", 0.01),
        evidence=kernels("context", pl.col("s2") == 0, "right"),
        published=0.0,
        source="section 5: S(2;3) = 0",
    ),
    Claim(
        id="context-loss",
        sentence="The loss decides: at ReLU depths 1 to 5, least squares do better on CD-3 than the hard margin.",
        criterion=Order(("hard margin", "least squares")),
        evidence=paired_kernels("depth", [CD3 & (pl.col("kernel") < 4) & fit for fit in (MARGIN, SQUARES)], "margin"),
        source="fact sheet, at depth 3 alone: −.217 against +.522",
    ),
    Claim(
        id="context-weights-works",
        sentence="Where CD-3 is solved (rectified quadratic, depth 3), conjunctions with context outweigh context.",
        criterion=Order(("context", "context with a feature")),
        evidence=weights(REP_1, [["1", "1"], ["1·2", "1·3"]]),
        source="figure 3, Rep 1: right conjunction .617, context .039, but in the gauge of a ridge; here ANOVA effects",
    ),
    Claim(
        id="context-weights-shortcut",
        sentence="Where it fails (ReLU, depth 3), context itself outweighs them: the shortcut.",
        criterion=Order(("context with a feature", "context")),
        evidence=weights(REP_2, [["1·2", "1·3"], ["1", "1"]]),
        source="figure 3, Rep 2: context .507, right conjunction .084, but in the gauge of a ridge; here ANOVA effects",
    ),
    Claim(
        id="equivalence-kernel",
        sentence="With as many anchors in each class, every kernel answers exactly 0 to unseen equivalences.",
        criterion=Sign("below", 1e-9),
        evidence=kernels("equivalence", ALIKE, "largest"),
        published=0.0,
        source="section 5: transitive equivalence; the largest output over ten saliences and five sets",
    ),
    Claim(
        id="equivalence-unequal",
        sentence="With unequal anchors it answers something, and still never solves the task.",
        criterion=Order(("accuracy", "solved")),
        evidence=_unequal,
        source="not in the paper: its sets have as many anchors in each class",
    ),
    Claim(
        id="ordering-kernel",
        sentence="Every kernel orders all unseen pairs rightly.",
        criterion=Sign("above", 0.999),
        evidence=kernels("order", pl.col("problem") == "ordering", "right"),
        published=1.0,
        source="section 5: transitive ordering is additive",
    ),
)
