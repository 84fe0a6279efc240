"""Gradient descent on a redundant input, in two dimensions (Li et al. 2020, section 6).

The paper shows one network step by step (its figure 5) and the final boundaries of a few seeds (figure 6). Here
hundreds of networks are trained, so that what happens to one can be told from what happens to most.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from recombine.models import Perceptron
from recombine.runs import StoredRun
from recombine.runs.training import Measured, TrainingRun
from recombine.statistics import share_interval
from recombine.studies._cells import LAST, Cells, cells, rising
from recombine.studies.charts import chart, curves, dots, drawn
from recombine.studies.claims import Claim
from recombine.studies.faithful import Faithful
from recombine.studies.notes import read_notes
from recombine.studies.study import Paper, Setting, Study
from recombine.studies.tables import beside
from recombine.tasks import ToyTask
from recombine.training import SGD, powers_of_two

STEPS = 1024
EPOCH_STEPS = 25 * STEPS
"""In the playground a step is a pass over 250 points in batches of 10, so the paper's 1024 may mean 25 600 updates."""

Second = Literal["redundant", "uninformative"]
Loss = Literal["cross entropy", "squared tanh"]
REDUNDANT, UNINFORMATIVE = "X₂ redundant", "X₂ uninformative"
BOTH = [REDUNDANT, UNINFORMATIVE]

WRONG = 0.05
"""A boundary is wrong on the unseen quarter where it gives more than this share of it the wrong answer."""

FIT_BELOW = 0.25
"""Training loss (cross entropy) above which a network has not learnt the three quarters it saw; chance is 0.64."""

LEVELS = tuple(k / 64 for k in range(32, 65))
LINES_OF = 48
"""Members whose boundaries are kept for drawing."""

PAPER = Paper(
    "Gradient Descent Resists Compositionality",
    "Yuanpeng Li, Liang Zhao, Joel Hestness, Kenneth Church, Mohamed Elhoseiny", 2020, "ICLR 2021 submission",
    "https://openreview.net/forum?id=VMAesov3dfU",
)  # fmt: skip


@dataclass(frozen=True)
class Size:
    """What the scales differ in."""

    members: int
    steps: int
    long_members: int
    long_steps: int
    many: int
    """Networks whose rare outcomes are counted."""


def settings(size: Size, members: int | None) -> Mapping[str, Setting]:
    """Both settings with the paper's network, the same with the playground's loss, and a training 25 times as long;
    then both so many times that one in ten thousand is seen."""
    count, many = members or size.members, members or size.many
    both: dict[Second, str] = {"redundant": REDUNDANT, "uninformative": UNINFORMATIVE}
    long = f"{REDUNDANT}, 25 600 updates"
    return {
        **{second: _setting(second, count, size.steps, title) for second, title in both.items()},
        **{f"{second}-playground": _setting(second, count, size.steps, f"{title}, playground loss", "squared tanh")
           for second, title in both.items()},
        "redundant-epochs": _setting("redundant", min(count, size.long_members), size.long_steps, long,
                                     paper_steps=EPOCH_STEPS),
        **{f"{second}-many": _many(second, many, size.steps, title) for second, title in both.items()},
    }  # fmt: skip


def _setting(
    second: Second, members: int, steps: int, title: str, loss: Loss = "cross entropy", paper_steps: int = STEPS
) -> Setting:
    at = powers_of_two(steps)
    run = TrainingRun(
        task=ToyTask(second=second, loss=loss), model=Perceptron(widths=(2, 8, 8, 8, 2), start="playground"),
        members=members, steps=steps, batch_size=10, optimizer=SGD(lr=0.1),
        fit_below=FIT_BELOW if loss == "cross entropy" else None,
        measured=(Measured(measure="per_combination", at=at, arguments={"count": 512}),
                  *(Measured(measure=name, at=at) for name in ("influence", "boundary", "decision_map"))),
    )  # fmt: skip
    return Setting(run, {"setting": title}, Faithful(steps=paper_steps))


def _many(second: Second, members: int, steps: int, title: str) -> Setting:
    """The same, of which only how they end is kept."""
    usual = _setting(second, members, steps, f"{title}, {members} networks")
    last = Measured(measure="per_combination", at=(-1,), arguments={"count": 512})
    return Setting(usual.run.replace(measured=(last,), keep_history=False), usual.labels)


def _accuracy(run: StoredRun, _: Setting) -> pl.DataFrame:
    """Accuracy on the quarter (1, 1) and on the others, and how far the boundary bends, of each member and step."""
    by = ["member", "step"]
    x1, x2 = pl.col("x1"), pl.col("x2")
    bend = run.table("boundary").group_by(by, maintain_order=True).agg(
        (x1.filter(x2 > 0).mean() - x1.filter(x2 < 0).mean()).alias("bend")
    )  # fmt: skip
    return beside(_quarters(run, by), bend, on=by)


