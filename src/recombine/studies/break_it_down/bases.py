"""The trained bases of inside–contact at 32 pixels that come with the package, and how they were made.

    python -m recombine.studies.break_it_down.bases

trains them anew (some minutes on one core) and writes the file; its hash is part of the run that reads it.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from recombine.tasks import Contours, OddOneOutTask
from recombine.training import Adam, train

FILE = "studies/break_it_down/weights/inside_contact_32.safetensors"
HASH = "c8509bcb43b69d0c4587787838ef55b5a787499948e3c5ecf9f7c80e75e2c4eb"
STEPS = {0: 900, 1: 1350}
"""For each base, after how many steps contact has been learnt: it comes suddenly, inside long before."""
BATCH, RATE, PROBLEMS = 32, 4e-3, 8000


def make() -> dict[str, Tensor]:
    """The bases, trained: weights by name, one row a base."""
    from recombine.studies.break_it_down.runs import SMALL_RESNET

    task = OddOneOutTask(source=Contours(side=32), problems=PROBLEMS, held_out=300)
    rows = [
        train(SMALL_RESNET, task, members=[base], steps=steps, batch_size=BATCH, optimizer=Adam(lr=RATE)).tensors()
        for base, steps in STEPS.items()
    ]
    return {name: torch.cat([row[name] for row in rows]) for name in rows[0]}


def write() -> Path:
    """Train and write the file that `FILE` names."""
    path = Path(__file__).parent / "weights" / Path(FILE).name
    path.parent.mkdir(exist_ok=True)
    save_file(make(), path, metadata={"members": json.dumps(list(STEPS)), "looped": "true"})
    return path


if __name__ == "__main__":
    print(write())
