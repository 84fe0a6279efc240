"""Images that tasks are made of: scikit-learn's bundled digits, or MNIST and CIFAR-10 from a directory.

The directory is named by the environment variable RECOMBINE_DATA. MNIST is fetched into it, and checked against its
SHA-256, where it is missing and a network is there; the part of CIFAR-10 is not published anywhere as a file.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import urllib.error
import urllib.request
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recombine.errors import InputError

Source = Literal["digits", "mnist", "cifar10-part"]
VARIABLE = "RECOMBINE_DATA"
PIXELS: dict[Source, tuple[int, int, int]] = {"digits": (1, 8, 8), "mnist": (1, 28, 28), "cifar10-part": (3, 32, 32)}
"""Channels, height and width, known without reading an image."""
FILES = {"mnist": "mnist.npz", "cifar10-part": "cifar10_part.npz"}

MNIST_URL = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz"
MNIST_SHA256 = "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1"


@dataclass(frozen=True, eq=False)
class Images:
    """Pixels from 0 to 1 (images × channels × height × width) and classes, for training and held out."""

    train: NDArray[np.float32]
    train_classes: NDArray[np.int64]
    held_out: NDArray[np.float32]
    held_out_classes: NDArray[np.int64]


@lru_cache(maxsize=3)
def load_images(source: Source) -> Images:
    """All images of a source. Digits are split 3 : 2 within each class; the others have their own test set."""
    if source == "digits":
        table = _digits()
        pixels = (table[:, :-1].reshape(-1, 1, 8, 8) / 16).astype(np.float32)
        classes = table[:, -1].astype(np.int64)
        place = np.zeros(len(classes), dtype=np.int64)
        for number in range(10):
            place[classes == number] = np.arange((classes == number).sum())
        train = place % 5 < 3
        return Images(pixels[train], classes[train], pixels[~train], classes[~train])
    arrays = _read(_find(source))
    return Images(
        _pixels(arrays["x_train"]),
        arrays["y_train"].astype(np.int64).ravel(),
        _pixels(arrays["x_test"]),
        arrays["y_test"].astype(np.int64).ravel(),
    )


def _digits() -> NDArray[np.float64]:
    """Scikit-learn's file, 64 pixels and the class per row. To import it for that would take a second or two."""
    package = find_spec("sklearn")
    assert package is not None, "scikit-learn is required"
    with gzip.open(Path(str(package.origin)).parent / "datasets" / "data" / "digits.csv.gz", "rt") as rows:
        return np.loadtxt(rows, delimiter=",")


def fetch(url: str, sha256: str, path: Path) -> Path:
    """Download to ``path``; a file with another checksum is not kept."""
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            content = answer.read()
    except (urllib.error.URLError, OSError) as error:
        raise InputError(f"{path.name} is missing and {url} cannot be read ({error}); put the file there.") from None
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise InputError(f"{url} has the SHA-256 {found[:16]}…, not {sha256[:16]}…; it was not kept.")
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    partial.write_bytes(content)
    os.replace(partial, path)
    return path


def _find(source: str) -> Path:
    folder, name = os.environ.get(VARIABLE), FILES[source]
    if not folder:
        raise InputError(f"{source} images are read from a directory: set {VARIABLE} to the one that holds {name}.")
    path = Path(folder) / name
    if path.is_file():
        return path
    if source == "mnist" and Path(folder).is_dir():
        return fetch(MNIST_URL, MNIST_SHA256, path)
    raise InputError(f"{str(path)!r} does not exist; {VARIABLE} must name the directory that holds {name}.")


def _read(path: Path) -> dict[str, Any]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in ("x_train", "y_train", "x_test", "y_test")}
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{str(path)!r} does not hold x_train, y_train, x_test and y_test: {error}.") from None


def _pixels(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    channels_first = images[:, None] if images.ndim == 3 else np.moveaxis(images, -1, 1)
    return np.ascontiguousarray(channels_first, dtype=np.float32) / np.float32(255)
