"""Could anyone have known the unseen combinations from those that training showed?

Where each combination has an answer of its own no learner can, and failing there is no fault. So simple rules are held
against always giving the same answer where they were fitted without a combination: at each of training's, and at the
unseen ones. It is said of what shows: a rule that none of these has, such as a sum modulo a number, is one too.
"""

from __future__ import annotations

from recombine.mechanisms.answers.names import share
from recombine.mechanisms.compared.case import Case
from recombine.mechanisms.compared.comparing import average
from recombine.mechanisms.compared.losing import LITTLE
from recombine.statistics import FEW


def unknowable(case: Case) -> str:
    """That nothing shows that unseen combinations can be known from seen ones, in a sentence; nothing where something
    does: a simple rule, or the learner, that is better than the same answer for all."""
    answers, comparison, at = case.answers, case.comparison, case.answers.unseen
    constant = comparison.constant
    if constant is None or len(comparison.rules) < 2 or min(at.sum(), len(answers.codes) - at.sum()) < FEW:
        return ""
    tried = [other for other in comparison.others if other.rule and other.name != constant.name]
    if min(other.seen for other in tried) < LITTLE * constant.seen:
        return ""
    same = answers.errors_of(comparison.rules[constant.name].answers)[None]
    errors = [answers.error, *(answers.errors_of(comparison.rules[other.name].answers)[None] for other in tried)]
    if not all(average(answers, case.over, (1.0, e, at), (-1.0, same, at)).high >= 0 for e in errors):
        return ""
    best = min(tried, key=lambda other: other.seen)
    return (
        "Nothing shows that unseen combinations can be known from seen ones: fitted without a combination, no simple "
        f"rule answers it better than the same answer for all (error {share(best.seen)} by {best.name}, "
        f"{share(constant.seen)} by one answer), nor does any answer the unseen ones better. Unless another rule ties "
        "combinations together, no learner could answer these."
    )
