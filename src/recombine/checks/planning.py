"""Plans with a purpose: the best rows for a budget, the fewest rows for a precision, and plans from nothing.

Precision is the standard error of the asked answers under least squares, in units of one row's noise (or of the answer,
where the noise is known): √(xᵀ(XᵀX)⁻¹x).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from recombine.checks.advice import advise
from recombine.checks.cells import cells_with
from recombine.checks.expected import shown
from recombine.checks.exported import run_sheet
from recombine.checks.identifiability import Identifiability
from recombine.checks.modular import Floats, Ints
from recombine.checks.optimal import Choice, choose, floor, until
from recombine.checks.visiting import visiting_order
from recombine.errors import InputError
from recombine.result import Result
from recombine.space import Codes, Factor, FactorSpace, Level

if TYPE_CHECKING:
    import polars as pl

    from recombine.checks.blocks import Shifts

MOST_CELLS = 20_000
"""Cells that are considered, to be collected or to be answered; of a larger grid, a sample."""
MOST_EFFECTS = 1_000
MOST_ROWS = 5_000
NEARLY = 1 + 1e-6
"""Above what is to be reached by so little is reached."""
TRAINED = "of training"
BOUGHT_BY_TWO = (
    "on planted tables of two factors whose levels act together, the answers afterwards erred as much as after as many "
    "unseen rows drawn at random (0.91 to 1.04 times); a row tells of its own combination"
)
BOUGHT = (
    "on planted tables of three factors the answers afterwards erred 0.43 to 0.74 times as much as after as many "
    "unseen rows drawn at random where one pair acted together, and about as much (0.87 to 1.02 times) where all "
    "pairs did"
)
"""Of rows chosen as if effects add up where they do not (`benchmarks/plans.py`)."""
AT_SEEN = (
    "rows are planned at seen levels of every factor; if a factor's levels cannot be had again (a day), name it with "
    "--block"
)


@dataclass(frozen=True, eq=False)
class Plan:
    """Rows to collect, in the order in which to visit them."""

    cells: Codes
    costs: Floats
    before: float | None
    """Typical standard error (root mean square) of the asked answers before; None: some are not determined."""
    after: float | None
    worst: float | None
    bound: float
    """No plan of this price, of the cells considered, has a smaller typical error; or no plan fewer rows."""
    fewest: int | None
    """Where a precision was asked for: no plan has fewer rows."""
    enough: bool
    """Whether every asked answer is determined (and as precise as asked)."""
    noise: float
    rule: str | None
    """The rule around which the noise was estimated; None where it was given or is the unit."""
    changes: float
    """Price of the changes of factors between rows, in this order."""
    changes_bound: float
    assumes: str
    """What the errors rest on."""
    scale: str | None = None
    """The scale on which effects add up, where it is not the answer's own; errors and noise are those of this scale."""
    typical: float | None = None
    """On a log scale, where errors and noise are shares of the answer: a typical one, of which an error to reach is a
    share."""
    far: int = 0
    """Asked combinations outside the seen range of a number, of which the errors do not tell."""
    left: int = 0
    """How many of them are outside it also with these rows."""
    whole: bool = False
    """Whether the errors are over all combinations, where some were seen and nothing narrower was asked about."""
    block: str | None = None
    """What all the rows are in a new one of (a day, a plate), whose shift is estimated with them."""
    shift: tuple[float, float] = (0.0, 0.0)
    """How far a single row of a further block is off by that one's shift alone: before the plan and after it."""
    floor: float | None = None
    """The largest error after any number of rows, where that is above the error asked for: then none are planned."""
    forecast: str | None = None
    """The rule of the forecast that stands beside it, whose error is another one."""
    contradicted: bool = False
    """Whether the seen combinations contradict what the errors rest on, or pairs answer: then none is told in words."""
    repeats: tuple[str, ...] = ()
    """Of each row: the run that it repeats, or that training has it; empty where it is new."""
    seed: int | None = None
    """Of the random order in which the rows stand."""

    def in_runs(self, seed: int) -> Plan:
        """The rows as they should be run: in random order, so that what drifts from run to run looks like no factor's
        effect; in visiting order where changing a factor has a price."""
        if self.changes or self.changes_bound:
            return self
        order = np.random.default_rng(seed).permutation(len(self.cells))
        cells = self.cells[order]
        seen = {tuple(c) for c, said in zip(self.cells.tolist(), self.repeats, strict=True) if said == TRAINED}
        repeats = _repeats(cells, [tuple(cell) in seen for cell in cells.tolist()])
        return replace(self, cells=cells, costs=self.costs[order], repeats=repeats, seed=seed)

    @property
    def order(self) -> str:
        """In which order the rows stand."""
        if self.changes or self.changes_bound:
            least = f"and {self.changes_bound:g} at least in any"
            return f"changes from row to row cost {self.changes:g} in this order, {least}"
        return "" if self.seed is None else f"runs in random order (seed {self.seed})"

    @property
    def words(self) -> str:
        if self.contradicted and self.after is not None and self.floor is None:
            return self._without_errors()
        return self._sentence() + (self._compared() if self.after is not None and self.floor is None else "")

    def _without_errors(self) -> str:
        by = "" if self.forecast is None else f"; the answers are those of the rule “{self.forecast}”"
        least = "" if self.fewest is None else f", in which case no plan has fewer than {self.fewest:,}"
        once = " and each asked combination once before any again"
        told = (
            f"{self._rows}, chosen as if {self.assumes}{least},{once}: no standard error is told that rests on it{by}."
        )
        return f"{told} What such rows buy: {BOUGHT_BY_TWO if self.cells.shape[1] < 3 else BOUGHT}."

    def _compared(self) -> str:
        """What the errors are of, for who compares them with others."""
        if self.noise == 1 and self.forecast is None:
            return ""
        text = " This is how far noise moves a plain fit (least squares, not shrunken)"
        if self.noise != 1:
            was, now = self.new_row.values()
            before = "" if was is None or not len(self.cells) else f" ({self._size(was)} before)"
            own = f" on a further {self.block}, with its own noise and the shift of its {self.block} "
            own += f"({self._size(self.shift[1])}, which rows on one {self.block} hardly lessen),"
            own = ", with its own noise," if self.block is None else own
            text += f"; a new row{own} would be {self._size(now or 0.0)} off{before}"
        if self.forecast is None:
            return f"{text}."
        also = "which holds the noise of the answers and what the rule misses as well"
        return f"{text}. The forecast is of another error, that of the rule “{self.forecast}”, {also}."

    @property
    def new_row(self) -> dict[str, float | None]:
        """How far a single new row is off, typically: the standard error, its own noise and the shift of its block."""
        ends = {"before": (self.before, self.shift[0]), "after": (self.after, self.shift[1])}
        return {when: None if e is None else math.hypot(e, self.noise, shift) for when, (e, shift) in ends.items()}

    @property
    def _rows(self) -> str:
        on = f" on one new {self.block}" if self.block else ""
        return f"{len(self.cells):,} row{'s' if len(self.cells) != 1 else ''}{on}"

    def _sentence(self) -> str:
        around = "" if self.rule is None else f" around the rule “{self.rule}”, what it misses included"
        known = f"with a noise of {self._size(self.noise)} per row{around}"
        on = f" on the {self.scale} scale" if self.scale else ""
        unknown = f"in units of one row's noise{on}" + (", which is not known" if self.fewest is not None else "")
        unit = unknown if self.noise == 1 else known
        if self.typical is not None:
            unit = f"in per cent of the answer, {known}"
            if self.fewest is not None:
                unit += f"; the error asked for is met at a typical answer, {self.typical:.3g}, larger ones err by more"
        rows = self._rows
        outside = f"{self.far:,} asked outside the seen range {'is' if self.far == 1 else 'are'} left out"
        unit += f"; {outside}" if self.far else ""
        if self.after is None and self.far and self.enough:
            return f"{rows}; every asked answer lies outside the seen range: no standard error is told."
        if self.after is None:
            return f"{rows} leave some asked answers undetermined."
        was = "some were not determined before" if self.before is None else f"{self._size(self.before)} before"
        what = "all combinations, seen ones too," if self.whole else "the asked answers"
        what += f" of an average {self.block}" * bool(self.block)
        if self.floor is not None:
            on = f"on one new {self.block}" if self.block else "of those that can be collected"
            least = f"the largest standard error of {what} stays at {self._size(self.floor)} ({unit})"
            more = "; rows on several of these would lower it" if self.block else ""
            more += f"; {rows} determine what is asked" if len(self.cells) else ""
            least = f"with any number of rows {on}, if {self.assumes}, {least}{more}"
            return f"the precision asked for is out of reach: {least}."
        text = f"after {rows}, if {self.assumes}, the typical standard error of {what} is "
        text = f"{text}{self._size(self.after)} ({was}; {unit})"
        worst = self._size(self.worst or 0.0)
        if self.fewest is not None and not len(self.cells):
            return f"every asked answer is as precise already, if {self.assumes}: at worst {worst} ({unit})."
        if self.fewest is not None:
            reached = f"the largest is {worst}, and no plan does it in fewer than {self.fewest:,} rows"
            reached += ", perhaps none in fewer than these" if self.fewest < len(self.cells) else ""
            return f"{text}; {reached}." if self.enough else f"{text}; the precision asked for is not reached."
        return f"{text}; no choice of the same price gets below {self._size(self.bound)}."

    def _size(self, error: float) -> str:
        return shown(error, share=self.typical is not None)

    def to_dict(self, space: FactorSpace) -> dict[str, Any]:
        return {
            "rows": space.decode(self.cells),
            "costs": [float(c) for c in self.costs],
            "repeats": list(self.repeats),
            "error": {"before": self.before, "after": self.after, "worst": self.worst, "bound": self.bound},
            "new_row": self.new_row,
            "fewest": self.fewest,
            "enough": self.enough and not self.left,
            "noise": self.noise,
            "rule": self.rule,
            "assumes": self.assumes,
            "scale": self.scale,
            "typical": self.typical,
            "outside": self.far,
            "block": self.block,
            "shift": dict(zip(("before", "after"), self.shift, strict=True)),
            "floor": self.floor,
            "order": "visiting" if self.changes or self.changes_bound else "random",
            "changes": {"cost": self.changes, "bound": self.changes_bound},
            "words": self.words,
        }


