"""Which rules take part in the contest behind a forecast."""

from __future__ import annotations

from recombine.checks.rules import Adding, Cells, Mean, Odds, Rule, scales
from recombine.checks.substitution import Substitution

MOST_PAIRS = 2_000
"""Pairs of levels up to which their effects are fitted."""
MOST_COMPARED = 5_000_000
"""Products of one comparison of all levels up to which substitution takes part."""


def contestants(cells: Cells) -> list[Rule]:
    """The rules that are tried by default, simplest first."""
    levels = sum(cells.shape)
    pairs = len(cells.shape) > 2 and (levels**2 - sum(n * n for n in cells.shape)) / 2 <= MOST_PAIRS
    if not cells.numeric:
        found: list[Rule] = [Mean(cells), Odds("additive", cells, 1)]
        if pairs:
            found.append(Odds("pairs", cells, 2))
        return [*found, Substitution(cells)] if cells.certain and Substitution.work(cells) <= MOST_COMPARED else found
    found = [Adding("constant", cells, 0), Adding("additive", cells, 1)]
    found += [Adding("additive", cells, 1, scale) for scale in scales(cells.answers)]
    return [*found, Adding("pairs", cells, 2)] if pairs else found
