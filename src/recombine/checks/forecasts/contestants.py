"""Which rules take part in the contest behind a forecast."""

from __future__ import annotations

from recombine.checks.exact.tables import showing_pairs
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.effects import WIDE, Subset, affordable, blocks_of
from recombine.checks.rules.odds import Odds
from recombine.checks.rules.rule import Mean, Rule
from recombine.checks.rules.scales import Scale, scales
from recombine.checks.rules.seen_cells import Cells
from recombine.checks.rules.substitution import Substitution
from recombine.checks.rules.surface import designed, surface_of

MOST_PAIRS = 2_000
"""Pairs of levels up to which their effects are fitted; of numbers more, as far as they are `affordable`."""
FEWEST_FITTED = 0.1
"""Of all pairs of factors, those that must be affordable: fewer are some by no choice."""
MOST_NUMBERS = 30_000_000
"""Cells × effects up to which such a fit fits in memory."""
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
    found += [Adding("additive", cells, 1, scale) for scale in _scales(cells) if not (scale.learnt and designed(cells))]
    pairs = pairs or (several and len(_pairs(cells)[0]) > 0)
    return [*found, Adding("pairs", cells, 2)] if pairs else found


def _scales(cells: Cells) -> list[Scale]:
    if cells.never_empty is not None:
        return scales(cells.never_empty, counted=cells.whole)
    return scales(cells.answers, cells.share, cells.per_cent, cells.reach)


def _pairs(cells: Cells) -> tuple[list[Subset], list[Subset]]:
    """Pairs of factors whose effects are fitted, and those that recur and are not."""
    codes = cells.codes if cells.curves else showing_pairs(cells.codes, cells.shape)
    every = blocks_of(codes, cells.shape, 2, cells.curves)
    blocks, apart = affordable(every, len(cells.codes))
    few = len(blocks) - len(cells.shape) < FEWEST_FITTED * (len(every) - len(cells.shape))
    if len(blocks) < len(every) and (few or sum(map(len, blocks)) > WIDE * len(cells.codes)):
        blocks = []  # some of the pairs, by no choice, and few of them or hardly a cell for two of their effects
    if apart is not None and len(cells.codes) * sum(len(b) for b in blocks if b is not apart) > MOST_NUMBERS:
        blocks = []
    fitted = [b.subset for b in blocks if len(b.subset) > 1]
    return fitted, [b.subset for b in every if len(b.subset) > 1 and b.subset not in fitted]


def untried(cells: Cells) -> list[Subset]:
    """Pairs of factors that recur and whose effects no rule has, of numbers: too many."""
    return _pairs(cells)[1] if cells.numeric and len(cells.shape) > 2 else []
