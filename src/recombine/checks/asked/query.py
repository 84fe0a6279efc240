"""One asked combination and everything said about it, and what its status means."""

from __future__ import annotations

from dataclasses import dataclass

from recombine.checks.exact.witness import Terms

THEORY = {
    "seen": "it is one of the training combinations",
    "determined": "a signed sum of seen combinations gives it, if effects add up (additive identifiability)",
    "extrapolation": "determined as others are, but a number lies outside the range of values that training shows",
    "undetermined": "effects can shift so that it changes and no seen answer does (additive identifiability)",
    "unseen level": "one of its levels never occurs in training (compositional support)",
}
WORDS = {
    "seen": "seen in training",
    "extrapolation": "determined only if the curve goes on outside the seen range",
    "undetermined": "not determined by this data",
    "unseen level": "level never seen",
}


@dataclass(frozen=True)
class Query:
    """One asked combination and everything said about it."""

    codes: tuple[int, ...]
    status: str
    leverage: float | None = None
    min_cut: int | None = None
    shrinkage: float | None = None
    """What a wide network would give, as a share of the sum of seen effects: no estimate of ours."""
    prediction: float | str | None = None
    """What was observed, of a seen combination; else by the rule that the forecast recommends, None where nothing
    determines it."""
    low: float | None = None
    """Nine of ten numbers lie from ``low`` to ``high``; infinite where the range is open: a rank scale does not tell
    how far beyond the smallest or largest seen answer one lies."""
    high: float | None = None
    row_low: float | None = None
    """Ends of the range of a single new row, where ``low`` and ``high`` are those of the mean of several."""
    row_high: float | None = None
    probabilities: dict[str, float] | None = None
    covered: bool | None = None
    """Whether substitution, where that is the rule, covers it: else its answer is the commonest class."""
    rows: int | None = None
    """Of a seen combination: in how many rows it was answered."""
    smoothed: float | str | None = None
    """Of a seen combination: what the rule says, which learns from the others too."""
    network: float | str | None = None
    """What a wide network would answer: no estimate of ours."""
    network_parts: dict[str, float] | None = None
    """What that is the sum of, by the factors that each part listens to."""
    terms: Terms | None = None
    direction: int | None = None
