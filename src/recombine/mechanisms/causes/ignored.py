"""Which factors do answers to seen combinations, too, not vary with, where the right ones do?

Who ignores a factor everywhere does not count as fitted, and rules are looked for among answers to unseen combinations
alone. So answers are compared among seen combinations that differ in one factor: how far the means of its levels lie
apart, of given and of right answers, beyond what they do when levels are dealt anew within the same levels of all other
factors. A factor is ignored where right answers vary with it, given ones do not and, to within two standard errors of
such deals, by less than a quarter as much, and given ones vary with another factor. Of probabilities neither the class
does nor how probable it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.names import brief, share
from recombine.mechanisms.answers.probabilities import CONFIDENCE
from recombine.mechanisms.compared.losing import QUARTER
from recombine.statistics import FEW, FloatArray

LEVEL = 0.05
CHECK_INPUT, THEN_TRAIN = ": see first whether it reaches the model", ", and train on"
TENTH = 0.1
"""Who varies by so little of what right answers do ignores a factor, though deals seldom give as much."""
Places = NDArray[np.signedinteger[Any]]
DEALT, MOST = 500, 40_000
"""How often levels are dealt anew, and combinations times levels beyond which that takes too long and nothing is
said."""
AT_ONCE = 2**18
"""Numbers of deals that are added up at once."""


def ignored(answers: Answers, seed: int = 0, surely: bool = True) -> dict[int, tuple[float, float]]:
    """The places of factors that are ignored, each with how much given and right answers vary with it; ``surely``:
    without those that may as well be used."""
    at, space = answers.compared, answers.space
    said, due, codes = answers.predicted.mean(axis=0)[at], answers.target[at], answers.codes[at]
    if not space.finite or len(codes) < FEW or len(codes) * max(space.shape) > MOST:
        return {}
    if not np.isfinite(said).all() or answers.classes == ("",):
        return {}
    found, most, used, rng = dict[int, tuple[float, float]](), dict[int, float](), 0.0, np.random.default_rng(seed)
    for j, levels in enumerate(space.shape):
        others = np.delete(codes, j, axis=1)
        group = np.unique(others, axis=0, return_inverse=True)[1].ravel()
        own, (right, _, rarely), *more = (
            _apart(v, codes[:, j], levels, group, rng) for v in (said, due, *_chances(answers, said))
        )
        ways = [own, *more]
        by_chance = min(chance for *_, chance in ways)
        most[j] = max(given + 2 * doubt * surely for given, doubt, _ in ways)
        proven = rarely <= LEVEL / len(space) and (by_chance > LEVEL or most[j] <= TENTH * right)
        if (proven or not surely) and right > 0 and most[j] <= QUARTER * right:
            found[j] = (max(0.0, *(given for given, *_ in ways)), right)
        elif by_chance <= LEVEL / len(space):
            used = max(used, min(1.0, own[0] / right) if right > 0 else 1.0)
    if surely:  # Of answers in other units all factors make less, or more, of what they vary by.
        return {j: ways for j, ways in found.items() if used and most[j] <= QUARTER * used * ways[1]}
    return found


def _chances(answers: Answers, said: FloatArray) -> list[FloatArray]:
    """About how probable each class is at seen combinations, where that is known: the class that is given as its
    probability says, all others alike."""
    sure = answers.scores.get(CONFIDENCE)
    if sure is None or answers.classes is None or len(answers.classes) < 2:
        return []
    given = sure.mean(axis=0)[answers.compared, None]
    return [said * given + (1 - said) * (1 - given) / (len(answers.classes) - 1)] if np.isfinite(given).all() else []


def _apart(values: FloatArray, level: Places, levels: int, group: Places, rng: np.random.Generator) -> tuple[
    float, float, float
]:  # fmt: skip
    """The mean square of what levels add to answers within groups, beyond what dealing them anew gives, how much that
    varies, and how often it gives as much."""
    size = np.bincount(group)
    sums = np.zeros((len(size), values.shape[1]))
    np.add.at(sums, group, values)
    own = values - (sums / size[:, None])[group]

    many = np.maximum(np.bincount(level, minlength=levels), 1)
    places = levels * np.arange(own.shape[1])

    def between(codes: Places) -> FloatArray:
        """Of several deals (rows) at once."""
        deals = levels * own.shape[1] * np.arange(len(codes))
        at = (deals[:, None, None] + codes[:, :, None] + places).ravel()
        weights = np.broadcast_to(own, (len(codes), *own.shape)).ravel()
        sums = np.bincount(at, weights, len(codes) * own.shape[1] * levels).reshape(len(codes), -1, levels)
        return np.asarray((sums**2 / many).sum(axis=2).sum(axis=1) / len(own))

    dealt = np.empty(DEALT)
    order = np.argsort(group, kind="stable")
    for some in np.array_split(np.arange(DEALT), min(DEALT, -(-DEALT * own.size // AT_ONCE))):
        drawn = rng.random((len(some), len(group)))
        shuffled = np.lexsort((drawn, np.broadcast_to(group, drawn.shape)))
        codes = np.empty(drawn.shape, dtype=level.dtype)
        codes[:, order] = level[shuffled]
        dealt[some] = between(codes)
    found = float(between(level[None])[0])
    return found - float(dealt.mean()), float(dealt.std()), float((1 + (dealt >= found - 1e-12).sum()) / (1 + DEALT))


def ignored_words(answers: Answers, found: dict[int, tuple[float, float]]) -> str:
    """Which they are, in a sentence without a full stop."""
    names = " or ".join(brief(answers.space.names[j], 20) for j in found)
    shares = ", ".join(share(given / right) for given, right in found.values())
    much = f"{shares} of what right ones do" + ", in this order" * (len(found) > 1)
    return f"Answers to seen combinations, too, hardly vary with {names} (in mean squares, {much})"


def unread_words(answers: Answers) -> str:
    """Which factors no answer depends on, in a sentence without a full stop; nothing where there are none."""
    if not (names := unread_factors(answers)):
        return ""
    which, sure = " or ".join(map(brief, names)), CONFIDENCE in answers.scores
    if answers.classes is None or (sure and len(answers.classes) == 2):
        return f"No answer, on any combination, depends on {which}"
    return f"No class that is given, {'nor its probability, ' * sure}on any combination, depends on {which}"


def unread_factors(answers: Answers) -> list[str]:
    """Factors that no answer depends on, to rounding, and right ones do: that is seen, and no test. Of probabilities
    neither the class does nor how probable it is, as one class may be more probable and still the same."""
    sure = answers.scores.get(CONFIDENCE)
    said = answers.predicted if sure is None else np.concatenate([answers.predicted, sure[:, :, None]], axis=2)
    said = said.transpose(1, 0, 2).reshape(len(answers.codes), -1)
    if not answers.space.finite or not np.isfinite(said).all() or _alike(said, said[:1]):
        return []
    names = []
    for j, name in enumerate(answers.space.names):
        _, first, group = np.unique(np.delete(answers.codes, j, axis=1), axis=0, return_index=True, return_inverse=True)
        same, due = (_alike(values, values[first][group.ravel()]) for values in (said, answers.target))
        names += [name] * (same and not due and len(said) - len(first) >= FEW)
    return names


def unused(answers: Answers, seed: int = 0) -> tuple[tuple[str, ...], str]:
    """The factors that are ignored and, in a sentence without a full stop, that they are; where none is for certain,
    those that no answer depends on."""
    if found := ignored(answers, seed):
        return tuple(answers.space.names[j] for j in found), ignored_words(answers, found)
    names = tuple(unread_factors(answers))
    return names, f"No answer depends on {' or '.join(map(brief, names))}" * bool(names)


def _alike(values: FloatArray, others: FloatArray) -> bool:
    return np.allclose(values, others, rtol=1e-9, atol=1e-12)
