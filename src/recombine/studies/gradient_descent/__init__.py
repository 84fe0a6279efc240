"""Gradient descent and redundant inputs (Li et al. 2020): digit pairs and SCAN, with controls the paper lacks.

The toy of its section 6 is the study `gradient-toy`. `settings` has what is trained and kept, `claims` what the paper
says and leaves open, `figures` what is drawn, `notes.md` where this differs and why claims do not hold.
"""

import polars as pl

from recombine.studies.gradient_descent.claims import CLAIMS, early, optimizer_pairs
from recombine.studies.gradient_descent.figures import FIGURES
from recombine.studies.gradient_descent.settings import SCALES, TABLES, settings
from recombine.studies.gradient_descent.steps import steps_apart, steps_first
from recombine.studies.gradient_toy import PAPER
from recombine.studies.notes import read_notes
from recombine.studies.study import Study

STUDY = Study(
    name="gradient-descent",
    says="When a redundant input tells the answer too, gradient descent lets it into the answer, and combinations that "
    "break the redundancy are answered worse.",
    lead="pairs-members",
    in_short=lambda rows: rows.filter(pl.col("setting").str.contains("X₂")),
    title="Gradient descent and redundant inputs",
    question="When two inputs both tell the answer in training and only one does afterwards, which one do networks "
    "learn — how much does it cost, when does it pass, and is gradient descent to blame?",
    paper=PAPER,
    scales=SCALES,  # type: ignore[arg-type]
    settings=settings,
    tables=TABLES,
    derived={"early": (early, "pairs", "scan"), "optimizer_pairs": (optimizer_pairs, "optimizers"),
             "steps_apart": (steps_apart, "steps"), "steps_first": (steps_first, "steps", "steps_apart"),
             "rates_apart": (steps_apart, "rates"), "rates_first": (steps_first, "rates", "rates_apart")},
    claims=CLAIMS,
    figures=FIGURES,
    notes=read_notes(__file__),
)  # fmt: skip
