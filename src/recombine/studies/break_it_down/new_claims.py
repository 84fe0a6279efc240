"""What the paper leaves open: where does structure that can be taken apart come from, and does it generalize?"""

from __future__ import annotations

from recombine.studies.break_it_down.evidence import (
    FIFTY,
    correlation,
    correlations_compared,
    layers_less,
    less,
    spread,
)
from recombine.studies.break_it_down.runs import FROM
from recombine.studies.claims import Claim, Order, Sign


def _above(id: str, sentence: str, runs: tuple[str, ...], source: str) -> Claim:
    return Claim(
        id=id,
        sentence=sentence,
        criterion=Sign("below", 0.0),
        evidence=layers_less("d_abl", runs, FROM["resnet"][-1], FROM["resnet"][0]),
        source=source,
        unit="D_abl, all masks of the last stage less all over every layer",
    )


NEW = (
    Claim(
        id="rate-makes-parts",
        sentence="Agreement: parts of bases trained at a rate of 5e-4 are more removable than those of bases trained "
        "at 1e-4 for longer, though both answer everything.",
        criterion=Sign("below", 0.0),
        evidence=less("d_abl", "bert-scratch", "bert-slow"),
        source="ours, declared after a trial on a base that is not in the study",
        unit="D_abl of the one less that of the other",
        explanation="A base that stays near its start is searched as an untrained one is: what is left when its part "
        "is removed still does the task.",
    ),
    _above(
        "removable-above",
        "Contours: parts of the last stage can be removed, parts found over all layers cannot: D_abl of the former is "
        "lower.",
        ("resnet18-number-contact", "resnet18-inside-contact", "resnet18-simclr"),
        "ours, seen in the masks that it is judged by",
    ),
    _above(
        "removable-above-elsewhere",
        "So it is in networks of other widths and of 50 layers.",
        ("resnet18-narrow", "resnet18-wide", *FIFTY),
        "ours, judged by networks that were searched so after the claim was made",
    ),
    Claim(
        id="unseen-varies",
        sentence="Digit pairs: members that all do their own task differ on unseen combinations.",
        criterion=Sign("above", 0.05),
        evidence=spread(),
        source="needed for the next claim to mean anything",
        unit="standard deviation of accuracy",
        explanation="The spread is about the one asked for, and its interval reaches below; only members started "
        "at very different scales differ at all.",
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
        explanation="With this many members an absent correlation cannot be told from a moderate one.",
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
