"""Untrained networks: what a search over masks makes of a network that has learnt nothing."""

from __future__ import annotations

import polars as pl

from recombine.studies.break_it_down.evidence import CHOSEN, LANGUAGE, PASSED, TASKS, VISION, beside_untrained, of
from recombine.studies.claims import Claim, Order, Sign

UNTRAINED = (
    Claim(
        id="untrained-passes",
        sentence="In an untrained network, too, a part is found that does a subroutine: masking is training.",
        criterion=Sign("above", 0.5),
        evidence=of(TASKS, pl.col("sub_target") >= 0.9, network="untrained", each="cell"),
        published=0.716,
        source="243 masks of untrained networks in the authors' result files",
        unit="of masks",
        explanation="At quick scale encoders of 16 units and a hundred steps offer a search too little to choose from; "
        "in the toy, with 128 units, every mask of an untrained network passes. At paper scale nearly all of an "
        "encoder's pass, but on contours the penalty empties masks of untrained networks.",
    ),
    Claim(
        id="untrained-d-sub",
        sentence="And it does that one better than the other, in most masks: D_sub alone says nothing.",
        criterion=Sign("above", 0.5),
        evidence=of(TASKS, pl.col("d_sub") > 0, network="untrained", each="cell"),
        published=0.93,
        source="243 masks of untrained networks",
        unit="of masks",
        explanation="At paper scale most masks of untrained residual networks of 18 layers keep nothing at all under "
        "this penalty, and what keeps nothing does neither; of the encoders' masks .94 and more have the right sign.",
    ),
    Claim(
        id="untrained-d-abl-rare",
        sentence="But D_abl below −.05 is rare there.",
        criterion=Sign("below", 0.25),
        evidence=of(TASKS, pl.col("d_abl") < -0.05, network="untrained", each="cell"),
        published=0.029,
        source="243 masks of untrained networks",
        unit="of masks",
        explanation="At paper scale such are a third of the masks of one encoder's whole grid and two thirds of those "
        "of one network with three rules, and none elsewhere: few networks leave a wide interval, as at quick scale.",
    ),
    Claim(
        id="untrained-own-search",
        sentence="Even the setting chosen by an untrained network's own search shows no removable part (0 where none "
        "passes, as the paper scores it).",
        criterion=Sign("below", 0.1),
        evidence=of(("toy", *TASKS), -pl.col("d_abl"), where=CHOSEN, network="untrained", missing=0.0),
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
        evidence=of(VISION, pl.mean_horizontal("abl_target", "abl_other"), network="untrained", each="cell"),
        published=0.26,
        source="released results: .26 on the target, .25 on the other",
        unit="accuracy",
    ),
    Claim(
        id="trained-below-untrained",
        sentence="D_abl of chosen masks is lower in trained than in untrained networks that have had the same search.",
        criterion=Order(("trained", "untrained")),
        evidence=beside_untrained("d_abl", TASKS),
        source="the paper's central comparison, with the untrained networks' own search",
        unit="D_abl of untrained less that of trained networks",
    ),
)  # fmt: skip
