"""Masks as branches, and layers before the first masked one: without a GPU (streams are stood in for)."""

from __future__ import annotations

import re
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from torch import nn

from recombine.models import OddOneOutNet, Panels, Perceptron, ResNet
from recombine.structure import Choice, ContinuousSparsification, MaskSettings, branches, find_masks
from recombine.structure.calling import evaluating
from recombine.structure.frozen import Shortened, split_off
from recombine.structure.search import _jobs
from recombine.structure.stack import MaskStack
from recombine.structure.strategies import mask_step
from recombine.tasks import Problems, cross_entropy

LAYERS = ("stem|stage|readout", r"stage_[34]|readout", "stage_4|readout")


class Stream:
    def wait_stream(self, other: object) -> None:
        pass


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "Stream", Stream)
    monkeypatch.setattr(torch.cuda, "current_stream", Stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda _: nullcontext())
    monkeypatch.setattr(branches, "compiled_once", lambda recorded, _: recorded)


def network() -> nn.Module:
    torch.manual_seed(0)
    resnet = ResNet(shape=(3, 32, 32), channels=(4, 4, 6, 8), norm="instance", hidden=(8,), outputs=5, halve_first=True)
    return OddOneOutNet(encoder=Panels(encoder=resnet))().eval()


def problems(count: int) -> Problems:
    drawn = torch.Generator().manual_seed(1)
    panels = torch.randint(0, 256, (count, 4, 3, 32, 32), generator=drawn, dtype=torch.uint8)
    return Problems(panels, torch.randint(0, 4, (count,), generator=drawn))


def settings(layers: str, starts: tuple[float, ...], epochs: int = 2) -> list[MaskSettings]:
    base = MaskSettings(epochs=epochs, batch_size=6, choice=Choice(names=layers))
    return [base.replace(method=ContinuousSparsification(start=start)) for start in starts]


@pytest.mark.usefixtures("streams")
@pytest.mark.parametrize("models", [1, 2])
def test_branches_are_a_stacked_step(models: int) -> None:
    model: Any = network().double()
    other = network().double()
    several = [model, model, model] if models == 1 else [model, other, model]
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.mul_(1.5)
    jobs = _jobs(several, problems(12), None, settings(LAYERS[1], (0.05, -0.2, 0.6)), "auto")
    stack = MaskStack(jobs, cross_entropy, torch.device("cpu"))
    described = stack.stack, stack.objective, stack.weights, stack.one_model, stack.constants, stack.shape
    inputs, targets = stack.block(range(1))
    runner = branches.MaskBranches(*described)
    given = runner._arguments(tuple(part[0] for part in inputs), targets[0])
    with evaluating(model, other), torch.no_grad():
        apart, together = runner._record(given)(*given), mask_step(*described)(*given)
    for one, another in zip(apart[:2], together[:2], strict=True):
        torch.testing.assert_close(one, another, rtol=1e-9, atol=1e-12)
    assert float(apart[0].abs().max()) > 0
    assert apart[2] == []


@pytest.mark.parametrize("layers", LAYERS)
def test_a_network_split_before_its_first_masked_layer_is_the_same_network(layers: str) -> None:
    model, shown = network(), problems(3)
    own = dict(model.named_parameters())
    masked = {name for name in own if re.search(layers, name)}
    head, rest = split_off(model, masked)
    named = dict(rest.named_parameters())
    assert torch.equal(rest(head(shown.inputs)), model(shown.inputs))
    assert masked <= set(named)
    assert all(named[name] is own[name] for name in named)
    # Every layer before the first masked one is gone, and the network itself is whole.
    assert [name for name in own if name in named] == list(own)[list(own).index(min(masked, key=list(own).index)) :]
    assert model(shown.inputs).shape == (3, 4)


def test_what_is_no_chain_stays_whole() -> None:
    class Own(nn.Sequential):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self[1](self[0](x)) + self[0](x).sum()

    for model in (Own(nn.Linear(3, 3), nn.Linear(3, 2)), nn.Bilinear(2, 2, 2)):
        names = list(dict(model.named_parameters()))
        head, rest = split_off(model, set(names[-2:]))
        assert not list(head.parameters())
        assert dict(rest.named_parameters()).keys() == set(names)
    watched = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2))
    watched.register_forward_hook(lambda *_: None)
    assert not list(split_off(watched, {"1.weight"})[0].parameters())


def test_masks_of_late_layers_are_those_of_the_whole_network(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    model = Perceptron(widths=(6, 12, 12, 3))().double()
    shown = Problems(torch.randn(40, 6).double(), torch.randint(0, 3, (40,)))
    asked = settings(r"^4\.", (0.05, -0.05), epochs=20)
    short = find_masks(model, shown, asked)
    monkeypatch.setattr(Shortened, "__call__", lambda self, jobs: list(jobs))
    whole = find_masks(model, shown, asked)
    for one, other in zip(short.masks, whole.masks, strict=True):
        assert one.keep.keys() == other.keep.keys() == {"4.weight"}
        assert all(torch.equal(one.keep[name], other.keep[name]) for name in one.keep)
    for a, b in zip(short.histories, whole.histories, strict=True):
        torch.testing.assert_close(torch.tensor(a.loss), torch.tensor(b.loss), rtol=1e-10, atol=0)


def test_first_layers_are_computed_once_for_all_masks_of_the_same_problems() -> None:
    model, shown = network(), problems(12)
    late = _jobs(model, shown, None, settings(LAYERS[2], (0.0, 0.1)), "auto")
    upper = _jobs(model, shown, None, settings(LAYERS[1], (0.0,)), "auto")
    shortened = Shortened()
    (first, second), (third,) = shortened(late), shortened(upper)
    assert first.model is second.model
    assert first.problems is second.problems
    assert third.model is not first.model
    assert first.problems.inputs.shape == (12, 4, 6, 4, 4)
    assert third.problems.inputs.shape == (12, 4, 4, 8, 8)
    every = _jobs(model, shown, None, settings(LAYERS[0], (0.0,)), "auto")
    assert shortened(every) == every
    # An epoch shows each problem once: computing beforehand would gain nothing.
    once = _jobs(model, shown, None, settings(LAYERS[2], (0.0,), epochs=1), "auto")
    assert shortened(once) == once