def plan_rows(
    known: Identifiability,
    space: FactorSpace,
    counts: Ints,
    asked: Codes | None,
    pool: Codes,
    prices: Floats,
    *,
    budget: float | None = None,
    error: float | None = None,
    criterion: str = "A",
    noise: float = 1.0,
    rule: str | None = None,
    change: Mapping[str, float] | None = None,
    scale: str | None = None,
    typical: float | None = None,
    distinct: bool = False,
    shifts: Shifts | None = None,
    unit: float = 1.0,
) -> Plan:
    """The rows of ``pool`` that are worth most for ``budget`` (their prices add up to it), or rows until every asked
    standard error is at most ``error``; ``asked`` None: every cell of the pool. ``distinct``: no row is repeated before
    every asked cell is seen or in the plan (where effects do not add up, a row tells of its own cell alone). Errors are
    those inside the seen range of numbers: how far a line or curve goes on is no matter of noise. With ``shifts`` of
    blocks, whose ``unit`` is that of one error here, the rows are all in one new block."""
    _refuse(budget, error, criterion, prices, noise)
    grid = asked is None
    asked = pool if asked is None else asked
    needed = advise(known, asked, candidates=pool, costs=prices)
    if not needed.listed:
        raise InputError("too much is undetermined for a plan; ask about fewer combinations.")
    whole = known.with_rows(needed.cells) if len(needed.cells) else known
    inside = whole.rows.contains(pool)
    pool, prices = pool[inside], prices[inside]
    asked = asked[whole.rows.contains(asked)]
    far = known.beyond(asked) if known.curves else np.zeros(len(asked), dtype=bool)
    x, ask = _features(whole, pool), _features(whole, asked if far.all() else asked[~far])
    first = _places(pool, needed.cells)
    if shifts is None:
        before, now = _information(known, counts, x.shape[1], whole), ask
    else:
        before, x, now, ask = shifts.with_a_new(lambda codes: _features(whole, codes), known, x, ask)
        _few(x.shape[1])
        ties = np.flatnonzero(known.rows.contains(pool))
        if error is not None and not len(ties):
            raise InputError(
                f"to reach an error with rows on a new {shifts.name}, one of the combinations that can be collected "
                "must be determined already; give a budget instead."
            )
        first = np.concatenate([first, ties[:1]])
    none = np.zeros(0, dtype=np.int64)
    start = choose(before, x[:0], now, np.ones(0), 0, first=none) if known.rank == whole.rank else None
    fresh = _fresh(known, pool, asked) if distinct else None
    fewest = lowest = None
    bound = 0.0
    if error is not None:
        chosen, fewest, lowest = _reaching((error / noise) ** 2, before, x, ask, start, first, fresh)
        enough = needed.enough and chosen.worst <= (error / noise) ** 2 * NEARLY
    else:
        total = float(budget or 0)
        chosen = choose(before, x, ask, prices, total, criterion, None if grid or shifts else first, fresh)
        if not np.isfinite(chosen.mean):
            chosen = choose(before, x, ask, prices, total, criterion, first, fresh)
        enough = needed.enough and bool(np.isfinite(chosen.mean))
        bound = math.sqrt(chosen.bound) * noise if criterion == "A" else 0.0
    cells = pool[chosen.rows]
    if shifts is not None and len(cells) == 1:
        raise InputError(f"one row alone on a new {shifts.name} tells nothing of the factors; plan two or more.")
    costs = [float((change or {}).get(name, 0.0)) for name in space.names]
    for name in change or {}:
        space.position(name)
    order, path, least = visiting_order(cells, costs) if change else (np.arange(len(cells)), 0.0, 0.0)
    untold = len(far) > 0 and bool(far.all())
    ends = (math.inf if start is None else start.mean, chosen.mean, chosen.worst)
    was, then, worst = (None if untold else _error(v, noise) for v in ends)
    more = (0, 1 if len(cells) else 0)
    off = [0.0, 0.0] if shifts is None else [shifts.new_row(shifts.blocks + n) / unit for n in more]
    return Plan(
        cells[order], prices[chosen.rows][order], was, then, worst, bound, fewest, enough, noise, rule, path, least,
        known.assumes(space.names, scale), scale, typical, int(far.sum()),
        known.still_beyond(asked, cells),
        repeats=_repeats(cells[order], known.members.contains(cells[order]).tolist()),
        block=None if shifts is None else shifts.name, shift=(off[0], off[1]),
        floor=None if lowest is None else _error(lowest, noise),
    )  # fmt: skip


