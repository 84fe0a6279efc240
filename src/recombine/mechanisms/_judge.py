"""From answers to a verdict: did it fit, does it fail on unseen combinations, and by which mechanism?

Rows that were not trained on are compared with rows that were not trained on, and every learner with simple rules on
the same rows. A mechanism is named only where the learner knows something of seen combinations, fails on unseen ones,
and a number speaks for it that chance does not give.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine.errors import InputError
from recombine.mechanisms.answers import Answers
from recombine.mechanisms.besides import MISREAD, misread
from recombine.mechanisms.by_heart import SHRINKING
from recombine.mechanisms.comparing import Comparison, compare, noise as noise_of_rows, unread, unsure
from recombine.mechanisms.constant import shifted
from recombine.mechanisms.deciding import decide
from recombine.mechanisms.determined import LeftOpen, at_new_levels, left_open
from recombine.mechanisms.evidence import FAILING, evidence, named
from recombine.mechanisms.finding import Finding
from recombine.mechanisms.fitting import fails_though_unfitted, fitted_members, in_part
from recombine.mechanisms.gap import Gap
from recombine.mechanisms.ignored import ignored, ignored_words
from recombine.mechanisms.literal import LITERAL
from recombine.mechanisms.losing import LEAK, LITTLE, leaked, nothing_left, unsure_probabilities
from recombine.mechanisms.names import brief, figure_words, share
from recombine.mechanisms.one_level import Level, level_first, one_level, without
from recombine.mechanisms.result import MeasureResult
from recombine.mechanisms.standing_out import StandingOut, stands_out
from recombine.mechanisms.sure import surer, worse_than_shares
from recombine.mechanisms.tails import heavy_tails
from recombine.mechanisms.written import PULLED, written
from recombine.statistics import Interval, Over, interval

FITTED = 0.1
MARGIN = 0.05
WRITTEN = "training rows are answered right, and new rows of seen combinations right but for how they are written"


def judge(
    answers: Answers,
    *,
    others: Mapping[str, Answers] | None = None,
    extra: Sequence[Finding] = (),
    left_out: Mapping[str, str] | None = None,
    no_rules: str | None = None,
    fitted: float = FITTED,
    margin: float = MARGIN,
    noise: float | None = None,
    notes: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> MeasureResult:
    """The result: members that did not fit are set aside, the others judged together.

    ``others`` are other learners' answers to the same rows, ``extra`` is evidence from elsewhere, ``left_out`` the
    reasons why some of it is missing; ``no_rules`` says why the answers cannot be searched for rules; ``noise`` is that
    of the answers, where it is known."""
    if noise is not None and not 0 <= noise < float("inf"):
        raise InputError(f"noise is {noise}; give a number from 0 on.")
    same = {"no_rules": no_rules, "fitted": fitted, "margin": margin, "noise": noise, "seed": seed}
    judged = {name: judge(other, **same).verdict for name, other in (others or {}).items()}  # type: ignore[arg-type]
    known = noise if noise is None or answers.classes is not None else noise**2 / answers.scale
    finite = np.asarray(np.isfinite(answers.error[:, answers.seen]).all(axis=1))
    keep, unfit, usable, comparison = _set_aside(answers, finite, others or {}, fitted, known, seed)
    fits, over = bool(keep.any()), Over(len(usable.members), seed)
    bare, beside = usable.bare or usable, comparison
    if bare is not usable:  # What is read besides the factors hides how these are used.
        beside = compare(bare, over, {}, seed, None if known is None else known * usable.scale / bare.scale)
    gap = Gap.of(usable, comparison, over)
    verdict, why = "not fitted", unfit
    if not fits and finite.any() and fails_though_unfitted(usable, comparison, gap.width, gap.beyond, margin):
        verdict, keep, why = "fails", finite, in_part(usable, comparison, unfit)
        if usable.classes is None:
            no_rules = no_rules or "numbers that were fitted in part alone lie near those of any rule"
    found, missing = _evidence(usable, beside, over, seed, no_rules, fits or verdict == "fails")
    if verdict == "fails" or fits:
        found, missing = [*found, *extra], {**missing, **(left_out or {})}
    undetermined, apart = left_open(usable), None
    if fits:
        more = usable.varies and not usable.like
        speaks = any(e.speaks and e.id != LITERAL and not (more and e.id in SHRINKING) for e in found)
        verdict, why = decide(usable, gap, comparison, over, margin, fitted, speaks)
        apart = stands_out(usable, comparison, gap.beyond, margin, seed)
        verdict, why = _reconsidered(
            verdict, why, usable, over, margin, apart, undetermined, speaks,
            lambda: not any(e.id == MISREAD and e.speaks for e in found) and leaked(bare, beside, over, margin),
        )  # fmt: skip
    told, look = written(usable, fitted), ""
    if told and PULLED not in told and fits and usable.fit is not None and gap.seen.low > _learnt(usable) + margin:
        # What was learnt answers training rows right: new rows were written otherwise, and nothing was overfitted.
        if verdict in (*FAILING, "overfits", "unclear"):
            verdict, why = "unclear", WRITTEN
        look, told = f"{told}.", ""
    if verdict == "not fitted" and (unused := ignored(bare, seed)):
        why = f"{why}. {ignored_words(bare, unused)}"
    level = _level_apart(usable, bare, comparison, seed)
    if level is not None:
        rest = judge(without(usable, level), **same).verdict  # type: ignore[arg-type]
        look = " ".join(filter(None, [look, f"{level_first(usable, level, rest)}."]))
        if verdict in FAILING and rest not in (*FAILING, "not fitted"):
            verdict, why = "unclear", "one level is as wrong where it was seen"
    at, away, most = usable.compared, usable.unseen, 1.0 if usable.classes is not None else float("inf")
    least = min(most, gap.seen.high) if gap.seen.bounded else most  # No error is below 0, and so no gap below −seen.
    width = unsure(gap.width, usable, away, at).within(0.0 - least, most)
    found = list(named(found, verdict))
    if verdict == "composes" and width.high > margin and not why:
        why = f"as it answers seen ones, as far as {int(away.sum()):,} of them tell"
    elif verdict in FAILING:
        shift = "" if any(e.named for e in found) else shifted(bare.at(bare.unseen), over)
        why = ". ".join(filter(None, [why, shift[:1].upper() + shift[1:] if why else shift]))
        open_ = undetermined.short * (undetermined.count > 0)
        why = "; ".join(filter(None, [why, open_, at_new_levels(usable, undetermined) if usable.seen.any() else ""]))
    tails = "" if apart and apart.said else heavy_tails(usable, over)
    if told and verdict == "not fitted":
        why, told = f"{why}. {told}", ""
    comparison = replace(comparison, others=tuple(
        c if c.rule else replace(c, verdict=judged[c.name]) for c in comparison.others
    ))  # fmt: skip
    return MeasureResult(
        answers=usable,
        verdict=verdict,
        why=why,
        look=look,
        level=level,
        seen=gap.seen,
        unseen=gap.unseen,
        gap=width,
        noise=(float(gap.noise[at].mean()), float(gap.noise[away].mean())) if at.any() and away.any() else (0.0, 0.0),
        training=_training(answers, seed).within(0, most),
        comparison=comparison,
        evidence=tuple(found),
        left_out=missing,
        diverged=int((~finite).sum()),
        unfitted=int((finite & ~keep).sum()),
        notes=(
            *notes,
            *_notes(usable, comparison, known),
            *filter(None, [f"{told}." * bool(told), surer(usable, over, margin), undetermined.note, tails]),
        ),
        left_open=undetermined,
        outliers=() if apart is None else tuple(apart.combinations.tolist()),
        bad_levels=() if apart is None else apart.levels,
        others=(int(apart.rest.sum()), float(usable.error[:, apart.rest].mean())) if apart and apart.alone else None,
        settings={"fitted": fitted, "margin": margin, "noise": noise, "seed": seed, **(settings or {})},
    )


def _set_aside(
    answers: Answers, finite: NDArray[np.bool_], others: Mapping[str, Answers], fitted: float, known: float | None,
    seed: int,
) -> tuple[NDArray[np.bool_], str, Answers, Comparison]:  # fmt: skip
    """Which members fitted, what keeps the others out, and the answers of the former beside simple rules; of all with
    finite answers, where none fitted."""
    able = answers.only(finite) if finite.any() else answers
    comparison = compare(able, Over(len(able.members), seed), others, seed, known)
    keep, unfit = fitted_members(answers, comparison, fitted)
    usable = answers.only(keep) if keep.any() else able
    if len(usable.members) != len(able.members):
        comparison = compare(usable, Over(len(usable.members), seed), others, seed, known)
    return keep, unfit, usable, comparison


def _evidence(
    answers: Answers, comparison: Comparison, over: Over, seed: int, no_rules: str | None, judged: bool
) -> tuple[list[Finding], dict[str, str]]:
    """What the answers speak for without what columns besides the factors add, and how these are read; and why not."""
    if not judged:
        return [], {"mechanisms": "it does not count as fitted, so that its answers elsewhere mean little"}
    if no_rules:
        return [], {"rules": no_rules}
    found, silent = evidence(answers.bare or answers, comparison, over, seed)
    return [*found, *misread(answers, over)], silent


def _reconsidered(
    verdict: str,
    why: str,
    answers: Answers,
    over: Over,
    margin: float,
    apart: StandingOut,
    undetermined: LeftOpen,
    speaks: bool,
    leak: Callable[[], bool],
) -> tuple[str, str]:
    """The verdict of mean errors, where what these hide says otherwise: levels and combinations that stand out,
    probabilities, rows that were known, levels of which nothing can be known. Where answers speak for a mechanism, what
    fails is a rule and not a few combinations."""
    tells = answers.like and (apart.knows or apart.most) and verdict in ("composes", "unclear")
    if apart.said and (verdict in FAILING or tells):
        first, *further = filter(None, [why * (verdict in FAILING), *apart.said])
        why = ". ".join([first, *(clause[:1].upper() + clause[1:] for clause in further)])
        if tells or (apart.alone and not speaks):
            verdict = "fails" if apart.most or apart.lost else "partly"
    elif verdict == "unclear" and (clause := next(iter(apart.said), apart.weigh)):
        why = f"{why}. {clause[:1].upper()}{clause[1:]}"
    if verdict in ("composes", "unclear") and (worse := unsure_probabilities(answers, over)):
        verdict, why = "partly", worse
    elif verdict == "composes" and (found := worse_than_shares(answers, over, margin))[0]:
        verdict, why = found
    if (verdict == "partly" or (verdict == "fails" and apart.said)) and nothing_left(answers):
        left = "every unseen combination gets one and the same answer: nothing is left of what it knows of seen ones"
        verdict, why = "fails", ". ".join(filter(None, [left, why[:1].upper() + why[1:]]))
    if verdict in FAILING and not (apart.alone or apart.most) and leak():
        verdict, why = "unclear", LEAK
    if verdict in ("composes", *FAILING) and 0 < undetermined.of == undetermined.levels:
        verdict, why = "unclear", "all of these hold a level that training never shows, of which nothing can be known"
    return verdict, why


def _level_apart(usable: Answers, bare: Answers, comparison: Comparison, seed: int) -> Level | None:
    """The one level that errs where it was seen, too, by factor and place. Of a factor that is ignored none is: there
    the level that is farthest from the others errs most."""
    level = one_level(usable, comparison.trained_constant, seed)
    return None if level is None or level[0] in ignored(bare, seed, surely=False) else level


def _learnt(answers: Answers) -> float:
    """The error on training rows."""
    return float(np.nanmean(answers.training_error))


def _training(answers: Answers, seed: int) -> Interval:
    values = answers.training_error[np.isfinite(answers.training_error) & answers.trained_rows]
    if len(values) < 2:
        return Interval(float(values.mean()) if len(values) else float("nan"), count=len(values))
    return interval(values, seed=seed)


def _notes(answers: Answers, comparison: Comparison, told: float | None) -> list[str]:
    notes = []
    own = Interval(float("nan")) if told is None else noise_of_rows(answers)[0]
    if told is not None and own.bounded and not own.low <= told <= own.high:
        notes.append(
            f"The noise was said to be an error of {share(told)}, but rows that share a combination tell "
            f"{figure_words(own)}: what was said is used"
            + ", but for what the gap takes off as noise, which is what the rows tell." * (told > 0)
            + "." * (told == 0)
        )
    if comparison.floor.mean > 0 and unread(answers) < LITTLE:
        if answers.like and answers.unseen.any() and unread(answers, answers.unseen) >= LITTLE:
            notes.append("It tells rows of one seen combination apart, and not those of an unseen one.")
        else:
            may = " Rules are looked for in its mean answers to combinations, which that moves: one may go unnamed."
            reads = "It tells rows of one combination apart, and rightly: it reads more than the factors."
            notes.append(reads + may * (answers.bare is None))
    if answers.bare is not None:
        names, one = ", ".join(map(brief, answers.besides)), len(answers.besides) == 1
        notes.append(
            f"Rules are looked for, and what they explain is told, in answers without what {names} add{'s' * one} to "
            f"them, and in right ones without what {'it adds' if one else 'they add'} to these."
        )
    if answers.not_finite:
        notes.append(f"{answers.not_finite:,} answers are not finite numbers; they count as wrong.")
    if answers.seen.any() and not answers.like:
        notes.append("Seen combinations are measured on training rows, which favours them.")
    elif answers.like and int(answers.compared.sum()) < int(answers.seen.sum()):
        notes.append(
            f"The gap is taken to the {int(answers.compared.sum()):,} of {int(answers.seen.sum()):,} seen combinations "
            "that have rows that were not trained on."
        )
    return notes
