"""A run without gradients: a parent, its mutated children, and the best of them is the next parent.

θ ← argmin over {θ, θ + σ ε_1, …, θ + σ ε_λ} of the loss on one fresh batch, ε normal. A (1 + λ) evolution; σ grows by
``grow`` when a child wins and shrinks when none does (the one-fifth rule of Rechenberg 1973, with grow⁻¹ᐟ⁴ for a loss).
No derivative of anything is taken, so what it shares with gradient descent is not due to the gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import torch
from pydantic import Field
from torch import Tensor
from torch.func import functional_call, vmap

from recombine.description import Description
from recombine.runs.measured import Measured
from recombine.runs.run import Context, Outcome, Run
from recombine.tasks import Draws, Task
from recombine.training import SGD, Ensemble, train
from recombine.training.stack import positional
from recombine.training.stopping import fresh_losses


class EvolutionRun(Run):
    """Evolve ``members`` networks, each with ``children`` a generation, until their loss is below ``stop_below`` or
    ``generations`` are over: that on the batch, or every ``stop_every`` generations that on ``stop_on`` fresh examples.
    Measures are taken at the end."""

    kind: ClassVar[str] = "evolution"

    task: Task
    model: Description
    members: int = Field(ge=1)
    generations: int = Field(ge=1)
    children: int = Field(default=16, ge=1)
    batch_size: int = Field(default=256, ge=1)
    spread: float = Field(default=0.1, gt=0)
    grow: float = Field(default=1.5, gt=1)
    seed: int = 0
    stop_below: float | None = None
    stop_on: int | None = Field(default=None, ge=1)
    stop_every: int = Field(default=1, ge=1)
    measured: tuple[Measured, ...] = ()

    def compute(self, context: Context) -> Outcome:
        import polars as pl

        start = partial(train, self.model, self.task, batch_size=self.batch_size, optimizer=SGD(lr=0.0), seed=self.seed)  # type: ignore[arg-type]
        ensemble: Ensemble = start(members=self.members, steps=0, device=context.device)
        flat, spread = ensemble.flat.clone(), torch.full((self.members,), self.spread, device=ensemble.device)
        last = torch.full((self.members,), torch.nan, device=ensemble.device)
        done = torch.zeros(self.members, dtype=torch.bool, device=ensemble.device)
        taken = torch.zeros(self.members, dtype=torch.int64, device=ensemble.device)
        judged = fresh_losses(self.task, self.stop_on, self.seed, flat) if self.stop_on is not None else None
        for generation in range(self.generations):
            flat, spread, loss = self._generation(ensemble, flat, spread, done, generation)
            taken += ~done
            if judged is not None:
                ensemble.flat = flat
                due = (generation + 1) % self.stop_every == 0 or generation + 1 == self.generations
                loss = judged(ensemble) if due else last
            last = torch.where(done, last, loss)
            done = done | (last < self.stop_below) if self.stop_below is not None else done
            if generation % 64 == 63:
                context.progress(generation + 1, self.generations, "generations")
                if bool(done.all()):
                    break
        ensemble.flat = flat
        fitted = done.tolist() if self.stop_below is not None else [None] * self.members
        tables = {"members": pl.DataFrame({
            "member": pl.Series(range(self.members), dtype=pl.Int32), "generations": taken.tolist(),
            "fitted": pl.Series(fitted, dtype=pl.Boolean), "final_loss": last.double().tolist(),
        })}  # fmt: skip
        for measured in self.measured:
            table = measured.function()(ensemble, self.task)
            tables[measured.table] = table.with_columns(pl.lit(self.generations, pl.Int64).alias("step"))
        return Outcome(tables, {}, {"members": self.members, "steps": self.generations, "settings": self.resolved()})

    def _generation(
        self, ensemble: Ensemble, flat: Tensor, spread: Tensor, done: Tensor, generation: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Parents, spreads and losses after one generation; members that are done stay as they are."""
        draws = Draws.of(ensemble.members, range(generation, generation + 1), self.seed, ensemble.device)
        inputs, targets = self.task.batch(draws, self.batch_size)
        noise = draws("mutation").normal((1, len(flat), self.children, flat.shape[1]))[0].to(flat.dtype)
        noise = torch.cat([torch.zeros_like(noise[:, :1]), noise], 1)
        candidates = flat[:, None] + spread[:, None, None] * noise
        losses = _losses(ensemble, self.task, candidates, [part[0] for part in positional(inputs)], targets[0])
        best = losses.argmin(1)
        chosen = candidates[torch.arange(len(flat), device=flat.device), best]
        factor = torch.where(best > 0, self.grow, self.grow**-0.25)
        stay = done[:, None]
        return (
            torch.where(stay, flat, chosen),
            torch.where(done, spread, (spread * factor).clamp(1e-4, 10.0)),
            losses.amin(1),
        )


def _losses(ensemble: Ensemble, task: Task, candidates: Tensor, inputs: Sequence[Tensor], targets: Tensor) -> Tensor:
    """The loss of every candidate (members × candidates × numbers) on its member's batch."""
    split, module = ensemble.layout.split, ensemble.module.eval()

    def loss(flat: Tensor, targets: Tensor, *inputs: Tensor) -> Any:
        return task.losses(functional_call(module, split(flat), inputs), targets).mean()

    over = (0, None, *[None] * len(inputs))
    with torch.no_grad():
        found: Tensor = vmap(vmap(loss, in_dims=over))(candidates, targets, *inputs)
    return found.nan_to_num(torch.inf, posinf=torch.inf)
