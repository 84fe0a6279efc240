"""How the matrix products and convolutions of a training's steps are rounded.

- ``float32``: products of matrices in full, whatever torch is set to; convolutions as torch is set, which on a GPU is
  TF32 unless ``torch.backends.cudnn.allow_tf32`` forbids it.
- ``tf32``: factors of both rounded to ten bits after the point, added up in float32.
- ``bfloat16``: under torch's autocast; factors and what products give have seven bits after the point.

Weights, optimiser state and whatever is measured stay as they are. Which strategy takes the steps does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Literal, get_args

import torch

from recombine.errors import InputError, unknown
from recombine.models.rounding import products_in_tf32

Precision = Literal["float32", "tf32", "bfloat16"]


def check_precision(precision: str, device: torch.device, dtype: torch.dtype = torch.float32) -> None:
    """An error where a precision is unknown, or would not be what is computed with."""
    if precision not in get_args(Precision):
        raise unknown("precision", precision, get_args(Precision))
    if precision != "float32" and device.type != "cuda":
        raise InputError(f"precision={precision!r} is for a CUDA device; a {device.type} computes in full.")
    if precision != "float32" and dtype != torch.float32:
        raise InputError(f"precision={precision!r} is for models of float32, not of {dtype}.".replace("torch.", ""))


@contextmanager
def rounding(precision: Precision) -> Iterator[None]:
    """Steps that are taken, recorded or compiled inside are rounded so; torch's settings are as before afterwards."""
    products, convolutions = products_in_tf32(), precision == "tf32" and not torch.backends.cudnn.allow_tf32
    _set(precision == "tf32", True if convolutions else None)
    try:
        with _autocast() if precision == "bfloat16" else nullcontext():
            yield
    finally:
        _set(products, False if convolutions else None)


def _set(products: bool, convolutions: bool | None) -> None:
    if products != products_in_tf32():
        torch.backends.cuda.matmul.allow_tf32 = products
    if convolutions is not None:
        torch.backends.cudnn.allow_tf32 = convolutions


def _autocast() -> torch.autocast:
    """Nothing that was rounded is kept for the next step: what is captured must round it anew."""
    return torch.autocast("cuda", torch.bfloat16, cache_enabled=False)
