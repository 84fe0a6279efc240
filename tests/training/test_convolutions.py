"""Convolutions as matrix products: what torch computes, and only where torch's call is the plain one."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, strategies as st
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from trainees import short

from recombine.models import ResNet
from recombine.training.strategies.compiled import free_layouts
from recombine.training.strategies.convolutions import AsProducts, convolve
from recombine.training.strategies.recording import trace


@given(
    kernel=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    stride=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    padding=st.tuples(st.integers(0, 2), st.integers(0, 2)),
    channels=st.tuples(st.integers(1, 3), st.integers(1, 4)),
    size=st.tuples(st.integers(4, 9), st.integers(4, 9)),
    biased=st.booleans(),
)
def test_products_are_the_convolution(
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: tuple[int, int],
    channels: tuple[int, int],
    size: tuple[int, int],
    biased: bool,
) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, channels[0], *size, dtype=torch.float64)
    weight = torch.randn(channels[1], channels[0], *kernel, dtype=torch.float64)
    bias = torch.randn(channels[1], dtype=torch.float64) if biased else None
    expected = F.conv2d(x, weight, bias, stride, padding)
    torch.testing.assert_close(convolve(x, weight, bias, stride, padding), expected, rtol=1e-12, atol=1e-12)


def test_gradients_of_stacked_members_are_the_same() -> None:
    torch.manual_seed(0)
    module = nn.Sequential(
        nn.Conv2d(2, 3, 3, padding=1), nn.ReLU(), nn.Conv2d(3, 4, 2, stride=2), nn.Flatten(), nn.Linear(36, 1)
    ).double()
    members = {name: torch.stack([p.detach(), p.detach() * 0.5]) for name, p in module.named_parameters()}
    x = torch.randn(2, 5, 2, 6, 6, dtype=torch.float64)

    def loss(parameters: dict[str, Tensor], x: Tensor) -> Tensor:
        return functional_call(module, parameters, (x,)).square().mean()  # type: ignore[no-any-return]

    expected = vmap(grad(loss))(members, x)
    with AsProducts() as products:
        found = vmap(grad(loss))(members, x)
    assert products.count == 2
    for name, value in expected.items():
        torch.testing.assert_close(found[name], value, rtol=1e-10, atol=1e-12)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_a_recorded_step_can_be_laid_out_anew_by_a_compiler() -> None:
    # The shortcut of a stage that halves the picture: one pixel of four, laid out otherwise by a compiler.
    torch.manual_seed(0)
    module = ResNet(shape=(2, 8, 8), channels=(2, 4), blocks=1, norm="instance")()
    members = {name: torch.stack([p.detach(), p.detach() * 0.5]) for name, p in module.named_parameters()}
    x = torch.randn(2, 5, 2, 8, 8)

    def loss(parameters: dict[str, Tensor], x: Tensor) -> Tensor:
        return functional_call(module, parameters, (x,)).square().mean()  # type: ignore[no-any-return]

    with torch.no_grad(), AsProducts():
        recorded = trace(vmap(grad(loss)), (members, x))
    expected = recorded(members, x)
    free_layouts(recorded)  # type: ignore[arg-type]
    # What comes before the code of a GPU is written, which is where a view that does not fit is refused.
    found = torch.compile(recorded, backend="aot_eager_decomp_partition", dynamic=False)(members, x)
    for name, value in expected.items():
        torch.testing.assert_close(found[name], value, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "settings", [{"groups": 2}, {"dilation": 2}, {"padding": "same"}, {"padding": "same", "dilation": 2}]
)
def test_what_is_not_plain_is_left_to_torch(settings: dict[str, Any]) -> None:
    torch.manual_seed(0)
    module, x = nn.Conv2d(4, 4, 3, **settings), torch.randn(2, 4, 7, 7)
    expected = module(x)
    with AsProducts() as products:
        assert torch.equal(module(x), expected)
    assert products.count == 0


def test_a_picture_without_a_batch_is_left_to_torch() -> None:
    module, x = nn.Conv2d(1, 2, 3), torch.randn(1, 5, 5)
    with AsProducts() as products:
        assert torch.equal(module(x), module(x))
    assert products.count == 0


class Tied(nn.Module):
    """The same kernel twice, then a readout."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.last = (
            nn.Conv2d(1, 1, 3, padding=1),
            nn.Conv2d(1, 1, 3, padding=1),
            nn.Linear(4, 2),
        )
        self.second.weight = self.first.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.second(self.first(x[:, None, :, None].expand(-1, 1, 2, 2)).relu()).flatten(1))  # type: ignore[no-any-return]


def test_looped_convolutions_learn_as_stacked_ones_do_tied_or_not() -> None:
    for model in (
        Tied,
        lambda: nn.Sequential(nn.Unflatten(1, (1, 1, 2)), nn.Conv2d(1, 4, (1, 2)), nn.Flatten(), nn.Linear(4, 2)),
    ):
        looped, stacked = (short(model, members=3, steps=5, strategy=strategy).flat for strategy in ("loop", "stacked"))
        torch.testing.assert_close(looped, stacked, rtol=1e-4, atol=1e-6)
