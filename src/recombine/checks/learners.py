"""Learners that may join the contest of rules: a forest of trees, and an ensemble of small networks (scikit-learn).

They are fitted anew without each fifth of the stand-ins and all that is left out with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recombine.checks.modular import Floats, Ints
from recombine.checks.rules import Cells, Rule
from recombine.errors import unknown

FOLDS = 5
LEARNERS = ("forest", "networks")


def learners(names: Sequence[str], cells: Cells, seed: int = 0) -> list[Rule]:
    """The rules of these names."""
    for name in names:
        if name not in LEARNERS:
            raise unknown("rule", name, LEARNERS)
    return [Learner(name, cells, seed) for name in names]


class Learner:
    """A scikit-learn model on indicators of levels, and numbers as they are."""

    def __init__(self, name: str, cells: Cells, seed: int) -> None:
        self.name, self._cells, self._seed = name, cells, seed
        self._whole = self._fit(np.arange(len(cells.codes)))

    def _inputs(self, codes: Ints) -> Floats:
        curves = self._cells.curves
        columns = (curves[k].unit[:, None] if k in curves else np.eye(n) for k, n in enumerate(self._cells.shape))
        return np.concatenate([table[codes[:, k]] for k, table in enumerate(columns)], axis=1)

    def _fit(self, kept: Ints) -> Any:
        y = self._cells.answers[kept] if self._cells.numeric else self._cells.answers[kept].argmax(axis=1)
        self._middle, self._unit = (float(y.mean()), float(y.std()) or 1.0) if self._cells.numeric else (0.0, 1.0)
        return self._models().fit(self._inputs(self._cells.codes[kept]), (y - self._middle) / self._unit)

    def _models(self) -> Any:
        from sklearn.ensemble import (
            BaggingClassifier,
            BaggingRegressor,
            RandomForestClassifier,
            RandomForestRegressor,
        )
        from sklearn.neural_network import MLPClassifier, MLPRegressor

        numeric, options = self._cells.numeric, {"random_state": self._seed}
        if self.name == "forest":
            return (RandomForestRegressor if numeric else RandomForestClassifier)(100, max_features=0.5, **options)
        net = (MLPRegressor if numeric else MLPClassifier)((64, 64), max_iter=300, solver="adam")
        return (BaggingRegressor if numeric else BaggingClassifier)(net, 5, bootstrap=False, **options)

    def _say(self, model: Any, codes: Ints) -> Floats:
        if self._cells.numeric:
            return np.asarray(model.predict(self._inputs(codes)) * self._unit + self._middle)[:, None]
        shares = np.zeros((len(codes), self._cells.answers.shape[1]))
        shares[:, model.classes_.astype(int)] = model.predict_proba(self._inputs(codes))
        return shares

    def answer(self, codes: Ints) -> Floats:
        said = self._say(self._whole, codes)
        return said[:, 0] if self._cells.numeric else said

    def left_out(self, groups: Sequence[Ints]) -> Floats:
        said = np.zeros((len(groups), 1 if self._cells.numeric else self._cells.answers.shape[1]))
        everything = np.arange(len(self._cells.codes))
        for fold in np.array_split(np.arange(len(groups)), min(FOLDS, len(groups))):
            kept = np.setdiff1d(everything, np.concatenate([groups[i] for i in fold]))
            firsts = self._cells.codes[[int(groups[i][0]) for i in fold]]
            said[fold] = self._say(self._fit(kept), firsts)
        return said