def _quarters(run: StoredRun, by: list[str]) -> pl.DataFrame:
    unseen = (pl.col("y1") == 1) & (pl.col("y2") == 1)
    return run.table("per_combination").group_by(by, maintain_order=True).agg(
        pl.col("accuracy").filter(~unseen).mean().alias("other_quarters"),
        pl.col("accuracy").filter(unseen).mean().alias("quarter_11"),
    )  # fmt: skip


def _ends(run: StoredRun, _: Setting) -> pl.DataFrame | None:
    """Where each of very many networks ends: a row and a number each."""
    if "boundary" in run.tables:
        return None
    return _quarters(run, ["member"]).select("member", pl.col("quarter_11").cast(pl.Float32))


def _lines(run: StoredRun, _: Setting) -> pl.DataFrame:
    return run.table("boundary").filter(pl.col("member") < LINES_OF)


def _shares(run: StoredRun, _: Setting) -> pl.DataFrame:
    """The share of members that answer 1 at each place and step."""
    cells = run.table("decision_map").group_by("step", "x1", "x2", maintain_order=True)
    return cells.agg(pl.col("choice").cast(pl.Float64).mean().alias("share"))


def _of(run: str, value: str | pl.Expr = "quarter_11", *where: pl.Expr, **more: Any) -> Cells:
    return cells(value, "accuracy", *(where or (LAST,)), run=run, **more)


QUARTER, GAP = pl.col("quarter_11"), pl.col("other_quarters") - pl.col("quarter_11")
FIRST = QUARTER.filter(pl.col("step") == 1).first().over("run", "member")
"""Accuracy on the quarter after the first update."""
LEARNED = QUARTER.filter(pl.col("fitted").fill_null(True))
ENOUGH = 10_000


def _rare(run: str, which: pl.Expr) -> Cells:
    """Fewer networks than `ENOUGH` cannot tell what one in a thousand does, and say nothing."""
    return cells(which.cast(pl.Float64), "ends", run=run, counted=True, least=ENOUGH)


CLAIMS = (
    Claim("toy-wrong-quarter", "Most trained networks are wrong on part of the unseen quarter.",
          _of("redundant", (QUARTER < 1 - WRONG).cast(pl.Float64), counted=True).above(0.5, nothing=0.5),
          source="section 6 and figure 6: “the trained model do not have compositionality”; boundaries, no numbers. "
          "Judged by networks that misplace more than 5 % of the quarter", unit="of members"),
    Claim("toy-gap", "Accuracy on the unseen combination stays below that on the seen ones.",
          _of("redundant", GAP).above(0), source="section 6, figures 5 and 6"),
    Claim("toy-resistance", "With X₂ made uninformative, the same networks do better on the same quarter.",
          rising(_of("redundant"), _of("uninformative"), names=BOTH, pair="member"),
          source="settings A and B of section 5, applied to the toy"),
    Claim("toy-bend", "The redundant input bends the boundary into the unseen quarter.",
          rising(_of("uninformative", "bend"), _of("redundant", "bend"), names=BOTH[::-1], pair="member"),
          source="figure 6: no boundary is vertical; measured as its shift between X₂ < 0 and X₂ > 0"),
    Claim("toy-first-step", "The first update already moves the unseen quarter to the wrong side.",
          _of("redundant", QUARTER, pl.col("step") == 1).minus(_of("redundant", QUARTER, pl.col("step") == 0)).below(0),
          source="section 6: samples “push the updated boundary in step 1 to the middle of upper right area”"),
    Claim("toy-stable", "After the first update the boundary remains stable.",
          _of("redundant", (QUARTER - FIRST).abs()).below(0.1, nothing=0.1),
          source="section 6: “in the following steps … the boundary remains stable”"),
    Claim("toy-dip", "On the way, accuracy on the unseen quarter dips more than one half below where it ends.",
          _of("redundant").minus(_of("redundant", QUARTER, pl.col("step") > 0, take="min")).above(0.5, nothing=0.0),
          whose="ours", source="the final accuracy hides most of the effect", unit="accuracy"),
    Claim("toy-influence", "The redundant input keeps an influence on the answer that an uninformative one does not.",
          rising(*(cells("influence", "influence", LAST, run=run, input="x2") for run in ("uninformative",
                 "redundant")), names=BOTH[::-1], pair="member"),
          source="proposition 4: ∂Ŷ/∂X₂ ≠ 0 for a redundant X₂; it proves “not zero”, never how large"),
    Claim("toy-playground", "The resistance does not hang on the loss: the playground's squared loss shows it too.",
          rising(_of("redundant-playground"), _of("uninformative-playground"), names=BOTH, pair="member"),
          source="appendix C names the playground, whose loss is squared error after tanh"),
    Claim("toy-epochs",
          "If the paper's 1024 steps are epochs (25 600 updates), accuracy on the quarter still stays below the rest.",
          _of("redundant-epochs", GAP, LAST, steps=EPOCH_STEPS).above(0),
          runs=("redundant-epochs",),
          source="appendix C says steps; in the playground's source a step is a pass over the training points"),
    Claim("toy-whole", "Fewer than one network in 200 is right on the whole unseen quarter.",
          _rare("redundant-many", QUARTER == 1).below(0.005, nothing=0.44), whose="ours", unit="of networks",
          source="all of 512 points; nothing: as many as had seen it (.44 of 1024). The criterion came from the first "
          "1024 of these same networks, of which two were"),
    Claim("toy-rare-control", "With X₂ uninformative fewer than one in 1000 loses a fifth of the quarter.",
          _rare("uninformative-many", QUARTER < 0.8).below(0.001, nothing=0.01), whose="ours", unit="of networks",
          source="nothing: as many as with X₂ redundant (ten of 1024). The criterion came from the first 1024 of these "
          "same networks, of which none did"),
    Claim("toy-tail", "Bad networks are more than a bell curve has: over one in 100 000 is five deviations off.",
          _rare("redundant-many", LEARNED.mean().over("run") - 5 * LEARNED.std().over("run") > QUARTER)
          .above(1e-5, nothing=2.9e-7), whose="ours", unit="of networks",
          source="nothing: a normal distribution; the worst of 1024 is 3.8 below the mean. Networks that did not learn "
          "what they saw are left out. Rival: a share of points is bounded and therefore skewed; with X₂ uninformative "
          "81 networks lie beyond five of their own deviations, so that the tail says nothing of redundancy"),
)  # fmt: skip


