"""A member of any kind of module is what a loop written by hand trains, or the kind is refused with the reason."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from zoo import ALIKE, FEATURES, OUT, REFUSED, SHARED

from recombine.errors import InputError
from recombine.space import FactorSpace
from recombine.support import full
from recombine.tasks import Draws, FixedTask, squared_error
from recombine.tasks.draws import key
from recombine.training import Ensemble, train
from recombine.training.stack import initial

SPACE = FactorSpace.of(a=2, b=2)
STEPS, SIZE, MEMBER = 12, 6, 2
DRAWS = ("dropout", "hidden dropout")


def rows() -> FixedTask:
    generator = torch.Generator().manual_seed(0)
    x, y = torch.randn(24, FEATURES, generator=generator), torch.randn(24, OUT, generator=generator)
    return FixedTask(SPACE, full(SPACE), full(SPACE), x, y, torch.tensor(SPACE.grid()).repeat(6, 1), squared_error)


TASK = rows()
HOW: dict[str, Any] = {"steps": STEPS, "batch_size": SIZE, "dtype": torch.float64, "device": "cpu"}


def by_hand(module: nn.Module, member: int, seeded: bool) -> nn.Module:
    """Nothing of ours but the order of the rows, and in models that draw, the seed of each step."""
    optimizer = torch.optim.SGD(module.train().parameters(), lr=0.1)
    for step in range(STEPS):
        inputs, targets = TASK.batch(Draws.of([member], range(step, step + 1), 0), SIZE)
        if seeded:
            torch.manual_seed(key(0, member, step, "inside") >> 1)
        optimizer.zero_grad()
        (module(inputs[0, 0].double()) - targets[0, 0].double()).square().mean().backward()  # type: ignore[index]
        optimizer.step()
    return module.eval()


def assert_alike(mine: nn.Module, theirs: nn.Module) -> None:
    state = theirs.state_dict()
    assert mine.state_dict().keys() == state.keys()
    for name, tensor in mine.state_dict().items():
        torch.testing.assert_close(tensor, state[name], rtol=1e-8, atol=1e-10, msg=lambda m, n=name: f"{n}: {m}")
    x = torch.randn(5, FEATURES, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(mine(x), theirs(x), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", ALIKE)
def test_a_member_is_what_a_loop_by_hand_trains(kind: str) -> None:
    if kind == "tiny BERT":
        pytest.importorskip("transformers")
    build = ALIKE[kind]
    ensemble = train(build, TASK, members=3, **HOW)
    with torch.random.fork_rng():
        theirs = by_hand(initial(build, MEMBER, 0, torch.float64), MEMBER, kind in DRAWS)
    assert_alike(ensemble[MEMBER], theirs)
    x = torch.randn(5, FEATURES, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(ensemble(x)[MEMBER], theirs(x).detach(), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", REFUSED)
def test_what_would_lose_its_state_is_refused_with_the_reason(kind: str) -> None:
    model, why = REFUSED[kind]
    before = SHARED.weight.clone()
    with pytest.raises(InputError) as told:
        train(model, TASK, members=3, **HOW)
    assert why in str(told.value)
    assert "\n" not in str(told.value)
    assert torch.equal(SHARED.weight, before)


@pytest.mark.parametrize("strategy", ["stacked", "loop"])
@pytest.mark.parametrize("kind", ["buffer set anew", "counter in a buffer", "tensor as attribute"])
def test_what_a_buffer_is_set_to_is_the_members_own(kind: str, strategy: str) -> None:
    ensemble = train(ALIKE[kind], TASK, members=4, strategy=strategy, **HOW)
    alone = train(ALIKE[kind], TASK, members=[3], strategy=strategy, **HOW)
    assert_alike(ensemble[3], alone[3])
    moved = [name for name, buffer in ensemble.buffers.items() if not torch.equal(buffer[0], buffer[1])]
    assert moved or (ensemble.buffers["calls"] == STEPS).all()


ALONE = {
    "exactly": ("perceptron", "layer norm", "attention", "transformer layer", "lstm", "dropout"),
    "but for rounding": ("batch norm", "instance norm", "mixture of experts", "convolution 2d"),
}


@pytest.mark.parametrize(("kind", "how"), [(kind, how) for how, kinds in ALONE.items() for kind in kinds])
def test_a_member_alone_is_the_same_as_among_others(kind: str, how: str) -> None:
    """On a CPU to the last bit, where the operations of a stack of one round as those of a larger one."""
    alone, among = (train(ALIKE[kind], TASK, members=m, **HOW | {"dtype": torch.float32}) for m in ([2], 5))
    assert alone.notes["strategy"] == among.notes["strategy"]
    if how == "exactly":
        assert torch.equal(alone.flat[0], among.flat[2])
    else:
        torch.testing.assert_close(alone.flat[0], among.flat[2], rtol=1e-4, atol=1e-5)


def test_a_module_is_trained_on_from_its_weights() -> None:
    torch.manual_seed(5)
    given = ALIKE["batch norm"]().double()
    kept = {name: tensor.clone() for name, tensor in given.state_dict().items()}
    tuned = train(given, TASK, **HOW)
    assert all(torch.equal(tensor, kept[name]) for name, tensor in given.state_dict().items())  # the person's own stays
    several = train(given, TASK, members=3, fresh=False, **HOW)
    assert len({row.sum().item() for row in several.flat}) == 3  # each sees the rows in its own order
    started = train(given, TASK, members=3, fresh=False, **HOW | {"steps": 0})
    assert torch.equal(started.parameters["first.weight"][1], kept["first.weight"])
    assert_alike(tuned[0], by_hand(given, 0, seeded=False))
    with pytest.raises(InputError, match="would all be the same"):
        train(given, TASK, members=3, fresh=False, **HOW | {"batch_size": None})
    with pytest.raises(InputError, match="fresh is for a module that is given"):
        train(ALIKE["batch norm"], TASK, fresh=True, **HOW)


def test_what_is_looked_at_does_not_stay_in_the_ensemble() -> None:
    ensemble = train(ALIKE["attention looked at"], TASK, members=3, **HOW)
    assert ensemble.notes["strategy"] == "stacked"
    ensemble.predict(torch.zeros(2, FEATURES, dtype=torch.float64))
    assert not hasattr(ensemble.module, "seen")
    assert isinstance(ensemble, Ensemble)
    member = ensemble.member(1)
    member(torch.zeros(2, FEATURES, dtype=torch.float64))
    assert member.seen.shape == (2, 8)  # type: ignore[union-attr]
