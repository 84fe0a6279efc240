"""A run that trains: a task, a model, how it is optimised, and what is measured on the way."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, ClassVar

from pydantic import Field

from recombine.description import Description
from recombine.runs.measured import Measured
from recombine.runs.run import Context, Outcome, Run, RunPlan
from recombine.tasks import Task
from recombine.training import Ensemble, Optimizer, plan_training, train
from recombine.training.checkpoint import saved_step
from recombine.training.optim import PerMember
from recombine.training.precision import Precision
from recombine.training.settings import Training, stack_folder

__all__ = ["Measured", "TrainingRun"]

NOT_NOTED = ("final_loss", "stopped_at", "fitted_at", "seconds")
"""What a training says of itself that stands in the table of members or in the provenance."""


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
    stop_on: int | None = Field(default=None, ge=1)
    """Fresh examples on which ``stop_below`` is judged, every ``stop_every`` steps; None: each batch."""
    stop_every: int = Field(default=1, ge=1)
    precision: Precision = "float32"
    """How products of its steps are rounded; tf32 and bfloat16 need a GPU."""
    measured: tuple[Measured, ...] = ()
    keep_weights: bool = False
    keep_history: bool = True
    """Whether losses along training are kept: a row per member and bin."""

    def first_member(self) -> TrainingRun:
        alone: TrainingRun = self.replace(members=(0,))
        return alone

    def unread(self) -> dict[str, str]:
        """The fields, by path, that nothing reads as the others stand, each with where it would be read."""
        found = {} if self.penalty is not None else {"penalty_weight": "penalty is given"}
        found |= {f"optimizer.{name}": f"optimizer.{where}" for name, where in self.optimizer.unread().items()}
        if self.stop_below is None and self.fit_below is None:
            found |= dict.fromkeys(("stop_on", "stop_every"), "stop_below or fit_below is given")
        return found

    def plan(self, device: str) -> RunPlan:
        """Its stacks can be trained apart."""
        plan, members = plan_training(device=device, **self.how())
        units = len(plan.stacks(members)) if self.steps else 1
        return RunPlan(units, plan.strategy, plan.stack, plan.reason, plan.touched)

    def compute_unit(self, unit: int, context: Context) -> bool:
        ensemble = self._train(context, only=unit)
        members = range(self.members) if isinstance(self.members, int) else self.members
        size = ensemble.notes["stack"]
        folders = (stack_folder(context.workspace, members[at : at + size]) for at in range(0, len(members), size))
        return all(saved_step(folder) == self.steps for folder in folders)

    def compute(self, context: Context) -> Outcome:
        ensemble = self._train(context)
        status = ensemble.status_frame().drop("fitted_at", strict=False)  # its table of losses tells it
        tables = {"members": status, **ensemble.records}
        if self.keep_history:
            tables["history"] = ensemble.history_frame()
        notes = {name: value for name, value in ensemble.notes.items() if name not in NOT_NOTED}
        notes |= {"settings": self.resolved()}
        notes |= {
            "members": len(ensemble),
            "steps": self.steps,
            "diverged": sum(d is not None for d in ensemble.diverged_at),
        }
        return Outcome(tables, ensemble.tensors() if self.keep_weights else {}, notes)

    def _train(self, context: Context, only: int | None = None) -> Ensemble:
        return train(
            **self.how(),
            records=[m.record() for m in self.measured],
            device=context.device,
            checkpoint=context.workspace,
            only=only,
            progress=lambda done, total: context.progress(done, total, "member-steps"),
        )

    def how(self) -> dict[str, Any]:
        """What is trained, as `train` takes it: every field that describes a training."""
        named = type(self).model_fields
        return {field.name: getattr(self, field.name) for field in fields(Training) if field.name in named}
