"""Learners that may join the contest of rules: a forest of trees, and an ensemble of small networks (scikit-learn).

They are fitted anew without the stand-ins and all that is left out with them, several at a time where that leaves
each of them about what it would have alone (`packed`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.rule import Rule
from recombine.checks.rules.seen_cells import Cells
from recombine.checks.rules.stand_ins import packed
from recombine.errors import unknown

LEARNERS = ("forest", "networks")
MOST_LEARNT = 300_000
"""Cells × inputs up to which a learner is fitted to all cells: it is fitted anew up to some hundred times."""
TOLD: ContextVar[Callable[[int, int, str], None] | None] = ContextVar("told", default=None)
"""Who is told of each fit (done, total, words)."""


def learners(names: Sequence[str], cells: Cells, seed: int = 0) -> list[Rule]:
    """The rules of these names."""
    for name in names:
        if name not in LEARNERS:
            raise unknown("rule", name, LEARNERS)
    return [Learner(name, cells, seed) for name in names]


def fewer_learnt(names: Sequence[str], cells: Cells) -> str:
    """A sentence on learners that are fitted to a part of the cells."""
    if not names or len(cells.codes) <= (most := _most(cells)):
        return ""
    fitted = f"fitted to {most:,} of {len(cells.codes):,} combinations"
    return f"{' and '.join(names)} {'was' if len(names) == 1 else 'were'} {fitted}, drawn at random: all take too long."


def _most(cells: Cells) -> int:
    return MOST_LEARNT // cells.width


class Learner:
    """A scikit-learn model on indicators of levels, and numbers as they are."""

    def __init__(self, name: str, cells: Cells, seed: int) -> None:
        self.name, self._cells, self._seed = name, cells, seed
        order = np.random.default_rng(seed).permutation(len(cells.codes))
        self._learnt = np.sort(order[: _most(cells)])
        self._whole = self._fit(self._learnt)

    def _inputs(self, codes: Ints) -> Floats:
        curves = self._cells.curves
        columns = (curves[k].unit[:, None] if k in curves else np.eye(n) for k, n in enumerate(self._cells.shape))
        return np.concatenate([table[codes[:, k]] for k, table in enumerate(columns)], axis=1)

    def _fit(self, kept: Ints) -> tuple[Any, float, float]:
        """The model, and the middle and unit of the answers it was fitted to."""
        y = self._cells.answers[kept] if self._cells.numeric else self._cells.answers[kept].argmax(axis=1)
        middle, unit = (float(y.mean()), float(y.std()) or 1.0) if self._cells.numeric else (0, 1)
        model = self._models(one_class=not (self._cells.numeric or np.ptp(y)))
        return model.fit(self._inputs(self._cells.codes[kept]), (y - middle) / unit), middle, unit

    def _models(self, one_class: bool) -> Any:
        from sklearn.dummy import DummyClassifier
        from sklearn.ensemble import (
            BaggingClassifier,
            BaggingRegressor,
            RandomForestClassifier,
            RandomForestRegressor,
        )
        from sklearn.neural_network import MLPClassifier, MLPRegressor

        if one_class:  # of which networks cannot be fitted
            return DummyClassifier()
        numeric, options = self._cells.numeric, {"random_state": self._seed}
        if self.name == "forest":
            forest = RandomForestRegressor if numeric else RandomForestClassifier
            return forest(n_estimators=100, max_features=0.5, **options)
        net = (MLPRegressor if numeric else MLPClassifier)(hidden_layer_sizes=(64, 64), max_iter=300, solver="adam")
        ensemble = BaggingRegressor if numeric else BaggingClassifier
        return ensemble(estimator=net, n_estimators=5, bootstrap=False, **options)

    def _say(self, fitted: tuple[Any, float, float], codes: Ints) -> Floats:
        model, middle, unit = fitted
        if self._cells.numeric:
            return np.asarray(model.predict(self._inputs(codes)) * unit + middle)[:, None]
        shares = np.zeros((len(codes), self._cells.answers.shape[1]))
        shares[:, model.classes_.astype(int)] = model.predict_proba(self._inputs(codes))
        return shares

    def answer(self, codes: Ints) -> Floats:
        said = self._say(self._whole, codes)
        return said[:, 0] if self._cells.numeric else said

    def left_out(self, groups: Sequence[Ints]) -> Floats:
        """A cell that stands in for several asked ones is tried as the first of them, which was drawn at random."""
        cells, once = self._cells, {int(group[0]): group for group in reversed(groups)}
        said = np.zeros((len(cells.codes), 1 if cells.numeric else cells.answers.shape[1]))
        parts, told = packed(list(once.values()), cells.codes, cells.shape), TOLD.get()
        for done, (rows, gone) in enumerate(parts, 1):
            said[rows] = self._say(self._fit(np.setdiff1d(self._learnt, gone)), cells.codes[rows])
            if told is not None:
                told(done, len(parts), f"fits of the {self.name}")
        return said[[int(group[0]) for group in groups]]
