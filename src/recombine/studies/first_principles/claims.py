"""What the paper says, its figures, and how each is judged."""

from recombine.studies.first_principles.ablation_claims import ABLATION_CLAIMS
from recombine.studies.first_principles.row_claims import ROW_CLAIMS
from recombine.studies.first_principles.vector_claims import VECTOR_CLAIMS

CLAIMS = (*ROW_CLAIMS, *ABLATION_CLAIMS, *VECTOR_CLAIMS)
