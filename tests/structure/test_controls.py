"""Controls: networks that learnt nothing, answers that mean nothing, and networks whose structure is known."""

from __future__ import annotations

import polars as pl
import pytest
import torch
from torch import nn

from recombine.errors import InputError
from recombine.models import OddOneOutNet, Perceptron
from recombine.structure import (
    MaskSettings,
    Network,
    Protocol,
    carry_out,
    planted_negative,
    planted_positive,
    shuffled,
    subroutines_of,
    untrained,
)
from recombine.structure.planted import Glued, Halves
from recombine.structure.scoring import examine
from recombine.tasks import Problems, SignProducts
from recombine.training import Adam

TOY = SignProducts()
SETTINGS = tuple(MaskSettings(epochs=20, penalty=penalty, optimizer=Adam(lr=0.02)) for penalty in (0.1, 0.004))
PARTS = subroutines_of(TOY, problems=512, asked=300)


def test_an_untrained_network_is_drawn_anew_and_the_given_one_left_alone() -> None:
    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)).double()
    before = [p.clone() for p in model.parameters()]
    first, again, other = untrained(model, 0), untrained(model, 0), untrained(model, 1)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), before, strict=True))
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True))
    assert not torch.equal(first[0].weight, other[0].weight)  # type: ignore[index]
    assert not torch.equal(first[0].weight, model[0].weight)  # type: ignore[index]
    assert next(first.parameters()).dtype is torch.float64


def test_shuffled_answers_are_the_same_answers_elsewhere() -> None:
    problems = Problems(torch.arange(50.0)[:, None], torch.arange(50) % 4)
    mixed = shuffled(problems, 1)
    assert torch.equal(mixed.parts[0], problems.parts[0])
    assert torch.equal(mixed.targets.sort().values, problems.targets.sort().values)
    assert not torch.equal(mixed.targets, problems.targets)
    assert torch.equal(mixed.targets, shuffled(problems, 1).targets)


def test_planted_positive_is_found() -> None:
    glued = planted_positive(TOY, OddOneOutNet(encoder=Perceptron(widths=(24, 16, 8))), steps=500)
    assert isinstance(glued, Glued)
    for target in (0, 1):
        truth = glued.truth(target)
        assert truth.density == 0.5
        assert examine(glued, truth, PARTS, target, 0.25)[0]["d_abl"] <= -0.65
    found = carry_out(Protocol(settings=SETTINGS, seeds=1, random=0, shuffled=False), [Network(0, "trained", glued)],
                      PARTS)  # fmt: skip
    chosen = found.masks.filter("chosen")
    assert chosen["d_abl"].mean() <= -0.6  # type: ignore[operator]


def test_planted_negative_shows_nothing_over_the_whole_grid() -> None:
    halves = planted_negative(TOY, OddOneOutNet(encoder=Perceptron(widths=(12, 16, 8))), steps=500)
    assert isinstance(halves, Halves)
    found = carry_out(Protocol(settings=SETTINGS, seeds=1, random=0, shuffled=False), [Network(0, "trained", halves)],
                      PARTS)  # fmt: skip
    assert found.bases["accuracy"][0] > 0.95
    assert found.masks["d_abl"].abs().mean() <= 0.1  # type: ignore[operator]
    assert found.masks["d_sub"].abs().mean() <= 0.1  # type: ignore[operator]
    with pytest.raises(InputError, match="the same places"):
        planted_negative(SignProducts(pairs=((0, 1), (12, 14))), nn.Identity, steps=1)


def test_shuffled_answers_do_not_make_a_part() -> None:
    torch.manual_seed(0)
    model = OddOneOutNet(encoder=Perceptron(widths=(24, 32, 16)))()
    protocol = Protocol(settings=SETTINGS[:1], gate=0.0, passing=0.0, seeds=1, random=0)
    masks = carry_out(protocol, [Network(0, "trained", model)], PARTS).masks
    real = masks.filter(pl.col("role") == "search")["passing"].mean()
    mixed = masks.filter(pl.col("role") == "shuffled answers")["passing"].mean()
    assert mixed < 0.5 < real  # type: ignore[operator]
