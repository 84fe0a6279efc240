"""What the paper says, its figures, and how each is judged. Criteria were written before anything ran.

A value is compared where our setting is the paper's; where pictures, width or passes differ, only sign and order are.
"""

from __future__ import annotations

from recombine.studies.kernel_theory.exact_claims import EXACT
from recombine.studies.kernel_theory.image_claims import PICTURES
from recombine.studies.kernel_theory.network_claims import DENSE

CLAIMS = EXACT + DENSE + PICTURES
