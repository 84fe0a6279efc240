"""Encoders under the odd-one-out head: sizes, what they read, that they stack, and pretraining."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from recombine.description import Description
from recombine.errors import InputError
from recombine.models import (
    OddOneOutNet,
    Panels,
    ResNet,
    Views,
    ViT,
    WordEncoder,
    resnet_50,
    wide_resnet_50,
)
from recombine.models.panels import MEAN, SPREAD

TINY = ResNet(shape=(3, 32, 32), channels=(4, 8), blocks=1, norm="instance", hidden=(8,), outputs=6, halve_first=True)
WORDS = WordEncoder(words=20, width=8, heads=2, layers=2, longest=7)


def size(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def test_networks_have_the_sizes_of_the_paper() -> None:
    """Weights that can be masked (all but biases), Lepori et al. 2023: 27.91 and 71.22 million."""
    for model, weights in ((resnet_50(128), 27_911_360), (wide_resnet_50(128), 71_222_464)):
        assert sum(p.numel() for p in model().parameters() if p.dim() > 1) == weights
    blocks = WordEncoder(words=20, width=512, heads=8, layers=4)().layers
    # Their 12.85 million are these and the pooler's 512².
    assert sum(p.numel() for p in blocks.parameters() if p.dim() > 1) == 12_582_912 == 12_845_056 - 512**2


def test_instance_norm_makes_panels_independent_of_each_other() -> None:
    torch.manual_seed(0)
    module = TINY()
    x = torch.randn(5, 3, 32, 32)
    assert torch.allclose(module(x)[2:3], module(x[2:3]), atol=1e-5)
    assert torch.allclose(module.train()(x), module.eval()(x), atol=1e-6)
    assert not list(module.buffers())


def test_instance_norm_is_that_of_torch_with_its_gradient() -> None:
    norm = TINY().stem[1]
    x = torch.randn(3, 4, 5, 6, dtype=torch.float64, requires_grad=True)
    seen = torch.randn_like(x)
    results = [nn.InstanceNorm2d(4)(x), norm(x)]
    gradients = [torch.autograd.grad(y, x, seen)[0] for y in results]
    assert torch.allclose(*results, rtol=0, atol=1e-12)
    assert torch.allclose(*gradients, rtol=0, atol=1e-12)


def test_bytes_are_normalised_in_the_type_of_the_weights() -> None:
    module = Panels(encoder=TINY)()
    panels = torch.randint(0, 256, (2, 3, 32, 32), dtype=torch.uint8)
    expected = module.network((panels.float() / 255 - MEAN) / SPREAD)
    assert torch.allclose(module(panels), expected)
    assert torch.allclose(module((panels.float() / 255 - MEAN) / SPREAD), expected)
    assert size(module) == size(module.network)
    assert copy.deepcopy(module).to(torch.float64)(panels).dtype == torch.float64
    assert module(panels).dtype == torch.float32


def test_what_follows_the_end_of_a_sentence_is_not_read() -> None:
    torch.manual_seed(0)
    module = WORDS()
    short = torch.tensor([[1, 5, 9]])
    longer = torch.tensor([[1, 5, 9, 0, 0, 0]])
    assert torch.allclose(module(short), module(longer), atol=1e-6)
    assert not torch.allclose(module(short), module(torch.tensor([[1, 9, 5]])), atol=1e-3)
    large = WordEncoder(words=600, width=8, heads=2, layers=1, longest=7)()
    assert large(short).shape == (1, 8)
    assert WORDS.replace(masked_words=True)()(longer).shape == (1, 6, 20)


@pytest.mark.parametrize(
    ("encoder", "items"),
    [
        (Panels(encoder=TINY), torch.randint(0, 256, (3, 4, 3, 32, 32), dtype=torch.uint8)),
        (Panels(encoder=ViT(shape=(3, 32, 32), patch=8, dim=8, depth=1, heads=2, head_dim=4, mlp=8, dropout=0.0,
                            outputs=6)), torch.randint(0, 256, (3, 4, 3, 32, 32), dtype=torch.uint8)),
        (WORDS, torch.randint(0, 20, (3, 4, 7))),
    ],
    ids=["resnet", "vit", "words"],
)  # fmt: skip
def test_encoders_stack_under_the_head_and_under_views(encoder: Description, items: torch.Tensor) -> None:
    torch.manual_seed(0)
    module = OddOneOutNet(encoder=encoder)().eval()
    assert module(items).shape == (3, 4)
    stacked = {name: torch.stack([p, 1.5 * p]).detach() for name, p in module.named_parameters()}
    buffers = dict(module.named_buffers())

    def one(parameters: dict[str, torch.Tensor], shown: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(module, (parameters, buffers), (shown,))

    both = torch.vmap(one)(stacked, torch.stack([items, items.flip(0)]))
    assert torch.allclose(both[0], module(items), atol=1e-4)
    assert torch.allclose(both[1], one({name: p[1] for name, p in stacked.items()}, items.flip(0)), atol=1e-4)
    assert Views(encoder=encoder)()(items[:, :2]).shape[:2] == (3, 2)


def test_what_cannot_be_built_is_said() -> None:
    with pytest.raises(InputError, match="one pixel cannot be normalised"):
        resnet_50(32)
    with pytest.raises(InputError, match="at least one block for each of 2 stages"):
        ResNet(shape=(3, 32, 32), channels=(4, 8), blocks=(1, 1, 1))
    with pytest.raises(InputError, match="3 heads cannot share"):
        WordEncoder(words=10, width=8, heads=3)
