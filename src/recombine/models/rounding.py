"""What torch is set to round, for models that bring programs of their own."""

from __future__ import annotations

import torch


def products_in_tf32() -> bool:
    """Whether torch rounds products of matrices to TF32 now, whichever of its two settings was used to say so."""
    newer = getattr(torch.backends.cuda.matmul, "fp32_precision", None)
    return bool(torch.backends.cuda.matmul.allow_tf32 if newer is None else newer == "tf32")
