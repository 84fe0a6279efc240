"""What is worth noting of the answers besides the verdict: the noise, what else is read, and what was compared."""

from __future__ import annotations

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.names import brief, figure_words, share
from recombine.mechanisms.compared.baselines import too_large
from recombine.mechanisms.compared.case import Case
from recombine.mechanisms.compared.comparing import noise as noise_of_rows, unread
from recombine.mechanisms.compared.known_rows import noise_left
from recombine.mechanisms.compared.losing import LITTLE
from recombine.mechanisms.compared.rare import chances_would_tell
from recombine.mechanisms.rivals.given_away import given_away
from recombine.mechanisms.rivals.told_apart import FAR_LESS, more_than, told_apart


def noted(case: Case) -> list[str]:
    """A sentence or two each."""
    answers = case.answers
    found = [
        too_large(answers),
        *given_away(case),
        _said_noise(answers, case.known),
        _reads_more(case),
        _bare(answers),
        chances_would_tell(answers),
    ]
    if answers.not_finite:
        found.append(f"{answers.not_finite:,} answers are not finite numbers; they count as wrong.")
    return [note for note in [*found, _compared(answers)] if note]


def _said_noise(answers: Answers, told: float | None) -> str:
    if told is None or not (own := noise_of_rows(answers)[0]).bounded or own.low <= told <= own.high:
        return ""
    return (
        f"The noise was said to be an error of {share(told)}, but rows that share a combination tell "
        f"{figure_words(own)}: what was said is used"
        + ", but for what the gap takes off as noise, which is what the rows tell." * (told > 0)
        + "." * (told == 0)
    )


def _reads_more(case: Case) -> str:
    answers = case.answers
    if not (case.comparison.floor.mean > 0 and unread(answers) < LITTLE):
        return ""
    at, away, known = answers.compared, answers.unseen, noise_left(answers) < 1
    if not (known or told_apart(answers, away) or (answers.like and told_apart(answers, at))):
        return ""
    if answers.like and away.any() and unread(answers, away) >= LITTLE and (known or more_than(answers, at, away)):
        return "It tells rows of one seen combination apart, and not those of an unseen one."
    may = " Rules are looked for in its mean answers to combinations, which that moves: one may go unnamed."
    if answers.bare is None and (left := unread(answers)) < FAR_LESS:
        return (
            f"It follows rows of one combination far more closely than the factors allow, and leaves {share(left)} of "
            "what their answers differ by: unless it is told much more than the factors, the answer has leaked into "
            f"what it reads, and errors say little.{may}"
        )
    reads = "It tells rows of one combination apart, and rightly: it reads more than the factors."
    return reads + may * (answers.bare is None)


def _bare(answers: Answers) -> str:
    if answers.bare is None:
        return ""
    names, one = ", ".join(map(brief, answers.besides)), len(answers.besides) == 1
    return (
        f"Rules are looked for, and what they explain is told, in answers without what {names} add{'s' * one} to "
        f"them, and in right ones without what {'it adds' if one else 'they add'} to these."
    )


def _compared(answers: Answers) -> str:
    if answers.seen.any() and not answers.like:
        return "Seen combinations are measured on training rows, which favours them."
    if answers.like and int(answers.compared.sum()) < int(answers.seen.sum()):
        return (
            f"The gap is taken to the {int(answers.compared.sum()):,} of {int(answers.seen.sum()):,} seen combinations "
            "that have rows that were not trained on."
        )
    return ""
