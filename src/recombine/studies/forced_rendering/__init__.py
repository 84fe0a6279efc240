"""Compositional generalization via forced rendering of disentangled latents (Liang, Qian, Ziyin and Fiete 2025).

Bumps from codes of their coordinates: `networks` has the decoders and their remedies, `needed` what is exact and how
many examples are needed, `scores` which score predicts composition.
"""

from __future__ import annotations

import polars as pl

from recombine.studies.forced_rendering import needed, reading, scores, turning
from recombine.studies.forced_rendering.claims import CLAIMS
from recombine.studies.forced_rendering.figures import FIGURES
from recombine.studies.forced_rendering.networks import network_settings
from recombine.studies.forced_rendering.tables import TABLES
from recombine.studies.notes import read_notes
from recombine.studies.study import Paper, Scale, Setting, Study


def settings(scale: Scale, members: int | None) -> dict[str, Setting]:
    """What is exact first, then the networks in the order of what hangs on them, the reverse task, a digit, and the
    examples a CNN needs."""
    parts = (needed.kernel_settings, network_settings, reading.reading_settings, turning.turning_settings,
             needed.cnn_settings)  # fmt: skip
    return {name: setting for part in parts for name, setting in part(scale, members).items()}


STUDY: Study[Scale] = Study(
    name="forced-rendering",
    title="Forced rendering: what makes a decoder compose",
    question="Given the coordinates of a bump, perfectly disentangled, will a decoder draw a combination of them that "
    "it has not seen — and what must be true inside it if it does?",
    says="The paper: disentangled inputs are not enough, because a decoder mixes them again unless each factor is "
    "rendered into the picture's own space.",
    paper=Paper(
        title="Compositional Generalization via Forced Rendering of Disentangled Latents",
        authors="Qiyao Liang, Daoyuan Qian, Liu Ziyin, Ila Fiete", year=2025, venue="ICML 2025",
        url="https://arxiv.org/abs/2501.18797",
    ),
    scales={"smoke": "smoke", "quick": "quick", "paper": "paper"},
    settings=settings,
    tables=TABLES,
    derived={"fewest": (needed.fewest, "need"), "slopes": (needed.slopes, "fewest"),
             "replicates": (scores.replicates, "networks", "layers"),
             "by_kind": (scores.by_kind, "networks", "layers"),
             "scores": (scores.rank_correlations, "replicates", "by_kind")},
    claims=CLAIMS,
    figures=FIGURES,
    notes=read_notes(__file__),
    lead="pictures",
    in_short=lambda rows: rows.filter(pl.col("run").is_in(["pixel", "stripe-decoder"])),
)  # fmt: skip
