"""Small models and tasks that the tests of training share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from recombine.models import Perceptron
from recombine.space import FactorSpace
from recombine.support import full
from recombine.tasks import FixedTask, ToyTask, squared_error
from recombine.training import Ensemble, train

TOY = ToyTask()
NET = Perceptron(widths=(2, 8, 8, 2), activation="tanh")
SPACE = FactorSpace.of(a=3, b=4)
STEPS = 20
"""Most of them are replayed from a record of one."""


class Normed(nn.Module):
    """With BatchNorm, whose statistics are buffers, one of them a whole number. No bias before it: BatchNorm takes it
    away again, so its gradient is rounding noise, which Adam would blow up."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 6, bias=False), nn.BatchNorm1d(6), nn.Tanh(), nn.Linear(6, 2))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)  # type: ignore[no-any-return]


class Tied(nn.Module):
    """The same weight used in two places, a scalar, and a buffer that is not saved with the state."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
        self.outer.weight = self.inner.weight
        self.scale = nn.Parameter(torch.rand(()) + 0.5)
        self.register_buffer("shift", torch.randn(2), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.outer(torch.tanh(self.inner(x)) + self.shift) * self.scale  # type: ignore[no-any-return, operator]


class Dropped(nn.Module):
    """Draws random numbers in training: by a layer that says so, or in a function."""

    def __init__(self, hidden: bool = False) -> None:
        super().__init__()
        self.first, self.last, self.layer = nn.Linear(2, 8), nn.Linear(8, 2), nn.Dropout(0.3)
        self.hidden = hidden

    def forward(self, x: Tensor) -> Tensor:
        inside = torch.tanh(self.first(x))
        dropped = functional.dropout(inside, 0.3, self.training) if self.hidden else self.layer(inside)
        return self.last(dropped)  # type: ignore[no-any-return]


class Hidden(Dropped):
    def __init__(self) -> None:
        super().__init__(hidden=True)
        self.layer = nn.Identity()  # type: ignore[assignment]


class Choosy(nn.Module):
    """Control flow on a value: what vmap cannot batch."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Tensor:
        out = self.layer(x)
        return out if out.mean().item() > 0 else 2 * out  # type: ignore[no-any-return]


class Pair(nn.Module):
    """Two inputs, one of them whole numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.layer = nn.Embedding(4, 3), nn.Linear(3 + 2, 1)

    def forward(self, x: Tensor, kind: Tensor) -> Tensor:
        return self.layer(torch.cat([x, self.table(kind)], -1))  # type: ignore[no-any-return]


class HalfFrozen(nn.Module):
    """One layer is not to be trained."""

    def __init__(self) -> None:
        super().__init__()
        self.fixed, self.free = nn.Linear(2, 6), nn.Linear(6, 2)
        self.fixed.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        return self.free(torch.tanh(self.fixed(x)))  # type: ignore[no-any-return]


def fixed_task(rows: int = 24, several: bool = False) -> FixedTask:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(rows, 2, generator=generator)
    codes = torch.as_tensor(SPACE.at(range(rows % 12, rows % 12 + 1)) if rows < 12 else SPACE.grid()).repeat(
        -(-rows // 12), 1
    )
    target = (x.sum(1, keepdim=True) + codes[:rows, 1:]) * 0.3
    inputs: Any = (x, codes[:rows, 1]) if several else x
    if not several:
        target = target.repeat(1, 2)
    return FixedTask(SPACE, full(SPACE), full(SPACE), inputs, target, codes[:rows], loss=squared_error)


def weights(ensemble: Ensemble, member: int) -> dict[str, Tensor]:
    i = ensemble.position(member)
    return {name: tensor[i] for name, tensor in {**ensemble.parameters, **ensemble.buffers}.items()}


def apart(first: Ensemble, second: Ensemble) -> float:
    """The largest difference of a weight of any member, relative to the size of its tensor."""
    found = 0.0
    for member in first.members:
        theirs = weights(second, member)
        for name, mine in weights(first, member).items():
            scale = float(theirs[name].double().abs().max())
            found = max(found, float((mine.double() - theirs[name].double()).abs().max()) / max(scale, 1e-30))
    return found


def assert_same(first: Ensemble, second: Ensemble, members: Iterable[int], tolerance: float) -> None:
    """Members of two ensembles agree in all weights and buffers, relative to the size of each tensor."""
    for member in members:
        ours, theirs = weights(first, member), weights(second, member)
        assert ours.keys() == theirs.keys()
        for name, tensor in ours.items():
            scale = max(float(tensor.double().abs().max()), 1e-30)
            apart = float((tensor.double() - theirs[name].double()).abs().max())
            assert apart <= tolerance * scale, f"member {member}, {name}: {apart:.3g} of {scale:.3g}"


def told_one_by_one(names: Sequence[str], compare: Callable[[str], tuple[bool, str]]) -> int:
    """One line per name: whether members are the same, and in which figures. How many are not."""
    bad = 0
    for name in names:
        try:
            right, told = compare(name)
        except Exception as error:  # the next one may be right all the same
            right, told = False, f"{type(error).__name__}: {str(error)[:300]}"
        bad += not right
        print("same" if right else "BAD ", f"{name:32}", told, flush=True)
    print(f"{bad} of {len(names)} differ")
    return bad


def assert_bitwise(first: Ensemble, second: Ensemble) -> None:
    assert first.members == second.members
    for name, tensor in first.tensors().items():
        assert torch.equal(tensor.nan_to_num(7.0), second.tensors()[name].nan_to_num(7.0)), name
    assert torch.equal(first.history["loss"].nan_to_num(7.0), second.history["loss"].nan_to_num(7.0))
    assert first.records.keys() == second.records.keys()
    assert all(first.records[name].equals(second.records[name]) for name in first.records)
    assert (first.diverged_at, first.fitted) == (second.diverged_at, second.fitted)


def short(model: Any = NET, task: Any = TOY, **more: Any) -> Ensemble:
    """A training of a few steps in float64 unless said otherwise."""
    usual = {"members": 4, "steps": STEPS, "batch_size": 8, "dtype": torch.float64, "device": "cpu"}
    return train(model, task, **{**usual, **more})
