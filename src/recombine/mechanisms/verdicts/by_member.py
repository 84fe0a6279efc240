"""Several members of which some fail and others compose: a mean of both says of neither what it does.

Errors of all members are averaged before combinations are weighed, so that one that is wrong everywhere lifts every
combination at once. Where some gap may be a failure and another none, each member is judged by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from recombine.mechanisms.causes.evidence import FAILING
from recombine.mechanisms.compared.case import Case
from recombine.mechanisms.verdicts.outputs import SAID, WORST
from recombine.statistics import FloatArray, Interval

if TYPE_CHECKING:
    from recombine.mechanisms.answers.answered import Answers
    from recombine.mechanisms.verdicts.result import MeasureResult

PART_WAYS, MAY_PART = "members part ways", "members may part ways"
MOST = 64
"""Members beyond which those with the largest and the smallest gaps are judged by themselves."""
ENOUGH_FITTED = 0.8
"""The share of members that have to fit before anything is said of them."""
TOO_FEW_FITTED = (
    "only {:,} of {:,} members fitted, and what is left after others are set aside may be a choice: below four of five "
    "no verdict is given. Train on, or with more freedom"
)


@dataclass(frozen=True)
class Member:
    """One member by itself."""

    number: int
    seen: float
    unseen: float
    gap: float
    """Beyond the noise, as the gap of all."""
    verdict: str = ""
    """Empty where it was not judged by itself, as members do not differ so far that it could tell more."""
    bounds: Interval | None = None
    """The interval of its gap, over combinations, where it was."""

    def to_dict(self) -> dict[str, Any]:
        """One row of `MeasureResult.members_frame`."""
        own = self.bounds or Interval(self.gap)
        return {
            "member": self.number, "verdict": self.verdict or None, "seen": self.seen, "unseen": self.unseen,
            "gap": self.gap, "gap_low": own.low, "gap_high": own.high,
        }  # fmt: skip


def each_member(case: Case, judged: Callable[[Answers], MeasureResult]) -> tuple[Member, ...]:
    """Errors of each member that is judged; the verdict by itself of each, where one may fail and another not."""
    answers, beyond = case.answers, case.gap.beyond
    at, away = answers.compared, answers.unseen
    if len(answers.members) < 2 or not (at.any() and away.any()):
        return ()
    gaps = beyond[:, away].mean(axis=1) - beyond[:, at].mean(axis=1)
    alone: dict[int, MeasureResult] = {}
    if case.fits and gaps.min() <= case.margin and (gaps - 2 * _error_of(beyond, at, away)).max() > case.margin:
        order = np.argsort(gaps)
        looked = order if len(order) <= MOST else np.concatenate([order[: MOST // 2], order[-MOST // 2 :]])
        alone = {int(i): judged(answers.only(np.arange(len(gaps)) == i)) for i in looked}
    members = []
    for i, number in enumerate(answers.members):
        seen, unseen = (float(answers.error[i, side].mean()) for side in (at, away))
        one = alone.get(i)
        verdict, bounds = ("", None) if one is None else (one.verdict, one.gap)
        members.append(Member(number, seen, unseen, float(gaps[i]), verdict, bounds))
    return tuple(members)


def _error_of(beyond: FloatArray, *sides: Any) -> FloatArray:
    """The standard error (members) of each gap, over combinations."""
    parts = [beyond[:, side].var(axis=1) / max(1, int(side.sum()) - 1) for side in sides]
    return np.asarray(np.sqrt(sum(parts)))


def parted(case: Case, verdict: str, members: Sequence[Member]) -> tuple[str, str]:
    """The verdict where some members fail by themselves and others compose, and in a clause how many do what; no clause
    where they do not part ways.

    Some fail for certain, though the largest of many gaps is looked at: its interval is as wide as so many members ask
    for. As of several outputs, who composes on average, or may, and not in each member does so in part. *Fails* stays
    where most members do by themselves, or where the gap is clear over members; where the others do not compose for
    certain either, it is unclear. What is unclear anyway stays so, and that members may part ways is said."""
    found = Counter(m.verdict for m in members if m.verdict)
    judged, failing = found.total(), sum(found[v] for v in FAILING)
    if not judged or verdict not in (*FAILING, "composes", "unclear"):
        return verdict, ""
    clear = case.gap.width.low > case.margin or (judged == len(members) and 2 * failing > judged)
    both = bool(found["fails"] and found["composes"])
    if verdict in FAILING and clear:
        return verdict, _words(found, len(members)) * both
    sure = any(m.verdict == "fails" and _low(m.bounds, len(members)) > case.margin for m in members)
    if both and sure:
        return "partly", _words(found, len(members))
    if verdict in FAILING:
        return "unclear", _words(found, len(members))
    return verdict, _words(found, len(members), MAY_PART) * (both and verdict == "unclear")


def _low(bounds: Interval | None, of: int) -> float:
    """The lower end of the interval of one gap of so many, the largest of which was looked at."""
    if bounds is None or not bounds.bounded:
        return -np.inf
    wider = float(ndtri(1 - 0.025 / of) / ndtri(0.975))
    return bounds.mean - wider * (bounds.mean - bounds.low)


def _words(found: Counter[str], of: int, how: str = PART_WAYS) -> str:
    judged = found.total()
    which = f" ({judged:,} of {of:,}, those with the largest and the smallest gaps)" * (judged < of)
    each = sorted(found.items(), key=lambda item: WORST.index(item[0]))
    said = [f"{n:,} {SAID[verdict][n > 1]}" for verdict, n in each]
    first = said[0].replace(" ", f" of {judged:,} members ", 1)
    return f"{how}: by themselves{which} {', '.join([first, *said[1:]])}"


def too_few_fitted(case: Case, verdict: str) -> str:
    """That too few members fitted to say anything of them, in a clause."""
    fitted, of = int(case.keep.sum()), len(case.keep)
    silent = verdict in ("not fitted", "nothing unseen", "nothing seen") or not fitted
    return "" if silent or fitted >= ENOUGH_FITTED * of else TOO_FEW_FITTED.format(fitted, of)
