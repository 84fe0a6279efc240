"""How the trained bases of inside–contact at 32 pixels that come with the package were made.

    python -m recombine.studies.break_it_down.bases

trains them anew (some minutes on one core) and writes the file; its hash is part of the run that reads it.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from recombine.studies.break_it_down.settings import FILE, SMALL_RESNET
from recombine.tasks import Contours, OddOneOutTask
from recombine.training import Adam, train

STEPS = {0: 900, 1: 1350}
"""For each base, after how many steps contact has been learnt: it comes suddenly, inside long before."""
BATCH, RATE, PROBLEMS = 32, 4e-3, 8000


def make() -> dict[str, Tensor]:
    """The bases, trained: weights by name, one row per base."""
    task = OddOneOutTask(source=Contours(side=32), problems=PROBLEMS, held_out=300)
    rows = [
        train(SMALL_RESNET, task, members=[base], steps=steps, batch_size=BATCH, optimizer=Adam(lr=RATE)).tensors()
        for base, steps in STEPS.items()
    ]
    return {name: torch.cat([row[name] for row in rows]) for name in rows[0]}


if __name__ == "__main__":
    path = Path(__file__).parent / "weights" / Path(FILE).name
    save_file(make(), path, metadata={"members": json.dumps(list(STEPS)), "looped": "true"})
