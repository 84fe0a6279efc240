from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch

from recombine.errors import InputError
from recombine.kernels import problems
from recombine.tasks import Draws, ImageTask, SymbolicTask
from recombine.tasks.data import fetch, load_images

ADDITION = SymbolicTask.of(**vars(problems.addition([4])))
CONTEXT = SymbolicTask.of(**vars(problems.context_dependence(3)), loss="logistic")


def test_each_component_has_its_channels_and_its_place() -> None:
    near, far = (ImageTask(symbolic=CONTEXT, distance=d, per_class=30, examples_seen=40) for d in (0, 3))
    (a, answers), (b, _) = near.whole(), far.whole()
    assert a.shape == (40, 3, 8, 8)
    assert b.shape == (40, 3, 8, 14)
    assert near.shape == tuple(a.shape[1:])
    assert far.shape == tuple(b.shape[1:])
    for c in range(3):
        assert torch.equal(b[:, c, :, 3 * c : 3 * c + 8], a[:, c])
    assert torch.equal(b[:, 0, :, 8:], a[:, 0, :, 7:].expand(-1, -1, 6))
    assert torch.equal(b[:, 2, :, :6], a[:, 2, :, :1].expand(-1, -1, 6))
    assert set(answers.flatten().tolist()) == {-1.0, 1.0}


def test_pictures_show_the_classes_of_their_levels() -> None:
    task = ImageTask(symbolic=ADDITION, per_class=20, examples_seen=170)
    inputs, answers = task.whole()
    images = load_images("digits")
    known = {image.tobytes(): int(c) for image, c in zip(images.train, images.train_classes, strict=True)}
    value = {int(c): level - 4 for level, c in enumerate(task._classes[0])}
    for picture, answer in zip(inputs.numpy(), answers.flatten().tolist(), strict=True):
        first, second = (known[picture[c : c + 1].tobytes()] for c in range(2))
        assert value[first] + value[second] == answer


@pytest.mark.parametrize("as_published", [False, True, "split", "each", "own"])
def test_components_do_not_share_images_and_evaluation_uses_none_of_training(
    as_published: bool | Literal["split", "each", "own"],
) -> None:
    task = ImageTask(symbolic=ADDITION, per_class=40, examples_seen=4000, as_published=as_published)
    inputs, _ = task.whole()
    asked, _ = task.examples(torch.as_tensor(task.test.codes.copy()).repeat(20, 1), Draws.single(3))
    parts = [{row.tobytes() for row in block.numpy()} for block in (inputs[:, 0], inputs[:, 1], asked.flatten(0, 1))]
    assert not parts[0] & parts[1]
    assert not (parts[0] | parts[1]) & parts[2]
    of_training = {row.tobytes() for row in load_images("digits").train[:, 0]}
    assert (parts[2] <= of_training) == bool(as_published)
    plain = ImageTask(symbolic=ADDITION, per_class=40, examples_seen=4000)
    if as_published == "split":
        assert torch.equal(task._classes, plain._classes)
    if as_published == "each":  # the first component as by one draw, the second by its own
        assert [sorted(row.tolist()) for row in task._classes] == [list(range(9))] * 2
        assert not torch.equal(task._classes[0], task._classes[1])
    if as_published == "own":
        rng = np.random.default_rng(0)
        assert task._classes.tolist() == [rng.permutation(9).tolist() for _ in range(2)]
    if as_published is True:  # the first nine classes, in the order that any draw has without the others
        assert sorted(task._classes[0].tolist()) == list(range(9))


def test_a_member_sees_the_same_pictures_whoever_is_beside_it() -> None:
    task = ImageTask(symbolic=ADDITION, per_class=20, examples_seen=100)
    alone, together = (task.batch(Draws.of(m, range(2, 4), 0), 16) for m in ([3], [1, 3]))
    assert torch.equal(alone[0][:, 0], together[0][:, 1])
    assert torch.equal(alone[1][:, 0], together[1][:, 1])


def test_an_epoch_shows_every_picture_once() -> None:
    task = ImageTask(symbolic=ADDITION, per_class=20, examples_seen=64)
    whole, _ = task.whole()
    batch, _ = task.batch(Draws.of([0], range(4), 0), 16)
    rows = [sorted(r.numpy().tobytes() for r in part) for part in (whole, batch.flatten(0, 2))]
    assert rows[0] == rows[1]


def test_too_few_images_or_classes_are_said() -> None:
    with pytest.raises(InputError, match="training images of class"):
        ImageTask(symbolic=ADDITION, per_class=100).whole()
    wide = SymbolicTask.of(**vars(problems.addition([0], values=range(11))))
    with pytest.raises(InputError, match="too few for 11 levels"):
        ImageTask(symbolic=wide, per_class=10).whole()


def test_missing_data_says_where_to_put_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("RECOMBINE_DATA", raising=False)
    with pytest.raises(InputError, match="set RECOMBINE_DATA"):
        load_images("mnist")
    monkeypatch.setenv("RECOMBINE_DATA", str(tmp_path))
    with pytest.raises(InputError, match="does not exist"):
        load_images("cifar10-part")
    (tmp_path / "cifar10_part.npz").write_bytes(b"no archive")
    with pytest.raises(InputError, match="x_train"):
        load_images("cifar10-part")


def test_colour_images_come_channels_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(256, size=(40, 32, 32, 3), dtype=np.uint8), np.arange(40) % 10
    np.savez(tmp_path / "cifar10_part.npz", x_train=x, y_train=y, x_test=x[:10], y_test=y[:10])
    monkeypatch.setenv("RECOMBINE_DATA", str(tmp_path))
    load_images.cache_clear()
    images = load_images("cifar10-part")
    load_images.cache_clear()
    assert images.train.shape == (40, 3, 32, 32)
    assert images.train[5, 2, 7, 9] == pytest.approx(x[5, 7, 9, 2] / 255)


def test_a_download_is_kept_only_with_the_right_checksum(tmp_path: Path) -> None:
    source, target = tmp_path / "there", tmp_path / "here"
    source.write_bytes(b"images")
    with pytest.raises(InputError, match="not kept"):
        fetch(source.as_uri(), "0" * 64, target)
    assert not target.exists()
    assert fetch(source.as_uri(), hashlib.sha256(b"images").hexdigest(), target).read_bytes() == b"images"
    with pytest.raises(InputError, match="cannot be read"):
        fetch((tmp_path / "nothing").as_uri(), "0" * 64, target)