def _fresh(known: Identifiability, pool: Codes, asked: Codes) -> NDArray[np.bool_]:
    """Which rows of the pool are asked about and were never seen."""
    wanted = {tuple(row) for row in asked.tolist()}
    return np.array([tuple(row) in wanted for row in pool.tolist()], dtype=bool) & ~known.members.contains(pool)


def _reaching(
    most: float, before: Floats, x: Floats, ask: Floats, start: Choice | None, first: Ints,
    fresh: NDArray[np.bool_] | None,
) -> tuple[Choice, int, float | None]:  # fmt: skip
    """Rows until no asked variance is above ``most``, how few could do; and the least that can be had, where that is
    above it: then no rows beyond the first are planned."""
    one = np.ones(len(x))
    if start is not None and start.worst <= most * NEARLY:
        return start, 0, None
    least = float(floor(before, x, ask).max(initial=0.0))
    if least > most * NEARLY:
        return start or choose(before, x, ask, one, len(first), first=first), 0, least
    rows, fewest = until(before, x, ask, most, MOST_ROWS, first, fresh)
    return choose(before, x, ask, one, len(rows), first=rows), fewest, None


def _repeats(cells: Codes, seen: Sequence[bool]) -> tuple[str, ...]:
    first: dict[tuple[int, ...], int] = {}
    runs = [first.setdefault(tuple(cell), i) for i, cell in enumerate(cells.tolist(), 1)]
    return tuple(
        f"of run {run}" if run < i else TRAINED if has else ""
        for i, (run, has) in enumerate(zip(runs, seen, strict=True), 1)
    )


