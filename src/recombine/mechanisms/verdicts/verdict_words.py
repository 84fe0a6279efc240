"""What `measure` found, in words: the verdict with its numbers, what was taken off, and what stands beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from recombine.mechanisms.answers.finding import Finding
from recombine.mechanisms.answers.names import NOTHING, brief, figure_words, ranged, share
from recombine.mechanisms.answers.shuffled import JOIN
from recombine.mechanisms.causes.evidence import simplest
from recombine.mechanisms.compared.comparing import GIVEN, unread
from recombine.mechanisms.compared.fitting import hardly_anything
from recombine.mechanisms.compared.losing import LITTLE
from recombine.mechanisms.compared.overfitting import better_on_training_rows, noisier, training_error
from recombine.mechanisms.rivals.same import SAME
from recombine.mechanisms.rivals.told_apart import FAR_LESS
from recombine.mechanisms.rivals.written import MEASURE_AGAIN, TRAIN_ON
from recombine.mechanisms.verdicts.by_member import PART_WAYS
from recombine.mechanisms.verdicts.deciding import ALTOGETHER
from recombine.mechanisms.verdicts.told_short import Part, clauses, leaning
from recombine.statistics import Over

if TYPE_CHECKING:
    from recombine.mechanisms.verdicts.result import MeasureResult

LEVEL_WORDS = " (95 %)"
FEWEST_COUNTS = 4
"""Whole numbers from which those judged as classes may be counts."""
ENOUGH = 20
"""Unseen combinations below which the sentence says how much so few leave open."""
WHY, ASIDE, LATER, RULES, BESIDES, RECALL = 1, 2, 3, 6, 7, 8
"""How much is needed that stands after what holds and the strongest evidence; further reasons come after the first."""
SHOW_SOME = "Next: show some of the combinations that err most in training, and see which others follow"
ADD = "add predictions for training rows or, better, for new rows of seen combinations"


def verdict_parts(result: MeasureResult) -> list[Part]:
    """The verdict with its numbers, each mechanism with its own; before it, what got no answer at all."""
    left = result.answers.without_answer
    return [*([Part(left)] if left else []), *_verdict(result)]


def _verdict(result: MeasureResult) -> list[Part]:
    aside, rules, recall = Part(_aside(result), ASIDE), Part(_rules(result), RULES, in_table=True), _recall(result)
    if result.verdict == "not fitted":
        why, *more = clauses(result.why, 0) or [Part("")]
        after = _cut(result) or _train_on(result)
        return [
            Part(f"On its training data it does not count as fitted: {why.text}"),
            *more,
            aside,
            Part(after, BESIDES),
        ]
    if result.verdict == "nothing unseen":
        every = "Every other" if result.answers.unanswered.count else "Every"
        told = f"{every} combination asked about was seen in training; the error on them is {ranged(result.seen)}"
        return [Part(told), aside]
    if result.verdict == "nothing seen":
        told = (
            f"The error on unseen combinations is {ranged(result.unseen)}; no seen combination was asked about, so "
            f"neither the fit nor the gap can be judged: {ADD}"
        )
        return [Part(told), aside, rules, recall, *clauses(result.why, WHY)]
    start, after = _started(result)
    first = Part(
        f"{start}: {_numbers(result)}{after}", short=f"{start}: {_numbers(result, short=True)}{after}",
        lead=f"{start}: {_numbers(result, short=True, noise=False)}{after}", in_table=True,
    )  # fmt: skip
    learnt = f"the error on training rows is {share(training_error(result.answers))}{_unless(result)}"
    besides = f"It overfits besides: {learnt}" * (_better_on_training_rows(result) and not result.look)
    if result.verdict == "composes":
        return [
            first,
            Part(_tested(result), WHY, short=_tested(result).partition(", if none")[0] + ")" * bool(_tested(result))),
            Part(besides, BESIDES),
            aside,
            rules,
            recall,
        ]
    if result.verdict == "overfits":
        return [first, Part(result.why.partition("; ")[2], WHY), aside, rules, recall]
    if result.verdict == "unclear":
        constant = result.comparison.constant
        cut = "" if constant is None or constant.difference.high < 0 else _cut(result)
        reasons = clauses(result.why, LATER * bool(result.look or result.ignores), joint="; ")
        return [first, *reasons, Part(besides, BESIDES), aside, rules, recall, Part(cut, BESIDES)]
    named = [f"{e.mechanism} ({e.numbers()})" for e in result.evidence if e.named]
    short = f"Mechanism: {'; '.join([*named[:1], *result.mechanisms[1:]])}" * bool(named)
    how = f"Mechanism: {'; '.join(named)}" if named else "" if result.rest else _silent(result.evidence)
    said = not result.why or result.why == result.answers.without_answer
    part = [] if said else clauses(f"{result.why[0].upper()}{result.why[1:]}", WHY)
    if result.rest and not named:
        part = leaning(part, _others(result.rest, result.seen.mean, bool(part or result.answers.without_answer)))
    pointed = named or result.ignores or result.look or result.outliers or result.bad_levels
    step = Part(SHOW_SOME * (result.verdict == "fails" and not pointed), BESIDES, in_table=True)
    cause = Part(how.removesuffix("."), LATER * bool(result.look and not named), short=short)
    return [first, Part(besides, BESIDES), aside, rules, recall, *part, cause, step]


def _others(rest: tuple[int, float], seen: float, told: bool) -> str:
    """How those err that do not stand out, in a clause. ``told``: whether the others stand before it."""
    count, error = rest
    which = "The other " if told else "Those that do not stand out, "
    errs = ("one errs" if told else "1, errs") if count == 1 else f"{count:,}{',' * (not told)} err"
    return f"{which}{errs} by {share(error)}, seen ones by {share(seen)}"


def _started(result: MeasureResult) -> tuple[str, str]:
    """What a verdict of unseen combinations says before its numbers, and after them."""
    if result.verdict == "composes":
        how = result.why or f"as it answers seen ones, to within the margin of {result.settings['margin']:g}"
        return f"It answers unseen combinations {how}", ""
    if result.verdict == "overfits":
        learnt = f"{share(training_error(result.answers))}{_unless(result)}"
        after = f", where the error on training rows is {learnt}"
        return f"It overfits, {result.why.partition('; ')[0] or 'and not composing is not what fails'}", after
    if result.verdict == "unclear":
        return "Whether it fails on unseen combinations is not clear", ""
    return ("It fails on unseen combinations" if result.verdict == "fails" else in_part(result.why)), ""


def _numbers(result: MeasureResult, short: bool = False, noise: bool = True) -> str:
    """The errors and the gap; ``short``: with no more of the noise than it takes to follow the gap from the errors, and
    without ``noise`` not even that, which a table has."""
    rows = "new rows of seen ones" if result.answers.like else "the training rows of seen ones"
    error = f"error {ranged(result.unseen)}{LEVEL_WORDS * result.unseen.bounded} on unseen combinations against "
    if not short:
        return f"{error}{ranged(result.seen)} on {rows}, {beyond(result, f'a gap of {ranged(result.gap)}')}"
    gap = f"a gap of {ranged(result.gap)}"
    told = beyond(result, gap)  # That all of it is noise is no mere number.
    if max(result.noise) > 0 and not told.startswith("all of it"):
        unseen, seen = map(share, result.noise[::-1])
        gap += f" beyond {_its_noise(result)}"
        gap += (f" of {unseen}" + (f" and {seen}" if seen != unseen else " each")) * noise
    gap = told if told.startswith("all of it") else gap
    return f"{error}{share(result.seen.mean)} on {rows}, {gap}"


def _train_on(result: MeasureResult) -> str:
    """What to do next where it did not fit, in a sentence, unless what is said before says so."""
    if result.look or result.ignores or any(step in result.why for step in (MEASURE_AGAIN, TRAIN_ON)):
        return ""
    if not np.isfinite(result.answers.error[:, result.answers.seen]).all():
        return "Next: see where training diverges, as with too large steps"
    if hardly_anything(result.answers, result.comparison):
        return "Next: see whether rows stand beside their own answers, or tell it more than these factors"
    if result.answers.misplaced.dealt:
        return f"Next: {JOIN}"
    return "Next: train on, or with more freedom; before, what it does elsewhere says little about how it composes"


def in_part(why: str) -> str:
    """That it composes in part; at most, where it may fail altogether; or in some members alone."""
    if why.lower().startswith(PART_WAYS):
        return "It composes in some members and fails in others"
    return "It composes in part" + " at most" * (ALTOGETHER in why.lower())


def _cut(result: MeasureResult) -> str:
    """What was done to probabilities or whole numbers, in a sentence, where they could be judged as they are."""
    if result.answers.coded and len(result.answers.classes or ()) >= FEWEST_COUNTS:
        return "Whole numbers were judged as classes; --target-kind number judges counts and ratings"
    cut = "log loss" in result.answers.scores and result.answers.classes == ("0", "1") and SAME not in result.look
    return "Probabilities were cut at 0.5; --target-kind number judges them as they are" * cut


def _tested(result: MeasureResult) -> str:
    """How few unseen combinations were tested, and what share of others none of them would have shown."""
    count = int(result.answers.unseen.sum())
    if count >= ENOUGH:
        return ""
    only = f"Only {count} unseen combination{'s were' if count > 1 else ' was'} tested"
    left = f"up to {1 - 0.05 ** (1 / count):.0%} of all others could still fail"
    return f"{only}: {left} (95 %, if none of these fails and they were drawn at random)"


def _better_on_training_rows(result: MeasureResult) -> bool:
    """Whether training rows are answered better than new rows of seen combinations, by more than the margin."""
    over = Over(len(result.answers.members), result.settings["seed"])
    return better_on_training_rows(result.answers, over, result.settings["margin"])


def _unless(result: MeasureResult) -> str:
    """On what it hangs that it overfits, where the noise of training rows and of new ones is not known."""
    known = result.comparison.floor.over == GIVEN or noisier(result.answers) is not None
    return "" if known else " (unless test rows are noisier than training rows, which too few rows tell)"


def _its_noise(result: MeasureResult) -> str:
    return "the noise" if unread(result.answers) >= FAR_LESS else "what it leaves of the noise"


def beyond(result: MeasureResult, gap: str) -> str:
    """The gap, and the noise that was taken off both errors before they were compared, in words."""
    seen, unseen = result.noise
    if max(result.noise) <= 0:
        return gap
    if (
        unseen > result.unseen.mean + NOTHING or seen > result.seen.mean + NOTHING
    ):  # It was told from rows of a few combinations.
        return f"beside a noise of {share(unseen)} and {share(seen)}: beyond it, {gap}"
    noise = _its_noise(result).removeprefix("the ")
    parts = [
        "all" if of - own <= NOTHING else "nearly all" if share(own) == share(of) else share(own)
        for own, of in ((unseen, result.unseen.mean), (seen, result.seen.mean))
    ]
    if parts[0] == parts[1] and parts[0].endswith("all"):
        return f"{parts[0]} of it {noise}: beyond that, {gap}"
    if not any(part.endswith("all") for part in parts):
        return f"of which {parts[0]} and {parts[1]} are {noise}: beyond it, {gap}"
    return f"of which {parts[0]} on unseen and {parts[1]} on seen ones are {noise}: beyond it, {gap}"


def _aside(result: MeasureResult) -> str:
    """How many members were left out, in a sentence; none where all diverged."""
    out = {
        "diverged": result.diverged * (result.fits or result.unfitted > 0),
        "did not fit": result.unfitted * result.fits,
    }
    of = f"of {len(result.answers.members) + sum(out.values()):,} members"
    return ". ".join(f"{n:,} {of} {what} and {'is' if n == 1 else 'are'} left out" for what, n in out.items() if n)


def _rules(result: MeasureResult) -> str:
    """The learner beside simple rules and other learners, in a sentence."""
    rules = (result.comparison.constant, result.comparison.adding, result.comparison.best)
    shown = [c for c in rules if c is not None]
    shown += [c for c in result.comparison.others if not c.rule]
    texts = list(dict.fromkeys(
        f"{brief(c.name)} {share(c.error.mean)}" + f" ({c.verdict})" * bool(c.verdict) for c in shown
    ))  # fmt: skip
    guess = result.left_open
    open_ = f" (rules are arbitrary at {guess.count:,} of {guess.of:,} combinations)" * bool(guess.count)
    told = texts and result.answers.unseen.any()
    return f"Errors on the same unseen rows: {', '.join(texts)}{open_}" if told else ""


def _recall(result: MeasureResult) -> Part:
    """The recall of a rare class or, of several, of the one that is lost."""
    recall = [(k, v, side) for side, of in result.scores().items() for k, v in of.items() if k.startswith("recall")]
    if len(result.answers.classes or ()) > 2 and not (
        len(recall) == 2 and (recall[1][1] or 0) < (recall[0][1] or 0) / 2
    ):
        recall = []  # Of several classes one is always the worst.
    found = ", ".join(f"{share(v)} on {side}" for _, v, side in recall)
    worst = ", the worst class on unseen ones" * (len(result.answers.classes or ()) > 2)
    rare = f"{recall[0][0].replace('recall', 'Recall', 1)}{worst}: {found} combinations" if recall else ""
    return Part(rare, RECALL)


def noise_words(result: MeasureResult) -> str:
    """The error that is left to whoever knows the factors alone, in words, beside that of one that reads more."""
    floor = result.comparison.floor
    if not np.isfinite(floor.mean):
        return "unknown, as few rows share a combination"
    if floor.over == GIVEN:
        return f"error {share(floor.mean)}, as was said"
    if floor.mean > 0 and unread(result.answers) < LITTLE:
        own = f"error {share(result.noise[0])} on seen and {share(result.noise[1])} on unseen combinations"
        return f"{own}: what it does not tell apart; who knows the factors alone is left {figure_words(floor)}"
    weighed = "; the gap weighs combinations alike, this figure examples" * (max(result.noise) > 0)
    differ = "differ in their answer" if floor.mean > 0 else "agree"
    return f"error {figure_words(floor)}: rows of one combination {differ}{weighed}"


def _silent(evidence: Sequence[Finding]) -> str:
    """That no mechanism is named and, where one comes near, which and what it lacks."""
    if not evidence:
        return "No mechanism is named: no measure of one could be taken."
    first = simplest([e for e in evidence if e.puzzles])
    near = max((e for e in evidence if e.id == first), key=lambda e: e.explains or 0.0, default=None)
    if near is None:
        taken = "the one measure taken does not speak" if len(evidence) == 1 else (
            f"none of the {len(evidence)} measures taken speaks"
        )  # fmt: skip
        return f"No mechanism is named: {taken} for one."
    beside = "" if near.chance is None else f", {near.reference} {share(near.chance)}"
    return (
        f"No mechanism is named. Most like: {near.mechanism} ({ranged(near.value)} follow it{beside}), but {near.why}."
    )
