"""Are probabilities surer than they are right, or less sure, on unseen combinations and on seen ones?

    the mean probability of the answer that is given − the share of right answers,

over combinations that count alike. A class is right as often whether it was given 0.7 or 0.99, so errors do not show
it; and a learner that is rightly sure of seen combinations need not be of unseen ones (Guo et al. 2017, Ovadia et al.
2019 under shift). One that goes flat where unseen gives the right classes and has lost what it knew of them all the
same.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.names import ranged, share
from recombine.mechanisms.answers.probabilities import CONFIDENCE
from recombine.mechanisms.compared.comparing import average, shares_cost
from recombine.mechanisms.compared.losing import TIMES
from recombine.statistics import FEW, Interval, Over

LEAST = 0.01
"""By how much they have to be surer than right, however rare errors are said to be."""
BY_LUCK = 1.96
"""Standard deviations by which classes may be right more often than probabilities that are right say."""


def sureness(answers: Answers, over: Over, margin: float, told: bool = False) -> str:
    """That probabilities are clearly surer than right on unseen combinations, or clearly less sure, in a note, and how
    they are on seen ones: by more than the margin, or where answers are wrong more than twice as often as they say.
    ``told``: whether what it costs in log loss is said already."""
    sure, at, away = answers.scores.get(CONFIDENCE), answers.compared, answers.unseen
    if sure is None or not away.any() or not np.isfinite(sure[:, away]).all():
        return ""
    there = too_sure(answers, over, away)
    doubt, wrong = 1 - float(sure[:, away].mean()), float(answers.error[:, away].mean())
    more = there.low > 0 and (there.mean > margin or (wrong > TIMES * doubt and wrong > LEAST))
    less = there.high < 0 and there.mean < -margin and _beyond_luck(answers, away)
    if not there.bounded or not (more or less):
        return ""
    said = (
        f"Probabilities are {'surer' if more else 'less sure'} than right: on unseen combinations the class that is "
        f"given has {share(1 - doubt)} on average and is right in {share(1 - wrong)}, "
        f"{ranged(there if more else _turned(there))} {'less' if more else 'more'}"
    )
    if not at.any() or not np.isfinite(sure[:, at]).all():
        return f"{said}."
    here = too_sure(answers, over, at)
    rows = "seen ones" if answers.like else "training rows of seen ones"
    apart = here.bounded and (here.high < there.low if more else here.low > there.high)
    elsewhere = ": what calibrates them there would not do so on unseen ones" * apart
    return f"{said}; on {rows} {ranged(here if more else _turned(here))}{elsewhere}.{_costs(answers) * (not told)}"


def _turned(figure: Interval) -> Interval:
    """By how much they are less sure than right, where ``figure`` is by how much more."""
    return replace(figure, mean=-figure.mean, low=-figure.high, high=-figure.low)


def _beyond_luck(answers: Answers, at: NDArray[np.bool_]) -> bool:
    """Whether classes are right more often than they would be by luck if probabilities were right: of a few rows that
    are each right with 0.9 all may be, and errors that are all 0 make no interval."""
    sure, wrong = (x[:, at].mean(axis=0) for x in (answers.scores[CONFIDENCE], answers.error))
    doubt = np.sqrt((sure * (1 - sure) / answers.counts[at]).sum())
    return bool((1 - wrong - sure).sum() > BY_LUCK * doubt)


def _costs(answers: Answers) -> str:
    """What the log loss says of it, in a sentence, where it is more on unseen combinations."""
    loss, at, away = answers.scores.get("log loss"), answers.compared, answers.unseen
    if loss is None or answers.trained is None or answers.trained.borrowed:
        return ""
    seen, unseen, always = (float(x.mean()) for x in (loss[:, at], loss[:, away], shares_cost(answers)[away]))
    if not seen < unseen or share(seen) == share(unseen):
        return ""
    return (
        f" The log loss is {share(unseen)} on unseen against {share(seen)} on seen ones, where always giving "
        f"training's shares costs {share(always)}."
    )


def worse_than_shares(answers: Answers, over: Over, margin: float) -> tuple[str, str]:
    """The verdict, and why, of probabilities that are surer than right on unseen combinations, by more than the margin,
    and cost more there than always giving the shares of training, where those of seen ones clearly cost less: in part,
    if they are surer than right by clearly more than on seen ones, else unclear. A few that are wholly sure of a wrong
    class make an interval of the log loss itself that reaches anywhere. Nothing where they are not."""
    loss, sure = answers.scores.get("log loss"), answers.scores.get(CONFIDENCE)
    at, away = answers.compared, answers.unseen
    if loss is None or sure is None or answers.trained is None or not answers.like:
        return "", ""
    if min(at.sum(), away.sum()) < FEW or not np.isfinite(sure[:, at | away]).all():
        return "", ""
    there, shares = too_sure(answers, over, away), shares_cost(answers)[None]
    known = average(answers, over, (1.0, loss, at), (-1.0, shares, at), shares=False)
    seen, unseen, always = (float(x.mean()) for x in (loss[:, at], loss[:, away], shares[:, away]))
    if not (there.bounded and there.low > 0 and there.mean > margin and known.high < 0 and unseen > always):
        return "", ""
    both = sure + answers.error
    more = average(answers, over, (1.0, both, away), (-1.0, both, at), shares=False)
    said = (
        f"log loss {share(unseen)} on unseen against {share(seen)} on seen ones, where always giving training's shares "
        f"costs {share(always)}"
    )
    if more.bounded and more.low > 0:
        return "partly", f"its probabilities are worse: {said}, as they are surer than right by {ranged(more)} more"
    return "unclear", f"classes are as right as of seen ones, but probabilities may be worse: {said}"


def too_sure(answers: Answers, over: Over, at: NDArray[np.bool_]) -> Interval:
    """By how much probabilities are surer than right at these combinations."""
    both = average(answers, over, (1.0, answers.scores[CONFIDENCE], at), (1.0, answers.error, at))
    return replace(both, mean=both.mean - 1, low=both.low - 1, high=both.high - 1).within(-1, 1)
