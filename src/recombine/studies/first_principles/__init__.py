"""Compositional generalization from first principles (Wiedemer, Mayilvahanan, Bethge and Brendel 2023)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from recombine.studies.first_principles import runs, tables
from recombine.studies.first_principles.claims import CLAIMS
from recombine.studies.first_principles.figures import FIGURES
from recombine.studies.first_principles.runs import (
    ABLATIONS,
    AS_FITTED,
    AS_FITTED_STEPS,
    BESIDES,
    FAR,
    FAR_STEPS,
    LEAKING,
    LONG,
    LONG_STEPS,
    ON_SUPPORTS,
    PAPER_STEPS,
    ROWS,
    SHARED_FAR,
    SUPPORTS,
    VECTORS,
    WHOLE,
    Pictures,
)
from recombine.studies.notes import read_notes
from recombine.studies.study import Paper, Setting, Study
from recombine.tasks.sprites.latents import Latents

SMALL = Pictures(8, 300, 16, 8, 500)


@dataclass(frozen=True)
class Size:
    """Which runs a scale has, and how large they are; ``values``: of each component, at which its rank is computed."""

    pictures: Pictures
    long: bool = False  # rows by the names of those that are judged by value
    rows: tuple[str, ...] = tuple(ROWS)
    small: Pictures = SMALL
    ablations: tuple[str, ...] = tuple(ABLATIONS)
    vectors: tuple[str, ...] = tuple(VECTORS)
    vector_steps: int = 3000
    vector_examples: int = 1000
    values: int = 12


TINY = Pictures(8, 20, 8, 2, 100, hidden=8, channels=4, monolithic=(8, 4))
SMOKE = Size(
    TINY, False, ("orthogonal", "orthogonal-monolithic", "gap", "alpha"), TINY, ("soft", "gap-plain"),
    ("vector", "vector-monolithic", "vector-soft", "vector-learned", "vector-learned-one", "vector-diagonal-05",
     "vector-gap-40"), 20, 100, 4,
)  # fmt: skip
QUICK = Size(
    Pictures(16, 350, 16, 8, 500), vector_steps=600,
    rows=("orthogonal", "orthogonal-monolithic", "random", "random-monolithic", "star", "gap", "alpha"),
)  # fmt: skip
# The cosine of the learning rate ends with the steps.
LARGE = Pictures(64, LONG_STEPS, 512, 3, 4000, 256, 32, (320, 64), 1e-3, Latents(), 100_000, centred=False)
PAPER = Size(LARGE, True)


def settings(size: Size, members: int | None) -> Mapping[str, Setting]:
    """The published rows first, in the order in which a short budget should be spent; then what is cheap."""
    rows = runs.sprite_settings({name: ROWS[name] for name in size.rows}, size.pictures, members)
    pictures = {
        **runs.sprite_settings(LONG, size.pictures, members, "sprites, longer"),
        **runs.sprite_settings(BESIDES, size.pictures, members, "sprites, besides"),
        **runs.sprite_settings(FAR | SHARED_FAR, replace(size.pictures, steps=FAR_STEPS), members, "sprites, besides"),
        **runs.sprite_settings(WHOLE, replace(size.pictures, steps=PAPER_STEPS), members, "sprites, besides"),
    } if size.long else rows  # fmt: skip
    small = runs.sprite_settings({n: ABLATIONS[n] for n in size.ablations}, size.small, members, "small sprites")
    parts = {name: VECTORS[name] for name in size.vectors}
    vectors = runs.vector_settings(parts, size.vector_steps, size.vector_examples, members or size.small.members)
    verdicts = runs.verdict_setting({**rows, **small, **vectors}, size.values)
    longer = replace(size.small, steps=AS_FITTED_STEPS)
    if not size.long:
        return {**pictures, "verdicts": verdicts, **vectors, **small}
    besides = runs.sprite_settings(AS_FITTED, longer, members, "small sprites, besides")
    leaking = runs.sprite_settings(LEAKING, size.small, members, "small sprites, besides")
    supports = runs.sprite_settings(SUPPORTS, size.small, members, ON_SUPPORTS)
    more = {"verdicts-supports": runs.verdict_setting(supports, size.values)}
    return {**pictures, "verdicts": verdicts, **vectors, **small, **besides, **leaking, **supports, **more}


STUDY = Study(
    name="first-principles",
    says="A model that composes its parts as the world does is right about all combinations once the seen ones pin "
    "down every part; a model of one piece is not.",
    lead="rows",
    in_short=lambda rows: rows.filter(pl.col("support").is_in(["orthogonal", "random"]), pl.col("run") != "alpha"),
    title="First principles: known parts, a known composition, a support that suffices",
    question="A model composes its parts as the world does. Which combinations must it have seen to be right about "
    "all of them — and could that be known before training?",
    paper=Paper(
        "Compositional Generalization from First Principles",
        "Thaddäus Wiedemer, Prasanna Mayilvahanan, Matthias Bethge, Wieland Brendel",
        2023, "NeurIPS 2023", "https://arxiv.org/abs/2307.05596",
    ),
    scales={"smoke": SMOKE, "quick": QUICK, "paper": PAPER},
    settings=settings, tables=tables.KEPT, derived=tables.DERIVED, claims=CLAIMS, figures=FIGURES,
    notes=read_notes(__file__),
)  # fmt: skip
