"""Convolutions in halves: each factor rounded as TF32 rounds it, then nothing else lost; and only where they fit."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, strategies as st
from torch import Tensor, nn
from torch.func import grad

from recombine.models import ConvNet, ResNet
from recombine.training.strategies.in_halves import InHalves, in_halves, of_few_channels


def ten_bits(numbers: Tensor) -> Tensor:
    """Ten bits after the point, the nearest and of two the even one: what TF32 keeps."""
    bits = numbers.contiguous().view(torch.int32)
    return ((bits + 0xFFF + (bits >> 13 & 1)) & -0x2000).view(torch.float32)


@pytest.mark.parametrize("size", [2.0**-90, 1e-20, 1e-3, 1.0, 7e4, 1e30])
def test_a_number_keeps_the_bits_that_tf32_keeps(size: float) -> None:
    generator = torch.Generator().manual_seed(0)
    numbers = torch.randn(4000, generator=generator) * torch.exp2(-27 * torch.rand(4000, generator=generator)) * size
    rounded, power = in_halves(numbers)
    assert rounded.dtype == torch.float16
    assert torch.log2(power) % 1 == 0
    top = float(rounded.float().abs().max())
    assert 2**13 <= top <= 2**14
    large = numbers.abs() > numbers.abs().max() * 2**-27
    assert large.sum() > 500
    assert torch.equal((rounded.float() * power)[large], ten_bits(numbers)[large])
    # What is smaller is off by no more than half of the last bit of the smallest.
    assert ((rounded.float() * power - numbers).abs() <= power * 2**-25 + numbers.abs() * 2**-11).all()


def test_nothing_stays_nothing_and_what_is_no_number_stays_none() -> None:
    zeros, power = in_halves(torch.zeros(3))
    assert torch.equal(zeros.float() * power, torch.zeros(3))
    for wrong in (float("inf"), float("nan")):
        numbers, power = in_halves(torch.tensor([1.0, wrong]))
        assert not (numbers.float() * power).isfinite().any()


@given(side=st.integers(1, 5), padding=st.integers(0, 4), channels=st.tuples(st.integers(1, 5), st.integers(1, 5)),
       size=st.tuples(st.integers(5, 7), st.integers(5, 8)), biased=st.booleans())  # fmt: skip
def test_it_is_the_convolution_of_rounded_factors_and_its_gradients(
    side: int, padding: int, channels: tuple[int, int], size: tuple[int, int], biased: bool
) -> None:
    torch.manual_seed(0)
    padding = min(padding, side - 1)
    x, weight = torch.randn(2, channels[0], *size), torch.randn(channels[1], channels[0], side, side)
    bias = torch.randn(channels[1]) if biased else None
    weighed = torch.randn_like(F.conv2d(x, weight, bias, padding=padding))

    def asked(x: Tensor, weight: Tensor, bias: Tensor | None = bias, weighed: Tensor = weighed) -> Tensor:
        return (F.conv2d(x, weight, bias, padding=padding) * weighed).sum()

    def expected(which: int) -> Tensor:
        """In double precision, of factors that were rounded."""
        exact = x.double(), weight.double(), None if bias is None else bias.double()
        rounded = ten_bits(x).double(), ten_bits(weight).double(), exact[2]
        found: Tensor = grad(asked, argnums=which)(*rounded, ten_bits(weighed).double())
        return found

    with InHalves() as halved:
        found = F.conv2d(x, weight, bias, padding=padding)
        to_x, to_weight = grad(asked, argnums=(0, 1))(x, weight)
    assert halved.count == 2
    made = F.conv2d(ten_bits(x).double(), ten_bits(weight).double(), None if bias is None else bias.double(),
                    padding=padding)  # fmt: skip
    for one, other in ((found, made), (to_x, expected(0)), (to_weight, expected(1))):
        torch.testing.assert_close(one.double(), other, rtol=1e-5, atol=1e-4)


def test_what_does_not_fit_is_computed_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 3, 8, 8)
    for module in (nn.Conv2d(3, 65, 3), nn.Conv2d(3, 4, 3, stride=2), nn.Conv2d(3, 4, (3, 1))):
        with InHalves():
            torch.testing.assert_close(module(x), F.conv2d(x, module.weight, module.bias, module.stride))
    fitting = nn.Conv2d(3, 4, 3)
    with InHalves():
        halved = fitting(x)
        double = fitting.double()(x.double())
    assert not torch.allclose(halved, F.conv2d(x, fitting.weight.float(), fitting.bias.float()), rtol=0, atol=1e-5)
    torch.testing.assert_close(double, F.conv2d(x.double(), fitting.weight, fitting.bias))
    fitting.float()
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    with InHalves():
        torch.testing.assert_close(fitting(x), F.conv2d(x, fitting.weight, fitting.bias))


def test_which_networks_convolve_few_channels_alone() -> None:
    assert of_few_channels(ConvNet(shape=(2, 28, 28))())
    assert of_few_channels(nn.Conv2d(3, 64, 3, padding=1))
    for other in (nn.Linear(2, 2), nn.Conv2d(3, 65, 3), nn.Conv2d(3, 4, 3, stride=2), nn.ConvTranspose2d(3, 4, 3),
                  nn.Conv2d(4, 4, 3, groups=2), nn.Conv2d(4, 4, 3, dilation=2), nn.Conv2d(4, 4, 3, padding="same"),
                  nn.Conv2d(4, 4, 3, padding=1, padding_mode="reflect"), ResNet(shape=(3, 32, 32))()):  # fmt: skip
        assert not of_few_channels(other), other


@pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed; its interpreter runs the programs")
def test_the_programs_compute_the_convolution_and_its_gradients() -> None:
    """In a process of its own: Triton looks once, when it is imported, whether it is to interpret."""
    done = subprocess.run([sys.executable, Path(__file__).with_name("gpu_convolution.py")], capture_output=True)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
