"""From answers to a verdict: did it fit, does it fail on unseen combinations, and by which mechanism?

A mechanism is named only where the learner fitted its training data, fails on unseen combinations, and a number speaks
for it. Among rules that account for the same answers the simplest is named: one fixed answer, one factor, a copied
answer, the right answers made smaller, a sum over factors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine.mechanisms.answers import Answers, Trained
from recombine.mechanisms.finding import FEWEST, Finding
from recombine.mechanisms.result import MeasureResult
from recombine.mechanisms.rules import AS_GOOD, follows, rules
from recombine.mechanisms.sums import additive, fixed, shrunk
from recombine.statistics import Interval, Summary, over_combinations, over_examples

MOST_ASKED, MOST_TRAINED = 1_000, 4_000
"""Rules are looked for among this many unseen and trained combinations at most, drawn at random beyond."""
FITTED = 0.1
MARGIN = 0.05
RULES = ("fixed", "factor", "copy", "additive", "leak")


def fitted_members(answers: Answers, fitted: float = FITTED) -> NDArray[np.bool_]:
    """Members whose error on what they were trained on is at most ``fitted``; all, where that cannot be said."""
    error = answers.training_error
    finite = np.isfinite(answers.error).all(axis=1)
    return finite & (np.isnan(error) | (error <= fitted))


def judge(
    answers: Answers,
    *,
    over_members: Summary | None = None,
    extra: Sequence[Finding] = (),
    left_out: Mapping[str, str] | None = None,
    no_rules: str | None = None,
    fitted: float = FITTED,
    margin: float = MARGIN,
    notes: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> MeasureResult:
    """The result: members that did not fit are set aside, the others judged together.

    ``extra`` is evidence from elsewhere, ``left_out`` the reasons why some of it is missing; ``no_rules`` says why the
    answers cannot be searched for rules."""
    keep = fitted_members(answers, fitted)
    finite = np.asarray(np.isfinite(answers.error).all(axis=1))
    diverged = int((~finite).sum())
    fits = bool(keep.any())
    usable = answers.only(keep if fits else finite) if finite.any() else answers
    several = over_members if len(usable.members) > 1 else None
    over: Summary = several or (lambda statistic, sizes: over_combinations(statistic, sizes, seed=seed))
    missing = dict(left_out or {})
    found: list[Finding] = []
    if fits:
        found, silent = _evidence(usable, over, seed) if no_rules is None else ([], {"rules": no_rules})
        missing = {**silent, **missing}
        found += extra
    else:
        missing = {"mechanisms": "the learner did not fit its training data, so its answers elsewhere mean little"}
    seen, unseen, gap = _errors(usable, over)
    most = 1.0 if usable.classes is not None else float("inf")
    seen, unseen, gap = seen.within(0, most), unseen.within(0, most), gap.within(-most, most)
    verdict = _verdict(usable, fits, gap, margin)
    return MeasureResult(
        answers=usable,
        verdict=verdict,
        seen=seen,
        unseen=unseen,
        gap=gap,
        training=_training(answers, several).within(0, most),
        evidence=_named(found, verdict == "fails"),
        left_out=missing,
        diverged=diverged,
        unfitted=int((~keep).sum()) - diverged,
        notes=tuple(notes),
        settings={"fitted": fitted, "margin": margin, "seed": seed, **(settings or {})},
    )


def _errors(answers: Answers, over: Summary) -> tuple[Interval, Interval, Interval]:
    nothing = Interval(float("nan"), over="combinations")
    masks = (answers.seen, answers.unseen)
    sides = [answers.error[:, mask] for mask in masks]
    if len(answers.members) == 1 and answers.classes is not None and min(side.shape[1] for side in sides) == 1:
        counts = [answers.counts[mask] for mask in masks]
        return (
            over_examples([1.0], [sides[0][0]], counts[:1]),
            over_examples([1.0], [sides[1][0]], counts[1:]),
            over_examples([-1.0, 1.0], [side[0] for side in sides], counts),
        )
    one = [
        over(lambda rows, side=side: side[:, rows].mean(axis=1), [side.shape[1]]) if side.shape[1] else nothing
        for side in sides
    ]
    if not all(side.shape[1] for side in sides):
        return one[0], one[1], nothing
    seen, unseen = sides
    gap = over(
        lambda a, b: np.asarray(unseen[:, b].mean(axis=1) - seen[:, a].mean(axis=1)), [seen.shape[1], unseen.shape[1]]
    )
    return one[0], one[1], gap


def _training(answers: Answers, over: Summary | None) -> Interval:
    values = answers.training_error[np.isfinite(answers.training_error)]
    if over is None or len(values) < 2:
        mean = float(values.mean()) if len(values) else float("nan")
        return Interval(mean, count=len(values))
    return over(lambda *_: values, [0])


def _verdict(answers: Answers, fits: bool, gap: Interval, margin: float) -> str:
    if not fits:
        return "not fitted"
    if not answers.unseen.any():
        return "nothing unseen"
    if not answers.seen.any():
        return "nothing seen"
    if gap.mean > margin and (not gap.bounded or gap.low > 0):
        return "fails" if gap.bounded else "unclear"
    if gap.bounded and gap.high <= margin:
        return "composes"
    return "unclear"


def _evidence(answers: Answers, over: Summary, seed: int) -> tuple[list[Finding], dict[str, str]]:
    """What the answers themselves speak for, and for each rule that was not tried, why not."""
    asked, seen = answers.at(answers.unseen), answers.at(answers.seen)
    if not answers.space.finite:
        return [], {"rules": "the factors are continuous, so no two combinations share a level"}
    if len(asked.codes) < FEWEST:
        number = f"{len(asked.codes)} unseen combination{'s' if len(asked.codes) != 1 else ''}"
        return [], {"rules": f"{number} cannot tell a rule from chance; {FEWEST} are needed"}
    rng = np.random.default_rng(seed)
    asked, seen = _thinned(asked, MOST_ASKED, rng), _thinned(seen, MOST_TRAINED, rng)
    found: list[Finding] = [fixed(asked, over)]
    silent: dict[str, str] = {}
    if answers.trained is None:
        silent["shortcut and copy"] = "the answers of the training combinations are not known; give the target there"
    else:
        trained = _some(answers.trained, MOST_TRAINED, rng)
        tried = rules(asked, trained)
        for rule in tried:
            _sort(rule.mechanism, follows(asked, rule, over, len(tried), seed), found, silent)
    _sort("additive rule", additive(asked, seen, over, seed), found, silent)
    _sort("memorization leak", shrunk(asked, over), found, silent)
    return found, silent


def _sort(name: str, outcome: Finding | str, found: list[Finding], silent: dict[str, str]) -> None:
    if isinstance(outcome, str):
        silent[name] = outcome
    else:
        found.append(outcome)


def _named(found: Sequence[Finding], fails: bool) -> tuple[Finding, ...]:
    """The same evidence with the mechanisms named that it speaks for, the simplest of the rules alone."""
    chosen = _simplest([e for e in found if e.speaks and e.id.split()[0] in RULES])
    own = [e.id for e in found if e.speaks and e.id.split()[0] not in RULES]
    marked = [replace(e, named=fails and (e.id == chosen or e.id in own)) for e in found]
    return tuple(sorted(marked, key=lambda e: not e.named))


def _simplest(speaking: Sequence[Finding]) -> str | None:
    if not speaking:
        return None
    by = {e.id: e for e in speaking}
    if "fixed" in by:
        return "fixed"
    factors = [e for e in speaking if e.id.startswith("factor")]
    best = max(factors, key=lambda e: e.explains or 0.0) if factors else None
    copied = by["copy"].explains or 0.0 if "copy" in by else 0.0
    if best is not None and (best.explains or 0.0) >= AS_GOOD * copied:
        return best.id
    return next((name for name in ("copy", "leak", "additive") if name in by), None)


def _thinned(answers: Answers, most: int, rng: np.random.Generator) -> Answers:
    count = len(answers.codes)
    return answers if count <= most else answers.at(np.sort(rng.choice(count, most, replace=False)))


def _some(trained: Trained, most: int, rng: np.random.Generator) -> Trained:
    if len(trained.codes) <= most:
        return trained
    rows = np.sort(rng.choice(len(trained.codes), most, replace=False))
    return Trained(trained.codes[rows], trained.answers[rows], trained.weights[rows])
