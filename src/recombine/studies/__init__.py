"""A paper, as data: settings, tables, figures and claims at three scales."""

from recombine.studies._cells import CORRELATION as CORRELATION, LAST as LAST, cells as cells, rising as rising
from recombine.studies.claims import Claim as Claim, ClaimResult as ClaimResult, Published as Published
from recombine.studies.faithful import Faithful as Faithful, Shares as Shares
from recombine.studies.finding import STUDIES as STUDIES, find_study as find_study
from recombine.studies.notes import Notes as Notes, read_notes as read_notes
from recombine.studies.running import run_studies as run_studies, run_study as run_study
from recombine.studies.study import (
    SCALES as SCALES,
    Figure as Figure,
    Paper as Paper,
    Scale as Scale,
    Setting as Setting,
    Study as Study,
    StudyResult as StudyResult,
)
from recombine.studies.verification import Verification as Verification, verify as verify
