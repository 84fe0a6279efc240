"""What the answers themselves speak for, and which mechanism that names.

Among rules that account for the same answers the simplest is named: one fixed answer, one factor, all but one or two of
them, a sum over factors, a copied answer, the right answers made smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from recombine.checks.exact.identifiability import UNSEEN
from recombine.mechanisms.answers.answered import Answers, Trained
from recombine.mechanisms.answers.finding import FEWEST, Finding
from recombine.mechanisms.answers.names import ranged
from recombine.mechanisms.causes.constant import fixed, shrunk
from recombine.mechanisms.causes.determined import standing
from recombine.mechanisms.causes.literal import LITERAL, literal
from recombine.mechanisms.causes.simpler_rules import AS_GOOD, MANY_ROWS, follow, rules, two_ignored
from recombine.mechanisms.causes.unmoved import unmoved
from recombine.mechanisms.compared.baselines import ADDING
from recombine.mechanisms.compared.comparing import Comparison, noise_within
from recombine.mechanisms.compared.fitting import KNOWS_MORE
from recombine.statistics import Over

MOST_ASKED, MOST_TRAINED = 1_000, 4_000
"""Rules are looked for among this many unseen and trained combinations at most, drawn at random beyond."""
RULES = ("fixed", "factor", "ignored", "copy", "additive", "leak")
ONE_ANSWER = ("fixed", "factor", "ignored")
"""Rules that are simpler than that two factors are ignored."""
FAILING = ("fails", "partly")


def evidence(answers: Answers, comparison: Comparison, over: Over, seed: int) -> tuple[list[Finding], dict[str, str]]:
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
    new = standing(answers.at(rows)) == UNSEEN
    if new.any() and not new.all():
        silent["levels that training never showed"] = (
            f"{int(new.sum())} of {len(rows)} unseen combinations hold one, of which nothing can be known; they are "
            "not looked at"
        )
        rows = rows[~new]
    few = len(rows) < FEWEST
    if few and len(rows) and answers.like:  # That one factor is followed may show on new rows of seen ones, too.
        rows = np.union1d(rows, np.flatnonzero(answers.compared))
    if few and (answers.classes is None or len(rows) < 2 or answers.counts[rows].sum() < MANY_ROWS):
        left = f", of which {len(rows)} can be looked at," * (len(rows) < int(answers.unseen.sum()))
        return [], {**silent, "rules": f"{number}{left} cannot tell a rule from chance; {FEWEST} are needed"}
    rng = np.random.default_rng(seed)
    if len(rows) > MOST_ASKED:
        rows = np.sort(rng.choice(rows, MOST_ASKED, replace=False))
    asked = answers.at(rows)
    # Where rows do not tell the noise, errors on seen combinations do, unless these were known by heart.
    told = not few and (answers.like or noise_within(answers) is not None)
    erred = float(answers.error[:, answers.compared].mean()) if answers.compared.any() else 0.0
    noise = answers.scale * max(erred, comparison.floor.mean if np.isfinite(comparison.floor.mean) else 0.0)
    noise *= float((1 / asked.counts).mean()) if not answers.varies else 1.0
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
        also = [e for e in unmoved(asked, noise) if not any(f.id == e.id and f.speaks for f in found)] if told else []
        found = [*(f for f in found if f.id not in {e.id for e in also}), *also]
        if not few and not any(f.speaks and f.id.split()[0] in ONE_ANSWER for f in found):
            pairs = follow(asked, two_ignored(asked, trained), over, seed)
            found += [f for f in pairs if not isinstance(f, str) and f.speaks]
        copied = literal(asked, over)
        if copied is not None and copied.speaks and not any(e.id == "copy" and e.speaks for e in found):
            found = [*(e for e in found if e.id != "copy"), copied]
    added = comparison.rules.get(ADDING)
    _sort("memorization leak", shrunk(asked, over, None if added is None else added.plain[rows]), found, silent)
    return found, silent


def _knows_more(answers: Answers, comparison: Comparison) -> bool:
    """Whether the learner answers seen combinations much better than adding up does, on the same new rows too where
    there are some, or the noise is much less than adding up leaves: else that may be the true rule, and what is left of
    its error the noise."""
    adding = next((c.seen for c in comparison.others if c.name == ADDING), np.nan)
    if answers.like and ADDING in comparison.rules:
        there = answers.errors_of(comparison.rules[ADDING].answers)[answers.compared]
        adding = min(adding, float(there.mean()))
    own = float(answers.error[:, answers.compared].mean()) if answers.compared.any() else np.inf
    return bool(np.fmin(own, comparison.floor.high) < KNOWS_MORE * adding)


def _sort(name: str, outcome: Finding | str, found: list[Finding], silent: dict[str, str]) -> None:
    if isinstance(outcome, str):
        silent[name] = outcome
    else:
        found.append(outcome)


def named(found: Sequence[Finding], verdict: str) -> tuple[Finding, ...]:
    """The same evidence with the mechanisms named that it speaks for, the simplest of the rules alone; and why others
    are not."""
    chosen = simplest([e for e in found if e.speaks and e.id.split()[0] in RULES])
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


def follows_one_factor(found: Sequence[Finding], classes: int, seen: bool = True) -> str:
    """The suspicion that wrong answers follow one factor, in a clause, where it is not clear if it fails: single rows
    may be nothing but noise, and who knows no better than one factor then does nothing wrong. Without answers to
    ``seen`` ones it is not known what was learnt, and of two ``classes`` a wrong one is any rule's."""
    own = simplest([e for e in found if e.speaks and e.id.split()[0] in RULES])
    if own is None or not own.startswith("factor"):
        return ""
    finding = next(e for e in found if e.id == own)
    if not seen:
        what = f"Its wrong answers are those of a {finding.mechanism} ({finding.numbers()})"
        tell = "predictions for training rows would tell"
        return f"{what}, or of swapped classes: {tell} which" if classes == 2 else f"{what}: {tell} if it learnt that"
    name = finding.mechanism.removeprefix("shortcut by ")
    return (
        f"A suspicion and no finding: where they are wrong, answers to unseen ones are those that {name} alone gives "
        f"({finding.numbers()}); that is no failure if what is wrong there is noise"
    )


