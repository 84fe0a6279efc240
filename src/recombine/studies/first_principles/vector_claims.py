"""Where every assumption can hold: the theorem tested cleanly, and the open questions beside it."""

from __future__ import annotations

from recombine.studies.claims import Claim, Order, Sign
from recombine.studies.first_principles.evidence import follows, recovered, recovered_all, shares, swapped
from recombine.studies.fitted import of, order

UNSEEN = "R² strictly outside the training support"
THEOREM = "Theorem 1"
OURS = "not in the paper"

VECTOR_CLAIMS = (
    Claim(
        id="vector-composes",
        sentence="Where A1 to A4 hold, the compositional model explains more than .9 of what it never saw.",
        criterion=Sign("above", 0.9),
        evidence=of("vector", "r2_ood"),
        published=1.0,
        source=f"{THEOREM}, for a perfect fit",
        unit=UNSEEN,
    ),
    Claim(
        id="vector-monolithic",
        sentence="A monolithic perceptron that fits the same planes explains nothing of it.",
        criterion=Sign("below", 0.0),
        evidence=of("vector-monolithic", "r2_ood"),
        source=OURS,
        unit=UNSEEN,
    ),
    Claim(
        id="vector-random",
        sentence="Trained everywhere, the monolithic perceptron loses nothing.",
        criterion=Sign("below", 0.05),
        evidence=of("vector-random-monolithic", "loss"),
        source=OURS,
        unit="R² seen less R² on the whole cube",
    ),
    Claim(
        id="vector-recovered",
        sentence="The parts themselves are found, up to the constant that the initial point fixes.",
        criterion=Sign("below", 0.05),
        evidence=recovered_all("vector", [0, 1]),
        published=0.0,
        source=THEOREM,
        unit="error over the spread, of the component that is found worse",
    ),
    Claim(
        id="gap-hurts-its-component",
        sentence="A gap in one component's latents spoils that component and not the other.",
        criterion=Order(("the other component", "the component with the gap")),
        evidence=recovered("vector-gap-40", [1, 0]),
        source=f"{THEOREM}: A2 is asked of each block",
        unit="difference of the error over the spread",
    ),
    Claim(
        id="gap-width",
        sentence="The wider the gap, the less is explained outside.",
        criterion=Order((".6", ".4", ".2")),
        evidence=order(["vector-gap-60", "vector-gap-40", "vector-gap-20"], "r2_ood"),
        source=OURS,
        unit=f"smallest difference of {UNSEEN}",
    ),
    Claim(
        id="diagonal-width",
        sentence="The narrower the diagonal band, the less is explained outside, though every width satisfies A2 to "
        "A4.",
        criterion=Order((".02", ".05", ".1")),
        evidence=order(["vector-diagonal-02", "vector-diagonal-05", "vector-diagonal-10"], "r2_ood"),
        source="the authors' table has three widths of sprites; the theorem has no rates",
        unit=f"smallest difference of {UNSEEN}",
    ),
    Claim(
        id="initial-point",
        sentence="Under soft occlusion one plane each leaves the initial point open; a second plane each fixes it.",
        criterion=Order(("one plane each", "two planes each")),
        evidence=order(["vector-soft", "vector-soft-plus"], "r2_ood"),
        source="A4, which the paper calls a proof device",
        unit=f"difference of {UNSEEN}",
    ),
    Claim(
        id="wrong-composition",
        sentence="A model that adds fits two planes of softly occluded vectors and is wrong outside them.",
        criterion=Sign("below", 0.8),
        evidence=of("vector-soft-by-sum", "r2_ood"),
        source=f"{THEOREM} needs the data's C; two planes through one point cannot tell one C from another",
        unit=UNSEEN,
    ),
    Claim(
        id="learned-composition",
        sentence="On two planes each, a model that learns C from a family finds the one that made the data.",
        criterion=Sign("above", 0.8),
        evidence=shares("vector-learned", "soft_occlusion"),
        source="the paper's open question of an unknown C",
        unit="weight of soft occlusion",
    ),
    Claim(
        id="learned-generalizes",
        sentence="It generalizes, though it was not told C.",
        criterion=Sign("above", 0.9),
        evidence=of("vector-learned", "r2_ood"),
        source="the paper's open question of an unknown C",
        unit=UNSEEN,
    ),
    Claim(
        id="learned-fails",
        sentence="On one plane each the same model fits as well and does not generalize: the data cannot tell what C "
        "is.",
        criterion=Sign("below", 0.9),
        evidence=of("vector-learned-one", "r2_ood"),
        source="the honest failure of a learned C",
        unit=UNSEEN,
        explanation="Even from one plane each the family gives soft occlusion most of the weight (.81 on average at "
        "paper scale, .94 from two planes each), though these data fit without it; what is left "
        "costs R², not all of it.",
    ),
    Claim(
        id="learned-network",
        sentence="C may even be a small network that works cell by cell.",
        criterion=Sign("above", 0.9),
        evidence=of("vector-network", "r2_ood"),
        source="the paper's open question of an unknown C",
        unit=UNSEEN,
    ),
    Claim(
        id="fit-follows",
        sentence="Along training the unseen error follows the seen one: an approximate fit generalizes approximately.",
        criterion=Sign("above", 0.9),
        evidence=follows("vector"),
        source="the paper's open question of approximate fitting",
        unit="correlation of the logarithms of 1 − R²",
    ),
    Claim(
        id="fit-misleads",
        sentence="For the monolithic perceptron it does not.",
        criterion=Sign("below", 0.5),
        evidence=follows("vector-monolithic"),
        source=OURS,
        unit="correlation of the logarithms of 1 − R²",
    ),
    Claim(
        id="slots-recombine",
        sentence="An additive decoder that was shown no latents draws new combinations of the slots it found.",
        criterion=Sign("above", 0.5),
        evidence=swapped("r2"),
        source="Lachapelle et al. 2023, for additive decoders; the paper's open question of unsupervised latents",
        unit="R² of recombined slots",
        explanation="Some members recombine almost perfectly and some not at all, at the same reconstruction error: "
        "the slots they found mix both components. The members are shown.",
    ),
)
