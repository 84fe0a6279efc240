"""The training sets of the study as tasks, `recombine.kernels.problems` with a loss, and the kernels it asks."""

from __future__ import annotations

from math import comb

import numpy as np

from recombine.kernels import Kernel, Problem, RectifiedQuadratic, ReLU, nngp, problems
from recombine.tasks import SymbolicTask
from recombine.tasks.symbolic import Loss

ANCHORS = {"extrapolation": (4,), "interpolation": (0, 8), "both": (2, 6), "asymmetric": (0,)}
LEAKS = {f"anchors {a}": a for a in [*((i,) for i in range(9)), *((i, j) for i in range(9) for j in range(i))]}
"""Every set of addition with one or two anchors, by the name of its problem."""
EQUIVALENCES = {f"{n} items, {a} anchors": (n, a) for n, a in (
    ((2, 2), (1, 1)), ((3, 3), (2, 2)), ((5, 5), (4, 4)), ((5, 5), (1, 1)), ((3, 3), (1, 2)), ((4, 2), (1, 1)),
    ((4, 2), (3, 1)))}  # fmt: skip
DEPTHS = (1, 2, 3, 5, 10, 20)
PARTS = ("right conjunction", "wrong conjunction", "sensory", "context", "memorization")
WEIGHTS = {("CD-3", 6): (0.617, 0.331, 0.132, 0.039, 0.069), ("CD-2", 6): (0.599, 0.314, 0.117, 0.024, 0.080),
           ("CD-3", 2): (0.084, 0.305, 0.132, 0.507, 0.667)}  # fmt: skip
"""Figure 3 of the paper: sizes of the parts of what support vector machines answer, by set and kernel (6: a rectified
quadratic network of three layers, "Rep 1"; 2: a ReLU network of three, "Rep 2")."""


def task(problem: Problem, loss: Loss = "squared error") -> SymbolicTask:
    made: SymbolicTask = SymbolicTask.of(**vars(problem), loss=loss)
    return made


def addition(name: str) -> SymbolicTask:
    """One of the paper's four anchor sets."""
    return task(problems.addition(ANCHORS[name]))


def context(left_out: int, loss: Loss) -> SymbolicTask:
    """CD-1, CD-2 or CD-3 (the authors' files count the other way: cdm-1.yaml is CD-3)."""
    return task(problems.context_dependence(left_out), loss)


def equivalence(classes: tuple[int, int], anchors: tuple[int, int], loss: Loss = "squared error") -> SymbolicTask:
    return task(problems.transitive_equivalence(classes, anchors), loss)


def random_saliences(components: int, count: int) -> tuple[tuple[float, ...], ...]:
    """S(1;C) … S(C−1;C) of random kernels that can fit any answer."""
    shares = np.random.default_rng(components).dirichlet(np.ones(components), size=count)
    return tuple(tuple(float(row[k - 1]) / comb(components, k) for k in range(1, components)) for row in shares)


def relu_saliences(components: int) -> dict[int, tuple[float, ...]]:
    """S(1;C) … S(C−1;C) of an infinitely wide random ReLU network, by its number of hidden layers."""
    table = nngp(Kernel.one_hot(components), ReLU(), max(DEPTHS)).normalized
    return {depth: tuple(map(rounded, table[depth, :-1].tolist())) for depth in DEPTHS}


def quadratic_saliences() -> tuple[float, ...]:
    """The paper's "Rep 1": a rectified quadratic network of three layers, three components."""
    return tuple(map(rounded, nngp(Kernel.one_hot(3), RectifiedQuadratic(), 3).normalized[3, :-1].tolist()))


def rounded(value: float) -> float:
    """To nine digits: what enters the address of a run must not hang on the last ones, in which processors differ."""
    return float(f"{value:.9g}")
