"""What is asked of the lenses. No paper published these figures; every criterion was written before they were seen."""

from __future__ import annotations

from recombine.studies.claims import Claim, Order, Sign
from recombine.studies.together.correlations import ACROSS, BEST, GIVEN_SUPPORT, SAME_ROWS
from recombine.studies.together.evidence import forecast, of, pair

ABOVE = Sign("above")

CLAIMS = (
    Claim(
        id="support-across-splits",
        sentence="The support verdict orders networks across splits: where training determines more of the unseen "
        "combinations, networks err less on them.",
        criterion=ABOVE,
        evidence=of(ACROSS, "support"),
        explanation="The verdict says what the rows leave open to any learner whose parts add up. A network brings "
        "more than that: it is handed each factor in its own part of the input. Half of all pairs, with "
        "even and odd levels never together (0 % determined), leave it far better off than a fifth of "
        "them that determine everything. With as many pairs seen, the verdict points the right way for "
        "digits and sums, and the wrong way for bumps, whose answers are products.",
    ),
    Claim(
        id="support-over-count",
        sentence="The verdict orders networks better than the mere number of combinations that were seen.",
        criterion=Order(("number seen", "support")),
        evidence=pair(ACROSS, "share_seen", "support"),
        explanation="The same: a verdict about what is determined is not a forecast of what a network will do, and "
        "every further pair helps, whether or not it settles an open answer.",
    ),
    Claim(
        id="untrained-kernel-across-splits",
        sentence="Regression on the representation of the untrained network foretells, across splits, which networks "
        "will err.",
        criterion=ABOVE,
        evidence=of(ACROSS, "kernel_start"),
        explanation="From few rows, regression on a random layer of this width foretells an error near that of a "
        "constant answer whatever the split, so what is left to order networks by is mostly their seed.",
    ),
    Claim(
        id="kernel-across-splits",
        sentence="Regression on the trained representation foretells it.",
        criterion=ABOVE,
        evidence=of(ACROSS, "kernel"),
        explanation="The lens assumes that factors add up. Bumps are products: there it does not order splits.",
    ),
    Claim(
        id="factorization-across-splits",
        sentence="The more of the representation is a sum of one part a factor, the smaller the error on unseen "
        "combinations.",
        criterion=ABOVE,
        evidence=of(ACROSS, "factorization"),
        explanation="Digits are nearly a sum of parts in every network, fitted or not, so little is left to tell them "
        "apart by. For bumps the layer is less of a sum the more pairs were seen, while the error falls: "
        "a bump is a product of its factors, and a layer that draws it must be more than a sum.",
    ),
    Claim(
        id="influence-across-splits",
        sentence="The more a part of the answer listens to the factor that it does not depend on, the larger the "
        "error.",
        criterion=ABOVE,
        evidence=of(ACROSS, "influence"),
    ),
    Claim(
        id="structure-across-splits",
        sentence="The better the part for one factor can be taken out without the other, the smaller the error.",
        criterion=ABOVE,
        evidence=of(ACROSS, "structure"),
    ),
    Claim(
        id="kernel-same-rows",
        sentence="Among networks trained on the same rows, regression on the trained representation tells who "
        "composes.",
        criterion=ABOVE,
        evidence=of(SAME_ROWS, "kernel"),
    ),
    Claim(
        id="factorization-same-rows",
        sentence="Among networks trained on the same rows, factorization tells who composes.",
        criterion=ABOVE,
        evidence=of(SAME_ROWS, "factorization"),
        explanation="It tells for bumps and sums, and points the wrong way for digits, where large first weights make "
        "a layer that is less of a sum and composes better.",
    ),
    Claim(
        id="influence-same-rows",
        sentence="Among networks trained on the same rows, redundant influence tells who fails.",
        criterion=ABOVE,
        evidence=of(SAME_ROWS, "influence"),
    ),
    Claim(
        id="structure-same-rows",
        sentence="Among networks trained on the same rows, structure tells who composes.",
        criterion=ABOVE,
        evidence=of(SAME_ROWS, "structure"),
        explanation="With few masks a network, D_abl is a noisy figure; masks that start elsewhere find other parts.",
    ),
    Claim(
        id="training-matters",
        sentence="On the same rows, what training made of the representation tells more than what it was before.",
        criterion=Order(("untrained kernel", "kernel")),
        evidence=pair(SAME_ROWS, "kernel_start", "kernel"),
    ),
    Claim(
        id="kernel-over-influence",
        sentence="On the same rows, the kernel prediction tells better than influence.",
        criterion=Order(("influence", "kernel")),
        evidence=pair(SAME_ROWS, "influence", "kernel"),
        explanation="Both tell, and about as well. Influence looks at slopes on seen combinations alone; it needs no "
        "unseen input and no assumption that factors add up.",
    ),
    Claim(
        id="kernel-beyond-support",
        sentence="The kernel prediction says more than the support verdict: its rank correlation stays when the "
        "verdict is held still.",
        criterion=ABOVE,
        evidence=of(GIVEN_SUPPORT, "kernel"),
    ),
    Claim(
        id="no-single-lens",
        sentence="No single lens suffices: the best one accounts for less than half of the variance of ranks within a "
        "task.",
        criterion=Sign("below", 0.5),
        evidence=of(BEST, "best"),
        explanation="Within a task one lens is enough to order networks: for sums the kernel lens is almost the error "
        "itself, and for digits and bumps influence is close. What no lens has is the same strength in "
        "every task.",
    ),
    Claim(
        id="together-over-best",
        sentence="The five together rank the networks of a setting that was left out better than the best single lens.",
        criterion=Order(("five together", "best single lens")),
        evidence=forecast("together", "single"),
        unit="of the range of ranks",
        explanation="For digits the five together are much nearer than the best one; for bumps a fit of five lenses "
        "to six splits does not carry over to the seventh.",
    ),
)
