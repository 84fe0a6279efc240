"""Which rules take part in the contest behind a forecast."""

from __future__ import annotations

from recombine.checks.rules import Adding, Cells, Mean, Odds, Rule, scales
from recombine.checks.substitution import Substitution
from recombine.checks.surface import designed, surface_of

MOST_PAIRS = 2_000
"""Pairs of levels up to which their effects are fitted."""
MOST_COMPARED = 5_000_000
"""Products of one comparison of all levels up to which substitution takes part."""


def contestants(cells: Cells) -> list[Rule]:
    """The rules that are tried by default, simplest first."""
    sizes = [cells.curves[k].width if k in cells.curves else n for k, n in enumerate(cells.shape)]
    several = len(sizes) > 2 or (len(sizes) == 2 and bool(cells.curves))
    pairs = several and (sum(sizes) ** 2 - sum(n * n for n in sizes)) / 2 <= MOST_PAIRS
    bent = cells.bent()
    if not cells.numeric:
        found: list[Rule] = [Mean(cells), Odds("additive", cells, 1)]
        found += [Odds("curved", bent, 1)] if bent else []
        found += [Odds("pairs", cells, 2)] if pairs else []
        swap = cells.certain and not cells.curves and Substitution.work(cells) <= MOST_COMPARED
        return [*found, Substitution(cells)] if swap else found
    found = [Adding("constant", cells, 0), Adding("additive", cells, 1)]
    found += [Adding("curved", bent, 1)] if bent else []
    surface = surface_of(cells)
    found += [Adding("surface", surface, 2, free=True)] if surface else []
    found += [
        Adding("additive", cells, 1, scale)
        for scale in scales(cells.answers, cells.share)
        if not (scale.learnt and designed(cells))
    ]
    return [*found, Adding("pairs", cells, 2)] if pairs else found
