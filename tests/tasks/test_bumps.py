"""Bumps: where they are, what stripes are, what each member is trained on."""

from __future__ import annotations

import math

import pytest
import torch

from recombine.errors import InputError
from recombine.tasks import BumpReading, BumpTask, Draws, Fourier, OneHot, Population, Ramp


def test_x_is_the_column() -> None:
    picture = BumpTask(side=12, hole=6).pictures(torch.tensor([[2, 9]]))[0]
    assert divmod(int(picture.argmax()), 12) == (9, 2)
    assert picture[9, 2] == 1
    assert picture[9, 3] == pytest.approx(math.exp(-0.5))
    assert picture[7, 2] == pytest.approx(math.exp(-2))


def test_a_stripe_is_constant_along_the_absent_factor() -> None:
    task = BumpTask(side=8, hole=4)
    vertical, horizontal = task.pictures(torch.tensor([[3.0, -1.0], [-1.0, 5.0]]))
    assert torch.equal(vertical, vertical[:1].expand(8, 8))
    assert vertical[0].argmax() == 3
    assert torch.equal(horizontal, horizontal[:, :1].expand(8, 8))
    assert horizontal[:, 0].argmax() == 5
    both = task.pictures(torch.tensor([[3.0, 5.0]]))[0]
    torch.testing.assert_close(vertical * horizontal, both)
    torch.testing.assert_close(
        BumpTask(side=8, hole=4, compose="sum").pictures(torch.tensor([[3.0, 5.0]]))[0], vertical + horizontal
    )


def test_blank_error_is_what_a_blank_picture_costs() -> None:
    for inverted in (False, True):
        task = BumpTask(side=28, hole=(6, 22), inverted=inverted)
        target = task.pictures(torch.tensor([[14, 13]]))
        blank = torch.full_like(target, task.background)
        assert task.blank_error == pytest.approx(math.pi / 784)
        assert float(task.losses(blank, target)) == pytest.approx(task.blank_error, rel=1e-3)
        torch.testing.assert_close(task.signal(target), BumpTask(side=28).pictures(torch.tensor([[14, 13]])))
    crossing = BumpTask(side=28, hole=(6, 22), compose="sum")
    target = crossing.pictures(torch.tensor([[14, 13]]))
    assert float(crossing.losses(torch.zeros_like(target), target)) == pytest.approx(crossing.blank_error, rel=1e-3)
    assert BumpTask(side=32, sigma=1.5).blank_error == pytest.approx(6.9e-3, rel=0.01)


def test_three_factors_have_three_axes() -> None:
    task = BumpTask(side=6, factors=3, hole=2)
    picture = task.pictures(torch.tensor([[1, 2, 4]]))
    assert picture.shape == (1, 6, 6, 6)
    assert picture[0, 4, 2, 1] == 1
    assert task.space.names == ("x", "y", "z")
    assert len(task.test.explicit()) == 8


def test_the_papers_hold_out() -> None:
    task = BumpTask(side=28, hole=(6, 22))
    assert (len(task.train.explicit()), len(task.test.explicit())) == (495, 289)
    low_rank = BumpTask(side=32, sigma=1.5, holdout="ell", hole=12)
    assert (len(low_rank.train.explicit()), len(low_rank.test.explicit())) == (624, 400)


@pytest.mark.parametrize("encoding", [OneHot(), Population(width=2.0), Ramp(), Ramp(scaled=False), Fourier()])
def test_no_value_has_the_absent_code(encoding) -> None:
    side = 9
    codes = encoding(torch.arange(side), side)
    absent = encoding(torch.tensor([-1.0]), side)
    assert codes.shape == (side, encoding.size(side))
    assert (codes - absent).abs().amax(1).min() > 0.1
    assert torch.cdist(codes, codes).fill_diagonal_(1).min() > 1e-3
    assert torch.equal(absent, torch.full_like(absent, encoding.absent(side)))


