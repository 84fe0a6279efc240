"""Convolutions with channels last: what torch computes, forwards and back, and only where torch's call is the plain
one."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, strategies as st
from torch import Tensor, nn
from torch.func import functional_call, grad

from recombine.models import ResNet
from recombine.training.strategies.channels_last import ChannelsLast
from recombine.training.strategies.compiled import compiled_once, free_layouts
from recombine.training.strategies.recording import trace

PAIR = st.tuples(st.integers(1, 3), st.integers(1, 3))


@given(kernel=PAIR, stride=PAIR, padding=st.tuples(st.integers(0, 2), st.integers(0, 2)), channels=PAIR, size=PAIR,
       biased=st.booleans())  # fmt: skip
def test_it_is_the_convolution_and_its_gradients(
    kernel: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int], channels: tuple[int, int],
    size: tuple[int, int], biased: bool,
) -> None:  # fmt: skip
    torch.manual_seed(0)
    x = torch.randn(2, channels[0], size[0] + 3, size[1] + 3, dtype=torch.float64)
    weight = torch.randn(channels[1], channels[0], *kernel, dtype=torch.float64)
    bias = torch.randn(channels[1], dtype=torch.float64) if biased else None
    weighed = torch.randn_like(F.conv2d(x, weight, bias, stride, padding))

    def asked(x: Tensor, weight: Tensor) -> Tensor:
        return (F.conv2d(x, weight, bias, stride, padding) * weighed).sum()

    expected = asked(x, weight), *grad(asked, argnums=(0, 1))(x, weight)
    with ChannelsLast() as laid_out:
        found = asked(x, weight), *grad(asked, argnums=(0, 1))(x, weight)
    assert laid_out.count == 2
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(("stem", "halved"), [("cifar", True), ("imagenet", False)])
def test_a_recorded_residual_network_keeps_channels_last(stem: Any, halved: bool) -> None:
    torch.manual_seed(0)
    module = ResNet(shape=(3, 32, 32), channels=(4, 6), norm="instance", halve_first=halved, stem=stem)().double()
    weights, x = {n: p.detach() for n, p in module.named_parameters()}, torch.randn(3, 3, 32, 32, dtype=torch.float64)

    def loss(weights: dict[str, Tensor], x: Tensor) -> Tensor:
        return functional_call(module, weights, (x,)).square().mean()  # type: ignore[no-any-return]

    expected = grad(loss)(weights, x)
    with torch.no_grad(), ChannelsLast():
        recorded = trace(grad(loss), (weights, x))
    free_layouts(recorded)
    found = recorded(weights, x)
    for name, value in expected.items():
        torch.testing.assert_close(found[name], value, rtol=1e-9, atol=1e-12)
    # Norms of planes are sums where the channels lie; torch's layer norm would bring planes together.
    assert "layer_norm" not in recorded.code


def test_a_norm_of_something_else_is_torchs_own() -> None:
    torch.manual_seed(0)
    pictures = torch.randn(2, 3, 4, 4).contiguous(memory_format=torch.channels_last)
    weighed = nn.LayerNorm((4, 4))
    with torch.no_grad():
        weighed.weight.mul_(2)
    asked = [lambda: F.layer_norm(pictures, (4,)), lambda: weighed(pictures), lambda: F.layer_norm(pictures[0], (4, 4))]
    for call in asked:
        expected = call()
        with ChannelsLast():
            assert torch.equal(call(), expected)
    expected = F.layer_norm(pictures, (4, 4), eps=0.1)
    with ChannelsLast():
        torch.testing.assert_close(F.layer_norm(pictures, (4, 4), eps=0.1), expected)


@pytest.mark.parametrize("settings", [{"groups": 2}, {"dilation": 2}, {"padding": "same"}])
def test_what_is_not_plain_is_left_to_torch(settings: dict[str, Any]) -> None:
    torch.manual_seed(0)
    module, x = nn.Conv2d(4, 4, 3, **settings), torch.randn(2, 4, 7, 7)
    expected = module(x)
    with ChannelsLast() as laid_out:
        assert torch.equal(module(x), expected)
    assert laid_out.count == 0


def test_under_autocast_it_rounds_as_torch_does() -> None:
    torch.manual_seed(0)
    module, x = nn.Conv2d(3, 4, 3, padding=1), torch.randn(2, 3, 7, 7)
    weights = {name: p.detach() for name, p in module.named_parameters()}

    def loss(weights: dict[str, Tensor], x: Tensor) -> Tensor:
        return functional_call(module, weights, (x,)).float().square().mean()  # type: ignore[no-any-return]

    with torch.autocast("cpu", torch.bfloat16, cache_enabled=False):
        expected = grad(loss)(weights, x)
        with ChannelsLast():
            found = grad(loss)(weights, x)
            assert module(x).dtype == torch.bfloat16
    for name, value in expected.items():
        assert found[name].dtype == value.dtype == torch.float32
        torch.testing.assert_close(found[name], value, rtol=0.02, atol=0.002)


def test_the_same_step_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    def compile(recorded: object, dynamic: bool) -> object:
        made.append(recorded)
        return recorded

    monkeypatch.setattr(torch, "compile", compile)

    def step(x: Tensor, factor: Tensor) -> Tensor:
        return (x * factor).sum()

    def compiled(rows: int, dtype: torch.dtype = torch.float32) -> object:
        given = torch.ones(rows, 3, dtype=dtype), torch.ones((), dtype=dtype)
        return compiled_once(trace(step, given), given)

    first = compiled(2)
    assert compiled(2) is first
    assert compiled(4) is not first
    assert compiled(2, torch.float64) is not first
    own = torch.full((2, 3), 2.0)
    given = (torch.ones(2, 3),)
    # What a record holds itself is not asked for again, so another record must not stand in for it.
    one, other = (compiled_once(trace(lambda x: x * own, given), given) for _ in range(2))
    assert one is not other


@pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed; its interpreter runs the program")
def test_the_program_for_few_channels_computes_the_gradient() -> None:
    """In a process of its own: Triton looks once, when it is imported, whether it is to interpret."""
    done = subprocess.run([sys.executable, Path(__file__).with_name("gpu_few_channels.py")], capture_output=True)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
