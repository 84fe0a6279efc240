"""A = L Lᵀ and A⁻¹ b, by LAPACK itself: of small systems what scipy puts around a call takes longer than the call."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from recombine.checks.exact.modular import Floats


def factored(system: Floats, lower: bool = True) -> Floats:
    """L in the lower triangle, or Lᵀ in the upper one; the other triangle is not zero."""
    factor, failed = dpotrf(system, lower=lower, clean=0)
    if failed:
        raise np.linalg.LinAlgError("the system is not positive definite.")
    return np.asarray(factor)


def solved_by(factor: Floats, right: Floats, lower: bool = True) -> Floats:
    """A⁻¹ of one column, or of several."""
    return np.asarray(dpotrs(factor, right, lower=lower)[0])
