"""From answers to a verdict: did it fit, does it fail on unseen combinations, and by which mechanism?

Rows that were not trained on are compared with rows that were not trained on, and every learner with simple rules on
the same rows. A mechanism is named only where the learner knows something of seen combinations, fails on unseen ones,
and a number speaks for it that chance does not give.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine.checks.one_thread import one_thread
from recombine.errors import InputError
from recombine.mechanisms.answers.answered import Answers, Unanswered
from recombine.mechanisms.answers.finding import Finding
from recombine.mechanisms.causes.constant import shifted
from recombine.mechanisms.causes.determined import LeftOpen, at_new_levels, left_open
from recombine.mechanisms.causes.evidence import FAILING, evidence, follows_one_factor, named, shows_less
from recombine.mechanisms.causes.ignored import CHECK_INPUT, THEN_TRAIN, ignored, ignored_words, unread_words
from recombine.mechanisms.causes.literal import LITERAL
from recombine.mechanisms.causes.summing import adds_up
from recombine.mechanisms.compared.case import Case
from recombine.mechanisms.compared.comparing import Comparison, most_wrong
from recombine.mechanisms.compared.fitting import fails_though_unfitted, hardly_anything, in_part
from recombine.mechanisms.rivals.by_heart import SHRINKING
from recombine.mechanisms.rivals.few_rows import too_few
from recombine.mechanisms.rivals.one_level import Region
from recombine.mechanisms.rivals.same import same_everywhere
from recombine.mechanisms.rivals.standing_out import StandingOut, stands_out
from recombine.mechanisms.rivals.sure import sureness
from recombine.mechanisms.rivals.tails import heavy_tails
from recombine.mechanisms.rivals.unknowable import unknowable
from recombine.mechanisms.rivals.written import PUT_RIGHT, Written, written
from recombine.mechanisms.rivals.wrong_where_seen import wrong_where_seen, wrong_words
from recombine.mechanisms.tables.besides import MISREAD, misread, misread_words
from recombine.mechanisms.verdicts.by_member import Member, each_member, parted, too_few_fitted
from recombine.mechanisms.verdicts.deciding import WORSE, decide
from recombine.mechanisms.verdicts.noted import noted
from recombine.mechanisms.verdicts.reconsidering import (
    Ruling,
    but_for_a_shift,
    in_no_part,
    level_apart,
    no_rule_near,
    nothing_to_learn,
    put_elsewhere,
    reconsidered,
    sums_or_slips,
    too_well,
    without_the_level,
    worse_still,
    written_otherwise,
)
from recombine.mechanisms.verdicts.result import MeasureResult
from recombine.statistics import Interval, interval

FITTED = 0.1
MARGIN = 0.05
BETTER = "clearly better than seen ones, which is a reason to look at what goes wrong on these"


@one_thread
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
    parts: int = 1,
    unused: Collection[str] = (),
) -> MeasureResult:
    """The result: members that did not fit are set aside, the others judged together.

    ``others`` are other learners' answers to the same rows, ``extra`` is evidence from elsewhere, ``left_out`` the
    reasons why some of it is missing; ``no_rules`` says why the answers cannot be searched for rules; ``noise`` is that
    of the answers, where it is known; ``parts`` how many numbers or labels of an answer are judged, this one among
    them; ``unused`` the factors that one of these ignores by itself."""
    if noise is not None and not 0 <= noise < float("inf"):
        raise InputError(f"noise is {noise}; give a number from 0 on.")

    def by_itself(other: Answers) -> MeasureResult:
        return judge(other, no_rules=no_rules, fitted=fitted, margin=margin, noise=noise, seed=seed)

    def alone(other: Answers) -> str:
        """The verdict of other answers by themselves."""
        return by_itself(replace(other, unanswered=Unanswered())).verdict

    case = Case.of(answers, others or {}, fitted, margin, noise, seed, parts, frozenset(unused))
    ignores = _ignores(case)
    ruling, keep, found, missing = _first(case, no_rules, bool(ignores))
    if ruling[0] == "fails" or case.fits:
        found, missing = [*found, *extra], {**missing, **(left_out or {})}
    undetermined = left_open(case.answers)
    ruled = _ruled(case, ruling, found, undetermined, alone)
    members = each_member(case, by_itself)
    ruled = _over_members(case, ruled, members)
    ignores *= not ruled.elsewhere
    found = list(named(found, ruled.ruling[0]))
    told = ruled.ruling[0] in (*FAILING, "not fitted", "overfits", "unclear")
    first = ignores if told and not hardly_anything(case.answers, case.comparison) else ""
    verdict, why, more = _worded(case, ruled, found, undetermined)
    apart = ruled.apart
    rest = None if apart is None else apart.others(case.answers)
    if _in_part(verdict, answers) != verdict:
        verdict, why, rest = "partly", answers.without_answer, (int(answers.unseen.sum()), case.gap.unseen.mean)
    return MeasureResult(
        answers=case.answers,
        verdict=verdict,
        why=why,
        ignores=f"{first}{CHECK_INPUT}{THEN_TRAIN * (not case.fits)}." * bool(first),
        look=" ".join(filter(None, [ruled.same, case.answers.alike, *case.answers.lone_rows, *ruled.look])),
        level=ruled.level,
        seen=case.gap.seen,
        unseen=case.gap.unseen,
        gap=case.gap.width,
        noise=case.gap.taken_off(case.answers),
        training=_training(answers),
        comparison=_judged(case.comparison, {name: by_itself(other) for name, other in (others or {}).items()}),
        evidence=tuple(found),
        left_out=missing,
        diverged=int((~case.finite).sum()),
        unfitted=int((case.finite & ~keep).sum()),
        members=members,
        noted=(*notes, *noted(case), *[f"{ignores}."] * bool(ignores and not first), *more),
        left_open=undetermined,
        outliers=() if apart is None else tuple(apart.combinations.tolist()),
        bad_levels=() if apart is None else apart.levels,
        rest=rest,
        settings={"fitted": fitted, "margin": margin, "noise": noise, "seed": seed, **(settings or {})},
    )


@dataclass(frozen=True)
class _Ruled:
    """The verdict after everything that may change it, and what was seen on the way."""

    ruling: Ruling
    apart: StandingOut | None
    told: Written
    """How answers are written; ``said`` is empty where the verdict has it."""
    look: tuple[str, ...]
    """What to look at first."""
    same: str
    """That all answers are the same."""
    level: Region
    """The level that is wrong, seen or not."""
    broken: str
    """Combinations that are wrong where seen."""
    sums: str
    """That answers add up where the right ones do not."""
    elsewhere: bool
    """Whether predictions stand beside other rows."""


def _ruled(
    case: Case, ruling: Ruling, found: Sequence[Finding], undetermined: LeftOpen, alone: Callable[[Answers], str]
) -> _Ruled:
    """Errors weighed, then what else may have made them: how answers are written, where they were put, one level, one
    number that all of them lack."""
    apart = None
    if case.fits:
        ruling, apart = _decided(case, found, undetermined)
    ruling = worse_still(case, nothing_to_learn(case, ruling))
    told, look = written(case.answers, case.fitted), list[str]()
    if (otherwise := written_otherwise(case, ruling, told)) is not None:
        ruling, look, told = otherwise, [f"{told.said}."], replace(told, said="")
    ruling, elsewhere = put_elsewhere(case, ruling, otherwise is not None)
    same = "" if elsewhere else same_everywhere(case.answers, case.over)
    look += filter(None, [elsewhere, too_well(case, ruling[0])])
    plain = told.right or case.answers
    level, told_by = ((), plain) if elsewhere else level_apart(case, plain)
    right = told.right or case.bare
    wrong = wrong_where_seen(right, case.beside.trained_constant)
    sums, level, wrong = sums_or_slips(right, adds_up(right), level, wrong)
    if level:
        ruling, first = without_the_level(ruling, level, plain, told_by, alone)
        look.append(PUT_RIGHT * (plain is not case.answers) + first)
    ruling = in_no_part(case, but_for_a_shift(case, ruling, found, alone), apart)
    broken = "" if level else wrong_words(right, wrong)
    broken = f"{PUT_RIGHT}{broken}" if broken and told.right else broken
    sums = "" if case.answers.alike else sums
    return _Ruled(ruling, apart, told, tuple(look), same, level, broken, sums, bool(elsewhere))


def _over_members(case: Case, ruled: _Ruled, members: Sequence[Member]) -> _Ruled:
    """The verdict where members part ways, or where too few of them fitted: what stands out in their mean is then no
    one's."""
    (verdict, why), few = ruled.ruling, too_few_fitted(case, ruled.ruling[0])
    other, apart = ("unclear", few) if few else parted(case, verdict, members)
    if not apart:
        return ruled
    stays = other == verdict and not few
    ruling = other, f"{apart}. {why[:1].upper()}{why[1:]}" if stays and why else apart
    return replace(ruled, ruling=ruling, apart=ruled.apart if stays else None)


