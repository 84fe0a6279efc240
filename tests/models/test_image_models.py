from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from recombine.errors import InputError
from recombine.models import ConvNet, Dense, ResNet, ViT


def size(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def test_networks_have_the_sizes_of_the_paper() -> None:
    assert size(ConvNet(shape=(2, 28, 28))()) == 1_887_873
    assert size(ResNet(shape=(6, 32, 32))()) == 700_737
    assert size(ViT(shape=(6, 32, 32))()) == 2_209_537


@pytest.mark.parametrize(
    "model",
    [
        ConvNet(shape=(3, 8, 14), filters=(4, 8), kernel=3, dense=(16,)),
        ResNet(shape=(3, 8, 8), channels=(4, 8), blocks=1),
        ViT(shape=(3, 8, 8), patch=4, dim=8, depth=2, heads=2, head_dim=4, mlp=8),
    ],
)
def test_they_answer_one_number_and_can_be_stacked(model: ConvNet | ResNet | ViT) -> None:
    module = model().eval()
    x = torch.rand(5, *model.shape)
    assert module(x).shape == (5, 1)
    stacked = {name: torch.stack([p, 2 * p]) for name, p in module.named_parameters()}
    buffers = dict(module.named_buffers())
    both = torch.vmap(lambda p: torch.func.functional_call(module, (p, buffers), (x,)))(stacked)
    assert torch.allclose(both[0], module(x), atol=1e-5)


def test_dense_weights_and_biases_follow_sigma() -> None:
    torch.manual_seed(0)
    plain = Dense(inputs=18, width=4000, depth=2)()
    first, second = plain.linear_1, plain.linear_2
    assert first.weight.std().item() == pytest.approx(math.sqrt(2 / 18), rel=0.02)
    assert second.weight.std().item() == pytest.approx(math.sqrt(2 / 4000), rel=0.01)
    assert first.bias.abs().max().item() == pytest.approx(1 / math.sqrt(18), rel=0.01)
    torch.manual_seed(0)
    small = Dense(inputs=18, width=4000, depth=2, scale=0.01)()
    for big, little in zip(plain.parameters(), small.parameters(), strict=True):
        assert torch.allclose(0.01 * big, little, rtol=1e-4, atol=1e-9)


def test_images_that_do_not_fit_are_said() -> None:
    with pytest.raises(InputError, match="leave nothing"):
        ConvNet(shape=(2, 8, 8))()
    with pytest.raises(InputError, match="patches of 8"):
        ViT(shape=(2, 28, 28))()
