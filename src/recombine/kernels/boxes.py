"""Strictly convex quadratic programmes in a box, many at once: min ½ x^T H x - r^T x over 0 <= x <= u.

Two exact active-set methods share one state per variable (at its lower bound, free, at its upper bound).
Block pivoting moves every variable that violates its condition and usually ends in a handful of solves, but
may cycle; a problem whose violations stop falling goes on to the monotone method, which frees one variable at
a time, never raises the objective and therefore ends (bounded-variable least squares, Stark & Parker 1995).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recombine.kernels.linear import matvec
from recombine.kernels.moebius import FloatArray

LOWER, FREE, UPPER = 0, 1, 2
PATIENCE = 5

State = NDArray[np.int8]


def solve_boxes(hessian: FloatArray, linear: FloatArray, upper: FloatArray, state: State) -> tuple[FloatArray, State]:
    """The minimisers (B, n) and their states, from a guess of the states.

    Shapes: hessian (B, n, n), linear, upper and state (B, n); `upper` may be infinite.
    """
    x, state, open_ = _pivot_blocks(hessian, linear, upper, state)
    if len(open_):
        x[open_], state[open_] = _descend(hessian[open_], linear[open_], upper[open_], x[open_])
    return x, state


def _pivot_blocks(
    hessian: FloatArray, linear: FloatArray, upper: FloatArray, state: State
) -> tuple[FloatArray, State, NDArray[np.intp]]:
    """Block principal pivoting (Júdice & Pires 1994); also returns the problems that ran out of patience."""
    x, state = np.zeros_like(linear), state.copy()
    fewest = np.full(len(linear), linear.shape[-1] + 1)
    patience = np.full(len(linear), PATIENCE)
    todo = np.arange(len(linear))
    while (patience[todo] >= 0).any():
        todo = todo[patience[todo] >= 0]
        h, r, u, now = hessian[todo], linear[todo], upper[todo], state[todo]
        x[todo] = current = _solve_free(h, r, u, now)
        target = np.where(_pressure(h, r, current, now) > 0, FREE, now).astype(np.int8)
        small = 1e-12 * np.abs(current).max(axis=-1, keepdims=True)
        target[(now == FREE) & (current < -small)] = LOWER
        target[(now == FREE) & (current > u + small)] = UPPER
        wrong = (target != now).sum(axis=-1)
        patience[todo] = np.where(wrong < fewest[todo], PATIENCE, patience[todo] - 1)
        fewest[todo] = np.minimum(fewest[todo], wrong)
        state[todo] = target
        # A finished problem leaves by losing its patience with nothing wrong.
        patience[todo[wrong == 0]] = -1
    return x, state, np.flatnonzero(fewest > 0)


def _descend(hessian: FloatArray, linear: FloatArray, upper: FloatArray, start: FloatArray) -> tuple[FloatArray, State]:
    """Monotone active sets: go to the minimum over the free variables or to the first bound; then free the worst."""
    batch, size = linear.shape
    x = np.clip(start, 0.0, upper)
    state = np.where(x <= 0, LOWER, np.where(x >= upper, UPPER, FREE)).astype(np.int8)
    todo = np.arange(batch)
    for _ in range(100 + 50 * size):
        h, r, u, now, here = hessian[todo], linear[todo], upper[todo], state[todo], x[todo]
        there = _solve_free(h, r, u, now)
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(there < 0, here / (here - there), np.where(there > u, (u - here) / (there - here), np.inf))
        reach = np.where(now == FREE, reach, np.inf)
        length = reach.min(axis=-1, keepdims=True)
        blocked = length[:, 0] < 1
        here = np.where(blocked[:, None], here + np.minimum(length, 1.0) * (there - here), there)
        hit = blocked[:, None] & (reach <= length)
        now = np.where(hit, np.where(there < 0, LOWER, UPPER), now).astype(np.int8)
        here = np.where(hit, np.where(there < 0, 0.0, np.where(hit, u, 0.0)), here)
        pressure = np.where(blocked[:, None], 0.0, _pressure(h, r, here, now))
        worst = pressure.argmax(axis=-1)
        rows = np.flatnonzero(pressure[np.arange(len(todo)), worst] > 0)
        now[rows, worst[rows]] = FREE
        x[todo], state[todo] = here, now
        blocked[rows] = True
        todo = todo[blocked]
        if not len(todo):
            break
    return x, state


def _solve_free(hessian: FloatArray, linear: FloatArray, upper: FloatArray, state: State) -> FloatArray:
    """The minimum over the free variables, the others at their bounds."""
    free = state == FREE
    fixed = np.where(state == UPPER, upper, 0.0)
    system = np.where(free[:, :, None] & free[:, None, :], hessian, 0.0)
    diagonal = np.arange(linear.shape[-1])
    system[:, diagonal, diagonal] += ~free
    goal = np.where(free, linear - matvec(hessian, fixed), fixed)
    return np.asarray(np.linalg.solve(system, goal[..., None])[..., 0])


def _pressure(hessian: FloatArray, linear: FloatArray, x: FloatArray, state: State) -> FloatArray:
    """How strongly each variable at a bound is pulled inwards, beyond rounding; 0 for the others."""
    gradient = matvec(hessian, x) - linear
    pull = np.where(state == LOWER, -gradient, np.where(state == UPPER, gradient, 0.0))
    rounding = 64 * linear.shape[-1] * np.finfo(np.float64).eps * np.abs(hessian).max(axis=(-1, -2))[:, None]
    flat = 1e-12 * np.abs(linear).max(axis=-1, keepdims=True) + rounding * np.abs(x).max(axis=-1, keepdims=True)
    return np.where(pull > flat, pull, 0.0)
