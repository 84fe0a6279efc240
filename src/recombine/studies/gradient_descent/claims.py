"""The claims of the study: what the paper says of its three experiments, and what it leaves open, each with a
criterion.

The paper prints curves and no numbers, so no claim has a published figure.
"""

from __future__ import annotations

from dataclasses import replace

from recombine.studies import gradient_toy
from recombine.studies.claims import Claim
from recombine.studies.gradient_descent.optimizer_claims import OPTIMIZER_CLAIMS
from recombine.studies.gradient_descent.pair_claims import PAIR_CLAIMS
from recombine.studies.gradient_descent.remedy_claims import REMEDY_CLAIMS, STRENGTH_CLAIMS
from recombine.studies.gradient_descent.scan_claims import SCAN_CLAIMS
from recombine.studies.gradient_descent.step_claims import STEP_CLAIMS


def _of_toy(claim: Claim) -> Claim:
    """A claim of the study `gradient-toy`, read from the tables of this one."""
    own = ("accuracy", "influence", "boundary", "map")
    return replace(claim, evidence=lambda t: claim.evidence({name: t[f"toy_{name}"] for name in own}))


CLAIMS = (
    *PAIR_CLAIMS,
    *SCAN_CLAIMS,
    *(_of_toy(claim) for claim in gradient_toy.CLAIMS),
    *STEP_CLAIMS,
    *STRENGTH_CLAIMS,
    *OPTIMIZER_CLAIMS,
    *REMEDY_CLAIMS,
)