def _both_sides(table: pl.DataFrame) -> pl.DataFrame:
    return table.unpivot(["other_quarters", "quarter_11"], index=["setting", "step", "member"], variable_name="where")


def _tails(rows: pl.DataFrame) -> pl.DataFrame:
    """The share of networks whose accuracy is below each level, with its exact interval, as powers of ten."""
    found = []
    for (setting,), some in rows.group_by("setting", maintain_order=True):
        values = some["quarter_11"]
        for level in LEVELS:
            if count := int((values < level).sum()):
                share = share_interval([1.0] * count + [0.0] * (len(values) - count))
                found.append((setting, level, *(math.log10(v) for v in (share.mean, share.low, share.high))))
    return pl.DataFrame(found, ["setting", "level", "mean", "low", "high"], orient="row")


IN_BOTH = pl.col("setting").is_in(BOTH)
INPUTS: dict[str, Any] = {"x_title": "X₁", "y_title": "X₂", "regions": [((0, 1), (0, 1), "unseen")]}
FIGURES = (
    drawn("tails", "How rare are very bad networks?", table="ends", fitted=True, prepare=_tails,
          draw=chart("curves", "level", "mean", "setting", "low", "high", x_title="accuracy on the quarter (1, 1)",
                     y_title="log₁₀ share of networks below it", reference=-3.0)),
    drawn("decision-map", "Where the networks answer 1, step by step", pl.col("run") == "redundant", table="map",
          draw=chart("maps", "x1", "x2", "share", "step", facet_title="step",
                     value_title="share of members that answer 1", **INPUTS)),
    drawn("boundaries", "The boundary of each network at the end", LAST, IN_BOTH, table="boundary",
          draw=chart("lines_of_members", "x1", "x2", "member", "setting", order="x2", most=LINES_OF,
                     x_domain=(-1, 1), y_domain=(-1, 1), square=True, **INPUTS)),
    curves("accuracy", "Accuracy along training", IN_BOTH, table="accuracy", x="step", y="value", by="where",
           facet="setting", prepare=_both_sides, fitted=False,
           names={"where": {"other_quarters": "the three seen quarters", "quarter_11": "the quarter (1, 1)"}},
           log_x=True, x_title="step", y_title="accuracy", y_domain=(0, 1)),
    dots("members", "Every network at the end", LAST, table="accuracy", group="setting", value="quarter_11",
         fitted=False, keep=["setting", "member", "quarter_11"], axis="accuracy on the quarter (1, 1) at the end",
         domain=(0.5, 1)),
    curves("influence", "What moves the answer", IN_BOTH, table="influence", x="step", y="influence", by="input",
           facet="setting", fitted=False, names={"input": {"x1": "X₁", "x2": "X₂"}}, log_x=True, x_title="step",
           y_title="E|∂Ŷ₁/∂X|"),
)  # fmt: skip

STUDY = Study(
    name="gradient-toy",
    title="Gradient descent and a redundant input, in two dimensions",
    says="A network trained on three of four combinations draws its boundary through the fourth.",
    question="Trained without one of four combinations, where does a small network put its boundary — and why there?",
    paper=PAPER,
    scales={
        "smoke": Size(16, 256, 8, 512, 32),
        "quick": Size(256, STEPS, 32, EPOCH_STEPS, 256),
        "paper": Size(1024, STEPS, 256, EPOCH_STEPS, 65_536),
    },
    settings=settings,
    tables={
        "accuracy": (_accuracy, "boundary"), "influence": "influence", "boundary": (_lines, "boundary"),
        "map": (_shares, "decision_map"), "ends": _ends,
    },
    claims=CLAIMS,
    figures=FIGURES,
    notes=read_notes(__file__),
)  # fmt: skip
