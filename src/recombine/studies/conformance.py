"""Can each claim fail? Every claim is judged on tables in which nothing is going on, and on the opposite.

*Nothing*: in every table that is kept, each measured column is dealt anew among the rows, so that no label says
anything of any number, and what is derived is derived again. A claim about one group has its values moved to the figure
that it declares for a world where nothing is going on; one about an order of columns, such as before and after, has
them dealt among these, since one of them may be the larger in every row. *The opposite*: values are mirrored at the
threshold, groups change places. A claim that holds there says nothing where it holds elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from recombine.studies._cells import Cells
from recombine.studies.claims import Claim, Evidence, Order, Sign
from recombine.studies.readings import Tables
from recombine.studies.study import Study
from recombine.studies.tables import derived

TRIES, MORE = 5, 20
"""Tables of noise, and as many more for a claim that holds on most of these: an interval of 95 % excludes the truth in
one of forty on the claimed side, that of a few heavy-tailed values more often, and claims are many."""


@dataclass(frozen=True)
class Unfailing:
    """A claim that holds where it must not."""

    claim: str
    where: str


def unfailing(study: Study[Any], tables: Tables, tries: int = TRIES) -> list[Unfailing]:
    """The claims that hold on most tables of noise, or on the opposite of what was measured.

    ``tables`` are those that the study keeps, and what is derived from them, where it is there already; a claim that
    has no evidence in them cannot be tried."""
    base = {name: tables[name] for name in study.tables if name in tables}
    read = {name for claim in study.claims for name in claim.test.tables}
    whole = tables if read <= tables.keys() else derived(study, base, read)
    noise = cache(lambda seed: derived(study, dealt(base, seed), read))
    found = []
    for claim in study.claims:
        evidence = claim.test.read(whole)
        if not all(evidence.groups):
            continue
        if _holds(claim, evidence) and _holds(claim, opposite(claim, evidence)):
            found.append(Unfailing(claim.id, "the opposite"))
        made = bool(claim.test.tables & study.derived.keys())

        def on_most(seeds: range, claim: Claim = claim, made: bool = made) -> bool:
            held = 0
            for done, seed in enumerate(seeds):
                if 2 * (held + len(seeds) - done) <= len(seeds):
                    return False  # however the other tries end
                held += _holds(claim, _without(claim, noise(seed), made, seed))
            return 2 * held > len(seeds)

        if on_most(range(tries)) and on_most(range(tries, tries + MORE)):
            found.append(Unfailing(claim.id, "nothing"))
    return found


def dealt(tables: Tables, seed: int) -> dict[str, pl.DataFrame]:
    """The tables with each measured column dealt anew among the rows; what names a row stays, and so does what is there
    twice: ``val_x``, a number on problems to choose by, goes with ``x``, since that they agree is no finding."""
    rng = np.random.default_rng(seed)
    found = {}
    for name, table in tables.items():
        measured = [c for c in table.columns if table[c].dtype.is_float()]
        order = {c: rng.permutation(table.height) for c in measured}
        places = {c: order.get(c.removeprefix("val_"), order[c]) for c in measured}
        found[name] = table.with_columns(pl.Series(c, table[c][places[c]]) for c in measured)
    return found


def opposite(claim: Claim, evidence: Evidence) -> Evidence:
    """The evidence of a world in which the opposite is true."""
    criterion = claim.test.criterion
    if isinstance(criterion, Order):
        return replace(evidence, groups=evidence.groups[::-1], asked=evidence.asked[::-1])
    if isinstance(criterion, Sign):
        mirror = [2 * criterion.than - value for value in evidence.groups[0]]
        if evidence.counted:  # as far on the other side, as far as a share can be
            share = min(1.0, max(0.0, float(np.mean(mirror))))
            mirror = [float(place < round(share * len(mirror))) for place in range(len(mirror))]
    else:
        mirror = [value + 3 * criterion.tolerance for value in evidence.groups[0]]
    return replace(evidence, groups=(tuple(mirror),))


def _without(claim: Claim, noise: Tables, made: bool, seed: int) -> Evidence:
    """The evidence of a world in which nothing is going on. What is ``made`` of noise shows itself what it is worth."""
    evidence = claim.test.read(noise, everyone=True)
    nothing = claim.test.nothing
    if made or not all(evidence.groups):
        return evidence
    if len({of.value for of in claim.test.quantities if isinstance(of, Cells) and isinstance(of.value, str)}) > 1:
        return replace(evidence, groups=_among_groups(evidence, seed))
    if nothing is None:
        return evidence
    values = np.asarray(evidence.groups[0])
    if evidence.counted:
        drawn = np.random.default_rng(seed).random(len(values)) < nothing
        return replace(evidence, groups=(tuple(drawn.astype(float).tolist()),))
    return replace(evidence, groups=(tuple((values - values.mean() + nothing).tolist()),))


def _among_groups(evidence: Evidence, seed: int) -> tuple[tuple[float, ...], ...]:
    """The values dealt among the groups: those of a unit where units are compared, else all of them."""
    rng = np.random.default_rng(seed)
    if evidence.paired or evidence.crossed:
        mixed = rng.permuted(np.asarray(evidence.groups), axis=0)
        return tuple(tuple(group) for group in mixed.tolist())
    every = rng.permutation(np.concatenate(evidence.groups))
    ends = np.cumsum([len(group) for group in evidence.groups])[:-1]
    return tuple(tuple(group.tolist()) for group in np.split(every, ends))


def _holds(claim: Claim, evidence: Evidence) -> bool:
    if not all(evidence.groups):
        return False
    published = claim.published.value if claim.published else None
    return claim.test.criterion.holds(claim.test.criterion.figure(evidence), published)
