"""Masks as branches, and layers before the first masked one: without a GPU (streams are stood in for)."""

from __future__ import annotations

import re
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations

from recombine.models import OddOneOut, OddOneOutNet, Panels, Perceptron, ResNet
from recombine.structure import Choice, ContinuousSparsification, MaskSettings, branches, find_masks, frozen, subnetwork
from recombine.structure.answers import own_cross_entropy, with_answers
from recombine.structure.calling import evaluating
from recombine.structure.frozen import Shortened, layers_before, split_off
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
@pytest.mark.parametrize(("models", "own"), [(1, False), (2, False), (1, True)])
def test_branches_are_a_stacked_step(models: int, own: bool) -> None:
    """Also among answers of a subroutine's own, which stand behind each target."""
    model: Any = network().double()
    other = network().double()
    several = [model, model, model] if models == 1 else [model, other, model]
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.mul_(1.5)
    shown = with_answers(problems(12), (0, 1, 2, 3)) if own else problems(12)
    jobs = _jobs(several, shown, None, settings(LAYERS[1], (0.05, -0.2, 0.6)), "auto")
    stack = MaskStack(jobs, own_cross_entropy if own else cross_entropy, torch.device("cpu"))
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
    head, rest = split_off(model, layers_before(model, masked))
    named = dict(rest.named_parameters())
    assert torch.equal(rest(head(shown.inputs)), model(shown.inputs))
    assert masked <= set(named)
    assert all(named[name] is own[name] for name in named)
    # Every layer before the first masked one is gone, and the network itself is whole.
    assert [name for name in own if name in named] == list(own)[list(own).index(min(masked, key=list(own).index)) :]
    assert model(shown.inputs).shape == (3, 4)


class Own(nn.Sequential):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(torch.tanh(x))


class OwnOddOneOut(OddOneOut):
    def forward(self, *inputs: Any, **named: Any) -> torch.Tensor:
        return super().forward(inputs[0] / 5)


class FirstOfLSTM(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(5, 6)

    def forward(self, given: tuple[torch.Tensor, Any]) -> torch.Tensor:
        return self.linear(given[0][:, -1])  # type: ignore[no-any-return]


class Turned(nn.Module):
    """Rows become columns: what comes out has no row for each problem."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.movedim(0, 1)


class Remembering(nn.Module):
    """What was seen last time is added: what a layer gives depends on more than its input."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.seen = nn.Linear(6, 6), 0.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        before, self.seen = self.seen, self.seen + 1.0
        return self.linear(x) + before  # type: ignore[no-any-return]


def hooked(where: int) -> nn.Module:
    model = layers()
    model[where].register_forward_pre_hook(lambda _, given: (given[0] + 1,))
    return model


def layers(*between: nn.Module) -> nn.Sequential:
    return nn.Sequential(nn.Linear(6, 6), nn.ReLU(), *between, nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 3))


def with_own_forward() -> nn.Module:
    model = layers()
    model.forward = lambda x: nn.Sequential.forward(model, torch.tanh(x))  # type: ignore[method-assign]
    return model


WHOLE = {
    "a forward of its own": lambda: Own(*layers()),
    "a forward of this one": with_own_forward,
    "a hook on a late layer": lambda: hooked(4),
    "a hook on an early layer": lambda: hooked(0),
    "rows that meet in a batch norm": lambda: layers(nn.BatchNorm1d(6, track_running_stats=False)),
    "an odd one out of its own": lambda: OwnOddOneOut(layers()),
    "no rows in what is handed on": lambda: layers(Turned(), nn.Linear(5, 5), Turned()),
    "a layer that remembers": lambda: layers(Remembering()),
    "a recurrent layer": lambda: nn.Sequential(nn.LSTM(6, 5, batch_first=True), FirstOfLSTM()),
}  # fmt: skip


@pytest.mark.parametrize("kind", WHOLE)
def test_a_model_that_is_not_its_layers_is_searched_whole(kind: str) -> None:
    torch.manual_seed(0)
    model = WHOLE[kind]().eval()
    shape = (5, 4, 6) if "odd one" in kind or "recurrent" in kind else (5, 6)
    shown = Problems(torch.randn(shape), torch.randint(0, 3, (5,)))
    masked = "3.weight" if "no rows" in kind else list(dict(model.named_parameters()))[-2]
    asked = MaskSettings(epochs=2, choice=Choice(names="^" + re.escape(masked)))
    jobs = _jobs(model, shown, None, asked, "auto")
    assert Shortened()(jobs) == jobs


