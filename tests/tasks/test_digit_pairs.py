"""Digit pairs: which combinations train, which are asked, and what the images show."""

from __future__ import annotations

import pytest
import torch

from recombine.errors import InputError
from recombine.tasks import DigitPairs, Draws
from recombine.tasks.data import load_images
from recombine.tasks.digit_pairs import categorical_hinge


def test_supports_are_the_paper_s() -> None:
    a, b, noise = DigitPairs(), DigitPairs(strength=0.0), DigitPairs(other="noise")
    assert len(a.train) == 20
    assert {(y2 - y1) % 10 for y1, y2 in a.train.codes.tolist()} == {0, 1}
    assert {(y2 - y1) % 10 for y1, y2 in a.test.codes.tolist()} == set(range(2, 10))
    assert len(b.train) == 100
    assert len(noise.train) == 0
    assert len(a.test) == len(b.test) == len(noise.test) == 80
    assert len(DigitPairs(digits=3, offsets=(0, 5)).train) == 40
    assert len(DigitPairs(digits=3, offsets=(0, 5)).test) == 10 * 8 * 8


def test_training_draws_follow_the_strength() -> None:
    draws = Draws.of([0, 1], range(20), seed=0)
    for strength, share in ((1.0, 1.0), (0.5, 0.6), (0.0, 0.2)):
        points = DigitPairs(strength=strength)._drawn(draws, 100)
        bound = ((points[..., 1] - points[..., 0]) % 10 < 2).double().mean()
        assert abs(float(bound) - share) < 0.03
    assert points.shape == (20, 2, 100, 2)


def test_images_show_the_digits_and_training_never_shows_held_out_ones() -> None:
    task, found = DigitPairs(), load_images("digits")
    draws = Draws.single(0)
    points = torch.tensor([[3, 7], [0, 0]])
    shown, label = task.examples(points, draws)
    assert shown.shape == (2, *task.shape) == (2, 1, 8, 16)
    assert label.tolist() == [3, 0]
    held = {image.tobytes(): int(c) for image, c in zip(found.held_out, found.held_out_classes, strict=True)}
    train = {image.tobytes(): int(c) for image, c in zip(found.train, found.train_classes, strict=True)}
    for row, digits in enumerate(points.tolist()):
        for k, digit in enumerate(digits):
            assert held[shown[row, ..., task.part(k)].numpy().tobytes()] == digit
    trained, labels = task.trained_examples(points, draws)
    assert train[trained[0, ..., task.part(1)].contiguous().numpy().tobytes()] == 7
    assert labels.tolist() == [3, 0]


def test_the_other_half_is_noise_or_blank_in_training_only() -> None:
    draws = Draws.of([0], range(2), seed=0)
    blank, noise = DigitPairs(other="blank"), DigitPairs(other="noise")
    images, _ = blank.batch(draws, 8)
    assert float(images[..., blank.part(1)].abs().max()) == 0
    assert float(images[..., blank.part(0)].max()) > 0.5
    noisy, _ = noise.batch(draws, 8)
    assert abs(float(noisy[..., noise.part(1)].mean()) - 0.5) < 0.05
    assert torch.equal(noisy[..., noise.part(0)], images[..., blank.part(0)])
    assert float(blank.views(Draws.single(0), 8)["unseen"][0][..., blank.part(1)].max()) > 0.5


def test_any_label_rule() -> None:
    points = torch.tensor([[3, 9], [4, 4]])
    assert DigitPairs(weights=(1, 1)).label(points).tolist() == [2, 8]
    assert DigitPairs(weights=(0, 1)).label(points).tolist() == [9, 4]
    larger = tuple(max(a, b) for a in range(10) for b in range(10))
    assert DigitPairs(table=larger).label(points).tolist() == [9, 4]


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InputError, match="offsets must leave some"):
        DigitPairs(offsets=tuple(range(10)))
    with pytest.raises(InputError, match="3 weights"):
        DigitPairs(weights=(1, 1, 1))
    with pytest.raises(InputError, match="100 entries"):
        DigitPairs(table=(1, 2))


def test_the_hinge_is_keras_s() -> None:
    outputs = torch.tensor([[2.0, 1.5, -1.0], [0.0, 3.0, 1.0], [-2.0, -3.0, -1.0]])
    # 1 + max((1 − y) ŷ) − Σ y ŷ, with the zero of the right class counted in the maximum
    assert categorical_hinge(outputs, torch.tensor([0, 0, 0])).tolist() == [0.5, 4.0, 3.0]
