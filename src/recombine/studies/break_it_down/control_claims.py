"""Where the answer is known: the toy, planted networks, and the controls that every dissection has."""

from __future__ import annotations

from typing import Literal

import polars as pl

from recombine.studies.break_it_down.evidence import CHOSEN, VISION, less_random, of, truth
from recombine.studies.claims import Claim, Reader, Sign

REPORTED = "not published: a control that the paper does not have"
BOTH_LOW = pl.mean_horizontal("abl_target", "abl_other")
BOTH_HIGH = pl.min_horizontal("abl_target", "abl_other")


def _toy(name: str, sentence: str, side: Literal["above", "below"], than: float, evidence: Reader) -> Claim:
    return Claim(
        id=f"toy-{name}",
        sentence=f"Toy: {sentence}",
        criterion=Sign(side, than),
        evidence=evidence,
        source="declared beforehand from a trial with another implementation",
        unit="accuracy",
    )


KNOWN = (
    _toy("alone-target", "the part alone does its own property.", "above", 0.95, of("toy", "sub_target")),
    _toy("alone-other", "it does not do the other.", "below", 0.35, of("toy", "sub_other")),
    _toy("without-target", "without it, its property is lost.", "below", 0.5, of("toy", "abl_target")),
    _toy("without-other", "the other is kept.", "above", 0.75, of("toy", "abl_other")),
    _toy(
        "untrained",
        "what is left of an untrained network does neither.",
        "below",
        0.35,
        of("toy", BOTH_LOW, network="untrained"),
    ),
    _toy(
        "untrained-passes",
        "in an untrained network, too, a part is found that does the property.",
        "above",
        0.9,
        of("toy", "sub_target", network="untrained"),
    ),
    _toy(
        "same-size",
        "removing as many weights at random does no harm to either.",
        "above",
        0.9,
        of("toy", BOTH_HIGH, role="same size"),
    ),
    Claim(
        id="planted-truth",
        sentence="Planted positive: D_abl of the planted masks is −.75, but for the problems drawn.",
        criterion=Sign("below", -0.6),
        evidence=truth("d_abl"),
        published=-0.75,
        source="by construction: two networks side by side, one a property",
        unit="D_abl",
    ),
    Claim(
        id="planted-positive",
        sentence="Planted positive: the search finds a part that can be removed.",
        criterion=Sign("below", -0.6),
        evidence=of("planted-positive", "d_abl", where=CHOSEN),
        published=-0.75,
        source="by construction",
        unit="D_abl",
    ),
    Claim(
        id="planted-negative",
        sentence="Planted negative: no mask of the whole grid shows one, where all weights serve both properties.",
        criterion=Sign("below", 0.1),
        evidence=of("planted-negative", pl.col("d_abl").abs()),
        published=0.0,
        source="by construction: the same weights read both halves of an item",
        unit="|D_abl|",
    ),
)

RANDOM = ("agreement", "bert-grid", *VISION)
SHUFFLED = ("toy", "agreement", "inside-contact", "bert-grid")
"""The runs that have random masks beside the chosen ones, and those that have masks for shuffled answers."""

CONTROLS = (
    Claim(
        id="not-just-size",
        sentence="Removing as many weights at random does not do what removing the chosen part does.",
        criterion=Sign("below", 0.0),
        evidence=less_random("d_abl", RANDOM),
        source=REPORTED,
        unit="D_abl of the chosen less that of random masks",
        explanation="On the smallest networks a random mask of the same size does harm of its own, and not always "
        "evenly; chosen masks are not reliably beyond it.",
    ),
    Claim(
        id="shuffled-do-not-pass",
        sentence="A mask trained on shuffled answers does not do the subroutine.",
        criterion=Sign("below", 0.6),
        evidence=of(SHUFFLED, "passing", role="shuffled answers"),
        source=REPORTED,
        unit="accuracy",
    ),
)