def shows_less(found: Sequence[Finding], answers: Answers, over: Over) -> str:
    """The suspicion that answers to unseen combinations are the right ones made smaller, in a clause, where it is not
    clear if it fails: it speaks for that, and answers to seen ones show clearly more of theirs. A penalty makes both
    smaller."""
    if simplest([e for e in found if e.speaks and e.id.split()[0] in RULES]) != "leak":
        return ""
    leak, seen = next(e for e in found if e.id == "leak"), answers.compared
    there = shrunk(answers.at(seen), over) if int(seen.sum()) >= FEWEST else ""
    if isinstance(there, str) or not there.value.low > leak.value.high:
        return ""
    return (
        f"A suspicion and no finding: answers to unseen combinations are right ones made smaller, as in a "
        f"{leak.mechanism} ({leak.numbers()}; on seen ones {ranged(there.value)})"
    )


def simplest(speaking: Sequence[Finding]) -> str | None:
    """Which of these rules accounts for the answers in the simplest way."""
    if not speaking:
        return None
    by = {e.id: e for e in speaking}
    if "fixed" in by:
        return "fixed"
    # A rule with one answer for each combination is a simpler story than a copy of any neighbour's.
    ranked = sorted(speaking, key=lambda e: -(e.explains or 0.0))
    single = [e for name in ("factor", "ignored", "additive") for e in ranked if e.id.startswith(name)]
    most = max((e.explains or 0.0 for e in speaking if e.id != "leak"), default=0.0)
    plain = next((e.id for e in single if (e.explains or 0.0) >= AS_GOOD * most), None)
    return plain or next(name for name in ("copy", LITERAL, "leak", *by) if name in by)


def _some(trained: Trained, most: int, rng: np.random.Generator) -> Trained:
    if len(trained.codes) <= most:
        return trained
    rows = np.sort(rng.choice(len(trained.codes), most, replace=False))
    some = {name: getattr(trained, name)[rows] for name in ("codes", "answers", "weights")}
    return replace(trained, **some, error=None)
