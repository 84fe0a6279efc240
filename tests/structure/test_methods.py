"""Methods and schedules against their formulas, and what the penalty does to a weight that nothing needs."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given, strategies as st
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.structure import (
    Choice,
    ContinuousSparsification,
    Geometric,
    HardConcrete,
    Linear,
    MagnitudePruning,
    MaskSettings,
    Method,
    StraightThroughGumbel,
    Temperature,
    TopK,
    find_masks,
    grid,
    units_of,
)
from recombine.tasks import squared_error
from recombine.training import Adam

S = torch.tensor([-1.0, 0.0, 0.5], dtype=torch.float64)


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def test_continuous_sparsification_is_its_formula() -> None:
    method = ContinuousSparsification(start=0.1)
    assert method.soft(S, 3.0, None).tolist() == pytest.approx([sigmoid(-3), 0.5, sigmoid(1.5)])
    assert method.hard(S, 3.0).tolist() == [False, False, True]
    assert method.scale == 1
    assert ContinuousSparsification(start=0.1, rescale=True).scale == pytest.approx(1 / sigmoid(0.1))


def test_hard_concrete_is_its_formula() -> None:
    method = HardConcrete()
    u = torch.tensor([0.3, 0.5, 0.9], dtype=torch.float64)
    z = [sigmoid((math.log(n) - math.log(1 - n) + s) * 1.5) for n, s in zip(u.tolist(), S.tolist(), strict=True)]
    assert method.soft(S, 1.0, u).tolist() == pytest.approx([min(max(1.2 * v - 0.1, 0), 1) for v in z])
    chance = [sigmoid(s - 2 / 3 * math.log(0.1 / 1.1)) for s in S.tolist()]
    assert method.penalised(S, S).tolist() == pytest.approx(chance)


@pytest.mark.parametrize("method", [HardConcrete(), StraightThroughGumbel()])
def test_the_penalty_of_a_random_mask_is_how_often_it_is_open(method: Method) -> None:
    noise = torch.rand(200_000, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    often = (method.soft(S.expand(200_000, 3), 1.0, noise) > 0).double().mean(0)
    # The standard error is .0011.
    assert (often - method.penalised(S, S)).abs().max() < 0.005
    extreme = method.soft(S, 1.0, torch.tensor([0.0, 1.0, 0.5], dtype=torch.float64))
    assert extreme.isfinite().all()


def test_straight_through_masks_are_hard_and_have_the_soft_gradient() -> None:
    s = S.clone().requires_grad_()
    noise = torch.tensor([0.9, 0.2, 0.5], dtype=torch.float64)
    mask = StraightThroughGumbel(temperature=2.0).soft(s, 1.0, noise)
    assert mask.tolist() == pytest.approx([1.0, 0.0, 1.0])
    mask.sum().backward()
    z = torch.sigmoid((S + noise.log() - (1 - noise).log()) / 2)
    assert s.grad is not None
    assert torch.allclose(s.grad, z * (1 - z) / 2)
    scores = S.clone().requires_grad_()
    level = TopK(density=0.34).level({"a": scores}, 1.0)
    kept = TopK(density=0.34).soft(scores, level, None)
    assert kept.tolist() == [0.0, 0.0, 1.0]
    kept.sum().backward()
    assert scores.grad is not None
    assert scores.grad.tolist() == [1.0, 1.0, 1.0]


@given(st.floats(0.01, 0.99), st.integers(0, 50))
def test_pruning_keeps_the_largest_weights_whatever_their_sign(density: float, seed: int) -> None:
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(5, 7), nn.Linear(7, 3))
    data = torch.zeros(1, 5), torch.zeros(1, 3)
    mask = find_masks(model, data, MaskSettings(method=MagnitudePruning(density=density)), loss=squared_error).masks[0]
    sizes = torch.cat([model[i].weight.detach().abs().reshape(-1) for i in (0, 1)])
    kept = torch.cat([part.reshape(-1) for part in mask.keep.values()])
    assert mask.kept == max(1, round(density * 56))
    assert sizes[kept].min() > (sizes[~kept].max() if not kept.all() else -1)


def test_pruning_by_unit_compares_mean_sizes() -> None:
    model = nn.Linear(2, 3, bias=False)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[1.0, -1.0], [-3.0, 0.0], [0.0, 0.5]]))
    settings = MaskSettings(method=MagnitudePruning(density=0.34), choice=Choice(unit="row"))
    mask = find_masks(model, (torch.zeros(1, 2), torch.zeros(1, 3)), settings, loss=squared_error).masks[0]
    assert mask.keep["weight"].tolist() == [[False, False], [True, True], [False, False]]


def test_schedules_give_recorded_values() -> None:
    paper = Geometric().values(90 * 2, 90)
    assert paper[0].item() == paper[1].item() == pytest.approx(200 ** (1 / 90))
    assert paper[-1].item() == pytest.approx(200)
    meant = Geometric(ahead=False).values(90, 90)
    assert (meant[0].item(), meant[-1].item()) == pytest.approx((1, 200 ** (89 / 90)))
    assert Geometric(first=2, last=32, per="step").values(4, 2).tolist() == pytest.approx([4, 8, 16, 32])
    assert Linear(first=0.5, last=2.5).values(4, 2).tolist() == [1.5, 1.5, 2.5, 2.5]
    assert Temperature(first=3).values(2, 1).tolist() == [3, 3]


class Unused(nn.Module):
    """A matrix that the output does not depend on."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return 0 * self.layer(x)  # type: ignore[no-any-return]


def steps_to_removal(lr: float, most: int, **settings: Any) -> int:
    """Steps of one problem after which the penalty alone has taken an unused weight from s = .05 to 0 or below."""
    data = torch.ones(1, 3), torch.zeros(1, 2)
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        own = MaskSettings(temperature=Temperature(), optimizer=Adam(lr=lr), epochs=middle, batch_size=1, **settings)
        kept = find_masks(Unused(), data, own, loss=squared_error, strategy="loop").masks[0].kept
        low, high = (middle, high) if kept else (low, middle)
    return high


def test_the_papers_tiny_penalty_removes_an_unused_weight_only_through_adam() -> None:
    # Counted independently for 1e-8 × the sum of σ(s): 26 steps at a learning rate of 1e-2, the gradient being 2.5e-9
    # and Adam's eps 1e-8.
    assert steps_to_removal(1e-2, 64, penalty=1e-8, penalty_on="sum") == 26
    assert steps_to_removal(1e-2, 64, penalty=6e-8) == 26
    # Without eps in the way, a step of Adam is the learning rate: 4 × .015 > .05.
    assert steps_to_removal(1.5e-2, 16, penalty=0.2) == 4


def test_a_grid_is_every_combination() -> None:
    choices = (Choice(), Choice(names="a"), Choice(names="b"))
    settings = grid(choices=choices)
    assert len(settings) == len({own.address for own in settings}) == 24
    assert {own.optimizer.lr for own in settings} == {1e-2, 1e-4}
    assert MaskSettings().describe()["kind"] == "mask settings"


def test_settings_that_mean_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="target_density"):
        MaskSettings(target_density=2.0)
    with pytest.raises(InputError, match="unknown setting of MaskSettings 'epoch'; did you mean 'epochs'"):
        MaskSettings(epoch=3)


def test_methods_that_are_not_written_say_so() -> None:
    units = units_of(nn.Linear(2, 2), Choice())

    class Empty(Method):
        kind = "empty"

    with pytest.raises(TypeError, match="Empty is not trained"):
        Empty().begin(units, {})
