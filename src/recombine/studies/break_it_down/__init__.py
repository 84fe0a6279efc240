"""Break It Down: evidence for structural compositionality in neural networks (Lepori, Serre and Pavlick 2023).

`settings` has the toy, planted networks, agreement, contours and digit pairs, `bases` how the trained weights that come
with the package were made, `tables` what is kept and derived, `claims` what is asked of it, `figures` what is drawn.
"""

from functools import partial

import polars as pl

from recombine.structure import summarise_masks
from recombine.studies.break_it_down import tables
from recombine.studies.break_it_down.claims import CLAIMS
from recombine.studies.break_it_down.figures import FIGURES
from recombine.studies.break_it_down.settings import CLOSELY, MANY, SCALES, settings
from recombine.studies.notes import read_notes
from recombine.studies.study import Paper, Study

STUDY = Study(
    name="break-it-down",
    says="In networks trained on a rule of two parts a search often finds a subnetwork for each part that does its "
    "own; the best of several can often be removed without the other, but rarely in encoders from scratch at "
    "1e-4, by searches of 1 to 8 % of the paper's length.",
    lead="parts",
    in_short=lambda rows: rows.filter(pl.col("run").is_in(["agreement", "bert-slow", "bert-slow-pretrained"])),
    title="Break it down: can the part that computes a subroutine be found and removed?",
    question="A network that has learnt a rule made of two parts: does it hold a part for each, one that does its own "
    "and can be taken out without the other — or is that only what a search over masks can make of any network?",
    paper=Paper(
        "Break It Down: Evidence for Structural Compositionality in Neural Networks",
        "Michael A. Lepori, Thomas Serre, Ellie Pavlick", 2023, "NeurIPS 2023", "https://arxiv.org/abs/2301.10884",
    ),
    scales=SCALES,
    settings=settings,
    tables={
        "bases": "bases", "masks": tables.masks, "matrix": "matrix", "overlap": "overlap", "truth": "truth",
        "along": (tables.along, "along"), "alike": (partial(tables.along, task="digit pairs, one size"), "along"),
        "when": (partial(tables.along, task="digit pairs, when"), "along"),
        "many": (partial(tables.along, task=MANY), "along"),
        "closely": (partial(tables.along, task=CLOSELY), "along"), "same_start": tables.same_start,
    },
    derived={
        "parts": (tables.parts, "bases"), "summary": (tables.by_run(summarise_masks), "masks"),
        "tests": (tables.by_run(tables.by_bases), "masks"), "cells": (tables.cells, "masks"),
        "signs": (tables.signs, "masks"),
        "ranks": (tables.ranks, "along"), "correlations": (tables.correlations, "ranks"),
        "alike_ranks": (tables.ranks, "alike"), "many_ranks": (tables.ranks, "many"),
        "closely_ranks": (tables.ranks, "closely"),
        "one_size_ranks": (tables.of_one_size, "alike_ranks", "many_ranks"),
        "same_ranks": (tables.same_ranks, "same_start"),
    },
    claims=CLAIMS,
    figures=FIGURES,
    notes=read_notes(__file__),
)  # fmt: skip