def _refuse(budget: float | None, error: float | None, criterion: str, prices: Floats, noise: float) -> None:
    if (budget is None) == (error is None):
        raise InputError("give either a budget or an error to reach, not both.")
    if budget is not None and not 1 <= budget <= MOST_ROWS * max(1.0, float(prices.max(initial=1.0))):
        raise InputError(f"the budget is {budget:g}; give 1 … {MOST_ROWS:,} rows (or their price).")
    if error is not None and not (math.isfinite(error) and error > 0):
        raise InputError(f"the error to reach is {error:g}; give a number above 0.")
    if criterion not in ("A", "D"):
        raise InputError(f"the criterion is {criterion!r}; give A (precise answers) or D (precise effects).")
    if budget is not None and not (prices > 0).all():
        raise InputError("with a budget every combination needs a price above 0; price a level of each.")
    if not (math.isfinite(noise) and noise > 0):
        raise InputError(f"the noise of one row is {noise:g}; give a number above 0.")


def _error(variance: float, noise: float) -> float | None:
    return math.sqrt(variance) * noise if math.isfinite(variance) else None


def _features(known: Identifiability, codes: Codes) -> Floats:
    _few(known.rows.rows(codes[:1]).shape[1])
    return known.rows.floats(codes)


def _few(effects: int) -> None:
    if effects > MOST_EFFECTS:
        raise InputError(f"a plan is made for up to {MOST_EFFECTS:,} effects; here are {effects:,}.")


