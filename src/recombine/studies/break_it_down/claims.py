"""What the paper and its released results say, and how each is judged. Published figures are recomputed from the
authors' result files; D_abl is negative where a part can be removed."""

from __future__ import annotations

import polars as pl

from recombine.studies.break_it_down.control_claims import CONTROLS, KNOWN
from recombine.studies.break_it_down.evidence import (
    CHOSEN,
    FIFTY,
    LANGUAGE,
    PASSED,
    TASKS,
    VISION,
    best_less_typical,
    less,
    of,
    one_less_other,
    overlap,
)
from recombine.studies.break_it_down.new_claims import NEW
from recombine.studies.break_it_down.untrained_claims import UNTRAINED
from recombine.studies.claims import Claim, Sign

RELEASED = "288 masks of trained bases in the authors' result files"
SEARCHES = "2304 search masks in the authors' result files"


def _d_abl(task: str, runs: tuple[str, ...], subroutine: str, published: float, where: str) -> Claim:
    return Claim(
        id=f"removable-{task.replace('–', '-')}-{subroutine}",
        sentence=f"{task.capitalize()}: without the chosen part for {subroutine}, {subroutine} suffers more than the "
        "other.",
        criterion=Sign("below", 0.0),
        evidence=of(runs, "d_abl", where=CHOSEN, subroutine=subroutine),
        published=published,
        source=f"released results: {where}",
        unit="D_abl",
        explanation="With three bases the interval is wide, though the figure is no smaller than the published one.",
    )


FOUND = (
    Claim(
        id="part-does-its-own",
        sentence="In a trained network a part is found that does a subroutine by itself (accuracy of at least .9).",
        criterion=Sign("above", 0.5),
        evidence=of(TASKS, pl.col("sub_target") >= 0.9),
        published=0.948,
        source=RELEASED,
        unit="of masks",
    ),
    Claim(
        id="part-does-not-the-other",
        sentence="That part does its own subroutine better than the other.",
        criterion=Sign("above", 0.0),
        evidence=of(TASKS, "d_sub", where=CHOSEN),
        published=0.617,
        source="mean D_sub of vision searches; .298 in language",
        unit="D_sub",
    ),
    _d_abl("agreement", LANGUAGE, "subject", -0.365, "BERT from scratch, singular −.417 and plural −.313"),
    _d_abl("agreement", LANGUAGE, "verb", -0.13, "BERT from scratch, singular −.260 and plural +.003, not significant"),
    Claim(
        id="removable-inside-contact",
        sentence="Inside–contact: without the chosen part for either, that one suffers more than the other.",
        criterion=Sign("below", 0.0),
        evidence=of(("inside-contact", "resnet18-inside-contact"), "d_abl", where=CHOSEN, each="cell"),
        published=-0.09,
        source="released results: ResNet-50 −.071 for contact and −.108 for inside, neither significant; wide ResNet "
        "−.332 and +.017",
        unit="D_abl, one value a base and subroutine",
        explanation="Two bases are too few: the effect has the right sign and its interval includes none.",
    ),
    Claim(
        id="both-tests-right",
        sentence="The chosen mask has the right sign on both tests (D_sub > 0, D_abl < 0).",
        criterion=Sign("above", 0.5),
        evidence=of(TASKS, (pl.col("d_sub") > 0) & (pl.col("d_abl") < 0), where=CHOSEN),
        published=0.816,
        source=RELEASED,
        unit="of masks",
    ),
    Claim(
        id="strict-reading-rare",
        sentence="A strict reading (.9 and below .5 with the part; below .5 and above .75 without) holds for fewer "
        "than half.",
        criterion=Sign("below", 0.5),
        evidence=of(
            TASKS,
            (pl.col("sub_target") > 0.9) & (pl.col("sub_other") < 0.5) & (pl.col("abl_target") < 0.5)
            & (pl.col("abl_other") > 0.75),
            where=CHOSEN,
    ),
        published=0.212,
        source=RELEASED,
        unit="of masks",
        explanation="Chosen masks pass the strict reading more often here than in the published results, in agreement "
        "and, at paper scale, in the last stages of residual networks.",
    ),
    Claim(
        id="redrawn-or-zero",
        sentence="Whether removed weights are set to zero or drawn anew makes little difference to D_abl.",
        criterion=Sign("below", 0.11),
        evidence=of(TASKS, (pl.col("random_d_abl") - pl.col("d_abl")).abs(), where=CHOSEN),
        published=0.03,
        source="released results: within .11 in every cell of trained bases, mostly below .03",
        unit="|difference|",
        explanation="A network of 16 units has no weights to spare: drawn anew they disturb it more than zeros do.",
    ),
)  # fmt: skip

