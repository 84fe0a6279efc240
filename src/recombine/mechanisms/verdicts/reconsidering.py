"""Where the verdict of mean errors is not the last word: what they hide, or what comes before composing.

Levels and combinations that stand out, probabilities, rows that were known and levels of which nothing can be known
change what is said of unseen combinations. How test rows are written and one level that errs wherever it is seen come
first: what they cost is no failure to compose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.finding import Finding
from recombine.mechanisms.answers.names import share
from recombine.mechanisms.causes.constant import moved, shifted
from recombine.mechanisms.causes.determined import LeftOpen
from recombine.mechanisms.causes.evidence import FAILING
from recombine.mechanisms.causes.ignored import ignored
from recombine.mechanisms.causes.summing import sums_but_for
from recombine.mechanisms.compared.case import Case
from recombine.mechanisms.compared.comparing import GIVEN
from recombine.mechanisms.compared.fitting import hardly_anything
from recombine.mechanisms.compared.known_rows import nearer_than_noise, noise_left
from recombine.mechanisms.compared.losing import (
    HALF,
    LEAK,
    below_constant,
    collapsed,
    leaked,
    mostly_lost,
    nothing_left,
    one_is_near,
    unsure_probabilities,
)
from recombine.mechanisms.compared.overfitting import training_error
from recombine.mechanisms.compared.with_training import with_training
from recombine.mechanisms.rivals.class_lost import class_lost
from recombine.mechanisms.rivals.dealt import BY_CHANCE, dealt_out
from recombine.mechanisms.rivals.few_rows import too_few
from recombine.mechanisms.rivals.nothing import nothing_learnable
from recombine.mechanisms.rivals.one_level import Region, level_first, one_level, within, without
from recombine.mechanisms.rivals.outlying import MOST
from recombine.mechanisms.rivals.same import one_chance_where_unseen
from recombine.mechanisms.rivals.standing_out import StandingOut
from recombine.mechanisms.rivals.sure import worse_than_shares
from recombine.mechanisms.rivals.times_off import times_off
from recombine.mechanisms.rivals.told_apart import follows_rows
from recombine.mechanisms.rivals.written import Written
from recombine.mechanisms.verdicts.deciding import ALTOGETHER, ONE_FOR_ALL
from recombine.statistics import FEW

Ruling = tuple[str, str]
"""A verdict, and in a clause what decided it."""
WRITTEN = "training rows are answered right, and new rows of seen combinations right but for how they are written"
NEW_LEVELS = "all of these hold a level that training never shows, of which nothing can be known"
ONE_ANSWER = "every unseen combination gets one and the same answer: nothing is left of what it knows of seen ones"
ONE_IS_NEAR = "one answer for all of these is near enough, which shows nothing of composing"
MORE_THAN_A_PART = (
    f"{ALTOGETHER}: by mean errors more than half of what it knows of seen ones is lost, but intervals do not show it"
)
TOO_NEAR = (
    "unseen combinations are answered better than the noise of their rows allows: look for a leak, such as these rows "
    "or their means in training"
)
TOLD_MORE = (
    "Look first for a leak of the answer: unseen combinations are answered better than the noise allows who knows the "
    "factors alone. Unless it is told much more than these, errors say little."
)
TELLS_LITTLE, NEAR = 0.8, 0.5
"""A simple rule that costs more than this of always the same answer tells little; who costs less than this of the
rule knows more."""
NO_RULE = (
    "No simple rule that has the same training rows tells much of unseen combinations ({:.2f} of what always the same "
    "answer costs, this learner {:.2f}): either it knows a rule that those do not, or it was shown these rows or "
    "their means. Make sure that it was trained without them."
)
SHIFTED = (
    "with one number added to all answers there the verdict would be {!r}: look first whether right answers are "
    "shifted there (another place, time or unit)"
)
GUESSED = (
    "guessing is not ruled out: its own answers, dealt out to these combinations at random, are right as often in "
    "{:.0%} of deals, so that what is right there may be luck"
)
DEALT = ALTOGETHER + (
    ": guessing is not ruled out. Without the {} worst of each, its own answers, dealt out to these combinations at "
    "random, are as near in {:.0%} of deals, so that what is near there may be luck"
)
AS_WRONG = "one level is as wrong where it was seen"


def reconsidered(
    case: Case, ruling: Ruling, apart: StandingOut, undetermined: LeftOpen, speaks: bool, copies: bool, misread: bool
) -> Ruling:
    """The verdict, where what mean errors hide says otherwise. ``speaks``: whether answers speak for a mechanism, so
    that what fails is a rule and not a few combinations; ``copies``: whether they are copies, of which few may be wrong
    all the same; ``misread``: whether a column besides the factors is."""
    answers = case.answers
    verdict, why = _standing_out(case, *ruling, apart, speaks, copies)
    if verdict in ("composes", "unclear") and (worse := unsure_probabilities(answers, case.over)):
        verdict, why = "partly", worse
    elif verdict == "composes" and (found := worse_than_shares(answers, case.over, case.margin))[0]:
        verdict, why = found
    if verdict in ("composes", "unclear") and (found := times_off(answers, case.margin))[0]:
        verdict, why = found
    if verdict == "composes" and one_is_near(answers, case.comparison, case.gap.lost):
        verdict, why = "unclear", ONE_IS_NEAR
    lost = class_lost(answers) if verdict == "composes" else ""
    verdict, why = ("partly", lost) if lost else (verdict, why)
    if (verdict == "partly" or (verdict == "fails" and apart.said)) and nothing_left(answers):
        verdict, why = "fails", _also(ONE_ANSWER, why)
    told = verdict in FAILING and not (apart.alone or apart.most or misread)
    told |= verdict == "unclear" and not misread and (noise_left(answers) < 1 or case.gap.varied.low > case.margin)
    if told and leaked(case.bare, case.beside, case.over):
        verdict, why = "unclear", _also(lost, LEAK)
    if verdict in ("composes", *FAILING) and 0 < undetermined.of == undetermined.levels:
        verdict, why = "unclear", NEW_LEVELS
    if verdict == "composes" and _several(answers) and not answers.varies and nearer_than_noise(answers):
        verdict, why = "unclear", TOO_NEAR  # Who answers all rows of a combination alike reads the factors alone.
    few = too_few(answers, verdict)
    return ("unclear", few) if few else (verdict, why)


def _several(answers: Answers) -> bool:
    return bool((answers.counts[answers.unseen] > 1).any())


def too_well(case: Case, verdict: str) -> str:
    """That composing may be a leak of the answer, in sentences, where rows of unseen combinations are answered better
    than their noise allows who knows the factors alone, and no column tells why."""
    answers = case.answers
    if verdict != "composes" or answers.bare is not None:
        return ""
    near = follows_rows(answers) if _several(answers) else nearer_than_noise(answers, case.known)
    return TOLD_MORE * near


def no_rule_near(case: Case, verdict: str) -> str:
    """That composing where no simple rule tells anything is a rule of its own or a leak, in sentences."""
    rule, one, adding = case.comparison.best, case.comparison.constant, case.comparison.adding
    if verdict != "composes" or rule is None or one is None or adding is None or not one.error.mean > 0:
        return ""
    theirs, own = rule.error.mean / one.error.mean, 1 + one.difference.mean / one.error.mean
    return NO_RULE.format(theirs, own) if theirs > TELLS_LITTLE and own < NEAR * theirs else ""


def _standing_out(case: Case, verdict: str, why: str, apart: StandingOut, speaks: bool, copies: bool) -> Ruling:
    tells = case.answers.like or _beyond_said_noise(case, apart)
    tells &= (apart.knows or apart.most or _knew(case)) and verdict in ("composes", "unclear")
    if apart.said and (verdict in FAILING or tells):
        lost, rest = (
            mostly_lost(case.answers, case.comparison, case.gap.beyond, at) for at in (case.answers.unseen, apart.rest)
        )
        # What few cost is said of these, however much it is, where the others are right and one answer is not.
        alone = apart.alone and not (speaks or copies or rest)
        in_part = alone or not lost
        open_ = tells and not (apart.most or apart.lost or in_part or nothing_left(case.answers))
        why = _also(MORE_THAN_A_PART if open_ else why * (verdict in FAILING), *apart.said)
        if open_:
            return "partly", why  # Those that are wrong are no chance, whatever the mean of all leaves open.
        if tells or (apart.alone and not speaks and in_part):
            verdict = "fails" if apart.most or apart.lost else "partly"
    elif verdict == "unclear" and (clause := next(iter(apart.said), apart.weigh)):
        why = f"{why}. {clause[:1].upper()}{clause[1:]}"
    return verdict, why


def _knew(case: Case) -> bool:
    """Whether it knows seen combinations clearly better than one answer for all does, and errs by more than the margin
    more on unseen ones, by the mean: where the others there are no better than one answer, that is what is lost."""
    return case.comparison.better_on_seen.high < 0 and case.gap.width.mean > case.margin


def _beyond_said_noise(case: Case, apart: StandingOut) -> bool:
    """Whether a level stands out whose unseen combinations err, each of them, by more than the margin beyond the noise
    that was said and beyond what that favours training rows by (`by_heart.py`): who says it says that the factors are
    all the learner is told. One combination of a single row may be the noise."""
    answers, floor = case.answers, case.comparison.floor
    if floor.over != GIVEN or answers.classes is not None or answers.varies or not apart.levels:
        return False
    here = np.any([answers.codes[:, place] == code for place, code in apart.levels], axis=0) & answers.unseen
    return bool((answers.error[:, here].mean(axis=0) > 3 * floor.mean + case.margin).all())


def nothing_to_learn(case: Case, ruling: Ruling) -> Ruling:
    """The verdict where nothing shows that there is anything to learn: what else would be said of unseen combinations
    is then luck, unless these alone are clearly worse than by always giving the same answer."""
    verdict, why = ruling
    if verdict in ("nothing unseen", "nothing seen") or not (nothing := nothing_learnable(case)):
        return ruling
    if verdict in ("composes", "unclear"):
        return "unclear", nothing
    if verdict in FAILING:
        far = below_constant(case.answers, case.comparison, case.gap.varied) or collapsed(case.answers, case.comparison)
        return ("unclear", nothing) if case.answers.like and not far else ruling
    # It is part of why it was not fitted.
    said = case.comparison.floor.bounded and hardly_anything(case.answers, case.comparison)
    return ruling if said and verdict == "not fitted" else (verdict, "; ".join(filter(None, [why, nothing])))


def worse_still(case: Case, ruling: Ruling) -> Ruling:
    """The verdict with what is seen of unseen combinations all the same, where it is not fitted, overfits or is
    unclear: that they are answered far worse than by always giving the same answer, or all alike."""
    (verdict, why), answers, constant = ruling, case.answers, case.comparison.constant
    if verdict not in ("not fitted", "unclear", "overfits") or not answers.unseen.any() or constant is None:
        return ruling
    if verdict == "not fitted" and collapsed(answers, case.comparison):
        seen, unseen = (share(float(answers.error[:, at].mean())) for at in (answers.compared, answers.unseen))
        more = (
            f"Unseen combinations are answered clearly worse: error {unseen}, where always giving the same answer "
            f"costs {share(constant.error.mean)}, against {seen} on new rows of seen ones"
        )
    elif (answers.classes is None and nothing_left(answers)) or one_chance_where_unseen(answers):
        what = "answer" if answers.classes is None else "probability"
        same = f"unseen combination gets one and the same {what}"
        if verdict == "overfits":
            return verdict, f"{why}, and every {same}".lstrip(", ")
        more = f"Every {same}, and seen ones do not"
    else:
        return ruling
    return verdict, f"{why}. {more}"


def written_otherwise(case: Case, ruling: Ruling, told: Written) -> Ruling | None:
    """The verdict where what was learnt answers training rows right, so that new rows were written otherwise and
    nothing was overfitted; None where that is not so."""
    answers = case.answers
    if not told.said or told.pulled or not case.fits or answers.fit is None:
        return None
    if not case.gap.seen.low > training_error(answers) + case.margin:
        return None
    return ("unclear", WRITTEN) if ruling[0] in (*FAILING, "overfits", "unclear") else ruling


def put_elsewhere(case: Case, ruling: Ruling, otherwise: bool) -> tuple[Ruling, str]:
    """The verdict where predictions of test rows are all alike, are the answers, stand beside the wrong rows or answer
    combinations anew, and what to look at first: what they cost, or do not, says nothing of composing. Where rows of
    unseen combinations alone may stand beside wrong ones, and no further column tells them apart, the verdict stays.
    ``otherwise``: whether these rows are
    right but for how they are written, which is no other answer."""
    found = case.answers.misplaced
    if not found.look and ruling[0] in (*FAILING, "unclear"):
        return ruling, "" if case.answers.besides else case.answers.mixed
    if found.everywhere and ruling[0] == "not fitted":
        return ruling, found.look
    if not found.look or (found.anew and otherwise) or ruling[0] not in (*FAILING, "overfits", "unclear", "composes"):
        return ruling, ""
    stays = (ruling[0] == "composes" and not found.copied) or (found.by_heart and ruling[0] == "overfits")
    return ruling if stays else ("unclear", found.why), found.look


def level_apart(case: Case, plain: Answers) -> tuple[Region, Answers]:
    """The one level, or pair of levels, that errs where it was seen, too, and the answers that tell it: to new rows or,
    where these are few, to training rows with them. ``plain``: the answers, put right where they are right but for how
    they are written, as the largest err most by that. Of a factor that is ignored none is: there the level that is
    farthest from the others errs most; nor where one of several outputs ignores it."""
    for answers in filter(None, (plain, with_training(plain))):
        if region := one_level(answers, case.comparison.trained_constant, case.seed):
            unread = any(answers.space.names[j] in case.unused for j, _ in region)
            unread = unread or bool({j for j, _ in region} & {*ignored(case.bare, case.seed, surely=False)})
            return () if unread else region, answers
    return (), plain


def sums_or_slips(
    answers: Answers, sums: str, level: Region, wrong: NDArray[np.int64]
) -> tuple[str, Region, NDArray[np.int64]]:
    """One cause of two: that answers are ``sums`` where right ones are not, or that a ``level`` or few combinations are
    ``wrong``. Sums err most at some of these, wherever right answers are far from sums; and right sums miss slips of
    the data. It is the slips where right answers are sums without them."""
    if not sums or not (level or len(wrong)):
        return sums, level, wrong
    apart = within(answers, level) if level else np.isin(np.arange(len(answers.codes)), wrong)
    return ("", level, wrong) if sums_but_for(answers, apart) else (sums, (), wrong[:0])


def without_the_level(
    ruling: Ruling, region: Region, plain: Answers, told_by: Answers, judged: Callable[[Answers], str]
) -> tuple[Ruling, str]:
    """The verdict beside one level, or pair of them, that is as wrong where it was seen, and what to look at first.
    ``told_by``: the answers that tell it; ``judged``: the verdict of other answers."""
    rest = judged(without(plain, region))
    if ruling[0] in FAILING and rest not in (*FAILING, "not fitted"):
        ruling = "unclear", AS_WRONG
    return ruling, f"{level_first(told_by, region, rest, told_by is not plain)}."


def but_for_a_shift(case: Case, ruling: Ruling, found: Sequence[Finding], judged: Callable[[Answers], str]) -> Ruling:
    """The verdict where one number is all that answers to unseen combinations lack: no difference among these fails.
    It is said wherever it is so, and softens the verdict where they would compose and err less than one answer for all
    does as they are. A probability has no unit that could shift it. ``judged``: the verdict of other answers."""
    asked, chances = case.bare.at(case.bare.unseen), "log loss" in case.answers.scores
    if ruling[0] != "fails" or chances or any(e.speaks for e in found) or not shifted(asked, case.over, case.margin):
        return ruling
    rest = judged(moved(case.answers))
    if rest not in ("composes", "unclear"):
        return ruling
    constant = case.comparison.constant
    soft = rest == "composes" and (constant is None or constant.difference.mean < 0)
    return ("partly", SHIFTED.format(rest)) if soft else ("fails", _also(ruling[1], SHIFTED.format(rest)))


def in_no_part(case: Case, ruling: Ruling, apart: StandingOut | None) -> Ruling:
    """The verdict where answers would compose in part, but are clearly worse than one for all, or are classes that a
    guess has right as often: these fail, whatever is said of them besides; of numbers that a guess has as near it is
    said that they may. Row by row one combination of many may make them worse: then it takes more than a fifth."""
    (verdict, why), constant = ruling, case.comparison.constant
    if verdict != "partly":
        return ruling
    worse = constant is not None and constant.difference.low > 0
    few = apart is None or apart.rest.sum() >= (1 - MOST) * case.answers.unseen.sum()
    if worse or (not few and collapsed(case.answers, case.comparison)):
        return "fails", why if why.startswith(ONE_FOR_ALL) else _also(ONE_FOR_ALL, why)
    if guess := _guessed(case, apart):  # Of fewer it can hardly be ruled out: there it is said and no more.
        verdict, why = "fails" if case.answers.unseen.sum() >= FEW else verdict, _also(guess, why)
    elif near := _dealt(case, apart):
        why = _also(near, why)  # Those that stand out are wrong all the same.
    return verdict, why


def _dealt(case: Case, apart: StandingOut | None) -> str:
    """That numbers may be guessed but for those that stand out, in a clause, where by mean errors more than half is
    lost: of a few large chances and many small ones, dealt anew, all but the large ones are near."""
    answers, away = case.answers, case.answers.unseen
    if answers.classes is not None or apart is None or not apart.alone or not answers.compared.any():
        return ""
    worst = int((away & ~apart.rest).sum())
    if not mostly_lost(answers, case.comparison, case.gap.beyond, away):
        return ""
    chance = dealt_out(answers, away, worst)[0]
    return DEALT.format(worst, chance) if chance > BY_CHANCE else ""


def _guessed(case: Case, apart: StandingOut | None) -> str:
    """That classes may be guessed, in a clause, where more than half is lost of what is known of seen ones, beyond
    guessing: at few combinations that are right but for one it is never ruled out. A level that stands out is no guess
    and is left aside; as the worst of all, so that it takes more to rule out luck with the others."""
    answers, away, beyond = case.answers, case.answers.unseen, case.gap.beyond
    levels = () if apart is None else apart.levels
    for factor, code in levels:
        away = away & (answers.codes[:, factor] != code)
    if answers.classes in (None, ("",)) or not (away.any() and answers.compared.any()):
        return ""
    chance, guess = dealt_out(answers, away)
    seen, own = max(0.0, float(beyond[:, answers.compared].mean())), float(beyond[:, away].mean())
    noise = float(answers.error[:, away].mean()) - own
    lost = own - seen > HALF * (guess - noise - seen)
    limit = BY_CHANCE / (sum(answers.space.shape) if levels else 1)
    return GUESSED.format(chance) if lost and chance > limit else ""


def _also(*clauses: str) -> str:
    first, *further = filter(None, clauses)
    return ". ".join([first, *(clause[:1].upper() + clause[1:] for clause in further)])