def _worded(case: Case, ruled: _Ruled, found: Sequence[Finding], undetermined: LeftOpen) -> tuple[str, str, list[str]]:
    """The verdict, why, and notes on what the sentence has no room for."""
    ruling, said = ruled.ruling, ruled.told.said
    sums = "" if any(e.named for e in found) else ruled.sums
    if sums and ruling[0] == "not fitted":
        ruling, sums = (ruling[0], f"{ruling[1]}. {sums}"), ""
    verdict, why = _explained(case, ruling, found, undetermined)
    classes = len(case.answers.classes or ())
    if verdict == "unclear" and not ruled.look:
        may = follows_one_factor(found, classes) or shows_less(found, case.bare, case.over)
        why = ". ".join(filter(None, [why, may]))
    elif verdict == "nothing seen" and not ruled.same:
        why = follows_one_factor(found, classes, seen=False)
    if said and verdict == "not fitted":
        why, said = f"{why}. {said}", ""
    off = shifted(case.bare.at(case.bare.unseen), case.over, case.margin) if verdict == "nothing seen" else ""
    notes = (
        f"{off[:1].upper()}{off[1:]}." * bool(off),
        f"{said}." * bool(said),
        f"{sums}." * bool(sums),
        ruled.broken,
        misread_words(found),
        sureness(case.answers, case.over, case.margin, told="log loss" in why),
        undetermined.note,
        "" if ruled.look else no_rule_near(case, verdict),
        unknowable(case) if verdict in FAILING else "",
        "" if ruled.apart and ruled.apart.said else heavy_tails(case.answers, case.over),
    )
    return verdict, why, [note for note in notes if note]