SELECTION = (
    Claim(
        id="typical-language",
        sentence="Agreement: over all settings that pass, the mean gap between other and target after removal is near "
        "zero.",
        criterion=Sign("below", 0.15),
        evidence=of(LANGUAGE, -pl.col("d_abl"), where=PASSED, each="cell"),
        published=0.019,
        source=SEARCHES,
        unit="−D_abl",
        explanation="In a small encoder nearly every setting that passes finds a removable part; the published typical "
        "mask is redundant, its complement still doing both.",
    ),
    Claim(
        id="typical-vision",
        sentence="Contours: over all settings that pass, the mean gap is near zero.",
        criterion=Sign("below", 0.15),
        evidence=of(VISION, -pl.col("d_abl"), where=PASSED, each="cell"),
        published=0.032,
        source=SEARCHES,
        unit="−D_abl",
        explanation="At quick scale two bases give a wide interval. At paper scale two of the three sets of layers are "
        "the last stages, where nearly every mask that passes finds a part that can be removed; over all layers the "
        "gap is near zero.",
    ),
    Claim(
        id="chosen-above-typical-language",
        sentence="Agreement: the chosen setting shows a larger gap than the mean of those that pass, on problems it "
        "was not chosen on.",
        criterion=Sign("above", 0.0),
        evidence=best_less_typical(LANGUAGE),
        published=0.336,
        source=f"{SEARCHES}: +.355 for the chosen of 24 on test, +.019 for the mean",
        unit="of −D_abl",
        explanation="Where nearly every setting that passes finds a removable part, choosing among four adds little.",
    ),
    Claim(
        id="chosen-above-typical-vision",
        sentence="Contours: the chosen setting shows a larger gap than the mean of those that pass.",
        criterion=Sign("above", 0.0),
        evidence=best_less_typical(VISION),
        published=0.124,
        source=f"{SEARCHES}: +.156 for the chosen of 24 on test, +.032 for the mean",
        unit="of −D_abl",
        explanation="Four settings on two bases leave little to choose from; the published gain is that of the "
        "best of 24.",
    ),
    Claim(
        id="seeds-alike",
        sentence="Masks of one subroutine found with different seeds share more weights than chance would give.",
        criterion=Sign("above", 0.0),
        evidence=overlap("seeds"),
        source="not published: the released overlap divides by one mask instead of the union",
        unit="log₁₀ of IoU over chance",
    ),
    Claim(
        id="subroutines-alike",
        sentence="So do masks of different subroutines of one network: parts are not disjoint.",
        criterion=Sign("above", 0.0),
        evidence=overlap("subroutines"),
        source="not published as a true IoU",
        unit="log₁₀ of IoU over chance",
        explanation="Masks of different subroutines share about what chance gives.",
    ),
)

LARGER = (
    _d_abl(
        "number–contact",
        ("resnet18-number-contact",),
        "contact",
        -0.317,
        "ResNet-50, significant; its wide variant −.493",
    ),
    Claim(
        id="contact-beyond-number",
        sentence="Number–contact: the part for contact can be removed, the one for number cannot: D_abl of contact is "
        "the lower.",
        criterion=Sign("below", 0.0),
        evidence=one_less_other("resnet18-number-contact", "d_abl", "contact", "number"),
        published=-0.306,
        source="released results: ResNet-50 −.317 and −.011, its wide variant −.493 and −.024",
        unit="D_abl of contact less that of number",
    ),
    Claim(
        id="removable-fifty-layers",
        sentence="Number–contact with ResNet-50 and its wide variant: without the chosen part for contact, contact "
        "suffers more than the other.",
        criterion=Sign("below", 0.0),
        evidence=of(FIFTY, "d_abl", where=CHOSEN, subroutine="contact"),
        published=-0.405,
        source="released results: ResNet-50 −.317, its wide variant −.493, both significant",
        unit="D_abl",
        explanation="One of the two ResNet-50 did not learn number (.48 of its problems), so three of four networks "
        "pass. Both wide ones have the part (−.16 and −.33); in the other ResNet-50 the chosen mask takes both rules "
        "(+.02), and only its mask of the last stage leans to contact (−.08).",
    ),
    Claim(
        id="wider-more-removable",
        sentence="Number–contact: parts of a network four times as wide are more removable.",
        criterion=Sign("below", 0.0),
        evidence=less("d_abl", "resnet18-wide", "resnet18-narrow"),
        published=-0.095,
        source="released results: mean of both rules −.259 for the wide variant, −.164 for ResNet-50",
        unit="D_abl of the wide less that of the narrow",
    ),
    Claim(
        id="contrastive-does-not-help",
        sentence="Number–contact: contrastive pretraining does not make parts clearly more removable.",
        criterion=Sign("above", -0.1),
        evidence=less("d_abl", "resnet18-simclr", "resnet18-number-contact"),
        published=-0.005,
        source="released results: mean of both rules −.169 with SimCLR, −.164 from scratch",
        unit="D_abl",
        explanation="The figure is near none, as published; with three bases a gain of .2 cannot be excluded.",
    ),
    Claim(
        id="pretraining-helps",
        sentence="Pretraining makes parts more removable: D_abl is lower than from scratch.",
        criterion=Sign("below", 0.0),
        evidence=less("d_abl", "bert-pretrained", "bert-scratch"),
        published=-0.245,
        source="released results: −.48 (subject) and −.51 (verb) pretrained, −.37 and −.13 from scratch",
        unit="D_abl",
        explanation="Bases from scratch are as removable as any at this learning rate, which leaves nothing to gain; "
        "at the paper's rate they were not.",
    ),
    Claim(
        id="three-rules",
        sentence="With three rules, the part of one does that one better than the mean of the others.",
        criterion=Sign("above", 0.0),
        evidence=of("three-rules", "d_sub", where=CHOSEN, each="cell"),
        source="not in the paper, which has two rules throughout",
        unit="D_sub",
    ),
    Claim(
        id="three-rules-removable",
        sentence="With three rules, without the chosen part of one that one suffers more than the mean of the others.",
        criterion=Sign("below", 0.0),
        evidence=of("three-rules", "d_abl", where=CHOSEN, each="cell"),
        source="not in the paper; with two rules ResNet-50 has −.317 for contact and −.011 for number beside it",
        unit="D_abl",
        explanation="One base, three values: inside and contact have the right sign, number has not, as published.",
    ),
)

CLAIMS = (*KNOWN, *FOUND, *SELECTION, *UNTRAINED, *CONTROLS, *NEW, *LARGER)
