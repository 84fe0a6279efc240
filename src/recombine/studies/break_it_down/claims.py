"""What the paper and its released results say, and how each is judged. Published figures are recomputed from the
authors' result files; D_abl is negative where a part can be removed."""

from __future__ import annotations

import polars as pl

from recombine.studies.break_it_down.control_claims import CONTROLS, KNOWN
from recombine.studies.break_it_down.evidence import (
    CHOSEN,
    PASSED,
    best_less_typical,
    correlation,
    correlations_compared,
    less,
    of,
    overlap,
    spread,
)
from recombine.studies.claims import Claim, Order, Sign

LANGUAGE = ("agreement", "bert-grid", "bert-scratch")
VISION = ("inside-contact", "resnet18-inside-contact", "resnet18-number-contact")
TASKS = (*LANGUAGE, *VISION)
RELEASED = "288 masks of trained bases in the authors' result files"
SEARCHES = "2304 search masks in the authors' result files"


def _d_abl(task: str, runs: tuple[str, ...], subroutine: str, published: float, where: str) -> Claim:
    return Claim(
        id=f"removable-{task}-{subroutine}",
        sentence=f"{task.capitalize()}: without the chosen part for {subroutine}, {subroutine} suffers more than the "
        "other.",
        criterion=Sign("below", 0.0),
        evidence=of(runs, "d_abl", where=CHOSEN, subroutine=subroutine),
        published=published,
        source=f"released results: {where}",
        unit="D_abl",
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
        evidence=of(VISION[:2], "d_abl", where=CHOSEN, each="cell"),
        published=-0.09,
        source="released results: ResNet-50 −.071 for contact and −.108 for inside, neither significant; wide ResNet "
        "−.332 and +.017",
        unit="D_abl, one value a base and subroutine",
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
    ),
    Claim(
        id="redrawn-or-zero",
        sentence="Whether removed weights are set to zero or drawn anew makes little difference to D_abl.",
        criterion=Sign("below", 0.11),
        evidence=of(TASKS, (pl.col("random_d_abl") - pl.col("d_abl")).abs(), where=CHOSEN),
        published=0.03,
        source="released results: within .11 in every cell of trained bases, mostly below .03",
        unit="|difference|",
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
    ),
    Claim(
        id="typical-vision",
        sentence="Contours: over all settings that pass, the mean gap is near zero.",
        criterion=Sign("below", 0.15),
        evidence=of(VISION, -pl.col("d_abl"), where=PASSED, each="cell"),
        published=0.032,
        source=SEARCHES,
        unit="−D_abl",
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
    ),
    Claim(
        id="chosen-above-typical-vision",
        sentence="Contours: the chosen setting shows a larger gap than the mean of those that pass.",
        criterion=Sign("above", 0.0),
        evidence=best_less_typical(VISION),
        published=0.124,
        source=f"{SEARCHES}: +.156 for the chosen of 24 on test, +.032 for the mean",
        unit="of −D_abl",
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
    ),
)

UNTRAINED = (
    Claim(
        id="untrained-passes",
        sentence="In an untrained network, too, a part is found that does a subroutine: masking is training.",
        criterion=Sign("above", 0.5),
        evidence=of(TASKS, pl.col("sub_target") >= 0.9, network="untrained"),
        published=0.716,
        source="243 masks of untrained networks in the authors' result files",
        unit="of masks",
    ),
    Claim(
        id="untrained-d-sub",
        sentence="And it does that one better than the other, in most masks: D_sub alone says nothing.",
        criterion=Sign("above", 0.5),
        evidence=of(TASKS, pl.col("d_sub") > 0, network="untrained"),
        published=0.93,
        source="243 masks of untrained networks",
        unit="of masks",
    ),
    Claim(
        id="untrained-d-abl-rare",
        sentence="But D_abl below −.05 is rare there.",
        criterion=Sign("below", 0.25),
        evidence=of(TASKS, pl.col("d_abl") < -0.05, network="untrained"),
        published=0.029,
        source="243 masks of untrained networks",
        unit="of masks",
    ),
    Claim(
        id="untrained-own-search",
        sentence="Even the setting chosen by an untrained network's own search shows no removable part (0 where none "
        "passes, as the paper scores it).",
        criterion=Sign("below", 0.1),
        evidence=of(TASKS, -pl.col("d_abl"), where=CHOSEN, network="untrained", missing=0.0),
        source="nobody has run it: the authors give untrained networks the trained ones' settings",
        unit="−D_abl",
        explanation="A search among a few dozen masks for the largest gap finds one, in untrained networks as well.",
    ),
    Claim(
        id="untrained-language-keeps-target",
        sentence="Agreement: what is left of an untrained encoder still does the target and loses the other.",
        criterion=Sign("above", 0.0),
        evidence=of(LANGUAGE, "d_abl", where=PASSED, network="untrained"),
        published=0.502,
        source="released results: mean of eight cells of untrained BERT, +.07 to +.73",
        unit="D_abl",
        explanation="BERT is read through its norm and residual stream, which are not masked and carry the words; a "
        "small encoder trained on few problems has less of them to find the target in.",
    ),
    Claim(
        id="untrained-vision-collapses",
        sentence="Contours: what is left of an untrained network is at chance on both.",
        criterion=Sign("below", 0.35),
        evidence=of(VISION, pl.max_horizontal("abl_target", "abl_other"), network="untrained", each="cell"),
        published=0.26,
        source="released results: .26 on the target, .25 on the other",
        unit="accuracy",
    ),
    Claim(
        id="trained-below-untrained",
        sentence="D_abl of chosen masks is lower in trained than in untrained networks that have had the same search.",
        criterion=Sign("below", 0.0),
        evidence=less("d_abl", TASKS, TASKS, "untrained", by_run=True),
        source="the paper's central comparison, with the untrained networks' own search",
        unit="D_abl",
    ),
)  # fmt: skip