IN_PARTS = {
    "in place at the cut": lambda: layers()[:2].append(nn.LeakyReLU(0.3, inplace=True)).extend(layers()[2:]),
    "one layer in two places": lambda: (lambda part: nn.Sequential(part, nn.ReLU(), part, nn.ReLU(), nn.Linear(6, 3)))(
        nn.Linear(6, 6)
    ),
    "a parametrized layer": lambda: nn.Sequential(
        nn.Linear(6, 6), parametrizations.weight_norm(nn.Linear(6, 6)), nn.ReLU(), nn.Linear(6, 3)
    ),
    "batch norm and dropout": lambda: layers(nn.BatchNorm1d(6), nn.Dropout(0.5)),
}


@pytest.mark.parametrize("kind", IN_PARTS)
def test_late_masks_of_a_chain_are_those_of_the_same_model_called_otherwise(kind: str) -> None:
    class Called(nn.Module):
        """The same function, and no chain."""

        def __init__(self, inner: nn.Module) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x)  # type: ignore[no-any-return]

    torch.manual_seed(0)
    model = IN_PARTS[kind]().double().eval()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    parts = list(model.modules())
    shown = Problems(torch.randn(70, 6).double(), torch.randint(0, 3, (70,)))
    last = list(dict(model.named_parameters()))[-2]
    found = [
        find_masks(
            one, shown, [MaskSettings(epochs=8, choice=Choice(names=re.escape(last)), seed=seed) for seed in (0, 1)]
        )
        for one in (model, Called(model))
    ]
    for one, other in zip(found[0].masks, found[1].masks, strict=True):
        assert torch.equal(one.keep[last], other.keep[f"inner.{last}"])
    torch.testing.assert_close(found[0].histories[0].loss, found[1].histories[0].loss, rtol=1e-9, atol=0)
    assert all(one is other for one, other in zip(parts, model.modules(), strict=True))
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_a_model_with_a_layer_in_two_places_is_left_as_it_was() -> None:
    torch.manual_seed(0)
    part = nn.Linear(6, 6)
    model = nn.Sequential(part, nn.ReLU(), part, nn.ReLU(), nn.Linear(6, 3))
    weight, value = part.weight, part.weight.detach().clone()
    shown = Problems(torch.randn(40, 6), torch.randint(0, 3, (40,)))
    found = find_masks(model, shown, settings("", (0.05, -0.05), epochs=3))
    masked = subnetwork(model, found.masks[0])(shown.inputs)
    assert part.weight is weight
    assert torch.equal(weight, value)
    by_hand = nn.Linear(6, 6)
    by_hand.load_state_dict(part.state_dict())
    with torch.no_grad():
        by_hand.weight.mul_(found.masks[0].keep["0.weight"])
        last = nn.functional.linear(
            torch.relu(by_hand(torch.relu(by_hand(shown.inputs)))),  # type: ignore[arg-type]
            model[4].weight * found.masks[0].keep["4.weight"], model[4].bias,  # type: ignore[operator,arg-type]
        )  # fmt: skip
    torch.testing.assert_close(masked, last)


def test_a_transformer_layer_is_masked_behind_another_with_padding() -> None:
    torch.manual_seed(0)

    class Reader(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0, batch_first=True)
            self.encoder, self.readout = nn.TransformerEncoder(layer, 2), nn.Linear(8, 3)

        def forward(self, x: torch.Tensor, missing: torch.Tensor) -> torch.Tensor:
            return self.readout(self.encoder(x, src_key_padding_mask=missing)[:, 0])  # type: ignore[no-any-return]

    missing = torch.zeros(12, 5, dtype=torch.bool)
    missing[::2, 3:] = True
    shown = Problems({"x": torch.randn(12, 5, 8), "missing": missing}, torch.randint(0, 3, (12,)))
    before = torch.backends.mha.get_fastpath_enabled()
    found = find_masks(Reader(), shown, settings(r"layers\.1", (0.05,)))
    assert found.masks[0].count > 0
    assert torch.backends.mha.get_fastpath_enabled() == before


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


def test_first_layers_are_computed_once_for_all_masks_of_the_same_problems(monkeypatch: pytest.MonkeyPatch) -> None:
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
    # What does not fit is computed at every step, as it was.
    monkeypatch.setattr(frozen, "MOST_BYTES", {"cpu": 12 * 4 * 6 * 4 * 4 * 4})
    assert shortened(late)[0].problems.inputs.shape == (12, 4, 6, 4, 4)  # type: ignore[union-attr]
    assert shortened(upper) == upper
    # An epoch shows each problem once: computing beforehand would gain nothing.
    once = _jobs(model, shown, None, settings(LAYERS[2], (0.0,), epochs=1), "auto")
    assert shortened(once) == once
