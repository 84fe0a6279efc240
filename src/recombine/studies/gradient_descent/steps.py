"""One gradient step, two, four …: when a redundant input first has more influence, and which way slopes turn before.

Propositions 3 and 4 (Li et al. 2020) say that ∂Ŷ/∂X₂ ≠ 0 after a step where X₂ is redundant, and not how many steps it
takes until its size tells A from a control: |∂Ŷ/∂X₂| of a random start is not 0, and small changes of either sign
cancel in its mean. So the slope is kept with its sign too: without (1, 1), a larger X₂ speaks for Y₁ = 0, and the slope
of the score of 1 should fall. A differs from B in more than redundancy (two thirds of its Y₁ and of its Y₂ are 0), so a
second control, B″, draws each as often as A does and independently: from it A differs in the dependence, and in that
(1, 1) is missing. What these two do apart is asked of a setting midway between A and B″, in which every combination is
shown; what the rate has to do with the number of steps, of A and B″ at a quarter of it and at four times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl
import torch
from torch import Tensor

from recombine.description import Description
from recombine.errors import InputError
from recombine.measures._component_influence import slopes
from recombine.measures._swap import independent, part_of
from recombine.runs import StoredRun
from recombine.runs.training import Measured, TrainingRun
from recombine.statistics import FloatArray, interval
from recombine.studies._cells import Cells, Quantity, cells
from recombine.studies.claims import Claim, Test, corrected
from recombine.studies.study import Setting
from recombine.tasks import Draws, Task, ToyBoth, ToyTask
from recombine.tasks.abilities import AnswersInParts
from recombine.training import SGD, Ensemble, powers_of_two

STEPS = 1024
LOOKS = powers_of_two(STEPS)[1:]
"""The numbers of steps that are looked at. Each interval is corrected for all of them (Bonferroni)."""
EARLY = 64
"""The claims are about looks up to here: the propositions are about small steps from the start."""
RATE = 0.1
RATES = {"slow": RATE / 4, "fast": RATE * 4}
ONE, BOTH = "Y₁", "Y₁ and Y₂"
A, B, ALIKE = "A: X₂ redundant", "B: X₂ uninformative", "B″: independent, each as often as in A"
SIDES = {"a": ("redundant", A), "b": ("uninformative", B), "alike": ("independent", ALIKE)}
HALF = {"half": ("half", "half of A's dependence, every combination shown")}
PAIR = {side: SIDES[side] for side in ("a", "alike")}
OTHER = pl.col("output") != pl.col("component")
"""An input and the answer that it does not belong to: X₂ and Y₁, and where Y₂ is asked as well X₁ and Y₂."""


def several_steps(toy: Description, both: Description, members: int, steps: int) -> dict[str, Setting]:
    """The step of `measures.one_step` (batches of 512, rate 0.1) again and again, each network with batches of its
    own; the networks start as there. At a lower rate more steps are taken, up to `STEPS`."""

    def setting(task: Task, title: str, rate: float = RATE) -> Setting:
        answers, model = (BOTH, both) if isinstance(task, ToyBoth) else (ONE, toy)
        taken = max(steps, min(STEPS, round(steps * RATE / rate)))
        directed = Measured(measure=f"{__name__}:directed", at=powers_of_two(taken))
        run = TrainingRun(task=task, model=model, members=members, steps=taken, batch_size=512,
                          optimizer=SGD(lr=rate), measured=(directed,))  # fmt: skip
        return Setting(run, {"answers": answers, "setting": title, **({} if rate == RATE else {"rate": rate})})

    def toys(sides: Mapping[str, tuple[Any, str]], name: str = "steps", rate: float = RATE) -> dict[str, Setting]:
        return {f"{name}-{side}": setting(ToyTask(second=second), title, rate)
                for side, (second, title) in sides.items()}  # fmt: skip

    return {
        **toys(SIDES),
        **{f"both-steps-{side}": setting(ToyBoth(other=other), title)
           for side, (other, title) in SIDES.items()},
        **toys(HALF), **toys(PAIR, "steps-slow", RATES["slow"]), **toys(PAIR, "steps-fast", RATES["fast"]),
    }  # fmt: skip


def at_rate(which: str) -> Callable[[StoredRun, Setting], pl.DataFrame | None]:
    """What `directed` gave of the runs at the rate of the first step (``"one"``), or of those at ``"other"`` rates."""

    def rows(run: StoredRun, setting: Setting) -> pl.DataFrame | None:
        return run.tables.get("directed") if ("rate" in setting.labels) == (which == "other") else None

    return rows


def directed(ensemble: Ensemble, task: Task, count: int = 256, seed: int = 0) -> pl.DataFrame:
    """``influence`` E|∂ŷ_i/∂X_j| and, with its sign, ``tilt`` E ∂ŷ_i/∂X_j of the score ŷ_i of Y_i = 1 less the mean of
    both scores; ``share`` of the influence of all inputs. Components are drawn independently. One row per member,
    output and component."""
    draws = Draws.single(seed, "directed", ensemble.device)
    inputs, _ = task.examples(independent(task, draws("asked"), count), draws("asked"))
    names = ["·".join(block) for block in task.space.components]
    outputs = {names[0]: slice(None)}
    if isinstance(task, AnswersInParts):
        outputs = {name: task.answer_part(i) for i, name in enumerate(names)}
    ones = torch.ones(count, dtype=torch.int64, device=ensemble.device)
    tables = []
    for output, place in outputs.items():
        found = slopes(ensemble, inputs, ones, place)
        sizes, tilts = (_by_part(task, of, names) for of in (found.abs(), found))
        columns = {"influence": sizes, "share": sizes / sizes.sum(1, keepdims=True), "tilt": tilts}
        tables.append(pl.DataFrame({
            "member": np.repeat(np.array(ensemble.members, dtype=np.int32), len(names)),
            "output": output, "component": names * len(ensemble),
            **{name: column.ravel().astype(np.float32) for name, column in columns.items()},
        }))  # fmt: skip
    return pl.concat(tables)


def _by_part(task: Task, gradients: Tensor, names: list[str]) -> FloatArray:
    places = [part_of(task, gradients[0], j) for j in range(len(names))]
    if None in places:
        raise InputError("slopes by component need a task that says which part of an input shows which component.")
    means = [gradients[..., place].flatten(1).double().mean(1).cpu().numpy() for place in places]
    return np.stack(means, axis=1)


def _start(column: str) -> pl.Expr:
    return pl.col(column).filter(pl.col("step") == 0).first().over("member")


MORE, MORE_ALIKE, RISEN, SHARE = "A less B", "A less B″", "A less its start", "share of A less B″"
HALVED, TURNED, OWN = "half less B″", "turn of A less B″", "own input of A less its start"
QUESTIONS: dict[str, tuple[bool, pl.Expr]] = {
    MORE: (False, pl.col("influence_a") - pl.col("influence_b")),
    MORE_ALIKE: (False, pl.col("influence_a") - pl.col("influence_alike")),
    RISEN: (False, pl.col("influence_a") - _start("influence_a")),
    SHARE: (False, pl.col("share_a") - pl.col("share_alike")),
    HALVED: (False, pl.col("influence_half") - pl.col("influence_alike")),
    TURNED: (False, pl.col("tilt_alike") - pl.col("tilt_a")),
    OWN: (True, pl.col("influence_a") - _start("influence_a")),
    "own input of A less B″": (True, pl.col("influence_a") - pl.col("influence_alike")),
    "B less its start": (False, pl.col("influence_b") - _start("influence_b")),
    "B″ less its start": (False, pl.col("influence_alike") - _start("influence_alike")),
}
"""What is told apart, of the input that an answer does not belong to or (``own``) of the one that it belongs to."""


def _by(steps: pl.DataFrame) -> list[str]:
    """What tells apart whose steps are compared."""
    return [name for name in ("rate", "answers") if name in steps.columns]


def _apart(steps: pl.DataFrame) -> pl.DataFrame:
    """Every question of each member after each number of steps: ``rate`` where there are several, ``answers``,
    ``question``, ``step``, ``member``, ``fitted`` and ``apart``."""
    short = pl.col("run").str.split("-").list.last().alias("side")
    by = _by(steps)
    keys = [*by, "member", "step"]
    found = []
    for own in (False, True):
        rows = steps.filter(~OTHER if own else OTHER).group_by(*keys, short, maintain_order=True)
        means = rows.agg(pl.col("influence", "share", "tilt").cast(pl.Float64).mean(), pl.col("fitted").all())
        known = means.group_by(keys, maintain_order=True).agg(pl.col("fitted").all())
        wide = means.pivot("side", index=keys, values=["influence", "share", "tilt"]).sort(keys)
        for _, these in wide.join(known, on=keys, maintain_order="left").group_by(by, maintain_order=True):
            for question, (whose, value) in QUESTIONS.items():
                if whose == own and set(value.meta.root_names()) <= set(these.columns):
                    found.append(these.select(*by, pl.lit(question).alias("question"), "step", "member", "fitted",
                                              value.alias("apart")))  # fmt: skip
    return pl.concat(found).filter(pl.col("step").is_in(LOOKS), pl.col("apart").is_finite())


def steps_apart(steps: pl.DataFrame) -> pl.DataFrame:
    """Every question after each number of steps: the mean over members with its interval, corrected for all looks."""
    rows = []
    keys = [*_by(steps), "question", "step"]
    for key, members in _apart(steps).filter("fitted").group_by(keys, maintain_order=True):
        figure = interval(members["apart"].to_numpy(), corrected(len(LOOKS)))
        rows.append((*key, figure.count, figure.mean, figure.low, figure.high))
    schema = {**dict.fromkeys(keys, pl.String), "rate": pl.Float64, "step": pl.Int64, "members": pl.Int64}
    numbers = dict.fromkeys(("difference", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, schema={**{name: schema[name] for name in (*keys, "members")}, **numbers}, orient="row")


def steps_first(steps: pl.DataFrame, apart: pl.DataFrame) -> pl.DataFrame:
    """Of every question each member at the first early look whose interval lies above 0; where there is none, at that
    whose interval reaches highest with its lower end, or nothing where runs end too early to tell. At other rates as
    long counts as early as makes steps × rate."""
    rate = pl.col("rate") if "rate" in apart.columns else pl.lit(RATE)
    by, path = [*_by(steps), "question"], pl.col("step") * rate
    whole = (path.max() >= EARLY * RATE * 0.999).over(by).alias("whole")
    early = apart.with_columns(whole).filter(path <= EARLY * RATE * 1.001, pl.col("low").is_finite())
    early = early.filter(pl.col("whole") | (pl.col("low") > 0).any().over(by))
    order = [pl.col("low") > 0, pl.when(pl.col("low") > 0).then(-pl.col("step")).otherwise(pl.col("low"))]
    first = early.group_by(by, maintain_order=True).agg(pl.col("step").sort_by(order, descending=True).first())
    return first.join(_apart(steps), on=[*by, "step"], maintain_order="left")


def _first(question: str, answers: str = ONE, table: str = "steps_first", **more: Any) -> Test:
    found = cells("apart", table, unit="member", answers=answers, question=question, **more)
    return found.above(0, looks=len(LOOKS))


def _after(side: str, step: int, value: str | pl.Expr, run: str = "steps") -> Cells:
    return cells(value, "steps", OTHER, run=f"{run}-{side}", step=step)


def _more(pace: str = "", step: int = 16) -> Quantity:
    """Influence in A less that in B″ after so many steps at a rate."""
    table, run = ("rates", f"steps-{pace}") if pace else ("steps", "steps")
    a, alike = (cells("influence", table, OTHER, run=f"{run}-{side}", step=step) for side in PAIR)
    return a.minus(alike)


def _paced(pace: str, called: str) -> tuple[Claim, Claim]:
    """Of another rate: that X₂ comes to have more influence within as many steps × rate, and as much."""
    rate = RATES[pace]
    step, within = round(16 * RATE / rate), round(EARLY * RATE / rate)
    return (
        Claim(f"steps-added-{pace}", f"At {called} the rate X₂ comes to have more influence than in B″ within {within} "
              "steps.", _first(MORE_ALIKE, table="rates_first", rate=rate), whose="ours", unit=SIZE,
              source=f"what steps-added-alike leaves open; {BY_LOOK.replace(str(EARLY), str(within))}"),
        Claim(f"steps-path-{pace}", f"What counts is steps × rate: after {step} steps at {called} the rate X₂ has "
              "gained as much beside B″ as after 16.", _more(pace, step).minus(_more()).near(0.004, theory=0),
              whose="ours", unit=SIZE,
              source="rival: noise of batches, which more steps average out, moves slopes too. Judged within .004, a "
              f"third of what is gained; the networks start alike. {DECLARED}"),
    )  # fmt: skip


def _turned(run: str) -> Test:
    return _after("alike", 1, "tilt", run).minus(_after("a", 1, "tilt", run)).above(0)


SIDE = -pl.col("tilt").filter(pl.col("step") == 0).first().over("run", "member", "output", "component").sign()
"""1 where a slope starts on the side of the redundancy (a larger X₂ speaks for Y₁ = 0), −1 where on the other."""
DECLARED = "Declared before it was run"
BY_LOOK = (
    f"asked after 1, 2, 4 … steps and judged at the first of these, up to {EARLY}, whose interval lies above 0; it is "
    f"corrected for {len(LOOKS)} looks, those up to {STEPS}. {DECLARED}"
)
SIZE, SIZES = "E|∂ŷ/∂X₂|", "E|∂ŷᵢ/∂Xⱼ|"
SIZED = SIDE * pl.col("influence")

LATER = (
    Claim("steps-added",
          f"Within {EARLY} gradient steps X₂ comes to have more influence where it is redundant than where it says "
          "nothing.", _first(MORE), whose="ours", unit=SIZE,
          source=f"what one-step-added leaves open, with its networks, rate and size of batch; {BY_LOOK}"),
    Claim("steps-added-alike", f"Within {EARLY} steps X₂ comes to have more influence where it is redundant than in a "
          f"control in which either label, and either X₂, is as frequent.",
          _first(MORE_ALIKE), whose="ours", unit=SIZE,
          source="rival: two thirds of A's labels are 0 and half of B's, which moves slopes without any redundancy. B″ "
          f"draws Y₁ and Y₂ each as often 1 as A does, one time in three, whatever the other is; {BY_LOOK}"),
    Claim("steps-risen", f"Within {EARLY} steps the influence of a redundant X₂ rises above that of its start.",
          _first(RISEN), whose="ours", unit=SIZE,
          source=f"rival: A may lie above a control only because the control unlearns a random start; {BY_LOOK}"),
    Claim("steps-share", f"Within {EARLY} steps a redundant X₂ comes to have a larger share of the influence of both "
          f"inputs, too, than in B″, in which either label, and either X₂, is as frequent.",
          _first(SHARE), whose="ours", unit="of influence",
          source="rival: A learns faster and all of its slopes grow, along X₁ as along X₂; the difference is not "
          f"normalised, the share is; {BY_LOOK}"),
    Claim("steps-own", f"Within {EARLY} steps X₁, which says the answer, has more influence than before the first.",
          _first(OWN), whose="ours", unit="E|∂ŷ/∂X₁|", source=f"what one-step-own leaves open; {BY_LOOK}"),
    Claim("steps-turned",
          "The first gradient step already turns slopes along X₂ to where the redundancy points, more than in B″.",
          _turned("steps"), whose="ours", unit="E ∂ŷ/∂X₂, downwards",
          source="without (1, 1) a larger X₂ speaks for Y₁ = 0: propositions 3 and 4 with the sign that E|∂ŷ/∂X₂| "
          f"drops. One look. {DECLARED}"),
    Claim("steps-side",
          "In the first step slopes along X₂ that start where the redundancy points gain size beside B″, and those "
          "that start on the other side lose it.", _after("a", 1, SIZED).minus(_after("alike", 1, SIZED)).above(0),
          whose="ours", unit=SIZE,
          source="our explanation of one-step-added, that gains and losses of a random start cancel; of members on the "
          f"other side the difference is turned. One look. {DECLARED}"),
    Claim("both-steps-added",
          f"Where both answers are asked, within {EARLY} steps each input comes to have more influence on the other "
          "answer where it is redundant.", _first(MORE, BOTH), whose="ours", unit=SIZES,
          source=f"what both-added leaves open; {BY_LOOK}"),
    Claim("both-steps-added-alike", "Where both answers are asked, each input comes to have more influence on the "
          "other answer where it is redundant than in B″, too, in which either label is as frequent.",
          _first(MORE_ALIKE, BOTH), whose="ours", unit=SIZES, source=f"as steps-added-alike; {BY_LOOK}"),
    Claim("both-steps-turned", "Where both answers are asked, too, the first step turns slopes along the other input "
          "to where the redundancy points.",
          _turned("both-steps"), whose="ours", unit="E ∂ŷᵢ/∂Xⱼ, downwards",
          source=f"as steps-turned. One look. {DECLARED}"),
    Claim("steps-half-turned",
          "The first step turns slopes along X₂, too, where X₂ depends on Y₁ half as much and every combination is "
          "shown.",
          _after("alike", 1, "tilt").minus(_after("half", 1, "tilt")).above(0), whose="ours",
          unit="E ∂ŷ/∂X₂, downwards",
          source="rival of steps-turned: that (1, 1) is missing does it, and not the dependence as such. The setting "
          f"lies midway between A and B″ in every combination. One look. {DECLARED}"),
    Claim("steps-half-as-far", "Where X₂ depends on Y₁ half as much and every combination is shown, the first step "
          "turns slopes along X₂ half as far as where (1, 1) is missing.",
          _after("alike", 1, "tilt").minus(_after("half", 1, "tilt"))
          .minus(_after("half", 1, "tilt").minus(_after("a", 1, "tilt"))).near(0.0008, theory=0), whose="ours",
          unit="E ∂ŷ/∂X₂",
          source="the expected gradient of a first step is linear in how often each combination is drawn, so that a "
          "combination that is missing can do no more than one that is rare. Judged within a quarter of what A turns. "
          f"One look. {DECLARED}"),
    Claim("steps-half-added", f"Where X₂ depends on Y₁ half as much and every combination is shown, X₂ comes within "
          f"{EARLY} steps to have more influence than in B″, where it does not depend on Y₁.",
          _first(HALVED), whose="ours", unit=SIZE,
          source=f"rival of steps-added-alike, that (1, 1) is missing; {BY_LOOK}"),
    *_paced("slow", "a quarter of"), *_paced("fast", "four times"),
)  # fmt: skip
