"""What the paper says of dense networks on symbols, from rich to lazy."""

from __future__ import annotations

import polars as pl

from recombine.studies.claims import Claim, Order, Sign, Value
from recombine.studies.kernel_theory.evidence import by_member, by_sigma, networks, of, order


def _lazy_slope(name: str, published: float) -> Claim:
    return Claim(
        id=f"leak-lazy-{name}",
        sentence=f"Lazy networks apply {published:.3f} of the rule ({name}).",
        criterion=Value(0.03),
        evidence=of(networks(f"dense-{name}", lazy=True), "slope"),
        published=published,
        source="addition figure, σ = 1 (digitised)",
    )


def _rich_slope(name: str, published: float) -> Claim:
    return Claim(
        id=f"leak-rich-{name}",
        sentence=f"Rich networks apply {published:.3f} of it ({name}).",
        criterion=Value(0.03),
        evidence=of(networks(f"dense-{name}", lazy=False), "slope"),
        published=published,
        source="addition figure, smallest σ (digitised)",
    )


DENSE = (
    _lazy_slope("extrapolation", 0.746),
    _lazy_slope("interpolation", 0.848),
    _lazy_slope("both", 0.851),
    _lazy_slope("asymmetric", 0.723),
    Claim(
        id="leak-lazy-intercept",
        sentence="With one anchor at the end, lazy networks miss by a constant besides.",
        criterion=Sign("below", 0.0),
        evidence=of(networks("dense-asymmetric", lazy=True), "intercept"),
        published=-0.75,
        source="addition figure, asymmetric set (digitised). Theory: −.80 at κ₀ = 0, −1.47 at these networks' κ₀",
    ),
    Claim(
        id="leak-predicted",
        sentence="The slope of each lazy network is predicted by its own features before training.",
        criterion=Sign("below", 0.1),
        evidence=by_member(
            networks("dense-(extrapolation|interpolation|both|asymmetric)$", lazy=True, pattern=True),
            (pl.col("slope") - pl.col("predicted_start")).abs(),
        ),
        source="nobody plots it network by network; the published means are .746 observed, .743 in theory",
    ),
    _rich_slope("extrapolation", 0.761),
    _rich_slope("interpolation", 0.994),
    _rich_slope("both", 0.912),
    Claim(
        id="additivity-lazy",
        sentence="Lazy networks are conjunction-wise additive on unseen combinations.",
        criterion=Sign("above", 0.95),
        evidence=of(networks("dense-asymmetric", lazy=True), "additivity"),
        published=0.997,
        source="additivity panel, asymmetric set, σ = 1; there over seen and unseen combinations",
    ),
    Claim(
        id="additivity-rich",
        sentence="Rich networks leave additivity behind on the asymmetric set.",
        criterion=Order(("rich", "lazy")),
        evidence=order([networks("dense-asymmetric", lazy=lazy) for lazy in (False, True)], "additivity"),
        published=0.141,
        source="additivity panel: .997 at σ = 1, .856 at σ = 1e-6",
    ),
    Claim(
        id="context-lazy-loss",
        sentence="Lazy networks solve CD-3 by squared error and fail by logistic loss, as the two kernels do.",
        criterion=Order(("logistic", "squared error")),
        evidence=order([networks("dense-cd3-logistic", lazy=True), networks("dense-cd3-squared", lazy=True)], "right"),
        published=1.0,
        source="theory (fact sheet): hard margin 0 % right, least squares 100 %",
    ),
    Claim(
        id="context-lazy-nested",
        sentence="By logistic loss, lazy networks solve CD-1 and not CD-3.",
        criterion=Order(("CD-3", "CD-1")),
        evidence=order([networks("dense-cd3-logistic", lazy=True), networks("dense-cd1-logistic", lazy=True)], "right"),
        published=1.0,
        source="theory at depth 1: margins −.559 on CD-3, +.906 on CD-1, so 0 % and 100 % right",
    ),
    Claim(
        id="context-predicted",
        sentence="The margin of lazy networks on CD-3 is predicted by their own features before training.",
        criterion=Sign("below", 0.15),
        evidence=of(
            networks("dense-cd3-squared", lazy=True),
            (pl.col("margin") - pl.col("predicted_margin_start")).abs(),
        ),
        source="not in the paper, which has no formula for context dependence",
        explanation="In the mean it is (compare the margins); network by network the random function each starts from, "
        "whose standard deviation is .65 whatever the width, moves its margin by about as much as is missing here. "
        "Narrow networks add the spread of their kernels.",
    ),
    Claim(
        id="equivalence-rich",
        sentence="Rich networks solve transitive equivalence.",
        criterion=Value(0.05),
        evidence=of(networks("dense-equivalence-squared", lazy=False), "right"),
        published=1.0,
        source="figure 4",
    ),
    Claim(
        id="equivalence-rich-logistic",
        sentence="They solve it by logistic loss too.",
        criterion=Value(0.05),
        evidence=of(networks("dense-equivalence-logistic", lazy=False), "right"),
        published=1.0,
        source="figure 4",
    ),
    Claim(
        id="equivalence-lazy",
        sentence="Lazy networks stay near chance.",
        criterion=Sign("below", 0.75),
        evidence=of(networks("dense-equivalence-squared", lazy=True), "right"),
        published=0.417,
        source="figure 4: 10 of 24 unseen pairs",
    ),
    Claim(
        id="equivalence-crossover",
        sentence="In between, the margin grows as σ falls from 1 to .1 to .01.",
        criterion=Order(("σ = 1", "σ = .1", "σ = .01")),
        evidence=by_sigma("dense-equivalence-squared", "margin"),
        published=0.47,
        source="our earlier rerun at width 1000: about 0, .47 and .965 (the paper shows accuracy)",
    ),
    Claim(
        id="equivalence-deep",
        sentence="Networks of one to four layers all solve it.",
        criterion=Value(0.1),
        evidence=by_member(networks("^deep.-equivalence", pattern=True), "right", worst=True),
        published=1.0,
        source="deep-network figure; judged by the depth that does worst, a member at a time",
        explanation="Nearly all do. A single network that does not is enough to fail this where there are few members.",
    ),
    Claim(
        id="ordering-lazy",
        sentence="Lazy networks order unseen pairs rightly.",
        criterion=Sign("above", 0.9),
        evidence=of(networks("dense-ordering", lazy=True), "right"),
        published=1.0,
        source="theory: every kernel solves it",
    ),
    Claim(
        id="invariance-lazy",
        sentence="Lazy networks keep k/(1 − k) of a margin when a second item varies for the first time.",
        criterion=Value(0.1),
        evidence=of(networks("dense-invariance", lazy=True), "margin"),
        published=0.743,
        source="partial-exposure figure: formula at k = .4264",
    ),
    Claim(
        id="exposure-lazy",
        sentence="After partial exposure they keep 2k²/(1 − 2k²).",
        criterion=Value(0.1),
        evidence=of(networks("dense-exposure", lazy=True), "margin"),
        published=0.571,
        source="partial-exposure figure: formula at k = .4264",
    ),
)
