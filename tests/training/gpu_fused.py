"""Members of the fused strategy beside those of the stacked one: every kind of network, optimiser and loss it has.

    python tests/training/gpu_fused.py [CASE …]

On a GPU 50 steps in single precision; without one, in Triton's interpreter, a few in double. One line per case: the
largest difference of a weight relative to its tensor, and the one between `stacked` and itself in double precision.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
from contextlib import suppress
from itertools import product
from typing import Any

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported

from torch import nn
from trainees import SPACE, TOY, apart, assert_bitwise, fixed_task, told_one_by_one

from recombine.errors import InputError
from recombine.measures import generalization
from recombine.models import Perceptron
from recombine.support import full
from recombine.tasks import Draws, FixedTask
from recombine.tasks.hashing import hashed
from recombine.training import SGD, Adam, AdamW, Cosine, Record, engine, train
from recombine.training.optim import Warmup
from recombine.training.penalties import SquaredNorm
from recombine.training.strategies.fused import interpreted

HERE: dict[str, Any] = {"device": "cpu", "dtype": torch.float64, "steps": 4, "members": 2, "batch_size": 8}
THERE: dict[str, Any] = {"device": "cuda", "dtype": torch.float32, "steps": 50, "members": 5, "batch_size": 8}
SMALL = Perceptron(widths=(2, 3, 2), activation="tanh")
DEEP = Perceptron(widths=(2, 8, 8, 8, 2))
FIXED = fixed_task()


def classes(outputs: int, inputs: int = 2) -> FixedTask:
    drawn = torch.Generator().manual_seed(0)
    codes = torch.as_tensor(SPACE.grid()).repeat(4, 1)
    x = torch.randn(len(codes), inputs, generator=drawn)
    targets = torch.randint(outputs, (len(codes),), generator=drawn)
    return FixedTask(SPACE, full(SPACE), full(SPACE), x, targets, codes, nn.CrossEntropyLoss())


CASES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "sgd": (DEEP, TOY, {}),
    "a rate of its own for each": (SMALL, TOY, {"optimizer": SGD(lr=(0.5, 0.02, 0.1, 0.0, 0.3))}),
    "momentum, decay, schedule": (
        SMALL, TOY, {"optimizer": SGD(lr=0.1, momentum=0.9, weight_decay=1e-3, schedule=Cosine(steps=50))}),
    "nesterov": (SMALL, TOY, {"optimizer": SGD(lr=0.1, momentum=0.9, nesterov=True)}),
    "adam": (SMALL, TOY, {"optimizer": Adam(lr=0.01, schedule=Warmup(steps=10))}),
    "adam with decays of their own": (DEEP, TOY, {"optimizer": Adam(lr=0.01, weight_decay=(0.0, 0.1, 1.0, 0.3, 0.2))}),
    "adamw": (SMALL, TOY, {"optimizer": AdamW(lr=0.01, weight_decay=0.1)}),
    "start and penalty of its own": (
        SMALL, TOY, {"init_scale": (1.0, 0.5, 2.0, 0.1, 1.5), "penalty": SquaredNorm(),
                     "penalty_weight": (0.3, 0.0, 0.1, 0.2, 0.5)}),
    "members stop": (SMALL, TOY, {"stop_below": 0.68, "optimizer": SGD(lr=0.3)}),
    "full batch": (SMALL, FIXED, {"batch_size": None, "optimizer": Adam(lr=0.01)}),
    "squared error": (Perceptron(widths=(2, 5, 2), activation="elu"), FIXED, {}),
    "no bias, no activation": (nn.Sequential(nn.Linear(2, 6, bias=False), nn.Linear(6, 2)), FIXED, {"fresh": True}),
    "tiles, adam": (Perceptron(widths=(2, 20, 40, 2), activation="gelu"), TOY, {"optimizer": Adam(lr=0.01)}),
    "many classes": (Perceptron(widths=(2, 37, 19)), classes(19), {}),
    "one layer": (Perceptron(widths=(33, 6)), classes(6, 33), {}),
    "wide": (Perceptron(widths=(18, 150, 3)), classes(3, 18), {"batch_size": 20}),
    "wide, adamw": (Perceptron(widths=(18, 150, 3)), classes(3, 18), {"optimizer": AdamW(lr=0.01)}),
    "64-64-64": (Perceptron(widths=(64, 64, 64)), classes(64, 64), {"batch_size": 37, "optimizer": Adam(lr=0.001)}),
}  # fmt: skip


def equality(name: str) -> tuple[bool, str]:
    """A case as fused and as stacked."""
    model, task, more = CASES[name]
    how = (HERE if interpreted() else THERE) | more
    ensembles = [train(model, task, strategy=strategy, **how) for strategy in ("fused", "stacked")]
    exact = train(model, task, strategy="stacked", **how | {"dtype": torch.float64})
    found, usual = apart(*ensembles), apart(ensembles[1], exact)
    losses = float((ensembles[0].history["loss"] - ensembles[1].history["loss"]).abs().max())
    limit = 1e-9 if how["dtype"] == torch.float64 else 1e-3
    moved = apart(ensembles[0], train(model, task, **how | {"steps": 0}))
    return max(found, losses) <= limit < moved, f"{found:.1e} {losses:.1e}  stacked from double {usual:.1e}"


def watched() -> tuple[bool, str]:
    """Records, marks of divergence; a training that is killed and goes on comes to the same bits as one that is not."""
    how = HERE | {"steps": 6} if interpreted() else THERE
    how = how | {"strategy": "fused", "optimizer": SGD(lr=(0.1, 1e200 if interpreted() else 1e30, 0.2, 0.3, 0.4))}
    steps = how["steps"]
    records = [Record("generalization", generalization, at=(0, 2, -1))]
    block, engine.FUSED_STEPS = engine.FUSED_STEPS, 3
    try:
        whole = train(SMALL, FIXED, records=records, **how)

        def kill(done: int, total: int) -> None:
            if done > total // 2:
                raise KeyboardInterrupt

        with tempfile.TemporaryDirectory() as folder:
            kept = {"checkpoint": folder, "checkpoint_seconds": 0.0, "records": records}
            with suppress(KeyboardInterrupt):
                train(SMALL, FIXED, progress=kill, **kept, **how)
            begun: list[int] = []
            resumed = train(SMALL, FIXED, progress=lambda done, _: begun.append(done), **kept, **how)
        assert_bitwise(whole, resumed)
        stacked = train(SMALL, FIXED, **how | {"strategy": "stacked"})
    finally:
        engine.FUSED_STEPS = block
    right = begun[0] > 0 and whole.records["generalization"]["step"].unique().sort().to_list() == [0, 2, steps]
    right = right and whole.diverged_at == stacked.diverged_at and whole.diverged_at[1] is not None
    return right, f"diverged at {whole.diverged_at}, continued from {begun[0]} of {steps * how['members']}"


def draws() -> tuple[bool, str]:
    """Numbers by address, in one pass and in many."""
    here = torch.device(HERE["device"] if interpreted() else THERE["device"])
    many = Draws.of([0, 3, 2**40], range(5), 7)
    keys, shape = many.keys.to(here), (5, 3, 7, 2)
    kinds = ((torch.int64, 64), (torch.float32, 24), (torch.float64, 53))
    found = [hashed(keys, 14, dtype, bits) for dtype, bits in kinds]
    wanted = [many.bits(shape), many.uniform(shape), many.uniform(shape, torch.float64)]
    right = all(torch.equal(one.cpu().reshape(shape), two) for one, two in zip(found, wanted, strict=True))
    return right, "integers, single and double precision: the same bits" if right else "not the same bits"


def precisions() -> tuple[bool, str]:
    """Steps in TF32 and bfloat16 come near to those in float32 and not to the same; torch is as before afterwards."""
    if interpreted():
        return True, "needs a GPU"
    model, task, more = CASES["64-64-64"]
    how = THERE | more
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32, torch.is_autocast_enabled("cuda")
    found = {}
    full = train(model, task, strategy="captured", **how)
    for strategy, precision in product(("fused", "captured", "compiled", "loop"), ("tf32", "bfloat16")):
        if (strategy, precision) != ("fused", "bfloat16"):
            rounded = train(model, task, strategy=strategy, precision=precision, **how)
            found[f"{strategy} {precision}"] = apart(rounded, full)
    with suppress(InputError):
        train(model, task, strategy="fused", precision="bfloat16", **how)
        found["fused bfloat16 is not refused"] = math.nan
    after = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32, torch.is_autocast_enabled("cuda")
    # Adam divides a gradient by its size, so that also small ones count whose signs are rounded away.
    limits = [1e-5 < off < (0.2 if name.endswith("tf32") else 0.5) for name, off in found.items()]
    right = before == after and all(limits)
    return right, ", ".join(f"{name} {off:.1e}" for name, off in found.items())


OTHERS = {"watched": watched, "draws": draws, "precisions": precisions}


def case(name: str) -> tuple[bool, str]:
    return OTHERS[name]() if name in OTHERS else equality(name)


if __name__ == "__main__":
    sys.exit(told_one_by_one(sys.argv[1:] or [*CASES, *OTHERS], case))
