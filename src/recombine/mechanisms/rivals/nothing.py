"""Does anything show that there is something to learn?

Of answers that no factor makes, any difference between seen and unseen combinations is luck, and no mechanism is at
work. So the learner and every simple rule are held against always giving the same answer on the rows that nobody
trained on, rules also at training combinations that they were fitted without, and probabilities against training's
shares; and rows that share a combination may not agree. It is said of what shows, not of what is: a rule that none of
these has looks the same in single rows.
"""

from __future__ import annotations

import numpy as np

from recombine.mechanisms.answers.names import share
from recombine.mechanisms.compared.case import Case
from recombine.mechanisms.compared.comparing import GIVEN, average
from recombine.mechanisms.compared.losing import LITTLE
from recombine.mechanisms.compared.rare import usual_is_best
from recombine.statistics import FEW


def nothing_learnable(case: Case) -> str:
    """That nothing shows that there is anything to learn, in a clause; nothing where something does."""
    answers, comparison = case.answers, case.comparison
    at = answers.unseen | (answers.compared & answers.like)
    constant, floor = comparison.constant, comparison.floor
    if constant is None or len(comparison.rules) < 2 or int(at.sum()) < FEW or not np.isfinite(answers.error).all():
        return ""
    costs = comparison.trained_constant if floor.over == GIVEN else comparison.floor_constant
    agree = bool(floor.high < LITTLE * costs)  # Not where neither is known.
    if agree or comparison.chances or comparison.best_on_seen < LITTLE * comparison.trained_constant:
        return ""
    errors = {name: answers.errors_of(rule.answers)[None] for name, rule in comparison.rules.items()}
    same = errors.pop(constant.name)
    sides = [at, *(side for side in (answers.unseen, answers.compared & answers.like) if side.any())]
    for error, where in [*((e, at) for e in errors.values()), *((answers.error, side) for side in sides)]:
        if not average(answers, case.over, (1.0, error, where), (-1.0, same, where)).high >= 0:
            return ""
    best = min(float(e[:, at].mean()) for e in errors.values())
    own, always = (share(float(e[:, at].mean())) for e in (answers.error, same))
    single, count = " (single rows: give the noise if answers have none)" * bool(np.isnan(floor.high)), int(at.sum())
    in_classes = " in classes" * (usual_is_best(answers) is not None)
    return (
        f"nothing{in_classes} shows that there is anything to learn: on {count:,} combinations with new rows neither "
        f"it (error {own}) nor the best simple rule ({share(best)}) is clearly better than always giving the same "
        f"answer ({always}){single}"
    )
