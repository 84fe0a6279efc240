"""What `measure` returns: a frozen value that says where a learner fails, and by which mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.finding import Finding
from recombine.mechanisms.answers.names import brief, share
from recombine.mechanisms.causes.determined import LeftOpen
from recombine.mechanisms.compared.comparing import Compared, Comparison
from recombine.mechanisms.verdicts.by_member import Member
from recombine.mechanisms.verdicts.outputs import Output, outputs_words
from recombine.mechanisms.verdicts.told_short import Part, clauses, told
from recombine.mechanisms.verdicts.verdict_words import WHY, verdict_parts
from recombine.result import Result
from recombine.statistics import Interval

if TYPE_CHECKING:
    import polars as pl

SCHEMA = 2
RARE = 0.1
"""Of two classes one with a smaller share of the training rows is rare."""
LISTED = 1_000
"""Unseen combinations that are listed, the worst first."""
ERROR_WORDS = {
    "class": "Errors are shares of wrong answers.",
    "number": "Errors are squared errors over the spread of the training answers: 0 is perfect, and always answering "
    "the mean costs 1.",
}


@dataclass(frozen=True, eq=False)
class MeasureResult(Result):
    """What `measure` found. Errors are shares of wrong answers (classes), or squared errors over the spread of the
    training answers (numbers): 0 is perfect."""

    kind: ClassVar[str] = "measure"

    answers: Answers = field(repr=False)
    verdict: str
    """Not fitted, overfits, fails, partly, composes, unclear, nothing unseen or nothing seen."""
    seen: Interval
    """Error on seen combinations: on rows that were not trained on, where there are some."""
    unseen: Interval
    gap: Interval
    """Error on unseen combinations less error on seen ones, each less the noise within its combination."""
    noise: tuple[float, float]
    """What the gap took off as noise, of seen and of unseen combinations; 0 where nothing was."""
    training: Interval
    """Error of all members on what they were trained on; not a number where none of that was asked about."""
    comparison: Comparison = field(repr=False)
    """Simple rules and other learners on the same unseen rows, and the noise."""
    evidence: tuple[Finding, ...] = field(repr=False)
    left_out: dict[str, str] = field(repr=False)
    """Measures that were not taken, and why."""
    why: str = ""
    """In a clause, what the verdict hangs on where the other numbers do not say."""
    ignores: str = ""
    """Which factors answers do not vary with, or hardly, in a sentence; it comes before the verdict."""
    look: str = ""
    """What to look at before unseen combinations, in sentences: one row or level, or how answers are written."""
    level: tuple[tuple[int, int], ...] = ()
    """The level that makes most of the error on seen combinations, as factor and code, or two that meet; none where no
    one does."""
    left_open: LeftOpen = field(default_factory=LeftOpen)
    """Unseen combinations that training does not determine, even if effects add up."""
    outliers: tuple[int, ...] = ()
    """Unseen combinations that are clearly wrong and stand out from the others, as rows of ``answers``."""
    bad_levels: tuple[tuple[int, int], ...] = ()
    """Levels whose unseen combinations together stand out, as factor and code; these are not among ``outliers``."""
    rest: tuple[int, float] | None = None
    """How many other unseen combinations there are and how they err, where that is within the margin of seen ones."""
    outputs: tuple[Output, ...] = ()
    """Of an answer of several numbers or labels, what is said of each by itself; …"""
    output: int | None = None
    """… and which of them, from 1 on, all else is said of, where they are judged one by one alone."""
    members: tuple[Member, ...] = ()
    """What each member errs where several are judged, and its verdict by itself where one may fail and another not."""
    diverged: int = 0
    unfitted: int = 0
    noted: tuple[str, ...] = ()
    """What is worth noting besides the verdict."""
    settings: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """The mechanisms that are named, each with a number in ``evidence``."""
        return tuple(e.mechanism for e in self.evidence if e.named)

    @property
    def others(self) -> tuple[Compared, ...]:
        """Simple rules and other learners on the same unseen rows."""
        return self.comparison.others

    @property
    def fits(self) -> bool:
        return self.verdict != "not fitted"

    @property
    def worst(self) -> list[dict[str, Any]]:
        """Unseen combinations, the worst first, up to a thousand of them."""
        rows = np.flatnonzero(self.answers.unseen)
        order = np.argsort(-np.nan_to_num(self.answers.error[:, rows].mean(axis=0), nan=-1.0), kind="stable")
        answers = self.answers.at(rows[order[:LISTED]])
        error = answers.error.mean(axis=0)
        target, said = _said(answers, answers.target[None]), _said(answers, answers.predicted)
        records = answers.space.decode(answers.codes)
        return [
            {
                "combination": records[i],
                "seen": False,
                "count": int(answers.counts[i]),
                "error": _plain(float(error[i])),
                "target": _plain(target[i]),
                "prediction": _plain(said[i]),
            }
            for i in range(len(records))
        ]

    def sentence(self) -> str:
        """The verdict in a few sentences, each mechanism with its number; which of several outputs it is of, and what
        to look at first. What it has no room for stands first in ``notes``."""
        return self._told[0]

    @property
    def notes(self) -> tuple[str, ...]:
        """What the sentence has no room for, and what is worth noting besides."""
        return (*self._told[1], *self.noted)

    @cached_property
    def _told(self) -> tuple[str, tuple[str, ...]]:
        which = Part(outputs_words(self).removesuffix("."), 0 if self.output is not None else WHY)
        own = [[which], clauses(self.look, 0)]  # What is said of one output alone stands before that it is.
        first, last = Part(self.ignores.removesuffix(".")), own if self.output is None else own[::-1]
        return told([first, *verdict_parts(self), *(part for of in last for part in of)])

    @property
    def worst_level(self) -> dict[str, Any] | None:
        """The level whose unseen combinations have the largest mean error, with its counts; of levels with one such
        combination only where there are no others. The level that makes most of the error on seen ones comes before
        all. One that training never shows does not count against the levels it is asked about with."""
        new = np.zeros(len(self.answers.codes), dtype=bool)
        for j, known in enumerate(self._levels_shown):
            new |= ~known[self.answers.codes[:, j]]
        rows = [row for row in self.levels() if row["new"] and row["unseen"] is not None]
        rows += [row for row in self.levels(~new) if row["unseen"] is not None]
        if len(self.level) == 1:
            ((place, code),) = self.level
            factor = self.answers.space.factors[place]
            which = (factor.name, (factor.levels or ())[code])
            rows = [row for row in rows if (row["factor"], row["level"]) == which] or rows
        return max(rows, key=lambda row: (row["unseen_count"] > 1, row["unseen"], row["unseen_count"]), default=None)

    def worst_level_words(self) -> tuple[str, str] | None:
        """The worst level, and in a clause how it fares."""
        level = self.worst_level
        if level is None:
            return None
        count, seen = level["unseen_count"], level["seen_count"]
        single = sum(row["unseen_count"] == 1 for row in self.levels())
        return f"{brief(level['factor'])} = {brief(level['level'])}", (
            f"error {share(level['unseen'])} on its {count:,} unseen combination{'s' * (count != 1)}"
            + f", {share(level['seen'] or 0.0)} on {self.compared_on} of {seen:,} seen one{'s' * (seen != 1)}"
            * (seen > 0)
            + "; training never shows this level" * level["new"]
            + f"; of levels with several, as {single:,} with a single one {'is' if single == 1 else 'are'} not ranked"
            * (single > 0 and count > 1)
        )

    @cached_property
    def _levels_shown(self) -> list[NDArray[np.bool_]]:
        """Of each factor, which levels training shows; all, where that is not known."""
        shown, shape = self.answers.shown, self.answers.space.shape if self.answers.space.finite else ()
        return [np.isin(np.arange(n), np.arange(n) if shown is None else shown[:, j]) for j, n in enumerate(shape)]

    @property
    def compared_on(self) -> str:
        """Which rows of seen combinations unseen ones are compared with."""
        return "new rows" if self.answers.like else "training rows"

    def scores(self) -> dict[str, dict[str, float | None]]:
        """What people quote, on seen and on unseen combinations: RMSE, MAE and R² in units of the answer, or accuracy
        and, of probabilities, log loss; of sequences and labels the share that is right one by one. Every combination
        weighs the same, but in the recall of one class, which is over examples."""
        answers, found = self.answers, {}
        for side, mask in (("seen", answers.compared), ("unseen", answers.unseen)):
            if not mask.any():
                continue
            error = float(answers.error[:, mask].mean())
            own: dict[str, float] = {name: float(values[:, mask].mean()) for name, values in answers.scores.items()}
            if answers.classes is not None:
                of = self._recall_of
                recall = {} if of is None else {f"recall of {brief(answers.classes[of])}": self._recall(mask, of)}
                own = {"accuracy": 1 - error, **own, **recall}
            else:
                y = answers.target[mask]
                inside = 0.0 if answers.within is None else float(answers.within[mask].mean())
                spread = float(np.square(y - y.mean(axis=0)).mean()) / answers.scale + inside
                own = {
                    "rmse": math.sqrt(error * answers.scale),
                    **own,
                    "r2": 1 - error / spread if spread else math.nan,
                }
            found[side] = {name: _plain(value) for name, value in own.items()}
        return found

    @cached_property
    def _recall_of(self) -> int | None:
        """The class whose recall is said: the rare one of two, or of several the one that unseen rows get least.
        None of several labels or a sequence, which is no class of its own."""
        answers, trained = self.answers, self.answers.trained
        if answers.patterns is not None:
            return None
        if answers.hits is None or trained is None or answers.classes is None or not answers.unseen.any():
            return None
        if len(answers.classes) == 2:
            usual = np.average(trained.answers, axis=0, weights=trained.weights)
            return int(usual.argmin()) if usual.min() < RARE else None
        found = [self._recall(answers.unseen, c) for c in range(len(answers.classes))]
        return None if np.isnan(found).all() else int(np.nanargmin(found))

    def _recall(self, mask: NDArray[np.bool_], of: int) -> float:
        """The share of a class's rows that get it; not a number where there are none."""
        hits, counts = self.answers.hits, self.answers.counts[mask]
        due = float(counts @ self.answers.target[mask][:, of])
        return float(counts @ hits[mask][:, of]) / due if hits is not None and due > 0 else math.nan

    def levels(self, among: NDArray[np.bool_] | None = None) -> list[dict[str, Any]]:
        """For each level of each factor, its mean error over unseen combinations and over the seen ones that they are
        compared with (`compared_on`), and whether it is new: training never shows it. ``among``: some of the
        combinations."""
        answers = self.answers
        error, sides = answers.error.mean(axis=0), {"seen": answers.compared, "unseen": answers.unseen}
        rows, kept = [], np.arange(len(error)) if among is None else np.flatnonzero(among)
        for j, factor in enumerate(answers.space.factors):
            if factor.levels is None:
                continue
            # In order of their levels, a factor of thousands costs one look at the combinations and not one for each.
            order = kept[np.argsort(answers.codes[kept, j], kind="stable")]
            ends = np.searchsorted(answers.codes[order, j], np.arange(len(factor.levels) + 1))
            for code, level in enumerate(factor.levels):
                here = order[ends[code] : ends[code + 1]]
                if len(here):
                    new = not self._levels_shown[j][code]
                    row: dict[str, Any] = {"factor": factor.name, "level": level, "new": new}
                    for side, mask in sides.items():
                        own = here[mask[here]]
                        row |= {side: float(error[own].mean()) if len(own) else None, f"{side}_count": len(own)}
                    rows.append(row)
        return rows

    def to_frame(self) -> pl.DataFrame:
        """One row per combination: factor columns, whether it was seen, examples, error, right answer and answer."""
        import polars as pl

        answers = self.answers
        records = answers.space.decode(answers.codes)
        columns: dict[str, Any] = {}
        for factor in answers.space.factors:
            values = [record[factor.name] for record in records]
            columns[factor.name] = [str(v) for v in values] if len({type(v) for v in values}) > 1 else values
        more = {
            "seen": answers.seen,
            "count": answers.counts,
            "error": answers.error.mean(axis=0),
            "target": _said(answers, answers.target[None]),
            "prediction": _said(answers, answers.predicted),
        }
        for name, found in more.items():
            columns[name if name not in columns else f"measure: {name}"] = pl.Series(found, strict=False)
        return pl.DataFrame(columns)

    def evidence_frame(self) -> pl.DataFrame:
        """One row a measure that was taken."""
        import polars as pl

        rows = [
            {
                "mechanism": e.mechanism,
                "named": e.named,
                "measure": e.what,
                "value": e.value.mean,
                "low": e.value.low,
                "high": e.value.high,
                "against": e.chance,
                "reference": e.reference,
                "p": e.p,
                "explains": e.explains,
                "over": e.value.whom,
                "limit": e.limit,
            }
            for e in self.evidence
        ]
        schema = {
            "mechanism": pl.String, "named": pl.Boolean, "measure": pl.String, "value": pl.Float64, "low": pl.Float64,
            "high": pl.Float64, "against": pl.Float64, "reference": pl.String, "p": pl.Float64,
            "explains": pl.Float64, "over": pl.String, "limit": pl.String,
        }  # fmt: skip
        return pl.DataFrame(rows, schema=schema)

    def outputs_frame(self) -> pl.DataFrame:
        """One row an output, where an answer has several: its verdict by itself, errors on seen and unseen combinations
        and the gap, with their intervals, what simple rules cost on the same unseen rows, the mechanisms that are
        named of it and the levels that stand out."""
        import polars as pl

        texts = {"output": pl.Int64, **dict.fromkeys(("verdict", "mechanisms", "level", "why"), pl.String)}
        names = Output(1, "").to_dict()
        rows = [{name: _plain(value) for name, value in o.to_dict().items()} for o in self.outputs]
        return pl.DataFrame(rows, schema={name: texts.get(name, pl.Float64) for name in names})

    def members_frame(self) -> pl.DataFrame:
        """One row a member, where several are judged: its errors on seen and unseen combinations and its gap beyond the
        noise; where one may fail and another not, its verdict by itself and the interval of its gap, too."""
        import polars as pl

        names = Member(0, 0.0, 0.0, 0.0).to_dict()
        rows = [{name: _plain(value) for name, value in m.to_dict().items()} for m in self.members]
        types = {"member": pl.Int64, "verdict": pl.String}
        return pl.DataFrame(rows, schema={name: types.get(name, pl.Float64) for name in names})

    def to_dict(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        worst_level = self.worst_level
        return {
            "schema": SCHEMA,
            "verdict": self.verdict,
            "sentence": self.sentence(),
            "why": self.why,
            "ignores": self.ignores,
            "look": self.look,
            "mechanisms": list(self.mechanisms),
            "answers": self.answers.kind,
            "error": {
                "training": self.training.to_dict(),
                "seen": self.seen.to_dict(),
                "unseen": self.unseen.to_dict(),
                "gap": self.gap.to_dict(),
            },
            "noise": dict(zip(("seen", "unseen"), self.noise, strict=True)),
            "floor": self.comparison.floor.to_dict(),
            "compared_on": self.compared_on,
            "others": [c.to_dict() for c in self.comparison.others],
            "scores": self.scores(),
            "members": {
                "judged": len(self.answers.members),
                "diverged": self.diverged,
                "not_fitted": self.unfitted,
                "each": [{name: _plain(value) for name, value in m.to_dict().items()} for m in self.members],
            },
            "combinations": {
                "seen": int(self.answers.seen.sum()),
                "unseen": int(self.answers.unseen.sum()),
                "unanswered": self.answers.unanswered.count,
            },
            "undetermined": {"count": self.left_open.count, "unseen_level": self.left_open.levels},
            "evidence": [e.to_dict() for e in self.evidence],
            "left_out": dict(self.left_out),
            "outputs": [{name: _plain(value) for name, value in o.to_dict().items()} for o in self.outputs],
            "output": self.output,
            "worst_level": worst_level and {k: _plain(v) for k, v in worst_level.items()},
            "levels": [{k: _plain(v) for k, v in row.items()} for row in self.levels()],
            "worst": self.worst,
            "standing_out_levels": [
                {"factor": factor.name, "level": (factor.levels or ())[code]}
                for factor, code in ((self.answers.space.factors[j], code) for j, code in self.bad_levels)
            ],
            "standing_out": self.answers.space.decode(self.answers.codes[list(self.outliers)]),
            "notes": list(self.notes),
            "settings": self.settings,
        }


def _said(answers: Answers, values: np.ndarray[Any, Any]) -> list[Any]:
    """Answers (members × combinations × …) in words: the most frequent class, or the mean number; none for many."""
    mean = values.mean(axis=0)
    if answers.classes == ("",):
        return [None] * len(mean)
    if answers.classes is not None:
        return [answers.classes[i] for i in mean.argmax(axis=1).tolist()]
    return list(mean[:, 0].tolist()) if mean.shape[1] == 1 else [None] * len(mean)


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
