"""A run that trains nothing: exact kernel machines over a list of problems and a list of saliences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from recombine.errors import InputError
from recombine.kernels import Kernel, Solution, fit_hard_margin, fit_least_squares, full_grid, subsets
from recombine.measures._additivity import anova
from recombine.measures._leak import line
from recombine.runs.run import Context, Outcome, Run
from recombine.tasks import SymbolicTask

if TYPE_CHECKING:
    import polars as pl

FloatArray = NDArray[np.float64]
ZERO = 1e-9
"""An output this small has no sign: it is right half the time."""


class KernelRun(Run):
    """Fit every kernel of ``saliences`` to every problem; keep what it does on the combinations that are asked.

    A row of ``saliences`` is S(1;C) … S(C−1;C), with κ_0 = 0 and κ_C = 1; all problems have as many components. The
    table ``kernels`` has one row per problem and kernel; ``effects`` adds that of ANOVA effects over the whole grid."""

    kind: ClassVar[str] = "kernels"

    problems: dict[str, SymbolicTask] = Field(min_length=1)
    saliences: tuple[tuple[float, ...], ...] = Field(min_length=1)
    fit: Literal["least squares", "hard margin"] = "least squares"
    bias: bool = False
    effects: bool = False
    allow_unseen: bool = False
    """Whether a problem may ask for a level that it never trains (invariance does)."""

    def compute(self, context: Context) -> Outcome:
        import polars as pl

        kernels = Kernel.from_normalized(np.array(self.saliences))
        rows: list[pl.DataFrame] = []
        weights: list[pl.DataFrame] = []
        for done, (name, problem) in enumerate(self.problems.items()):
            if len(problem.levels) != kernels.components:
                raise InputError(f"{name!r} has {len(problem.levels)} components, the kernels {kernels.components}.")
            solve = fit_least_squares if self.fit == "least squares" else fit_hard_margin
            levels = None if self.allow_unseen else problem.levels
            train, asked = np.array(problem.seen), np.array(problem.asked)
            solution = solve(kernels, train, np.array(problem.answers), bias=self.bias, levels=levels)
            rows.append(self._answers(name, problem, kernels, solution, asked))
            if self.effects:
                weights.append(self._effects(name, problem, solution))
            context.progress(done + 1, len(self.problems), "problems")
        tables = {"kernels": pl.concat(rows)} | ({"effects": pl.concat(weights)} if weights else {})
        return Outcome(tables, {}, {"members": len(self.saliences), "fits": len(self.saliences) * len(self.problems)})

    def _answers(
        self, name: str, problem: SymbolicTask, kernels: Kernel, solution: Solution, asked: NDArray[Any]
    ) -> pl.DataFrame:
        import polars as pl

        # Through the Gram matrix, so that the sum over conjunctions below is checked against something else.
        influence = kernels.gram(asked, solution.train)
        outputs = np.einsum("kmn,kn->km", influence, solution.dual) + solution.bias[:, None]
        targets = np.array(problem.asked_answers)
        slope, intercept = line(outputs, targets)
        agreement = outputs * targets
        right = np.where(np.abs(outputs) < ZERO, 0.5, agreement > 0)
        lower = {f"s{k + 1}": column for k, column in enumerate(np.array(self.saliences).T)}
        return pl.DataFrame(
            {
                "problem": [name] * len(outputs), "fit": [self.fit] * len(outputs), "kernel": np.arange(len(outputs)),
                **lower, "slope": slope, "intercept": intercept, "error": np.square(outputs - targets).mean(axis=1),
                "margin": agreement.mean(axis=1), "lowest": agreement.min(axis=1), "right": right.mean(axis=1),
                "largest": np.abs(outputs).max(axis=1),
                "additive_error": np.abs(outputs - _seen_parts(solution, asked)).max(axis=1),
            }
        )  # fmt: skip

    def _effects(self, name: str, problem: SymbolicTask, solution: Solution) -> pl.DataFrame:
        import polars as pl

        outputs = solution.predict(full_grid(problem.levels))
        parts = anova(outputs.reshape(len(outputs), *problem.levels))
        frames = [
            pl.DataFrame(
                {
                    "problem": [name] * len(outputs), "fit": [self.fit] * len(outputs),
                    "kernel": np.arange(len(outputs)),
                    "conjunction": ["·".join(str(c + 1) for c in subset)] * len(outputs),
                    "weight": np.abs(part).reshape(len(outputs), -1).mean(axis=1),
                }
            )
            for subset, part in parts.items()
        ]  # fmt: skip
        return pl.concat(frames)


def _seen_parts(solution: Solution, asked: NDArray[Any]) -> FloatArray:
    """Σ f_J(z_J) over conjunctions whose z_J training showed: all that a kernel can say of an unseen combination."""
    parts = solution.parts(asked)
    total = np.zeros((*parts.shape[:-2], len(asked)))
    for mask, subset in enumerate(subsets(solution.kernel.components)):
        shown = {tuple(row) for row in solution.train[:, list(subset)].tolist()}
        seen = np.array([tuple(row) in shown for row in asked[:, list(subset)].tolist()])
        total += parts[..., mask, :] * seen
    return total


def simplex(divisions: int) -> tuple[tuple[float, float], ...]:
    """S(1;3), S(2;3) on an even grid of 3 S1 + 3 S2 + S3 = 1 with S1 > 0, S2 ≥ 0, S3 > 0: every kernel that can fit."""
    steps = range(divisions)
    return tuple((a / divisions / 3, b / divisions / 3) for a in steps[1:] for b in steps if a + b < divisions)