def test_codes_by_hand() -> None:
    value = torch.tensor([2.0])
    assert OneHot()(value, 4).tolist() == [[0, 0, 1, 0]]
    assert Population(width=2.0)(value, 4)[0, 0] == pytest.approx(math.exp(-0.5))
    assert Ramp()(value, 4).item() == 0.5
    assert Ramp(scaled=False)(value, 4).item() == 2
    torch.testing.assert_close(
        Fourier(frequencies=1)(value, 4)[0], torch.tensor([1.0, math.cos(math.pi / 2)]), atol=1e-6, rtol=0
    )


def test_each_member_draws_its_own_bumps_and_keeps_them() -> None:
    task = BumpTask(side=8, hole=4, bumps=5, stripes=3)

    def seen(member: int, steps: range) -> set[tuple[float, ...]]:
        inputs, _ = task.batch(Draws.of([member], steps, seed=0), 8)
        return {tuple(row) for row in inputs.reshape(-1, 16).tolist()}

    first = seen(0, range(4))
    assert len(first) == 8
    assert first == seen(0, range(40, 44))
    assert first != seen(1, range(4))
    inputs, _ = task.batch(Draws.of([3, 0], range(4), seed=0), 8)
    alone, _ = task.batch(Draws.of([0], range(4), seed=0), 8)
    assert torch.equal(inputs[:, 1], alone[:, 0])
    with pytest.raises(InputError, match="batch_size"):
        task.whole()


def test_stripes_are_spread_evenly() -> None:
    points = BumpTask(side=8, hole=4, stripes=16).stripe_points()
    assert len({tuple(p) for p in points.tolist()}) == 16
    assert ((points >= 0).sum(1) == 1).all()
    half = BumpTask(side=8, hole=4, stripes=8).stripe_points()
    assert (half[:, 0] >= 0).sum() == 4
    thrice = BumpTask(side=8, hole=4, stripes=48).stripe_points()
    assert len(thrice) == 48
    assert len({tuple(p) for p in thrice.tolist()}) == 16


def test_an_epoch_has_each_example_once() -> None:
    task = BumpTask(side=8, hole=4, stripes=16)
    inputs, targets = task.batch(Draws.of([0], range(4), seed=0), 16)
    assert len({tuple(row) for row in inputs.reshape(-1, 16).tolist()}) == 48 + 16
    assert targets.shape == (4, 1, 16, 8, 8)
    whole, _ = task.whole()
    assert len(whole) == 64


def test_continuous_centres_lie_in_the_support() -> None:
    task = BumpTask(side=10, centres="continuous", hole=0.5, encoding=Population(), bumps=32)
    points = task._candidates
    assert task.train.contains(points.double().numpy()).all()
    assert (points != points.round()).any()
    inputs, _ = task.batch(Draws.of([0], range(1), seed=0), 32)
    assert inputs.shape == (1, 1, 32, 20)
    with pytest.raises(InputError, match="between its places"):
        BumpTask(side=10, centres="continuous", hole=0.5)


def test_bad_counts_are_told() -> None:
    with pytest.raises(InputError, match="cannot draw 49 of 48"):
        BumpTask(side=8, hole=4, bumps=49)
    with pytest.raises(InputError, match="empty"):
        BumpTask(side=8, hole=4, bumps=0)


def test_reading_is_the_other_way_round() -> None:
    task = BumpReading(of=BumpTask(side=8, hole=4, encoding=Population()))
    pictures, codes = task.examples(torch.tensor([[2, 5]]), Draws.single(0))
    assert pictures.shape == (1, 1, 8, 8)
    assert task.places(codes).tolist() == [[2, 5]]
    assert task.scores(codes, codes)["read"].tolist() == [1]
    ramp = BumpReading(of=BumpTask(side=8, hole=4, encoding=Ramp()))
    _, code = ramp.examples(torch.tensor([[2, 5]]), Draws.single(0))
    assert ramp.scores(code + 0.05, code)["read"].tolist() == [1]
    assert ramp.scores(code + torch.tensor([0.1, 0.0]), code)["read"].tolist() == [0]
    with pytest.raises(InputError, match="Fourier"):
        BumpReading(of=BumpTask(side=8, hole=4, encoding=Fourier()))
