"""One table: what ensembles of small networks, lazy to rich, answer to held-out cells, and what kernel theory said.

A wide lazy network with one hidden ReLU layer is a kernel machine whose kernel knows only how many levels two cells
share; with one-hot inputs, weights N(0, 2/inputs) and biases U(±1/√inputs) cells that share k of C levels have
pre-activations of correlation (2k + ⅓)/(2C + ⅓). *Shrinkage* is the slope of answers on those of additive least
squares: 1 where the effects that were learnt reach unseen cells in full.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import polars as pl
import torch

from recombine.checks.exact.modular import Floats
from recombine.checks.rules.adding import Adding
from recombine.kernels import Kernel, ReLU, fit_least_squares, nngp
from recombine.models import Dense
from recombine.runs import Context, Outcome, Run
from recombine.space import FactorSpace
from recombine.studies.real_tables.contest import SCHEMA
from recombine.studies.real_tables.holes import hold_out, indicators
from recombine.studies.real_tables.registry import Source
from recombine.support import Explicit
from recombine.tables import TABLES
from recombine.tasks import FixedTask
from recombine.tasks.losses import squared_error
from recombine.training import SGD, train

FIRST = "the first at random"
LAZY, BETWEEN, RICH = "lazy networks", "networks in between", "rich networks"
KERNEL = "kernel theory"
SIGMAS = {LAZY: 1.0, BETWEEN: 0.1, RICH: 0.01}
"""Size of the first weights."""
MOMENTUM, FASTEST, CAREFUL, STOP = 0.9, 0.02, 0.7, 1e-3
ROWS = tuple[str, str, str, float]


class NetworkRun(Run):
    """Train ``members`` networks of each size of first weights on the cells that the first random hold-out leaves."""

    kind: ClassVar[str] = "real table networks"
    version: ClassVar[int] = 2
    source: Source
    members: int = 3
    width: int = 200
    steps: int = 1500

    def first_member(self) -> NetworkRun | None:
        """Only of tables that are there wherever the package is."""
        alone: NetworkRun = self.replace(members=1)
        return alone if self.source.name in TABLES else None

    def compute(self, context: Context) -> Outcome:
        cells = self.source.cells()
        found = hold_out(cells, "random", np.random.default_rng([0, 0]))
        if found is None:
            return Outcome({}, {}, {"members": 0, "reason": "no random hold-out leaves enough cells"})
        out, determined = found
        seen, asked = cells.take(~out), cells.take(out & determined)
        middle, unit = float(seen.answers.mean()), float(seen.answers.std()) or 1.0
        truth = (asked.answers - middle) / unit
        x, new, y = indicators(seen), indicators(asked), (seen.answers - middle) / unit
        space = FactorSpace.of(**{f"factor {k}": list(range(n)) for k, n in enumerate(cells.shape)})
        train_set = Explicit(space, seen.codes)
        task = FixedTask(space, train_set, Explicit(space, asked.codes), x, y, seen.codes, squared_error, held_out=0.0)
        kernel = _kernel(len(cells.shape))
        sigmas = list(SIGMAS.values()) * self.members
        curvature = self.width * len(cells.shape) / x.shape[1] * float(np.linalg.eigvalsh(kernel.gram(seen.codes))[-1])
        rates = tuple(min(FASTEST, float(f"{CAREFUL * len(x) / (curvature * s * s):.6g}")) for s in sigmas)
        ensemble = train(
            Dense(inputs=x.shape[1], width=self.width), task, members=len(sigmas), init_scale=tuple(sigmas),
            steps=self.steps, batch_size=None, optimizer=SGD(lr=rates, momentum=MOMENTUM), stop_below=STOP,
            device=context.device, checkpoint=context.workspace,
            progress=lambda done, total: context.progress(done, total, "member-steps"),
        )  # fmt: skip
        answered = ensemble.predict(torch.as_tensor(new, dtype=torch.float32, device=ensemble.device))[..., 0]
        said = answered.cpu().numpy().astype(np.float64)
        by = {rule: said[i :: len(SIGMAS)] for i, rule in enumerate(SIGMAS)}
        theory = fit_least_squares(kernel, seen.codes, y).predict(asked.codes)
        sums = new @ np.linalg.lstsq(x, y, rcond=None)[0]
        additive = (Adding("additive", seen, 1).answer(asked.codes) - middle) / unit
        rows = list[ROWS]()
        answers = {"additive": additive, KERNEL: theory, **{rule: each.mean(axis=0) for rule, each in by.items()}}
        for rule, answer in answers.items():
            rows += [(FIRST, rule, what, value) for what, value in _judged(truth, answer, theory, sums).items()]
            rows.append((FIRST, rule, "distance to adding up", float(np.sqrt(((answer - additive) ** 2).mean()))))
        losses = np.array(ensemble.status_frame()["final_loss"].to_list(), dtype=np.float64)
        rows += [(FIRST, rule, "training loss", float(losses[i :: len(SIGMAS)].mean()))
                 for i, rule in enumerate(SIGMAS)]  # fmt: skip
        each = pl.DataFrame(
            [{"rule": rule, "member": i + m * len(SIGMAS), "step": self.steps, "R²": _r2(truth, answer)}
             for i, (rule, some) in enumerate(by.items()) for m, answer in enumerate(some)]
        )  # fmt: skip
        measured = pl.DataFrame(rows, SCHEMA, orient="row").filter(pl.col("value").is_finite())
        notes = {"members": len(sigmas), "steps": self.steps, "strategy": ensemble.notes["strategy"]}
        return Outcome({"measured": measured, "networks": each}, {}, notes)


def _kernel(components: int) -> Kernel:
    shared = np.arange(components + 1)
    return nngp(Kernel.from_similarities((2 * shared + 1 / 3) / (2 * components + 1 / 3)), ReLU(), 1)[1]


def _r2(truth: Floats, answer: Floats) -> float:
    return 1 - float(((truth - answer) ** 2).sum()) / float((truth**2).sum())


def _judged(truth: Floats, answer: Floats, theory: Floats, sums: Floats) -> dict[str, float]:
    """Numbers of one rule; ``truth`` is centred at the mean of the seen."""
    r2 = _r2(truth, answer)
    slopes = [float(np.cov(said, sums)[0, 1] / max(float(np.var(sums, ddof=1)), 1e-12)) for said in (answer, theory)]
    return {
        "R²": r2,
        "log error": 0.5 * float(np.log(max(1 - r2, 1e-12))),
        "correlation with the kernel": float(np.corrcoef(answer, theory)[0, 1]),
        "distance to the kernel": float(np.sqrt(((answer - theory) ** 2).mean())),
        "shrinkage": slopes[0],
        "off by the kernel's shrinkage": abs(slopes[0] - slopes[1]),
        "off by no shrinkage": abs(slopes[0] - 1),
    }
