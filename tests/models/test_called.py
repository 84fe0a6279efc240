"""A module called with other tensors: as torch does it, and where a module lies in two places."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch.func import functional_call

import recombine as rc
from recombine.models.called import call_with
from recombine.tasks import ToyTask


def repeated() -> nn.Module:
    part = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    model = nn.Sequential(nn.Linear(2, 4), part, nn.ReLU(), part, nn.Linear(4, 4), nn.Linear(4, 2))
    model[4].weight = model[1][0].weight  # type: ignore[index,union-attr]
    return model


def test_a_module_in_two_places_is_called_and_left_as_it_was() -> None:
    torch.manual_seed(0)
    model = repeated().eval()
    own = {name: (id(value), value.clone()) for name, value in model.state_dict(keep_vars=True).items()}
    new = {name: torch.randn_like(value) for name, value in model.named_parameters()}
    like = copy.deepcopy(model)
    with torch.no_grad():
        for name, value in like.named_parameters():
            value.copy_(new[name])
    x = torch.randn(3, 2)
    assert torch.equal(call_with(model, new, (x,)), like(x))
    for name, value in model.state_dict(keep_vars=True).items():
        assert id(value) == own[name][0]
        assert torch.equal(value, own[name][1])


@pytest.mark.parametrize("build", [repeated, lambda: nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4))])
def test_a_dictionary_is_left_with_what_buffers_were_set_to(build: object) -> None:
    torch.manual_seed(0)
    model = build().train()  # type: ignore[operator]
    x, other = torch.randn(8, 2), copy.deepcopy(model)
    values = {name: tensor.detach().clone() for name, tensor in [*model.named_parameters(), *model.named_buffers()]}
    before = {name: buffer.clone() for name, buffer in model.named_buffers()}
    call_with(model, values, (x,))
    other(x)
    for name, buffer in other.named_buffers():
        torch.testing.assert_close(values[name], buffer)
        assert torch.equal(dict(model.named_buffers())[name], before[name])


def test_it_is_torchs_for_a_tree() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2))
    new = {name: torch.randn_like(value) for name, value in model.named_parameters()}
    x = torch.randn(3, 2)
    assert torch.equal(call_with(model, (new, {}), (x,)), functional_call(model, new, (x,)))


@pytest.mark.parametrize("strategy", ["loop", "stacked"])
def test_networks_with_a_module_in_two_places_are_trained(strategy: str) -> None:
    def network() -> nn.Module:
        part = nn.Linear(8, 8)
        return nn.Sequential(nn.Linear(2, 8), nn.ReLU(), part, nn.ReLU(), part, nn.ReLU(), nn.Linear(8, 2))

    ensemble = rc.train(network, ToyTask(), members=3, steps=30, batch_size=16, optimizer=rc.Adam(lr=0.01),
                        strategy=strategy)  # fmt: skip
    model, x = ensemble[1], torch.randn(4, 2)
    assert model[2] is model[4]  # type: ignore[index]
    by_hand = x
    weights = model.state_dict()
    for name in ("0", "2", "2"):
        by_hand = torch.relu(by_hand @ weights[f"{name}.weight"].T + weights[f"{name}.bias"])
    torch.testing.assert_close(model(x), by_hand @ weights["6.weight"].T + weights["6.bias"])
