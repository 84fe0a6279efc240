"""Remedies against leaning on a redundant input, each a wrapper around any task or any model.

Around a task: `ComponentDropout` hides a component now and then, `GroupBalanced` draws combinations alike. Around a
model: `TwoStream` gives each component a network of its own, `NoisyRepresentation` adds noise to a representation and
charges for its size (entropy regularisation, Li et al. 2019), `GradientPenalty` charges for the gradient at a
component. The last two need random numbers and hand back what they charge, so they are trained on `Charged(task)`,
which draws the one and adds the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from recombine.description import Description
from recombine.errors import InputError
from recombine.tasks import Draws, Inputs, Task
from recombine.tasks.around import Around


class _Shown(Around):
    """A task that differs from another in how it is trained, and in nothing that is asked."""

    def examples(self, points: Tensor, draws: Draws) -> tuple[Inputs, Tensor]:
        return self.task.examples(points, draws)

    def batch(self, draws: Draws, size: int) -> tuple[Inputs, Tensor]:
        return self.task.batch(draws, size)

    def trained_examples(self, points: Tensor, draws: Draws) -> tuple[Inputs, Tensor]:
        return self.task.trained_examples(points, draws)

    def views(self, draws: Draws, count: int) -> Mapping[str, tuple[Inputs, Tensor]]:
        return self.task.views(draws, count)

    def part(self, component: int) -> slice | None:
        return self.task.part(component)


class ComponentDropout(_Shown):
    """With probability ``rate`` the part of an input that shows ``component`` is blank, in training only."""

    kind: ClassVar[str] = "component-dropout"

    component: int = Field(default=1, ge=0)
    rate: float = Field(default=0.5, ge=0, le=1)

    def batch(self, draws: Draws, size: int) -> tuple[Inputs, Tensor]:
        inputs, targets = self.task.batch(draws, size)
        if not isinstance(inputs, Tensor):
            raise InputError("component dropout needs a task with one input tensor.")
        lead = (*draws.lead, size)
        keep = draws("component dropout").uniform(lead) >= self.rate
        mask = torch.ones(inputs.shape[-1], device=inputs.device)
        mask[_part(self.task, inputs, self.component, len(lead))] = 0
        shape = (*lead, *[1] * (inputs.dim() - len(lead)))
        return torch.where(keep.reshape(shape), inputs, inputs * mask), targets


class GroupBalanced(_Shown):
    """Training draws every combination of the train support alike, however rare it is in the data."""

    kind: ClassVar[str] = "group-balanced"

    def batch(self, draws: Draws, size: int) -> tuple[Inputs, Tensor]:
        points = self.task._train_points(draws.keys.device)
        chosen = points[draws("combination").integers(len(points), (*draws.lead, size))]
        return self.task.trained_examples(chosen, draws)


class Charged(_Shown):
    """The task as a model that charges is trained on it: random numbers beside the input, its charge in the loss.

    ``numbers`` is how many the model asks for, ``outputs`` how many columns its answers have. A column beyond those
    is the charge, and enters the loss with ``weight``."""

    kind: ClassVar[str] = "charged"

    outputs: int = Field(ge=1)
    numbers: int = Field(ge=1)
    weight: float = Field(default=0.1, ge=0)

    def batch(self, draws: Draws, size: int) -> tuple[Inputs, Tensor]:
        inputs, targets = self.task.batch(draws, size)
        if not isinstance(inputs, Tensor):
            raise InputError("a model that charges has one input tensor; this task gives several.")
        return (inputs, draws("charged").normal((*draws.lead, size, self.numbers))), targets

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        answers = self.task.losses(outputs[..., : self.outputs], targets)
        if outputs.shape[-1] == self.outputs:
            return answers
        return answers + self.weight * outputs[..., self.outputs]

    def scores(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        return self.task.scores(outputs[..., : self.outputs], targets)


class NoisyRepresentation(Description):
    """Normal noise of size ``noise`` on the output of ``layer``, and a charge for its mean square.

    Both together bound what the representation can say of the input: about ½ ln(1 + size²/noise²) nats a unit. Train
    it on `Charged(task, outputs=…, numbers=units of the layer)`; asked afterwards, it adds nothing."""

    kind: ClassVar[str] = "noisy-representation"

    model: Description
    layer: str = "dense"
    noise: float = Field(default=1.0, ge=0)

    def __call__(self) -> nn.Module:
        whole = self.model()  # type: ignore[operator]
        names = [name for name, _ in whole.named_children()]
        if not isinstance(whole, nn.Sequential) or self.layer not in names:
            raise InputError(f"the model is not a sequence with a layer {self.layer!r}; it has {', '.join(names)}.")
        cut = names.index(self.layer) + 1
        return _Noisy(whole[:cut], whole[cut:], self.noise)


class GradientPenalty(Description):
    """A charge for ‖∂ŷ/∂X_j‖²: E‖ŷ(x + δu) − ŷ(x)‖²/δ², u normal at the columns ``start`` … ``stop`` − 1 of the input.

    A difference instead of a derivative, so that no gradient is taken inside a gradient. Train it on `Charged(task,
    outputs=…, numbers=entries of these columns)`."""

    kind: ClassVar[str] = "gradient-penalty"

    model: Description
    start: int
    stop: int
    delta: float = Field(default=0.05, gt=0)

    def __call__(self) -> nn.Module:
        return _GradientCharge(self.model(), slice(self.start, self.stop), self.delta)  # type: ignore[operator]


class TwoStream(Description):
    """ŷ = Σ_j f_j(X_j): a network of its own for each component, which sees nothing of the others (the rest is blank).

    The parts of the input are as wide as each other. Structure alone: nothing keeps f_2 from answering."""

    kind: ClassVar[str] = "two-stream"

    model: Description
    streams: int = Field(default=2, ge=2)

    def __call__(self) -> nn.Module:
        return _Streams([self.model() for _ in range(self.streams)])  # type: ignore[operator]


class _Noisy(nn.Module):
    def __init__(self, below: nn.Module, above: nn.Module, noise: float) -> None:
        super().__init__()
        self.below, self.above, self.noise = below, above, noise

    def forward(self, x: Tensor, numbers: Tensor | None = None) -> Tensor:
        inside = self.below(x)
        if numbers is None:
            return self.above(inside)  # type: ignore[no-any-return]
        answers = self.above(inside + self.noise * numbers.reshape(inside.shape))
        return torch.cat([answers, inside.flatten(1).square().mean(1, keepdim=True)], -1)


class _GradientCharge(nn.Module):
    def __init__(self, model: nn.Module, place: slice, delta: float) -> None:
        super().__init__()
        self.model, self.place, self.delta = model, place, delta

    def forward(self, x: Tensor, numbers: Tensor | None = None) -> Tensor:
        answers = self.model(x)
        if numbers is None:
            return answers  # type: ignore[no-any-return]
        before, moved, after = x[..., : self.place.start], x[..., self.place], x[..., self.place.stop :]
        moved = moved + self.delta * numbers.reshape(moved.shape)
        change = self.model(torch.cat([before, moved, after], -1)) - answers
        return torch.cat([answers, (change / self.delta).square().sum(-1, keepdim=True)], -1)


class _Streams(nn.Module):
    def __init__(self, models: list[nn.Module]) -> None:
        super().__init__()
        self.models = nn.ModuleList(models)

    def forward(self, x: Tensor) -> Tensor:
        width = x.shape[-1] // len(self.models)
        place = torch.arange(x.shape[-1], device=x.device) // width
        answers = [model(x * (place == j)) for j, model in enumerate(self.models)]
        return torch.stack(answers).sum(0)


def _part(task: Task, inputs: Tensor, component: int, lead: int) -> slice:
    own = task.part(component)
    if own is not None:
        return own
    if inputs.dim() == lead + 1 and inputs.shape[-1] == len(task.space.components):
        return slice(component, component + 1)
    raise InputError("component dropout needs a task that says which part of an input shows which component.")
