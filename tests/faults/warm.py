"""Imported by the process that children are forked from: what a study imports, and what torch prepares at the first
traced step, are there then. Nothing here may start a thread (polars does, with the first table): a child has only the
one that forked, and would wait for the others forever."""

# ruff: noqa: F401

from __future__ import annotations

import jsonschema.validators
import pyarrow.parquet
import scipy.special
import torch

import recombine.cli.study
import recombine.reporting.export
import recombine.reporting.study
import recombine.runs.training
import recombine.studies
from recombine.models import Perceptron
from recombine.reporting.page import _environment
from recombine.tasks import ToyTask
from recombine.training import train

torch.set_num_threads(1)
for name in _environment.list_templates():
    _environment.get_template(name)
train(Perceptron(widths=(2, 2)), ToyTask(), members=2, steps=20, batch_size=2, device="cpu", progress=lambda *_: None)
