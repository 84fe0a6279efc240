"""Members by every strategy of the engine beside those of a plain loop: each model of the house on its task.

    python tests/training/gpu_strategies.py [--compiled] [MODEL …]

Twelve steps of three members in double precision, so that rounding explains nothing. One line per model: the largest
difference of a weight relative to its tensor, per strategy. Without a GPU only loop and stack are there to compare.
"""

from __future__ import annotations

import sys
from typing import Any

import torch
from gpu_subjects import MODELS
from torch import nn
from trainees import apart, told_one_by_one

from recombine.errors import InputError
from recombine.training import SGD, train

LIMIT = 1e-7
GPU = torch.cuda.is_available()
HOW: dict[str, Any] = {"members": 3, "steps": 12, "batch_size": 4, "optimizer": SGD(lr=0.02, momentum=0.9),
                       "dtype": torch.float64, "device": "cuda" if GPU else "cpu"}  # fmt: skip


def compared(name: str, strategies: list[str]) -> tuple[bool, str]:
    model, task = MODELS[name]
    how = HOW | ({"fresh": True} if isinstance(model, nn.Module) else {})
    loop = train(model, task, strategy="loop", **how)
    right, told = apart(loop, train(model, task, **how | {"steps": 0})) > 100 * LIMIT, []
    for strategy in strategies:
        try:
            found = apart(train(model, task, strategy=strategy, **how), loop)
        except InputError as refusal:
            told.append(f"{strategy} refused ({str(refusal)[:60]})")
            continue
        right = right and found <= LIMIT
        told.append(f"{strategy} {found:.1e}")
    return right, ", ".join(told)


if __name__ == "__main__":
    strategies = [
        "stacked",
        *(["captured", "replayed"] if GPU else []),
        *(["compiled"] if "--compiled" in sys.argv else []),
    ]
    asked = [name for name in sys.argv[1:] if not name.startswith("-")] or list(MODELS)
    sys.exit(told_one_by_one(asked, lambda name: compared(name, strategies)))
