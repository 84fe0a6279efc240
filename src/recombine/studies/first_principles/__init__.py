"""Compositional generalization from first principles (Wiedemer, Mayilvahanan, Bethge and Brendel 2023)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from recombine.models import Compositional
from recombine.studies.first_principles import tables
from recombine.studies.first_principles.assumptions import TheoremSetting, VerdictRun
from recombine.studies.first_principles.claims import CLAIMS
from recombine.studies.first_principles.figures import FIGURES
from recombine.studies.first_principles.runs import ABLATIONS, ROWS, VECTORS, Pictures, sprite_settings, vector_settings
from recombine.studies.notes import read_notes
from recombine.studies.study import Paper, Setting, Study
from recombine.tasks.sprites import Composition
from recombine.tasks.sprites.latents import Latents


@dataclass(frozen=True)
class Size:
    """Which runs a scale has, and how large they are."""

    pictures: Pictures
    rows: tuple[str, ...] = tuple(ROWS)
    small: Pictures = Pictures(8, 300, 16, 8, 500)
    ablations: tuple[str, ...] = tuple(ABLATIONS)
    vectors: tuple[str, ...] = tuple(VECTORS)
    vector_steps: int = 3000
    vector_examples: int = 1000
    vector_members: int = 8
    values: int = 12
    """At how many values of each component the rank condition is computed."""


TINY = Pictures(8, 20, 8, 2, 100, hidden=8, channels=4, monolithic=(8, 4))
SMOKE = Size(
    TINY, ("orthogonal", "orthogonal-monolithic", "gap", "alpha"), TINY, ("soft", "gap-plain"),
    ("vector", "vector-monolithic", "vector-soft", "vector-learned", "vector-learned-one", "vector-diagonal-05",
     "vector-gap-40"), 20, 100, 2, 4,
)  # fmt: skip
QUICK = Size(
    Pictures(16, 350, 16, 8, 500), vector_steps=600,
    rows=("orthogonal", "orthogonal-monolithic", "random", "random-monolithic", "star", "gap", "alpha"),
)  # fmt: skip
# A thousand of the paper's 392 000 steps; the cosine of the learning rate ends with them.
LARGE = Size(Pictures(64, 1000, 512, 3, 4000, 256, 32, (320, 64), 1e-3, Latents(), 100_000, centred=False))


def settings(size: Size, members: int | None) -> Mapping[str, Setting]:
    """The published rows first, in the order in which a short budget should be spent; then what is cheap. Verdicts are
    on every run whose model composes by a composition that is given."""
    rows = sprite_settings({name: ROWS[name] for name in size.rows}, size.pictures, members)
    small = sprite_settings({name: ABLATIONS[name] for name in size.ablations}, size.small, members)
    parts = {name: VECTORS[name] for name in size.vectors}
    vectors = vector_settings(parts, size.vector_steps, size.vector_examples, members or size.vector_members)
    trained: dict[str, Any] = {name: setting.run for name, setting in {**rows, **small, **vectors}.items()}
    told = {
        name: TheoremSetting(task=run.task, composition=run.model.composition)
        for name, run in trained.items()
        if isinstance(run.model, Compositional) and isinstance(run.model.composition, Composition)
    }
    return {**rows, "verdicts": Setting(VerdictRun(settings=told, values=size.values)), **vectors, **small}


STUDY = Study(
    name="first-principles",
    says="A model that composes its parts as the world does is right about all combinations once the seen ones pin "
    "down every part; a model of one piece is not.",
    lead="rows",
    in_short=lambda rows: rows.filter(
        pl.col("run").is_in(["orthogonal", "orthogonal-monolithic", "random", "random-monolithic"])
    ),
    title="First principles: known parts, a known composition, a support that suffices",
    question="A model composes its parts as the world does. Which combinations must it have seen to be right about "
    "all of them — and could that be known before training?",
    paper=Paper(
        title="Compositional Generalization from First Principles",
        authors="Thaddäus Wiedemer, Prasanna Mayilvahanan, Matthias Bethge, Wieland Brendel",
        year=2023, venue="NeurIPS 2023", url="https://arxiv.org/abs/2307.05596",
    ),
    scales={"smoke": SMOKE, "quick": QUICK, "paper": LARGE},
    settings=settings,
    tables=tables.KEPT,
    derived=tables.DERIVED,
    claims=CLAIMS,
    figures=FIGURES,
    notes=read_notes(__file__),
)  # fmt: skip
