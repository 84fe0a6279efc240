"""A run that trains: a task, a model, how it is optimised, and what is measured on the way."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from pydantic import Field

from recombine import measures
from recombine.description import Description
from recombine.errors import unknown
from recombine.runs.run import Context, Outcome, Run
from recombine.tasks import Task
from recombine.training import Optimizer, Record, train
from recombine.training.optim import PerMember

MEASURES: dict[str, Callable[..., Any]] = {
    "additivity": measures.additivity,
    "boundary": measures.boundary,
    "component_influence": measures.component_influence,
    "composition_shares": measures.composition_shares,
    "decision_map": measures.decision_map,
    "drawing": measures.drawing,
    "effects": measures.effects,
    "embedding": measures.embedding,
    "factorization": measures.factorization,
    "generalization": measures.generalization,
    "geometry": measures.geometry,
    "hard_answer": measures.hard_answer,
    "influence": measures.influence,
    "information": measures.information,
    "latent_map": measures.latent_map,
    "leak": measures.leak,
    "one_step": measures.one_step,
    "per_combination": measures.per_combination,
    "probes": measures.probes,
    "r_squared": measures.r_squared,
    "recombination": measures.recombination,
    "reconstruction": measures.reconstruction,
    "recovery": measures.recovery,
    "rendering": measures.rendering,
    "salience": measures.salience,
    "snap": measures.snap,
    "step_matrix": measures.step_matrix,
    "superposition": measures.superposition,
    "swap": measures.swap,
    "transport": measures.transport,
    "variance": measures.variance,
    "views": measures.views,
}


class Measured(Description):
    """One measure with its arguments, taken at some steps; its name names the table."""

    kind: ClassVar[str] = "measured"

    measure: str
    at: tuple[int, ...] = (-1,)
    arguments: dict[str, float | int | str] = Field(default_factory=dict)

    def record(self) -> Record:
        if self.measure not in MEASURES:
            raise unknown("measure", self.measure, MEASURES)
        return Record(self.measure, partial(MEASURES[self.measure], **self.arguments), self.at)


class TrainingRun(Run):
    """Train ``members`` members and keep what was measured; the weights too where ``keep_weights`` asks for them."""

    kind: ClassVar[str] = "training"

    task: Task
    model: Description
    members: int | tuple[int, ...]
    steps: int = Field(ge=0)
    batch_size: int | None = Field(default=None, ge=1)
    optimizer: Optimizer
    seed: int = 0
    init_scale: PerMember = 1.0
    penalty: Description | None = None
    """What is minimised besides the loss: called with a member's parameters by name, weighed by ``penalty_weight``."""
    penalty_weight: PerMember = 0.0
    fit_below: float | None = None
    stop_below: float | None = None
    measured: tuple[Measured, ...] = ()
    keep_weights: bool = False

    def compute(self, context: Context) -> Outcome:
        ensemble = train(
            self.model,  # type: ignore[arg-type]
            self.task,
            members=self.members,
            steps=self.steps,
            batch_size=self.batch_size,
            optimizer=self.optimizer,
            seed=self.seed,
            init_scale=self.init_scale,
            penalty=self.penalty,  # type: ignore[arg-type]
            penalty_weight=self.penalty_weight,
            records=[m.record() for m in self.measured],
            fit_below=self.fit_below,
            stop_below=self.stop_below,
            device=context.device,
            checkpoint=context.workspace,
            progress=lambda done, total: context.progress(done, total, "member-steps"),
        )
        tables = {"members": ensemble.status_frame(), "history": ensemble.history_frame(), **ensemble.records}
        notes = {name: value for name, value in ensemble.notes.items() if name not in ("final_loss", "seconds")}
        notes |= {"settings": self.resolved()}
        notes |= {
            "members": len(ensemble),
            "steps": self.steps,
            "diverged": sum(d is not None for d in ensemble.diverged_at),
        }
        return Outcome(tables, ensemble.tensors() if self.keep_weights else {}, notes)
