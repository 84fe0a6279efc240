"""Pretraining: known answers of the contrastive loss, what views keep, and weights that are carried over."""

from __future__ import annotations

import math

import pytest
import torch

from recombine.errors import InputError
from recombine.models import OddOneOutNet, Panels, Perceptron, ResNet, WordEncoder
from recombine.tasks import Contours, Draws, MaskedWords, Sentences, TwoViews
from recombine.tasks.odd_one_out.views import changed
from recombine.training import Adam, pretrain, starting_from, train

SOURCE = Sentences(grammar="anaphora", structures=("simple",))
WORDS = WordEncoder(words=len(SOURCE.spoken.words), width=16, heads=2, layers=1, longest=SOURCE.spoken.longest)
PANELS = Panels(encoder=ResNet(shape=(3, 32, 32), channels=(8, 16), blocks=1, norm="instance", outputs=16,
                               halve_first=True))  # fmt: skip
VIEWS = TwoViews(source=Contours(side=32), panels=256, held_out=64, temperature=0.2)


def quiet(done: int, total: int) -> None:
    """No progress bar."""


def test_the_contrastive_loss_has_its_known_values() -> None:
    task = TwoViews(temperature=0.5)
    alike = torch.eye(3)[:, None].expand(3, 2, 3)
    # Each view meets one equal view (cosine 1) and four at right angles (cosine 0).
    expected = math.log(math.exp(2) + 4) - 2
    assert task.losses(alike, torch.zeros(3)).tolist() == pytest.approx([expected] * 3, abs=1e-5)
    same = torch.ones(3, 2, 3)
    assert task.losses(same, torch.zeros(3)).tolist() == pytest.approx([math.log(5)] * 3, abs=1e-5)
    crossed = torch.stack([torch.eye(3), torch.eye(3).roll(1, 0)], 1)
    assert task.scores(alike, torch.zeros(3))["accuracy"].tolist() == [1, 1, 1]
    assert task.scores(crossed, torch.zeros(3))["accuracy"].tolist() == [0, 0, 0]
    assert torch.allclose(task.losses(7 * alike, torch.zeros(3)), task.losses(alike, torch.zeros(3)))


def test_views_are_white_where_nothing_is_drawn_and_differ() -> None:
    draws = Draws.single(0)
    white = torch.full((50, 3, 32, 32), 255, dtype=torch.uint8)
    assert (changed(white, draws) == 255).all()
    (both, _) = VIEWS.batch(Draws.of([0], range(2), seed=0), 30)
    assert both.dtype == torch.uint8
    assert both.shape == (2, 1, 30, 2, 3, 32, 32)
    one, other = both.float().unbind(3)
    assert ((one - other).abs().flatten(3).amax(-1) > 50).float().mean() > 0.9
    ink = (255 - both.float()).flatten(4).mean(-1)
    assert (ink > 1).all()


def test_contrastive_pretraining_finds_the_other_view() -> None:
    ensemble = pretrain(PANELS, VIEWS, steps=40, batch_size=16, optimizer=Adam(lr=3e-3), progress=quiet)
    inputs, targets = VIEWS.examples(torch.zeros(64, 1, dtype=torch.int64), Draws.single(3))
    untrained = pretrain(PANELS, VIEWS, steps=0, batch_size=16, progress=quiet)
    before, after = (VIEWS.losses(e.predict(inputs)[0], targets).mean().item() for e in (untrained, ensemble))
    assert after < before - 0.3
    model = starting_from(OddOneOutNet(encoder=PANELS), ensemble, 0)()
    for name, weight in ensemble.parameters.items():
        assert torch.equal(dict(model.named_parameters())[name], weight[0])


def test_masked_word_pretraining_learns_words_and_is_carried_over() -> None:
    task = MaskedWords(source=SOURCE)
    ensemble = pretrain(WORDS, task, members=[1], steps=150, batch_size=32, optimizer=Adam(lr=5e-3), progress=quiet)
    loss = ensemble.history["loss"]
    assert (loss[:, -1] < 0.7 * math.log(len(SOURCE.spoken.words))).all()
    net = OddOneOutNet(encoder=WORDS.replace(outputs=5))
    model = dict(starting_from(net, ensemble, 1)().named_parameters())
    assert all(torch.equal(model[f"encoder.{name}"], weight[0]) for name, weight in ensemble.parameters.items())
    assert set(model) - {f"encoder.{name}" for name in ensemble.parameters} == {
        "encoder.readout.weight", "encoder.readout.bias",
    }  # fmt: skip


def test_what_cannot_be_carried_over_is_said() -> None:
    words = pretrain(WORDS, MaskedWords(source=SOURCE), steps=0, progress=quiet)
    with pytest.raises(InputError, match="this model has not"):
        starting_from(OddOneOutNet(encoder=WORDS.replace(width=8)), words, 0)()
    with pytest.raises(InputError, match="cannot say words"):
        pretrain(Perceptron(widths=(2, 2)), MaskedWords(source=SOURCE), steps=0)
    with pytest.raises(InputError, match="no member 3"):
        starting_from(WORDS, words, 3)
    assert train(WORDS.replace(masked_words=True), MaskedWords(source=SOURCE), steps=1, progress=quiet).members == (0,)