LARGER = (
    Claim(
        id="pretraining-helps",
        sentence="Pretraining makes parts more removable: D_abl is lower than from scratch.",
        criterion=Sign("below", 0.0),
        evidence=less("d_abl", "bert-pretrained", "bert-scratch"),
        published=-0.245,
        source="released results: −.48 (subject) and −.51 (verb) pretrained, −.37 and −.13 from scratch",
        unit="D_abl",
    ),
    Claim(
        id="number-contact",
        sentence="Number–contact: without the chosen part for contact, contact suffers more than number.",
        criterion=Sign("below", 0.0),
        evidence=of("resnet18-number-contact", "d_abl", where=PASSED, subroutine="contact", each="cell"),
        published=-0.317,
        source="released results: ResNet-50 −.317, wide −.493",
        unit="D_abl",
    ),
    Claim(
        id="three-rules",
        sentence="With three rules, the part of one does that one better than the mean of the others.",
        criterion=Sign("above", 0.0),
        evidence=of("three-rules", "d_sub", where=CHOSEN, each="cell"),
        source="not in the paper, which has two rules throughout",
        unit="D_sub",
    ),
)

NEW = (
    Claim(
        id="unseen-varies",
        sentence="Digit pairs: members that all do their own task differ on unseen combinations.",
        criterion=Sign("above", 0.05),
        evidence=spread(),
        source="needed for the next claim to mean anything",
        unit="standard deviation of accuracy",
    ),
    Claim(
        id="structure-predicts-generalization",
        sentence="The lower a member's D_abl (its parts more removable), the better it does on unseen combinations.",
        criterion=Sign("below", 0.0),
        evidence=correlation("d_abl_all"),
        source="the paper's open question: does modular structure go with generalization?",
        unit="Spearman's ρ",
    ),
    Claim(
        id="subnetworks-do-not-predict",
        sentence="D_sub, the test that untrained networks pass too, does not predict it: |ρ| is smaller than D_abl's.",
        criterion=Order(("|ρ| of D_sub", "|ρ| of D_abl")),
        evidence=correlations_compared("d_sub_all", "d_abl_all"),
        source="ours",
        unit="|Spearman's ρ|",
    ),
    Claim(
        id="structure-beyond-behaviour",
        sentence="Among members that do equally well on the left digit alone, a lower D_abl still goes with more.",
        criterion=Sign("below", 0.0),
        evidence=correlation("d_abl_all", given="on left digit"),
        source="ours: members differ in the size of their first weights, which moves behaviour and structure alike",
        unit="partial ρ",
        explanation="What the whole network does with one digit alone says as much, without a mask.",
    ),
    Claim(
        id="reliance-predicts-generalization",
        sentence="What the whole network does with the left digit alone predicts it.",
        criterion=Sign("above", 0.0),
        evidence=correlation("on left digit"),
        source="ours: a measure of behaviour for comparison, which needs no mask",
        unit="Spearman's ρ",
    ),
)

CLAIMS = (*KNOWN, *FOUND, *SELECTION, *UNTRAINED, *CONTROLS, *NEW, *LARGER)
