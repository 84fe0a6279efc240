"""One table: who answers its held-out cells how well, and did `check` say so beforehand?

Errors are added up over the hold-outs of one kind before they are compared, so a table has one number per rule:

    R² = 1 − Σ (y − answer)² / Σ (y − mean of the seen)²,    log error = ½ log of that ratio

*Log error over all* has the mean squared error over the variance of all cells instead, for hold-outs of which one may
hide cells that differ less among each other. The *best single factor* is the one with the smallest error on the
held-out cells themselves: no choice among effects of one factor could do better.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import polars as pl

from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats
from recombine.checks.exact.robustness import leverage, min_cuts
from recombine.checks.forecasts.contestants import contestants
from recombine.checks.forecasts.expected import Estimates, Forecast
from recombine.checks.forecasts.forecast import forecast
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.learners import Learner
from recombine.checks.rules.seen_cells import Cells
from recombine.runs import Context, Outcome, Run
from recombine.statistics import spearman
from recombine.studies.real_tables.holes import HOLES, Holes, Mask, hold_out, indicators
from recombine.studies.real_tables.registry import Source

SCHEMA = {"holes": pl.String, "rule": pl.String, "what": pl.String, "value": pl.Float64}
RECOMMENDED, FOREST, BOOSTED, ONE = "recommended by check", "forest", "boosted trees", "best single factor"
OFF, HOLDS, CELLS_HOLD = "log of forecast over realised error", "forecast interval holds", "cell intervals hold"
SHOWN = 60
"""Held-out cells of a table that are kept to be drawn."""
NOISE_AT_MOST = 0.8
"""Share of what varies that may be noise within cells for the rest to be spoken of."""
LEAST = 1e-12


class ContestRun(Run):
    """Hold cells of a table out ``draws`` times in each way and answer them by every rule."""

    kind: ClassVar[str] = "real table contest"
    version: ClassVar[int] = 2
    source: Source
    draws: int = 3
    learners: bool = True

    def compute(self, context: Context) -> Outcome:
        cells, rows = self.source.cells(), list[tuple[str, str, str, float]]()
        tables: dict[str, pl.DataFrame] = {}
        hidden = dict[int, int]()
        for at, holes in enumerate(HOLES):
            context.progress(at, len(HOLES), "ways to hold out")
            kind = _Kind()
            for draw in range(self.draws):
                rng = np.random.default_rng([draw, at])
                if holes == "as many at random" and draw not in hidden:
                    continue
                if (found := hold_out(cells, holes, rng, hidden.get(draw, 0))) is not None:
                    kind.add(cells, *found, holes=holes, seed=draw, learners=self.learners and holes != "sparse")
                    if holes == "structured":
                        hidden[draw] = int(found[0].sum())
                    if holes == "random" and not tables:
                        tables["cells"] = _shown(cells, *found)
            rows += [(holes, *row) for row in kind.rows()]
        tables["measured"] = pl.DataFrame(rows, SCHEMA, orient="row")
        return Outcome(tables, {}, {"members": self.draws})


def _shown(cells: Cells, out: Mask, determined: Mask) -> pl.DataFrame:
    """Some cells of the first random hold-out: what adding up said and what it was, in standard deviations of all."""
    seen, asked = cells.take(~out), cells.take(out & determined)
    said, middle, unit = contestants(seen)[1].answer(asked.codes), cells.answers.mean(), cells.answers.std() or 1.0
    found = pl.DataFrame({"said": (said - middle) / unit, "was": (asked.answers - middle) / unit})
    return found.head(SHOWN)


class _Kind:
    """What hold-outs of one kind add up to."""

    def __init__(self) -> None:
        self.wrong: dict[str, float] = defaultdict(float)
        self.alone: dict[int, float] = defaultdict(float)
        self.varies = self.noise = self.over_all = 0.0
        self.of: dict[str, list[float]] = defaultdict(list)
        self.known = {True: [0.0, 0.0], False: [0.0, 0.0]}

    def add(self, cells: Cells, out: Mask, determined: Mask, holes: Holes, seed: int, learners: bool) -> None:
        seen, asked = cells.take(~out), cells.take(out & determined)
        self.of["seen"].append(float((~out).mean()))
        rules = [Adding("additive", seen, 1)] if holes == "as many at random" else contestants(seen)
        if holes == "sparse":
            self._single(seen, asked, cells.take(out & ~determined), rules[1])
        if not len(asked.codes):
            return
        self.varies += float(((asked.answers - seen.answers.mean()) ** 2).sum())
        if cells.pure is not None:
            self.noise += float((cells.pure / asked.rows).sum())
        for rule in rules:
            self._answered(rule.name, rule.answer(asked.codes), asked)
        self.over_all += len(asked.codes) * float(np.var(cells.answers))
        if holes == "as many at random":
            return
        for k, n in enumerate(seen.shape):
            factor = Cells(seen.codes[:, [k]], (n,), seen.rows, seen.answers, seen.pure)
            self.alone[k] += _squared(Adding("alone", factor, 1).answer(asked.codes[:, [k]]), asked)
        if learners:
            self._answered(FOREST, Learner("forest", seen, seed).answer(asked.codes), asked)
            self._answered(BOOSTED, _boosted(seen, asked, seed), asked)
        self._forecast(seen, asked, seed)

    def _answered(self, rule: str, answers: Floats, asked: Cells) -> None:
        self.wrong[rule] += _squared(answers, asked)

    def _forecast(self, seen: Cells, asked: Cells, seed: int) -> None:
        told = forecast(seen, asked.codes, seed=seed)
        if isinstance(told, str):
            return
        said = told.estimate(asked.codes)
        self._answered(RECOMMENDED, said.answers, asked)
        for what, value in held(told, said, asked):
            self.of[what].append(value)
            if what == CELLS_HOLD:
                self.of["textbook cell intervals hold"].append(_textbook(seen, asked))

    def _single(self, seen: Cells, asked: Cells, undetermined: Cells, rule: Any) -> None:
        """Do leverage, cut and “determined” order the errors of single cells?"""
        for part, known in ((asked, True), (undetermined, False)):
            errors = (part.answers - rule.answer(part.codes)) ** 2 if len(part.codes) else np.zeros(0)
            self.known[known][0] += float(errors.sum())
            self.known[known][1] += len(errors)
        if len(asked.codes) < 5:
            return
        errors = np.abs(asked.answers - rule.answer(asked.codes))
        known_cells = Identifiability(seen.codes, seen.shape, 1)
        lever = leverage(known_cells, np.ones(len(seen.codes), dtype=np.int64), asked.codes)
        orders = {"leverage orders errors": lever,
                  "standard deviation orders errors": rule.effects.predict(asked.codes)[1]}  # fmt: skip
        if len(seen.shape) == 2:
            cuts = np.array([np.nan if cut is None else -cut for cut in min_cuts(known_cells, asked.codes)])
            orders["cut orders errors"] = cuts if np.isfinite(cuts).all() else None
        for name, values in orders.items():
            rho = spearman(values, errors) if values is not None else None
            if rho is not None:
                self.of[name].append(rho)

    def rows(self) -> Iterator[tuple[str, str, float]]:
        if self.alone:
            self.wrong[ONE] = min(self.alone.values())
        if self.over_all > 0 and "additive" in self.wrong:
            yield "additive", "log error over all", _half_log(self.wrong["additive"] / self.over_all)
        for rule, wrong in self.wrong.items():
            if self.varies > 0:
                yield rule, "R²", 1 - wrong / self.varies
                yield rule, "log error", _half_log(wrong / self.varies)
                if 0 < self.noise < NOISE_AT_MOST * self.varies:
                    yield rule, "R² beyond noise", 1 - (wrong - self.noise) / (self.varies - self.noise)
        if self.varies > 0 and self.noise:
            yield "", "noise", self.noise / self.varies
        for what, values in self.of.items():
            yield "", what, float(np.mean(values))
        if all(count for _, count in self.known.values()):
            for known, (wrong, count) in self.known.items():
                yield "additive", f"log error, {'' if known else 'un'}determined", _half_log(wrong / count)


def held(told: Forecast, said: Estimates, asked: Cells) -> Iterator[tuple[str, float]]:
    """What became of a forecast on the cells that were asked about."""
    real = math.sqrt(_squared(said.answers, asked) / len(asked.codes))
    if real > LEAST and told.error > LEAST:
        yield OFF, math.log(told.error / real)
    yield HOLDS, float(told.low <= real <= told.high)
    if said.low is not None and said.high is not None:
        yield CELLS_HOLD, float(((said.low <= asked.answers) & (asked.answers <= said.high)).mean())


def _squared(answers: Floats, asked: Cells) -> float:
    return float(((asked.answers - answers) ** 2).sum())


def _half_log(share: float) -> float:
    return 0.5 * math.log(max(share, LEAST))


def _boosted(seen: Cells, asked: Cells, seed: int) -> Floats:
    from sklearn.ensemble import GradientBoostingRegressor

    model = GradientBoostingRegressor(n_estimators=100, max_depth=3, random_state=seed)
    return np.asarray(model.fit(indicators(seen), seen.answers).predict(indicators(asked)))


def _textbook(seen: Cells, asked: Cells) -> float:
    """How often 90 % prediction intervals of least squares hold."""
    from scipy.special import stdtrit

    x, new = indicators(seen), indicators(asked)
    inverse = np.linalg.pinv(x.T @ x)
    beta = inverse @ x.T @ seen.answers
    freedom = max(len(x) - int(np.linalg.matrix_rank(x)), 1)
    noise = float(((seen.answers - x @ beta) ** 2).sum()) / freedom
    half = stdtrit(freedom, 0.95) * np.sqrt(noise * (1 + np.einsum("ij,jk,ik->i", new, inverse, new)))
    return float((np.abs(asked.answers - new @ beta) <= half).mean())
