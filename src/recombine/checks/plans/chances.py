"""An error in the chance of a class, brought to the log-odds on which effects of two classes add up.

    var p̂ ≈ (p (1 − p))² xᵀ (Σ p (1 − p) x xᵀ)⁻¹ x

so that a row is worth p (1 − p), and one standard error of log-odds is p (1 − p) of the chance. Neither is known yet:
with z the log-odds that the seen rows tell, s their standard error and t the quantile that 95 % stay below, an asked
chance is taken where that is largest between z ± t s, and a row where it is least between z ± t s / 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, ndtri

from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats
from recombine.checks.plans.translated import SURE
from recombine.checks.rules.logits import Logits
from recombine.space import Codes
from recombine.support.table import Target


@dataclass(frozen=True, eq=False)
class Chances:
    """What the log-odds of a class are in its chances, by the seen answers."""

    known: Identifiability
    beta: Floats
    inverse: Floats
    """The variances of effects."""

    @classmethod
    def of(cls, known: Identifiability, target: Target, one: int) -> Chances:
        """Of one class against the rest, by the fit to the seen rows."""
        use = target.count > 0
        x, counts = known.rows.floats(known.codes[use]), target.count[use].astype(np.float64)
        share = target.mean[use, one]
        both = np.stack([1 - share, share], axis=1)
        p = Logits.of(x, both, counts).less_sure(both).p[:, 1]
        beta = np.linalg.lstsq(x, logit(p), rcond=1e-9)[0]
        information = (x * (counts * p * (1 - p))[:, None]).T @ x
        return cls(known, beta, np.asarray(np.linalg.pinv(information, rcond=1e-9, hermitian=True)))

    def worth(self, codes: Codes) -> Floats:
        """Of a row of each combination; nothing where the seen rows do not tell its chance."""
        place, about, told = self._between(codes)
        return np.where(told, _slope(place + about / 2), 0.0)

    def sizes(self, codes: Codes) -> Floats:
        """How far one standard error of log-odds moves each chance, at most; infinite where the seen rows do not tell
        it."""
        place, about, told = self._between(codes)
        return np.where(told, _slope(np.maximum(place - about, 0.0)), np.inf)

    def _between(self, codes: Codes) -> tuple[Floats, Floats, np.ndarray]:
        """Log-odds without their sign, how far off they may be, and whether the seen rows tell them."""
        x = self.known.rows.floats(codes)
        about = float(ndtri(SURE)) * np.sqrt(np.maximum(((x @ self.inverse) * x).sum(axis=1), 0.0))
        return np.abs(x @ self.beta), about, np.asarray(self.known.rows.contains(codes))


def _slope(place: Floats) -> Floats:
    return np.asarray(expit(place) * expit(-place))
