"""Effects that add up on log-odds: the fit to seen combinations, and two tests of whether more is going on.

    log p_c / p_0 = x · β_c,   each class c against the first    (multinomial logit; of two classes the usual one)

by Newton's steps, each solved by conjugate gradients, with the steps of every class by itself to start from: of two
classes these are the answer, and of more no matrix is larger than effects × effects. What is compared with the fit is
drawn from it, and forgets what fitting takes away: n (y − p) − W x I⁻¹ xᵀ n (y − p).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import xlogy

from recombine.checks.exact.cholesky import factored, solved_by
from recombine.checks.exact.modular import Floats

RIDGE = 1e-6
"""So that separated combinations stay finite."""
STEPS, HALVINGS, GRADIENTS = 100, 20, 200
ROUNDS = 3
"""After which leverages hardly change any more."""
DRAWN = 999
MOST_DRAWN = 3_000_000
"""Combinations × classes × draws up to which so many are drawn."""


@dataclass(frozen=True, eq=False)
class Logits:
    """The fit: chances of each class in every combination."""

    x: Floats
    counts: Floats
    p: Floats
    """Combinations × classes."""

    @classmethod
    def of(cls, x: Floats, shares: Floats, counts: Floats) -> Logits:
        """The likeliest effects, up to a whisper of ridge."""
        beta, none = np.zeros((x.shape[1], shares.shape[1] - 1)), np.zeros((len(x), 1))

        def at(beta: Floats) -> tuple[Logits, float]:
            fit = cls(x, counts, softmax(np.hstack([none, x @ beta])))
            told = float((counts[:, None] * xlogy(shares, np.maximum(fit.p, 1e-300))).sum())
            return fit, told - RIDGE / 2 * float((beta**2).sum())

        fit, told = at(beta)
        for _ in range(STEPS):
            right = x.T @ (counts[:, None] * (shares - fit.p)[:, 1:]) - RIDGE * beta
            step = fit.solved(right[:, :, None])[:, :, 0]
            for _ in range(HALVINGS):
                new, better = at(beta + step)
                if better >= told - 1e-9 * abs(told):
                    break
                step = step / 2
            beta, fit, told = beta + step, new, better
            if np.abs(step).max() < 1e-9:
                break
        return fit

    def less_sure(self, shares: Floats) -> Logits:
        """The fit to counts with half a leverage of each class more (Firth 1993; of three classes or more each against
        the rest): the likeliest chances are too far from even, and answers drawn from them vary too little."""
        rows, fit = self.counts[:, None], self
        for _ in range(ROUNDS):
            more = fit._leverages() / 2
            known = rows + more.sum(axis=1, keepdims=True)
            fit = Logits.of(self.x, (shares * rows + more) / known, known[:, 0])
        return replace(fit, counts=self.counts)

    def _leverages(self) -> Floats:
        """Of each combination on its own chance of a class, against all others (combinations × classes)."""
        weights = self.counts[:, None] * np.maximum(self.p * (1 - self.p), 1e-9)
        classes = weights.T[:1] if self.p.shape[1] == 2 else weights.T
        back = np.eye(self.x.shape[1])
        own = [w * ((self.x @ solved_by(self._factor(w), back, lower=False)) * self.x).sum(axis=1) for w in classes]
        return np.broadcast_to(np.stack(own, axis=1), weights.shape)

    def _factor(self, weights: Floats) -> Floats:
        return factored((self.x * weights[:, None]).T @ self.x + RIDGE * np.eye(self.x.shape[1]), lower=False)

    @cached_property
    def _own(self) -> Floats:
        """What chances of the classes but the first change by with their own log-odds."""
        return np.maximum(self.p * (1 - self.p), 1e-9)[:, 1:]

    def _changes(self, eta: Floats) -> Floats:
        """How counts expected of the classes but the first change with their log-odds (combinations × classes × …)."""
        p, n = self.p[:, 1:, None], self.counts[:, None, None]
        shared = p * eta
        return np.asarray(n * (self._own[:, :, None] * eta - p * (shared.sum(axis=1, keepdims=True) - shared)))

    def solved(self, right: Floats, exact: float = 1e-4) -> Floats:
        """I⁻¹ of columns of effects × classes but the first, I the information of the counts, up to so small a part."""
        x, (effects, classes, many) = self.x, right.shape
        alone = [self._factor(w) for w in (self.counts[:, None] * self._own).T]

        def by_class(v: Floats) -> Floats:
            return np.stack([solved_by(factor, v[:, c], lower=False) for c, factor in enumerate(alone)], axis=1)

        def information(v: Floats) -> Floats:
            eta = (x @ v.reshape(effects, -1)).reshape(len(x), classes, many)
            return np.asarray((x.T @ self._changes(eta).reshape(len(x), -1)).reshape(v.shape) + RIDGE * v)

        def dot(a: Floats, b: Floats) -> Floats:
            return np.asarray((a * b).sum(axis=(0, 1)))

        found = by_class(right)
        if classes == 1:
            return found
        enough = exact**2 * np.maximum(dot(right, found), 1e-300)
        left = right - information(found)
        toward = direction = by_class(left)
        size = dot(left, toward)
        for _ in range(GRADIENTS):
            if (size <= enough).all():
                break
            bent = information(direction)
            far = np.where(size > enough, size / np.maximum(dot(direction, bent), 1e-300), 0.0)
            found, left = found + far * direction, left - far * bent
            toward = by_class(left)
            size, before = dot(left, toward), size
            direction = toward + size / np.maximum(before, 1e-300) * direction
        return found

    def drawn(self) -> Floats:
        """Shares of classes as the fit would have them, over and over (combinations × classes × draws)."""
        rng, classes = np.random.default_rng(0), self.p.shape[1]
        draws = max(99, min(DRAWN, MOST_DRAWN // (len(self.x) * (classes - 1))))
        often, last_first = self.counts.astype(np.int64)[:, None], self.p[:, ::-1]
        return np.asarray(rng.multinomial(often, last_first[:, None], (len(self.x), draws)) / often[:, :, None])[
            :, :, ::-1
        ].transpose(0, 2, 1)

    def left(self, shares: Floats) -> tuple[Floats, Floats]:
        """How far counts are off what is expected, once fitted to them (to first order), and twice the log-likelihood
        that fitting gains."""
        off = self.counts[:, None, None] * (shares - self.p[:, :, None])
        right = (self.x.T @ off[:, 1:].reshape(len(off), -1)).reshape(self.x.shape[1], -1, off.shape[2])
        step = self.solved(right, 1e-3)
        moved = self._changes((self.x @ step.reshape(len(step), -1)).reshape(off[:, 1:].shape))
        first = -moved.sum(axis=1, keepdims=True)
        return off - np.concatenate([first, moved], axis=1), np.asarray((right * step).sum(axis=(0, 1)))

    def deviance(self, shares: Floats) -> Floats:
        """Twice the log-likelihood by which shares (combinations × classes × …) fall short of themselves."""
        p = np.maximum(self.p, 1e-300).reshape(*self.p.shape, *[1] * (shares.ndim - 2))
        each = xlogy(shares, shares / p).sum(axis=1)
        return np.asarray(2 * np.tensordot(self.counts, each, axes=1))


def softmax(eta: Floats) -> Floats:
    """Chances of classes (the last axis) by their log-odds."""
    shifted = np.exp(eta - eta.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True))
