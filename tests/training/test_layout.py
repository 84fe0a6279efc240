"""Where parameters lie in a row: named views of it, and back."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from trainees import Tied

from recombine.errors import InputError
from recombine.training.layout import ALIGN, Layout


def test_rows_and_names_are_inverse_and_views() -> None:
    module = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 1))
    layout = Layout.of(module)
    row = layout.row(dict(module.named_parameters()), torch.float64)
    assert all(slot.start % ALIGN == 0 for slot in layout.slots)
    assert layout.width % ALIGN == 0
    named = layout.split(row)
    for name, parameter in module.named_parameters():
        assert torch.equal(named[name], parameter.detach().double())
    named["0.weight"].zero_()
    assert float(row[:15].abs().sum()) == 0
    stacked = torch.stack([row, row + 1])
    parts = layout.split(stacked)
    assert parts["0.weight"].shape == (2, 5, 3)
    joined = layout.join(parts, (2,))
    used = torch.cat([torch.arange(s.start, s.stop) for s in layout.slots])
    assert torch.equal(joined[:, used], stacked[:, used])
    padding = torch.ones(layout.width, dtype=torch.bool)
    padding[used] = False
    assert not joined[:, padding].any()


def test_tied_and_scalar_parameters_have_one_place_each() -> None:
    layout = Layout.of(Tied())
    assert {slot.name: slot.shape for slot in layout.slots} == {"scale": (), "inner.weight": (2, 2)}
    flat = torch.zeros(4, layout.width)
    views = layout.split(flat)
    views["scale"][2] = 5
    assert views["scale"].shape == (4,)
    assert flat.sum() == 5


def test_models_that_cannot_be_laid_out_are_refused() -> None:
    with pytest.raises(InputError, match="no parameters to train"):
        Layout.of(nn.ReLU())
    mixed = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1).double())
    with pytest.raises(InputError, match=r"one dtype.*float32.*float64"):
        Layout.of(mixed)
