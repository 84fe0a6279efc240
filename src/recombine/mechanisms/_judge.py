"""From answers to a verdict: did it fit, does it fail on unseen combinations, and by which mechanism?

Rows that were not trained on are compared with rows that were not trained on, and every learner with simple rules on
the same rows. A mechanism is named only where the learner knows something of seen combinations, fails on unseen ones,
and a number speaks for it that chance does not give. Among rules that account for the same answers the simplest is
named: one fixed answer, one factor, a copied answer, the right answers made smaller, a sum over factors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.mechanisms.answers import Answers, Trained
from recombine.mechanisms.baselines import ADDING
from recombine.mechanisms.by_heart import SHRINKING
from recombine.mechanisms.comparing import (
    GIVEN,
    Comparison,
    average,
    compare,
    noise as noise_of_rows,
    noise_within,
    unsure,
)
from recombine.mechanisms.constant import fixed, shrunk
from recombine.mechanisms.deciding import decide
from recombine.mechanisms.determined import left_open
from recombine.mechanisms.finding import FEWEST, Finding
from recombine.mechanisms.fitting import KNOWS_MORE, fails_though_unfitted, fitted_members
from recombine.mechanisms.literal import LITERAL, literal
from recombine.mechanisms.losing import (
    LEAK,
    leaked,
    unsure_probabilities,
)
from recombine.mechanisms.names import NOTHING, figure_words, share
from recombine.mechanisms.result import MeasureResult
from recombine.mechanisms.rules import AS_GOOD, MANY_ROWS, follow, rules
from recombine.mechanisms.standing_out import standing_out, words
from recombine.statistics import FloatArray, Interval, Over, interval

MOST_ASKED, MOST_TRAINED = 1_000, 4_000
"""Rules are looked for among this many unseen and trained combinations at most, drawn at random beyond."""
FITTED = 0.1
MARGIN = 0.05
RULES = ("fixed", "factor", "copy", "additive", "leak")
FAILING = ("fails", "partly")


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
    able = answers.only(finite) if finite.any() else answers
    comparison = compare(able, Over(len(able.members), seed), others or {}, seed, known)
    keep, unfit = fitted_members(answers, comparison, fitted)
    fits = bool(keep.any())
    usable = answers.only(keep) if fits else able
    over = Over(len(usable.members), seed)
    if len(usable.members) != len(able.members):
        comparison = compare(usable, over, others or {}, seed, known)
    most = 1.0 if usable.classes is not None else float("inf")
    at, away, error = usable.compared, usable.unseen, usable.error
    seen, unseen = (average(usable, over, (1.0, error, mask)) for mask in (at, away))
    seen, unseen = (unsure(f, usable, m).within(0, most) for f, m in ((seen, at), (unseen, away)))
    within = _noise(usable, comparison)
    beyond = np.where(np.abs(error - within) < NOTHING, 0.0, error - within)
    gap = average(usable, over, (1.0, beyond, away), (-1.0, beyond, at)).within(-most, most)
    verdict, why = "not fitted", unfit
    if not fits and finite.any() and fails_though_unfitted(usable, comparison, gap, beyond, margin):
        verdict, keep, why = "fails", finite, f"it fitted its training data in part alone: {unfit}"
        if usable.classes is None:
            no_rules = no_rules or "numbers that were fitted in part alone lie near those of any rule"
    found: list[Finding] = []
    missing = {"mechanisms": "it does not count as fitted, so that its answers elsewhere mean little"}
    if verdict == "fails" or fits:
        found, silent = ([], {"rules": no_rules}) if no_rules else _evidence(usable, comparison, over, seed)
        missing = {**silent, **(left_out or {})}
        found += extra
    if fits:
        there = float(within[away].mean()) if away.any() else 0.0
        lost = min(there, comparison.reached(usable, away)) if away.any() else 0.0
        excess = average(usable, over, (1.0, beyond + (there - lost), away))
        more = usable.varies and not usable.like
        speaks = any(e.speaks and e.id != LITERAL and not (more and e.id in SHRINKING) for e in found)
        verdict, why = decide(
            usable, seen, unseen, gap, (excess, lost, beyond), comparison, over, margin, fitted, speaks
        )
    outliers = standing_out(usable, comparison) if fits else np.zeros(0, dtype=np.int64)
    if len(outliers) and (verdict in FAILING or (usable.like and verdict in ("composes", "unclear"))):
        why = ". ".join(filter(None, [why * (verdict in FAILING), words(usable, outliers)]))
        verdict = verdict if verdict in FAILING else "partly"
    if verdict == "composes" and (worse := unsure_probabilities(usable, over)):
        verdict, why = "partly", worse
    if verdict in FAILING and fits and leaked(usable, comparison, over, margin):
        verdict, why = "unclear", LEAK
    undetermined = left_open(usable)
    if verdict in ("composes", "partly") and 0 < undetermined.of == undetermined.levels:
        verdict, why = "unclear", "all of these hold a level that training never shows, of which nothing can be known"
    gap = unsure(gap, usable, away, at).within(-most, most)
    if verdict == "composes" and gap.high > margin and not why:
        why = f"as it answers seen ones, as far as {int(away.sum()):,} of them tell"
    comparison = replace(comparison, others=tuple(
        c if c.rule else replace(c, verdict=judged[c.name]) for c in comparison.others
    ))  # fmt: skip
    if verdict in FAILING and undetermined.count:
        why = "; ".join(filter(None, [why, undetermined.short]))
    return MeasureResult(
        answers=usable,
        verdict=verdict,
        why=why,
        seen=seen,
        unseen=unseen,
        gap=gap,
        noise=(float(within[at].mean()), float(within[away].mean())) if at.any() and away.any() else (0.0, 0.0),
        training=_training(answers, seed).within(0, most),
        comparison=comparison,
        evidence=_named(found, verdict),
        left_out=missing,
        diverged=int((~finite).sum()),
        unfitted=int((finite & ~keep).sum()),
        notes=(*notes, *_notes(usable, known), *([undetermined.note] if undetermined.count else [])),
        left_open=undetermined,
        outliers=tuple(outliers.tolist()),
        settings={"fitted": fitted, "margin": margin, "noise": noise, "seed": seed, **(settings or {})},
    )


def _noise(answers: Answers, comparison: Comparison) -> FloatArray:
    """What is taken off the errors of each combination before they are compared: its noise, where rows tell it, and
    nothing from a learner that is told more than the factors, and so answers rows of one combination differently: what
    the factors leave open is no bound to it."""
    floor = comparison.floor.mean
    told = answers.varies and answers.like and answers.error[:, answers.compared].mean() < KNOWS_MORE * floor
    each = noise_within(answers) if floor > 0 and not told else None
    if each is None:
        return np.full(len(answers.codes), floor if comparison.floor.over == GIVEN and not told else 0.0)
    if answers.classes is None:
        return each
    # Few rows of a combination miss its usual class, and so tell too much noise of unseen and seen ones alike.
    sides = [at for at in (answers.unseen, answers.compared & answers.like) if each[at].any()]
    return each * min([1.0, *(comparison.reached(answers, at) / float(each[at].mean()) for at in sides)])


def _training(answers: Answers, seed: int) -> Interval:
    values = answers.training_error[np.isfinite(answers.training_error) & answers.trained_rows]
    if len(values) < 2:
        return Interval(float(values.mean()) if len(values) else float("nan"), count=len(values))
    return interval(values, seed=seed)


def _notes(answers: Answers, told: float | None) -> list[str]:
    notes = []
    own = Interval(float("nan")) if told is None else noise_of_rows(answers)[0]
    if told is not None and own.bounded and not own.low <= told <= own.high:
        notes.append(
            f"The noise was said to be an error of {share(told)}, but rows that share a combination tell "
            f"{figure_words(own)}: what was said is used"
            + ", but for what the gap takes off as noise, which is what the rows tell." * (told > 0)
            + "." * (told == 0)
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


def _evidence(answers: Answers, comparison: Comparison, over: Over, seed: int) -> tuple[list[Finding], dict[str, str]]:
    """What the answers themselves speak for, and for each rule that was not tried, why not."""
    if not answers.space.finite:
        return [], {"rules": "the factors are continuous, so no two combinations share a level"}
    silent: dict[str, str] = {}
    rows = np.flatnonzero(answers.unseen)
    number = f"{len(rows)} unseen combination{'s' if len(rows) != 1 else ''}"
    if answers.classes is not None and answers.trained is not None:
        known = (answers.target[rows][:, (answers.trained.answers > 0).any(axis=0)] > 0).any(axis=1)
        if not known.all():
            silent["answers that training never showed"] = (
                f"the right answer of {int((~known).sum())} of {len(rows)} unseen combinations is none of training's, "
                "so that any rule would be wrong there; they are not looked at"
            )
        rows = rows[known]
    few = len(rows) < FEWEST
    if few and (answers.classes is None or len(rows) < 2 or answers.counts[rows].sum() < MANY_ROWS):
        return [], {**silent, "rules": f"{number} cannot tell a rule from chance; {FEWEST} are needed"}
    rng = np.random.default_rng(seed)
    if len(rows) > MOST_ASKED:
        rows = np.sort(rng.choice(rows, MOST_ASKED, replace=False))
    asked = answers.at(rows)
    found: list[Finding] = [] if few else [fixed(asked, over)]
    if answers.trained is None:
        silent["shortcut and copy"] = "the answers of the training combinations are not known; give the target there"
    else:
        trained = _some(answers.trained, MOST_TRAINED, rng)
        adding = comparison.rules.get(ADDING)
        tried = rules(asked, trained, [] if adding is None else [adding.answers[rows], adding.plain[rows]])
        for rule, outcome in zip(tried, follow(asked, tried, over, seed), strict=True):
            if rule.id == "additive" and not isinstance(outcome, str) and not _knows_more(answers, comparison):
                why = outcome.why or "it may be the true rule, and what is left of the error the noise"
                outcome = replace(outcome, speaks=False, why=why)
            _sort(rule.mechanism, outcome, found, silent)
        copied = literal(asked, over)
        if copied is not None and copied.speaks and not any(e.id == "copy" and e.speaks for e in found):
            found = [*(e for e in found if e.id != "copy"), copied]
    added = comparison.rules.get(ADDING)
    _sort("memorization leak", shrunk(asked, over, None if added is None else added.plain[rows]), found, silent)
    return found, silent


def _knows_more(answers: Answers, comparison: Comparison) -> bool:
    """Whether the learner answers seen combinations much better than adding up does, or the noise is much less than
    adding up leaves: else that may be the true rule, and what is left of its error the noise."""
    adding = next((c.seen for c in comparison.others if c.name == ADDING), np.nan)
    own = float(answers.error[:, answers.compared].mean()) if answers.compared.any() else np.inf
    return bool(np.fmin(own, comparison.floor.high) < KNOWS_MORE * adding)


def _sort(name: str, outcome: Finding | str, found: list[Finding], silent: dict[str, str]) -> None:
    if isinstance(outcome, str):
        silent[name] = outcome
    else:
        found.append(outcome)


def _named(found: Sequence[Finding], verdict: str) -> tuple[Finding, ...]:
    """The same evidence with the mechanisms named that it speaks for, the simplest of the rules alone; and why others
    are not."""
    chosen = _simplest([e for e in found if e.speaks and e.id.split()[0] in RULES])
    own = [e.id for e in found if e.speaks and e.id.split()[0] not in RULES]
    marked = []
    for e in found:
        named, why = verdict in FAILING and (e.id == chosen or e.id in own), e.why
        if e.speaks and not named:
            first = next((other.mechanism for other in found if other.id == chosen), "")
            why = f"{first} accounts for as much, and the two cannot be told apart here" if verdict in FAILING else (
                f"mechanisms are named where the learner fails, and the verdict is {verdict!r}"
            )  # fmt: skip
        marked.append(replace(e, named=named, why=why))
    return tuple(sorted(marked, key=lambda e: not e.named))


def _simplest(speaking: Sequence[Finding]) -> str | None:
    if not speaking:
        return None
    by = {e.id: e for e in speaking}
    if "fixed" in by:
        return "fixed"
    # A rule with one answer for each combination is a simpler story than a copy of any neighbour's.
    factors = sorted((e for e in speaking if e.id.startswith("factor")), key=lambda e: -(e.explains or 0.0))
    single = [*factors[:1], *([by["additive"]] if "additive" in by else [])]
    most = max((e.explains or 0.0 for e in speaking if e.id != "leak"), default=0.0)
    plain = next((e.id for e in single if (e.explains or 0.0) >= AS_GOOD * most), None)
    return plain or next(name for name in ("copy", LITERAL, "leak", *by) if name in by)


def _some(trained: Trained, most: int, rng: np.random.Generator) -> Trained:
    if len(trained.codes) <= most:
        return trained
    rows = np.sort(rng.choice(len(trained.codes), most, replace=False))
    return replace(trained, codes=trained.codes[rows], answers=trained.answers[rows], weights=trained.weights[rows])
