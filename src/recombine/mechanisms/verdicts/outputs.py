"""Several outputs, numbers or labels of yes and no: what is said of each by itself, and of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.mechanisms.answers.names import brief, share
from recombine.mechanisms.causes.evidence import FAILING
from recombine.mechanisms.causes.ignored import unused
from recombine.mechanisms.compared.fitting import hardly_anything
from recombine.statistics import Interval

if TYPE_CHECKING:
    from recombine.mechanisms.verdicts.result import MeasureResult

UNJUDGED = "not judged"
NO_UNSEEN = "no label on unseen combinations"
SAID = {
    "fails": ("fails", "fail"),
    "partly": ("composes in part", "compose in part"),
    "not fitted": ("does not count as fitted", "do not count as fitted"),
    "overfits": ("overfits", "overfit"),
    "unclear": ("is unclear", "are unclear"),
    "composes": ("composes", "compose"),
    "nothing seen": ("has no label on seen combinations", "have no label on seen combinations"),
    "nothing unseen": ("has no label on unseen combinations", "have no label on unseen combinations"),
    UNJUDGED: ("cannot be judged", "cannot be judged"),
}
"""Verdicts, the worst first, of one output and of several."""
WORST = tuple(SAID)
BAD = ("fails", "partly", "not fitted", "overfits")
HARDLY = "hardly anything to learn"
NOTHING_IN_IT = (f"has {HARDLY}", f"have {HARDLY}")
NOWHERE = Interval(float("nan"), over="combinations")


@dataclass(frozen=True)
class Output:
    """What is said of one output by itself."""

    number: int
    verdict: str
    why: str = ""
    seen: Interval = NOWHERE
    unseen: Interval = NOWHERE
    gap: Interval = NOWHERE
    constant: float = float("nan")
    """What always giving the same answer costs on the same unseen rows, …"""
    best: float = float("nan")
    """… and the best of the simple rules."""
    unused: tuple[str, ...] = ()
    """Factors that its answers do not vary with, or hardly, where it does not compose."""
    nothing: bool = False
    """Whether rows tell that there is hardly anything to learn in it, so that it counts as not fitted, …"""
    mechanisms: tuple[str, ...] = ()
    """… which mechanisms are named of it, …"""
    level: str = ""
    """… and which levels stand out among its unseen combinations, or are wrong wherever they are asked about."""

    @classmethod
    def of(cls, number: int, found: MeasureResult | str) -> Output:
        """``found``: what was measured of it, or why nothing was."""
        if isinstance(found, str):
            return cls(number, UNJUDGED, found)
        constant, best = found.comparison.constant, found.comparison.best
        names, ignores = unused(found.answers, found.settings["seed"]) if found.verdict in BAD else ((), "")
        why = [found.why or NO_UNSEEN * (found.verdict == "nothing unseen"), ignores * (ignores not in found.why)]
        costs = [float("nan") if c is None else c.error.mean for c in (constant, best)]
        told = found.verdict == "not fitted" and found.comparison.floor.bounded
        return cls(
            number, found.verdict, ". ".join(filter(None, why)), found.seen, found.unseen, found.gap,
            costs[0], costs[1], names, told and bool(hardly_anything(found.answers, found.comparison)),
            found.mechanisms, _levels(found),
        )  # fmt: skip

    @property
    def told(self) -> str:
        """What it is said to be, with its errors, in a clause."""
        sides = [f"{share(error.mean)} on {side}" for side, error in (("unseen", self.unseen), ("seen", self.seen))
                 if np.isfinite(error.mean)]  # fmt: skip
        errors = f" (error {', '.join(sides)} combinations)" * bool(sides)
        why = f" ({self.why})" * (self.verdict == UNJUDGED)
        named = f" by {' and '.join(self.mechanisms)}" * bool(self.mechanisms)
        return f"output {self.number} {self.said[0]}{named}{errors}{why}"

    @property
    def said(self) -> tuple[str, str]:
        """What it is said to be, of one output and of several."""
        return NOTHING_IN_IT if self.nothing else SAID[self.verdict]

    def to_dict(self) -> dict[str, Any]:
        """One row of `MeasureResult.outputs_frame`."""
        return {
            "output": self.number,
            "verdict": HARDLY if self.nothing else self.verdict,
            "seen": self.seen.mean,
            "unseen": self.unseen.mean,
            "low": self.unseen.low,
            "high": self.unseen.high,
            "gap": self.gap.mean,
            "gap_low": self.gap.low,
            "gap_high": self.gap.high,
            "constant": self.constant,
            "best": self.best,
            "mechanisms": "; ".join(self.mechanisms),
            "level": self.level,
            "why": self.why,
        }


def _levels(found: MeasureResult) -> str:
    """The levels that stand out among unseen combinations, or are wrong wherever they are asked about, in words."""
    factors = found.answers.space.factors
    of = dict.fromkeys((*found.level, *found.bad_levels))
    return "; ".join(f"{brief(factors[j].name)} = {brief(str((factors[j].levels or ())[code]))}" for j, code in of)


def worst(outputs: Sequence[Output]) -> int | None:
    """The place of the output with the worst verdict and, of these, the largest gap; none where none is judged. One in
    which there is hardly anything to learn comes last."""
    order = [(o.nothing, WORST.index(o.verdict), -float(np.nan_to_num(o.gap.mean)), i) for i, o in enumerate(outputs)]
    return min(order)[3] if any(o.verdict != UNJUDGED for o in outputs) else None


def unused_by_one(outputs: Sequence[Output], each: Sequence[MeasureResult | str]) -> set[str]:
    """The factors that one output ignores, but for those of a level that is what goes wrong in another: ``each`` by
    itself."""
    judged = [one for one in each if not isinstance(one, str)]
    wrong = {one.answers.space.names[j] for one in judged for j, _ in one.level}
    return {name for o in outputs for name in o.unused} - wrong


def decided_by_one(whole: MeasureResult, outputs: Sequence[Output]) -> bool:
    """Whether one output says more than the whole: where this composes or is unclear and one of them is not fitted,
    or is not fitted and each of them is. Outputs in which there is hardly anything to learn say nothing of the whole,
    but may make it unclear."""
    found = {o.verdict for o in outputs if not o.nothing}
    if whole.verdict in ("composes", "unclear") and "not fitted" in found:
        return True
    empty = whole.verdict == "unclear" and not whole.look and any(o.nothing for o in outputs)
    return bool(found) and (empty or whole.verdict == "not fitted") and not found & {"not fitted", UNJUDGED}


def with_outputs(
    whole: MeasureResult, outputs: Sequence[Output], of: int | None, notes: Sequence[str]
) -> MeasureResult:
    """The result of the whole, with what each output is by itself. ``of``: the place of the one that it is the result
    of, where outputs are judged one by one alone, and its notes are said of that one; ``notes``: those of all.

    Who composes as a whole, or may, and not in each output does so in part: where the gap of one is clearly above the
    margin by itself. What is unclear as a whole, and not for what is to be looked at first, is so where one fails."""
    own = whole.noted if of is None else (f"Output {of + 1}: {note}" for note in whole.noted)
    output = None if of is None else of + 1
    result = replace(whole, outputs=tuple(outputs), output=output, noted=(*notes, *own))
    told = {"composes": FAILING, "unclear": () if whole.look else ("fails",)}.get(whole.verdict, ())
    if of is not None or not any(o.verdict in told and o.gap.low > whole.settings["margin"] for o in outputs):
        return result
    start = "as a whole it composes" if whole.verdict == "composes" else "whether it does as a whole is not clear"
    return replace(result, verdict="partly", why=f"{start}, but not each output does by itself")


def outputs_words(result: MeasureResult) -> str:
    """Which outputs do what by themselves, in a sentence or two; nothing where that is what the whole does."""
    outputs = result.outputs
    if result.output is not None:
        one = f"All this is said of output {result.output}, the worst of {len(outputs)}, each judged by itself"
        own = outputs[result.output - 1]
        said = bool(result.ignores) or own.why == result.why
        rest = [o for o in outputs if not (said and o is own)]
        return f"{one}: {_grouped(outputs)}.{_unused_words(rest)}"
    bad = [o for o in outputs if o.verdict in BAD and (result.verdict != "composes" or o.verdict not in FAILING)]
    unlike = [] if all(o.unused == outputs[0].unused for o in outputs) else bad  # Else it is said of the whole.
    if not bad or all(o.verdict == result.verdict for o in outputs):
        return _unused_words(unlike).strip()
    return f"By itself {_grouped(outputs)}.{_unused_words(unlike)}"


def outputs_note(outputs: Sequence[Output], numbers: bool) -> list[str]:
    """What is said of each output, with its errors, in a note; none of a single one."""
    if not outputs:
        return []
    own = f"Each of the {len(outputs)} outputs counts by its own spread in training; shifts and other units are looked "
    told = "; ".join(o.told for o in outputs)
    return [f"{own}for in each by itself. " * numbers + f"By itself {told}. Intervals and reasons: outputs_frame()."]


def _grouped(outputs: Sequence[Output]) -> str:
    """Outputs by verdict, the worst first."""
    said: dict[tuple[str, str], list[int]] = {}
    for o in sorted(outputs, key=lambda o: (o.nothing, WORST.index(o.verdict))):
        words = (f"cannot be judged ({o.why})",) * 2 if o.verdict == UNJUDGED else o.said
        said.setdefault(words, []).append(o.number)
    if len(said) == 1 and outputs[0].verdict != UNJUDGED:
        every = "both" if len(outputs) == 2 else f"all {len(outputs)}"
        return f"{every} {outputs[0].said[1]}"
    return "; ".join(f"output{'s' * (len(of) > 1)} {_listed(of)} {words[len(of) > 1]}" for words, of in said.items())


def _unused_words(outputs: Sequence[Output]) -> str:
    """Which outputs hardly vary with which factors, in a sentence for each of these, after a space."""
    said: dict[tuple[str, ...], list[int]] = {}
    for o in outputs:
        said.setdefault(o.unused, []).append(o.number)
    return "".join(
        f" Answers of output{'s' * (len(of) > 1)} {_listed(of)} hardly vary with {' or '.join(map(brief, names))}."
        for names, of in said.items() if names
    )  # fmt: skip


def _listed(numbers: Sequence[int]) -> str:
    *first, last = map(str, numbers)
    return f"{', '.join(first)} and {last}" if first else last