def _ignores(case: Case) -> str:
    """Which factors answers do not vary with, in a sentence without a full stop: where it did not fit, by a test on
    seen combinations; else those that no answer depends on, as what is left out shows there in the error."""
    found = {} if case.fits else ignored(case.bare, case.seed)
    return ignored_words(case.bare, found) if found else unread_words(case.answers)


def _first(
    case: Case, no_rules: str | None, ignores: bool
) -> tuple[Ruling, NDArray[np.bool_], list[Finding], dict[str, str]]:
    """What can be said before errors are weighed: whether it fitted or fails though it did not, which members that is
    said of, and what their answers speak for. Who ignores a factor everywhere loses nothing where unseen."""
    ruling, keep = ("not fitted", case.unfit), case.keep
    unfitted = not case.fits and bool(case.finite.any()) and not too_few(case.answers, "fails")
    if unfitted and not ignores and fails_though_unfitted(case.answers, case.comparison, case.gap, case.margin):
        ruling, keep = ("fails", in_part(case.answers, case.comparison, case.unfit)), case.finite
        if case.answers.classes is None:
            no_rules = no_rules or "numbers that were fitted in part alone lie near those of any rule"
    if not case.fits and ruling[0] != "fails":
        return (
            ruling,
            keep,
            [],
            {"mechanisms": "it does not count as fitted, so that its answers elsewhere mean little"},
        )
    if no_rules:
        return ruling, keep, [], {"rules": no_rules}
    found, silent = evidence(case.bare, case.beside, case.over, case.seed)
    return ruling, keep, [*found, *misread(case.answers, case.over)], silent