def _information(known: Identifiability, counts: Ints, size: int, whole: Identifiability) -> Floats:
    total = np.zeros((size, size))
    for start in range(0, len(known.codes), 20_000):
        x = _features(whole, known.codes[start : start + 20_000])
        total += (x * counts[start : start + 20_000, None]).T @ x
    return total


def _places(pool: Codes, cells: Codes) -> Ints:
    where = {tuple(row): i for i, row in enumerate(pool.tolist())}
    return np.array([where[tuple(row)] for row in cells.tolist()], dtype=np.int64)


def considered(space: FactorSpace, exclude: Sequence[Mapping[str, Level]], seed: int, *more: Codes) -> Codes:
    """The cells of the grid that exist; of a large grid a sample, and ``more`` besides."""
    if space.size <= MOST_CELLS:
        cells = space.grid()
    else:
        sample = space.sample(MOST_CELLS, seed)
        cells = np.unique(np.vstack([np.asarray(m, dtype=np.int64)[:MOST_CELLS] for m in (sample, *more)]), axis=0)
    cells = cells[~cells_with(space, cells, exclude)]
    if not len(cells):
        raise InputError("every combination is excluded.")
    return np.asarray(cells)


@dataclass(frozen=True, eq=False)
class PlanResult(Result):
    """A plan from nothing, beside the plans that are published."""

    kind: ClassVar[str] = "plan"

    space: FactorSpace
    plan: Plan
    rank: int
    beside: tuple[dict[str, Any], ...] = field(repr=False)
    """Other plans of the same number of rows: name, rows, typical and largest error (None: not determined)."""

    def sentence(self) -> str:
        if self.plan.after is None:
            return f"{len(self.plan.cells)} rows cannot determine every combination; {self.rank} are needed at least."
        return self.plan.words[0].upper() + self.plan.words[1:]

    def to_frame(self) -> pl.DataFrame:
        import polars as pl

        return pl.DataFrame(self.space.decode(self.plan.cells))

    def run_sheet(self, answer: str = "answer") -> pl.DataFrame:
        """The same rows, numbered as they should be run, with an empty column of this name to fill in."""
        return run_sheet(self.space, self.plan.cells, self.plan.costs, self.plan.repeats, answer)

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "sentence": self.sentence(),
            "needed": self.rank,
            "factors": {f.name: len(f) for f in self.space.factors},
            "plan": self.plan.to_dict(self.space),
            "beside": list(self.beside),
        }


