"""Imported by the process that children are forked from: what torch prepares at the first traced step is there then."""

from __future__ import annotations

import torch

from recombine.models import Perceptron
from recombine.tasks import ToyTask
from recombine.training import train

# One thread: a child has only the one that forked, and would wait for the others forever.
torch.set_num_threads(1)
train(Perceptron(widths=(2, 2)), ToyTask(), members=2, steps=1, batch_size=2, device="cpu", progress=lambda *_: None)
