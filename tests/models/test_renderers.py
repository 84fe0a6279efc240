"""Decoders: shapes, the paper's counts of parameters, and that each stacks."""

from __future__ import annotations

import pytest
import torch

from recombine.errors import InputError
from recombine.models import (
    CoordinateNetwork,
    EmbeddingCNN,
    Perceptron,
    PixelDecoder,
    PixelTransformer,
    StripeDecoder,
    TransposedCNN,
)
from recombine.models.coordinate import sinusoids
from recombine.models.rendering import low_rank
from recombine.tasks import BumpTask
from recombine.training import AdamW, train

TASK = BumpTask(side=8, hole=4)
DECODERS = [
    Perceptron(widths=(16, 12, 64)),
    TransposedCNN(inputs=16, side=8, channels=3, depth=3),
    PixelDecoder(inputs=16, side=8, channels=2, hidden=4),
    StripeDecoder(inputs=16, side=8),
    EmbeddingCNN(side=8),
    CoordinateNetwork(inputs=16, side=8, width=8),
    PixelTransformer(inputs=16, side=8, dim=8, heads=2, feed_forward=16),
]


def count(module: torch.nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def test_parameters_are_the_papers() -> None:
    assert count(EmbeddingCNN(side=32)()) == 133_218
    assert count(PixelDecoder(inputs=56, side=28)()) == 178_849
    assert count(StripeDecoder(inputs=56, side=28)()) == 1_633
    assert count(Perceptron(widths=(56, 256, 256, 256, 784))()) == 347_664
    cnn = TransposedCNN(inputs=56, side=28, channels=64, depth=4)()
    assert cnn(torch.zeros(2, 56)).shape == (2, 28, 28)
    assert cnn.seed(torch.zeros(2, 56)).shape == (2, 64, 7, 7)


@pytest.mark.parametrize("model", DECODERS, ids=lambda m: m.kind)
def test_each_decoder_stacks_as_it_loops(model) -> None:
    def trained(strategy: str) -> torch.Tensor:
        ensemble = train(
            model, TASK, members=2, steps=3, batch_size=4, optimizer=AdamW(lr=1e-2), device="cpu", strategy=strategy
        )
        return ensemble.predict(TASK.codes(torch.tensor([[1, 2], [4, 4]])))

    looped, stacked = trained("loop"), trained("stacked")
    assert looped.flatten(2).shape == (2, 2, 64)
    torch.testing.assert_close(looped, stacked, rtol=1e-3, atol=1e-4)


def test_a_transposed_convolution_of_one_pixel_is_the_seed() -> None:
    model = TransposedCNN(inputs=5, side=8, channels=3)()
    layer = torch.nn.ConvTranspose2d(5, 3, 2)
    with torch.no_grad():
        layer.weight.copy_(model.seed.weight.unflatten(1, (3, 2, 2)))
        layer.bias.copy_(model.seed.bias)
    codes = torch.randn(4, 5, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(model.seed(codes), layer(codes[:, :, None, None]))


def test_the_stripe_decoder_can_only_compose() -> None:
    """Its picture of (x, y) at a pixel depends on x through the column alone and on y through the row alone."""
    model = StripeDecoder(inputs=16, side=8, channels=2)()
    first, other = (model(TASK.codes(torch.tensor([[3, y]])))[0] for y in (1, 6))
    profile = model.profiles[1]
    with torch.no_grad():
        profile.weight[:, 6] = profile.weight[:, 1]
    torch.testing.assert_close(model(TASK.codes(torch.tensor([[3, 6]])))[0], first)
    assert not torch.allclose(first, other)


def test_stripes_of_three_factors() -> None:
    task = BumpTask(side=4, factors=3, hole=2)
    model = StripeDecoder(inputs=12, side=4, factors=3)()
    assert model(task.codes(torch.tensor([[0, 1, 2]]))).shape == (1, 4, 4, 4)


def test_neighbours_are_a_transposed_convolution() -> None:
    model = EmbeddingCNN(side=6)()
    mine = model.cnn[1]
    layer = torch.nn.ConvTranspose2d(2, 2, 3, padding=1)
    with torch.no_grad():
        layer.weight.copy_(mine.weight.T.unflatten(1, (2, 3, 3)).transpose(0, 1).flip(2, 3))
        layer.bias.copy_(mine.bias)
    pictures = torch.randn(3, 2, 6, 6, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(mine(pictures), layer(pictures))


def test_low_rank_pictures_by_hand() -> None:
    rows, columns = torch.tensor([[[2.0, 0.0]]]), torch.tensor([[[0.0, 3.0]]])
    assert low_rank(torch.tensor([[5.0]]), rows, columns).tolist() == [[[0, 5], [0, 0]]]


def test_positions_tell_column_from_row() -> None:
    table = sinusoids(6, 8).reshape(6, 6, 8)
    assert torch.equal(table[0, :, 4:], table[0, :1, 4:].expand(6, 4))
    assert torch.equal(table[:, 0, :4], table[:1, 0, :4].expand(6, 4))
    assert torch.cdist(table.flatten(0, 1), table.flatten(0, 1)).fill_diagonal_(1).min() > 1e-3


def test_shuffled_positions_are_the_same_codes_elsewhere() -> None:
    ordered, shuffled = (PixelTransformer(inputs=4, side=8, dim=8, shuffled=how)().positions for how in (False, True))
    assert not torch.equal(ordered, shuffled)
    assert sorted(map(tuple, ordered.tolist())) == sorted(map(tuple, shuffled.tolist()))


def test_sides_that_cannot_be_drawn() -> None:
    with pytest.raises(InputError, match="multiple of 4"):
        TransposedCNN(inputs=4, side=10)()
    with pytest.raises(InputError, match="heads"):
        PixelTransformer(inputs=4, side=4, dim=8, heads=3)()


def test_the_start_of_the_embedding_changes_lengths_and_nothing_else() -> None:
    made = []
    for start in ("standard", "small"):
        torch.manual_seed(0)
        made.append(EmbeddingCNN(side=16, start=start)())
    assert torch.allclose(made[0].rows, 4 * made[1].rows)
    assert torch.allclose(made[0].columns, 4 * made[1].columns)
    assert torch.equal(made[0].strength, made[1].strength)
    assert torch.allclose(made[0].tables(), made[1].tables(), atol=1e-6)
    assert EmbeddingCNN(start="standard").address == EmbeddingCNN().address
