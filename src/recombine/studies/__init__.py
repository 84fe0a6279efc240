"""A paper, as data: settings, tables, figures and claims at three scales."""

from recombine.studies.cells import CORRELATION, LAST, cells, rising
from recombine.studies.claims import Claim, ClaimResult, Published
from recombine.studies.faithful import Faithful, Shares
from recombine.studies.finding import STUDIES, find_study
from recombine.studies.notes import Notes, read_notes
from recombine.studies.running import run_studies, run_study
from recombine.studies.study import SCALES, Figure, Paper, Scale, Setting, Study, StudyResult
from recombine.studies.verification import Verification, verify

__all__ = [
    "CORRELATION",
    "LAST",
    "SCALES",
    "STUDIES",
    "Claim",
    "ClaimResult",
    "Faithful",
    "Figure",
    "Notes",
    "Paper",
    "Published",
    "Scale",
    "Setting",
    "Shares",
    "Study",
    "StudyResult",
    "Verification",
    "cells",
    "find_study",
    "read_notes",
    "rising",
    "run_studies",
    "run_study",
    "verify",
]