def plan(
    levels: Mapping[str, int | Sequence[Level]],
    budget: int,
    *,
    order: int = 1,
    criterion: str = "A",
    exclude: Sequence[Mapping[str, Level]] = (),
    change: Mapping[str, float] | None = None,
    seed: int = 0,
) -> PlanResult:
    """Which ``budget`` rows to collect first of factors with these levels (or so many), before there is any table.

    Examples:
        >>> plan({"garment": ["shirt", "scarf"], "size": ["S", "M", "L"]}, budget=4).to_frame().height
        4
    """
    space = FactorSpace(
        tuple(Factor(n, tuple(range(1, v + 1)) if isinstance(v, int) else tuple(v)) for n, v in levels.items())
    )
    nothing = Identifiability(np.zeros((0, len(space)), dtype=np.int64), space.shape, order)
    cells = considered(space, exclude, seed)
    rank = nothing.with_rows(cells).rank
    if budget < rank:  # as many levels of each factor as so few rows can show, not the first ones
        cells = np.random.default_rng(seed).permutation(cells)
    counts = np.zeros(0, dtype=np.int64)
    found = plan_rows(
        nothing, space, counts, None, cells, np.ones(len(cells)), budget=budget, criterion=criterion, change=change
    )
    allowed = {tuple(row) for row in cells.tolist()} if exclude else None
    beside = []
    for name, rows in published(space).items():
        if allowed is None or all(tuple(row) in allowed for row in rows.tolist()):
            beside.append(_judge(name, nothing, rows[np.arange(budget) % len(rows)], cells, len(rows)))
    return PlanResult(space, found.in_runs(seed), rank, tuple(beside))


def published(space: FactorSpace) -> dict[str, Codes]:
    """The plans of Gao et al. (RSS 2024, arXiv 2403.05110): L varies one factor at a time from a base, Stair one factor
    after the other without going back, Diagonal all of them at once."""
    base = np.zeros(len(space), dtype=np.int64)
    ell, stair, now = [base], [base], base
    for level in range(1, max(space.shape)):
        for k, levels in enumerate(space.shape):
            if level < levels:
                now, alone = now.copy(), base.copy()
                now[k] = alone[k] = level
                stair.append(now)
                ell.append(alone)
    steps = np.arange(max(space.shape))
    diagonal = np.stack([np.minimum(steps, levels - 1) for levels in space.shape], axis=1)
    return {"L": np.array(ell), "stair": np.array(stair), "diagonal": diagonal}


def _judge(name: str, nothing: Identifiability, rows: Codes, asked: Codes, distinct: int) -> dict[str, Any]:
    known = nothing.with_rows(np.unique(rows, axis=0))
    record: dict[str, Any] = {"plan": name, "rows": len(rows), "distinct": min(distinct, len(rows))}
    determined = known.rows.contains(asked)
    record["determined"] = float(determined.mean())
    if not determined.all():
        return record | {"error": None, "worst": None}
    x, ask = _features(known, rows), _features(known, asked)
    found = choose(x.T @ x, x, ask, np.ones(len(x)), 0)
    return record | {"error": math.sqrt(found.mean), "worst": math.sqrt(found.worst)}
