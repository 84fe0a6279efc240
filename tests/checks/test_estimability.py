"""Determined is what statisticians call estimable: verdicts of R's `estimability` on random tables, and its method."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from rationals import grid

from recombine.checks.exact.identifiability import DETERMINED, Identifiability

TABLES = [((3, 4), 6), ((4, 4), 7), ((5, 6), 12), ((2, 3, 3), 6), ((3, 3, 3), 8), ((2, 2, 2, 3), 6), ((6, 5), 9)]
ESTIMABLE = """
suppressMessages(library(estimability))
train <- read.csv("train.csv", header = FALSE); cells <- read.csv("cells.csv", header = FALSE)
sizes <- scan("sizes.txt", quiet = TRUE)
for (k in seq_along(sizes)) {
  train[[k]] <- factor(train[[k]], levels = seq_len(sizes[k]) - 1)
  cells[[k]] <- factor(cells[[k]], levels = seq_len(sizes[k]) - 1)
}
x <- model.matrix(~ ., train)
cat(as.integer(is.estble(model.matrix(~ ., cells), nonest.basis(qr(x)))))
"""


def tables():
    for seed, (shape, seen) in enumerate(TABLES * 3):
        rng, cells = np.random.default_rng(seed), grid(shape)
        yield shape, cells[rng.choice(len(cells), seen, replace=False)], cells


def treatment(codes: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """R's coding: a constant, and a column for each level but the first."""
    return np.column_stack([np.ones(len(codes)), *(np.eye(n)[codes[:, k]][:, 1:] for k, n in enumerate(shape))])


def answerable(shape: tuple[int, ...], train: np.ndarray, cells: np.ndarray) -> list[bool]:
    return (Identifiability(train, shape, 1).status(cells) <= DETERMINED).tolist()


def test_determined_cells_are_those_orthogonal_to_every_direction_that_training_leaves_free():
    """What `nonest.basis` and `is.estble` compute, by a singular value decomposition."""
    for shape, train, cells in tables():
        _, size, basis = np.linalg.svd(treatment(train, shape))
        free = basis[int((size > 1e-9).sum()) :]
        contrast = np.abs(treatment(cells, shape) @ free.T).max(axis=1, initial=0.0)
        assert answerable(shape, train, cells) == (contrast < 1e-8).tolist()


def test_determined_is_estimable_in_r(tmp_path):
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed: Rscript is not on the path")
    known = subprocess.run(["Rscript", "-e", "library(estimability)"], capture_output=True, check=False)
    if known.returncode:
        pytest.skip("R has no package estimability")
    for shape, train, cells in tables():
        np.savetxt(tmp_path / "train.csv", train, "%d", ",")
        np.savetxt(tmp_path / "cells.csv", cells, "%d", ",")
        (tmp_path / "sizes.txt").write_text(" ".join(map(str, shape)), encoding="utf-8")
        said = subprocess.run(
            ["Rscript", "-e", ESTIMABLE], capture_output=True, check=True, cwd=tmp_path, encoding="utf-8"
        ).stdout
        assert answerable(shape, train, cells) == [v == "1" for v in said.split()]
