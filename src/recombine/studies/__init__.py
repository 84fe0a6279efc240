"""A paper, as data: runs, measures, figures and claims at three scales."""

from recombine.errors import unknown
from recombine.studies import (
    break_it_down,
    first_principles,
    forced_rendering,
    gradient_descent,
    gradient_toy,
    kernel_theory,
    together,
)
from recombine.studies.claims import Claim, ClaimResult, Evidence, Order, Sign, Value
from recombine.studies.conducting import conduct, conduct_all
from recombine.studies.study import SCALES, Figure, Paper, Scale, Study, StudyResult
from recombine.studies.verification import Verification, verify

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        gradient_toy.STUDY,
        gradient_descent.STUDY,
        kernel_theory.STUDY,
        forced_rendering.STUDY,
        first_principles.STUDY,
        break_it_down.STUDY,
        together.STUDY,
    )
}


def find_study(name: str) -> Study:
    """The study of that name; an unknown one is an error that names the nearest."""
    if name not in STUDIES:
        raise unknown("study", name, STUDIES)
    return STUDIES[name]


__all__ = [
    "SCALES",
    "STUDIES",
    "Claim",
    "ClaimResult",
    "Evidence",
    "Figure",
    "Order",
    "Paper",
    "Scale",
    "Sign",
    "Study",
    "StudyResult",
    "Value",
    "Verification",
    "conduct",
    "conduct_all",
    "find_study",
    "verify",
]