def _decided(case: Case, found: Sequence[Finding], undetermined: LeftOpen) -> tuple[Ruling, StandingOut]:
    """The verdict of a learner that fitted, and what stands out among unseen combinations."""
    more = case.answers.varies and not case.answers.like
    speaks = any(e.speaks and e.id != LITERAL and not (more and e.id in SHRINKING) for e in found)
    ruling = decide(case.answers, case.gap, case.comparison, case.over, case.margin, case.fitted, speaks)
    apart = stands_out(case.answers, case.comparison, case.gap.beyond, case.margin, case.seed, case.parts)
    column = any(e.id == MISREAD and e.speaks for e in found)
    copies = any(e.id == LITERAL and e.speaks for e in found)
    return reconsidered(case, ruling, apart, undetermined, speaks, copies, column), apart


def _explained(case: Case, ruling: Ruling, found: Sequence[Finding], undetermined: LeftOpen) -> Ruling:
    """The verdict with what is left to say of it: how far few combinations tell, and what failing ones have in
    common where no mechanism is named."""
    (verdict, why), answers, width = ruling, case.answers, case.gap.width
    if verdict == "composes" and why.startswith(WORSE) and width.low <= 0:
        why = ""
    # Answers are wrong here and there or not at all: that so few combinations have no more wrong is no narrower bound.
    few = answers.classes is not None and most_wrong(0.0, float(answers.unseen.sum())) > case.margin
    if verdict == "composes" and not why and width.mean < -case.margin:
        why = BETTER if width.high < -case.margin else "no worse than seen ones"
    elif verdict == "composes" and not why and (few or width.high > case.margin):
        why = f"as it answers seen ones, as far as {int(answers.unseen.sum()):,} of them tell"
    elif verdict == "unclear" and (shift := shifted(case.bare.at(case.bare.unseen), case.over, case.margin)):
        why = f"{why}. {shift[:1].upper()}{shift[1:]}"
    elif verdict in FAILING:
        shift = "" if any(e.named for e in found) else shifted(case.bare.at(case.bare.unseen), case.over)
        why = ". ".join(filter(None, [why, shift[:1].upper() + shift[1:] if why else shift]))
        open_ = undetermined.short * (undetermined.count > 0)
        new = at_new_levels(answers, undetermined) if answers.seen.any() else ""
        why = "; ".join(filter(None, [why, open_, new]))
    return verdict, why


def _training(answers: Answers) -> Interval:
    values = answers.training_error[np.isfinite(answers.training_error) & answers.trained_rows]
    if len(values) < 2:
        found = Interval(float(values.mean()) if len(values) else float("nan"), count=len(values))
    else:
        found = interval(values)
    return found.within(0, answers.most)


def _in_part(verdict: str, answers: Answers) -> str:
    """The verdict, where some unseen combinations got no answer: who composes on the others does so in part."""
    return "partly" if verdict == "composes" and answers.unanswered.count else verdict


def _judged(comparison: Comparison, results: Mapping[str, MeasureResult]) -> Comparison:
    """The comparison with what is said of each other learner by itself: its verdict and its error."""
    others = (
        c if c.rule else replace(c, verdict=results[c.name].verdict, error=results[c.name].unseen)
        for c in comparison.others
    )
    return replace(comparison, others=tuple(others))
