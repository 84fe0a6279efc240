"""Tables whose truth was planted, for the tests of `check`."""

from __future__ import annotations

import numpy as np

from recombine.checks import check


def grid(*shape: int) -> np.ndarray:
    return np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(-1, len(shape))


def additive(codes: np.ndarray, shape: tuple[int, ...], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return sum(rng.standard_normal(n)[codes[:, k]] for k, n in enumerate(shape))


def seen_part(shape: tuple[int, ...], seed: int, share: float = 0.7) -> tuple[np.ndarray, np.ndarray]:
    """Cells of a grid that are seen and the rest, the rest determined by the seen ones."""
    codes, rng = grid(*shape), np.random.default_rng(seed)
    x = np.concatenate([np.eye(n)[codes[:, k]] for k, n in enumerate(shape)], axis=1)
    while True:
        seen = rng.random(len(codes)) < share
        if not seen.all() and np.linalg.matrix_rank(x[seen]) == np.linalg.matrix_rank(x):
            return codes[seen], codes[~seen]


def planted(shape: tuple[int, ...], rule, seed: int, noise: float = 0.0, rows: int = 1, classes: bool = False):
    codes = np.repeat(seen_part(shape, seed)[0], rows, axis=0)
    y = rule(codes) + noise * np.random.default_rng(seed).standard_normal(len(codes))
    table = {f"f{k}": codes[:, k].astype(str) for k in range(len(shape))}
    return check({**table, "y": ["no" if v < 0.5 else "yes" for v in y] if classes else y}, list(table), target="y")


def table(codes, y):
    """Named levels of factors a, b, c, d, and answers."""
    return {"abcd"[k]: [f"{'abcd'[k]}{v}" for v in codes[:, k]] for k in range(codes.shape[1])} | {"y": y}


def additive_table(sizes, seed, kept=0.6, rows=1, noise=1.0, effect=4.0):
    """Additive answers on a part of a grid that holds every level."""
    rng = np.random.default_rng(seed)
    effects = [effect * rng.standard_normal(n) for n in sizes]
    cells = grid(*sizes)
    first = np.isin(np.arange(len(cells)), rng.choice(len(cells), round(kept * len(cells)), replace=False))
    codes = np.repeat(cells[first | (cells == 0).any(axis=1)], rows, axis=0)
    y = 50 + sum(e[c] for e, c in zip(effects, codes.T, strict=True)) + noise * rng.standard_normal(len(codes))
    return table(codes, y)
