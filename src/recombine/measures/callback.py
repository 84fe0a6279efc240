"""A Lightning callback that measures a model while it trains: its gap and mechanisms, every few epochs.

Lightning is no dependency of this package: it is looked for when a callback is asked for, under either of its names.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from torch import nn

from recombine.errors import InputError
from recombine.measures._measure import measure
from recombine.mechanisms import MeasureResult
from recombine.tasks import Task

HOMES = ("lightning.pytorch", "pytorch_lightning")
NAMES = ("seen", "unseen", "gap")


def lightning_callback(
    task: Task,
    *,
    every: int = 1,
    model: Callable[[Any], nn.Module] | None = None,
    prefix: str = "recombine/",
    **options: Any,
) -> Any:
    """A callback for a Lightning trainer that calls `measure` at the end of every ``every``-th validation.

    Its ``results`` hold (step, `MeasureResult`) pairs and its ``last`` the last result. Errors on seen and on unseen
    combinations and the gap are logged as ``prefix`` + "seen", "unseen" and "gap". ``model`` takes the network out of
    the Lightning module where calling the module itself is not what should be measured; ``options`` go to `measure`."""
    if every < 1:
        raise InputError(f"every is {every}; give a whole number from 1 on.")
    return callback_class(_base())(task, every, model or (lambda module: module), prefix, options)


def callback_class(base: type) -> type:
    """The callback on top of a Lightning ``Callback`` class."""

    class Measure(base):  # type: ignore[misc]
        """Measures a model at the end of validation; see `lightning_callback`."""

        def __init__(
            self, task: Task, every: int, model: Callable[[Any], nn.Module], prefix: str, options: dict[str, Any]
        ) -> None:
            super().__init__()
            self.task, self.every, self.model, self.prefix, self.options = task, every, model, prefix, options
            self.results: list[tuple[int, MeasureResult]] = []
            self.validations = 0

        @property
        def last(self) -> MeasureResult:
            if not self.results:
                raise InputError("nothing has been measured yet: the trainer has not finished a validation.")
            return self.results[-1][1]

        def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:
            if getattr(trainer, "sanity_checking", False):
                return
            self.validations += 1
            if self.validations % self.every or not getattr(trainer, "is_global_zero", True):
                return
            result = measure(self.model(pl_module), self.task, **self.options)
            self.results.append((int(trainer.global_step), result))
            for name in NAMES:
                value = getattr(result, name).mean
                if value == value:
                    pl_module.log(f"{self.prefix}{name}", value, rank_zero_only=True)

    return Measure


def _base() -> type:
    for home in HOMES:
        try:
            found: type = import_module(home).Callback
        except ImportError:
            continue
        return found
    raise InputError(
        "a Lightning callback needs Lightning: `pip install lightning`; without it, call rc.measure(model, task) in "
        "your own loop."
    )
