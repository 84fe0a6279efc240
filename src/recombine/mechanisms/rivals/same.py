"""Does a learner say the same everywhere, of seen and of unseen combinations?

A model that was not trained or not loaded, or whose columns were not found, gives one answer for all; one that learnt
nothing of the factors gives about the base rate. Errors then say what one answer costs, and nothing of composing.
Probabilities that differ count as one answer if they lie within two hundredths and their log loss is not clearly less
than that of always giving training's shares: of a rare class little more may be all that there is to know. The usual
class is no sign of a model that was not trained where it is the best answer (`mechanisms/compared/rare.py`).
"""

from __future__ import annotations

import numpy as np

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.names import NOTHING, brief, score, share
from recombine.mechanisms.answers.probabilities import CONFIDENCE
from recombine.mechanisms.compared.comparing import average, shares_cost
from recombine.mechanisms.compared.losing import HALF
from recombine.mechanisms.compared.rare import usual_is_best
from recombine.statistics import FEW, FloatArray, Over

SAME = "It says the same everywhere"
SEE = "See whether it was trained and loaded, and found its columns."
NEARLY = 0.02
"""How far probabilities may lie apart and still be about one."""
SURE = 1 - 1e-6
"""Probabilities above it are alike because a model is sure."""


def same_everywhere(answers: Answers, over: Over) -> str:
    """That every row gets one answer, or about one chance of each class, in two sentences; nothing where answers
    differ, right ones do not, or combinations are so few that classes may be alike by chance."""
    said, trained = answers.predicted.mean(axis=0), answers.trained
    if len(said) < FEW or answers.classes == ("",) or not np.isfinite(said).all():
        return ""
    if not np.ptp(answers.target, axis=0).max() > 0:
        return ""
    known = said[:1] if trained is None or trained.said is None else trained.said
    if not (_alike(said) and not answers.varies) and answers.scores.get(CONFIDENCE) is None:
        return ""
    if not (what := _what(answers, said, over)):
        return ""
    if not _alike(np.concatenate([said[:1], known])) and _alike(said):
        return f"It says the same of every test row, though not of training rows: {what}. {SEE}"
    if CONFIDENCE not in answers.scores and usual_is_best(answers) == said[0].argmax():
        return f"{SAME}: every row gets {what}, the best answer at nearly every combination."
    return f"{SAME}: every row gets {what}. {SEE}"


def _what(answers: Answers, said: FloatArray, over: Over) -> str:
    """The one answer; nothing where it is not one."""
    if answers.classes is None:
        return score("", float(said[0, 0])) if said.shape[1] == 1 else "one and the same answer"
    name, one = repr(brief(answers.classes[int(said[0].argmax())])), _alike(said)
    if (sure := answers.scores.get(CONFIDENCE)) is None:
        return f"the class {name}"
    low, high = float(sure.min()), float(sure.max())
    if one and high - low <= NOTHING and low < SURE:
        return f"{name} with the probability {share(low)}"
    even = len(answers.classes) == 2 and high <= HALF + NEARLY / 2  # Whichever class is a bit more probable.
    if not (even or (one and high - low <= NEARLY and low < SURE)) or not _no_better(answers, over):
        return ""
    which = name if one else "one class or the other"
    loss = "with a log loss not clearly less than always giving training's shares"
    return f"{which} with about the same probability ({share(low)} to {share(high)}), {loss}"


def _alike(said: FloatArray) -> bool:
    """Whether these answers (combinations × …) are one."""
    return bool((np.ptp(said, axis=0) <= NOTHING * np.abs(said).max(axis=0).clip(1.0)).all())


def one_chance_where_unseen(answers: Answers) -> bool:
    """Whether all unseen combinations get one and the same probability, to all digits, and seen ones do not."""
    sure, at, away = answers.scores.get(CONFIDENCE), answers.compared, answers.unseen
    if sure is None or int(away.sum()) < FEW or not at.any() or float(sure[:, away].max()) > SURE:
        return False
    return bool(np.ptp(sure[:, away]) <= NOTHING < np.ptp(sure[:, at]))


def _no_better(answers: Answers, over: Over) -> bool:
    """Whether the log loss is not clearly less than that of always giving training's shares."""
    loss, every = answers.scores.get("log loss"), np.ones(len(answers.codes), dtype=bool)
    if loss is None or answers.trained is None:
        return False
    less = average(answers, over, (1.0, loss, every), (-1.0, shares_cost(answers)[None], every), shares=False)
    return not less.high < 0
