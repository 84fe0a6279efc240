"""What the paper says of its experiments, and what it leaves open. It prints curves and no numbers, so no claim has a
published figure."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import polars as pl

from recombine.measures._resistance import area
from recombine.statistics import interval
from recombine.studies._cells import LAST, Cells, Quantity, cells, rising
from recombine.studies.chances import holm, welch
from recombine.studies.claims import Claim, Test, Whose
from recombine.studies.gradient_descent import settings as of
from recombine.studies.gradient_descent.steps import LATER

EARLY = {"pairs": 100, "scan": 25}
"""The training lead is judged over the first half of 200 steps; on SCAN the paper sees it “in steps 10–25”."""
EARLY_COLUMNS = {"run": pl.String, "view": pl.String, "member": pl.Int32, "accuracy": pl.Float64, "loss": pl.Float64,
                 "fitted": pl.Boolean}  # fmt: skip
RIGHT_ANGLES = 1 / math.sqrt(2)
"""What is left of two terms of equal length that have nothing to do with each other, of the sum of their lengths."""


def early(*tables: pl.DataFrame) -> pl.DataFrame:
    """The mean height of each member's curves of accuracy and loss over the first steps, by view; none of a run that
    ends before."""
    parts = [pl.DataFrame(schema=EARLY_COLUMNS)]
    for table, until in zip(tables, EARLY.values(), strict=True):
        known = table.select("run", "member", "fitted").unique(maintain_order=True)
        whole = table.filter(pl.col("step").max().over("run") >= until)
        for (run, view), rows in whole.group_by("run", "view", maintain_order=True):
            means = area(rows, until, "accuracy", str(view)).rename({"area": "accuracy"})
            losses = area(rows, until, "loss", str(view)).rename({"area": "loss"})
            label = [pl.lit(run).alias("run"), pl.lit(view).alias("view")]
            parts.append(means.join(losses, on="member").select(*label, pl.all()).join(known, on=["run", "member"]))
    return pl.concat(parts, how="vertical_relaxed")


def optimizer_pairs(optimizers: pl.DataFrame) -> pl.DataFrame:
    """What redundancy costs with one optimiser less what it costs with another, stopped below the same loss: every pair
    of a task, by member, with its chance if there were no difference (``p``, and by Holm over all pairs of the task).
    """
    costs = optimizers.filter("fitted").pivot("setting", index=["task", "optimizer", "member"], values="unseen")
    rows = []
    for (task,), mine in costs.with_columns(cost=pl.col("B") - pl.col("A")).group_by("task", maintain_order=True):
        found = []
        for one, other in combinations(mine["optimizer"].unique(maintain_order=True), 2):
            first, second = (mine.filter(optimizer=name).select("member", "cost") for name in (one, other))
            both = first.join(second, on="member", suffix="_other", maintain_order="left").drop_nulls()
            apart = (both["cost"] - both["cost_other"]).to_numpy()
            figure = interval(apart)
            error = float(np.var(apart, ddof=1)) / len(apart) if len(apart) > 1 else math.nan
            chance = welch(figure.mean, [(error, len(apart) - 1)]) if len(apart) > 1 else 1.0
            found.append((task, one, other, len(apart), figure.mean, figure.low, figure.high, chance))
        rows += [(*row, corrected) for row, corrected in zip(found, holm([row[-1] for row in found]), strict=True)]
    names = {"task": pl.String, "one": pl.String, "other": pl.String, "members": pl.Int64}
    numbers = dict.fromkeys(("difference", "low", "high", "p", "holm"), pl.Float64)
    return pl.DataFrame(rows, schema={**names, **numbers}, orient="row")


def _end(run: str, view: str = "unseen", table: str = "pairs", score: str = "accuracy") -> Cells:
    return cells(score, table, LAST, run=run, view=view)


def _resists(a: str, control: str, table: str = "pairs", score: str = "accuracy") -> Test:
    """Unseen combinations are answered worse in A than in the control, member by member."""
    return _end(control, table=table, score=score).minus(_end(a, table=table, score=score)).above(0)


def _gap(run: str, table: str) -> Quantity:
    return _end(run, "trained", table).minus(_end(run, table=table))


def _digit_2(column: str) -> Test:
    sides = (cells(column, "dependence", LAST, run=run, component="digit_2") for run in ("pair-b", "pair-a"))
    return rising(*sides, names=("in B", "in A"), pair="member")


def _early(run: str, view: str = "trained", score: str = "accuracy") -> Cells:
    return cells(score, "early", run=run, view=view)


PAIRS = (
    Claim("pair-gap",
          "The gap between trained and unseen pairs is larger with a redundant X₂ than with an uninformative one.",
          rising(_gap("pair-b", "pairs"), _gap("pair-a", "pairs"), names=("gap in B", "gap in A"), pair="member"),
          source="section 5.1: “the gap of training and test accuracy is significantly larger”; figure 3a",
          unit="accuracy"),
    Claim("pair-resistance-b", "On unseen pairs of digits A does worse than B: X₂ uninformative.",
          _resists("pair-a", "pair-b"), source="section 5.1, figure 3a", unit="accuracy"),
    *(Claim(f"pair-resistance-{name}", f"On unseen pairs of digits A does worse than B′, whose X₂ is {name} and which "
            "has seen no tested combination either.", _resists("pair-a", f"pair-{name}"), whose="ours",
            source="the paper's B trains on the combinations that are tested", unit="accuracy")
      for name in ("noise", "blank")),
    Claim("pair-speed", "A redundant X₂ makes training faster.", _early("pair-a").minus(_early("pair-b")).above(0),
          source="section 5.1: “X₂ helps to train the model quickly”; mean lead of A over the first 100 steps",
          unit="accuracy"),
    Claim("pair-swap", "Exchanging X₂ changes the answer more often after training in A than in B.", _digit_2("flip"),
          whose="ours", source="the conditional independence property of section 3, as an intervention",
          unit="of answers"),
    Claim("pair-information", "Given Y₁, the answer says more of Y₂ in A than in B.", _digit_2("information"),
          whose="ours", source="proposition 4 in its own terms, I(Ŷ; Y₂ | Y₁) less the within-stratum null",
          unit="nats"),
    Claim("pair-influence", "X₂ has a larger share of the influence ∂Ŷ/∂X in A than in B.", _digit_2("share"),
          source="proposition 4: ∂Ŷ/∂X₂ ≠ 0; how large is not said", unit="of influence"),
    Claim("pair-variance", "X₂, alone or with X₁, carries a larger share of the scores' variance in A than in B.",
          rising(*(cells("share", "parts", LAST, run=run, part=["2", "1·2"], take="sum") for run in ("pair-b",
                 "pair-a")), names=("share in B", "share in A"), pair="member"), whose="ours", unit="of variance"),
    Claim("pair-snap",
          "Wrong answers to unseen pairs go to pairs that training saw, more than chance would send them there.",
          cells(pl.col("snapped") - pl.col("chance"), "wrong", run="pair-a").above(0), whose="ours",
          source="the authors' later work counts such answers", unit="of wrong answers"),
    Claim("pair-hard-answer", "Where ∂Y/∂X exists, an answer that is informative of X has ∂Y/∂X ≠ 0.",
          cells(pl.when(pl.col("information") > 0).then(pl.col("moves")), "hard", run="pair-a")
          .above(0.01, nothing=0.0),
          source="proposition 1; judged by the inputs around which the answer moves at all when moved by 10⁻⁴",
          unit="of inputs"),
    Claim("pair-converse", "Where ∂Ŷ/∂X₂ ≠ 0, the answer is informative of X₂, also where X₂ was uninformative (B).",
          cells(pl.when(pl.col("influence") > 0).then(pl.col("information")), "dependence", LAST, run="pair-b",
                component="digit_2").above(0),
          source="the converse of proposition 1; by labels, I(Ŷ; Y₂ | Y₁) less the within-stratum null", unit="nats"),
    Claim("three-resistance", "With three convolutions, too, unseen pairs are answered worse in A than in B.",
          _resists("three-a", "three-b"),
          source="section 5.1 counts three convolutions, appendix A lists two; at paper scale only", unit="accuracy"),
)  # fmt: skip

SCAN = (
    Claim("scan-gap", "On SCAN the gap between trained and unseen commands is larger in A than in B.",
          rising(_gap("scan-b", "scan"), _gap("scan-a", "scan"), names=("gap in B", "gap in A"), pair="member"),
          source="section 5.2, figure 3b", unit="accuracy"),
    Claim("scan-resistance", "Unseen commands with “jump” are answered worse in A than in B.",
          _resists("scan-a", "scan-b", "scan"), source="section 5.2, figure 3b", unit="accuracy"),
    Claim("scan-resistance-new", "Unseen commands with “jump” are answered worse in A than where “jump” alone has "
          "another action word drawn in training.",
          _resists("scan-a", "scan-new", "scan"),
          source="appendix B words B so; “jump” still stands alone wherever it is left. Declared before its run; at "
          "paper scale only", unit="accuracy"),
    Claim("scan-speed", "Training accuracy rises sooner in A, in steps 10 to 25.",
          _early("scan-a").minus(_early("scan-b")).above(0),
          source="section 5.2: “increases faster during the early training (steps 10-25)”", unit="accuracy"),
    *(Claim(f"scan-speed-{name}",
            f"On commands of several words the early training loss is lower in A than in {control}.",
            _early(run, "several words", "loss").minus(_early("scan-a", "several words", "loss")).above(0),
            whose="ours", source="the training set repeats the one-word command “jump” until it is a tenth; by loss, "
            f"because by then no command of several words is answered. {why}", unit="nats per token")
      for name, run, control, why in (
          ("several", "scan-b", "B", "A has three action words to tell apart in such commands, B four"),
          ("without", "scan-without", "B′ without “jump”", "Both have three action words there"))),
    Claim("scan-structure",
          "A's unseen commands fail in their structure too: not only is the new action wrong, so is where it stands.",
          _resists("scan-a", "scan-b", "decoded", "structure"), whose="ours",
          source="section 5.2 calls syntax and semantics the two components; decoded greedily",
          unit="accuracy of the structure"),
    Claim("scan-resistance-apart",
          "Commands with “jump” are answered worse in A than in B′, which draws words uniformly but has seen none of "
          "the commands it is asked for either.", _resists("scan-a", "scan-apart", "scan"), whose="ours",
          source="B trains on the commands that are asked", unit="accuracy"),
    Claim("scan-resistance-without",
          "The structure of commands with “jump” is answered worse in A, which shows “jump” alone, than in B′, which "
          "never shows it.", _resists("scan-a", "scan-without", "decoded", "structure"), whose="ours",
          unit="accuracy of the structure",
          source="a word that is never shown says nothing of the structure, and no tested command was seen; decoded "
          "greedily"),
    Claim("transformer-resistance",
          "A transformer resists too: unseen commands with “jump” are answered worse in A than in B.",
          _resists("transformer-a", "transformer-b", "scan"), whose="ours",
          source="section 7: it is hard to avoid by the structure of the model alone", unit="accuracy"),
)  # fmt: skip


def _one_step(column: str) -> Test:
    sides = (cells(column, "one_step", run=run, component="y2") for run in ("one-step-b", "one-step-a"))
    return rising(*sides, names=("in B", "in A"), pair="member")


def _across(column: str) -> Test:
    """Of each input on the answer that it does not belong to, the mean of both."""
    other = pl.col("output") != pl.col("component")
    sides = (cells(column, "both_step", other, run=run) for run in ("both-b", "both-a"))
    return rising(*sides, names=("in B", "in A"), pair="member")


STEPS = (
    Claim("one-step-added",
          "After the first gradient step X₂ has more influence where it is redundant than where it says nothing.",
          _one_step("after"),
          source="propositions 3 and 4, at the start of the toy; with the control the paper has not", unit="E|∂Ŷ/∂X₂|"),
    Claim("one-step-own", "The first gradient step gives X₁, which says the answer, more influence than it had before.",
          rising(*(cells(when, "one_step", run="one-step-a", component="y1") for when in ("before", "after")),
                 names=("before", "after"), pair="member"), whose="ours", unit="E|∂Ŷ/∂X₁|",
          source="proposition 3 says that it is not 0 after the step; at a random start it is not 0 before it"),
    Claim("one-step-moved", "The first gradient step changes the slopes along X₂ more where X₂ is redundant.",
          _one_step("added"), whose="ours", source="how far slopes move says nothing of which way", unit="E|Δ ∂Ŷ/∂X₂|"),
    Claim("one-step-cancel",
          "The outputs' terms of the first gradient step do not cancel: more of their length survives the sum than of "
          "terms at right angles.",
          cells("cancellation", "one_step", run="one-step-a", component="y2").above(RIGHT_ANGLES, nothing=RIGHT_ANGLES),
          source="proposition 5: “it is unlikely that a Δθᵢ can be cancelled by the sum of other Δθⱼ”; judged by ‖Σ "
          "gᵢ‖ / Σ ‖gᵢ‖, the paper names no line", unit="of length"),
    Claim("both-added",
          "Where both answers are asked, each input has more influence on the other answer after the first gradient "
          "step where it is redundant.", _across("after"),
          source="proposition 5: ∂Ŷᵢ/∂Xⱼ ≠ 0; on the toy with two outputs, with the control the paper has not",
          unit="E|∂Ŷᵢ/∂Xⱼ|"),
    Claim("both-moved", "Where both answers are asked, the first step changes slopes of an answer along the other "
          "input more where that is redundant.",
          _across("added"), whose="ours", unit="E|Δ ∂Ŷᵢ/∂Xⱼ|"),
    Claim("both-cancel",
          "The terms of two answers do not cancel in the first gradient step: more survives than of terms at right "
          "angles.",
          cells("cancellation", "both_step", run="both-a").above(RIGHT_ANGLES, nothing=RIGHT_ANGLES),
          source="proposition 5, as one-step-cancel, with one term per answer instead of one per score",
          unit="of length"),
    Claim("both-resistance",
          "Where both answers are asked, the unseen combination is named less often after training in A than in B.",
          _resists("both-a", "both-b", "both"), whose="ours",
          source="the paper's definition of compositional generalisation, for two outputs",
          unit="accuracy of both answers"),
)  # fmt: skip


def _bound(*strengths: float) -> Cells:
    return cells("unseen", "strength", unit="member", strength=list(strengths))


STRENGTH = (
    Claim("strength-order", "The less the other digit is bound to the first, the better unseen pairs are answered.",
          rising(*(_bound(s) for s in (1.0, 0.9, 0.5, 0.0)), names=("100 % bound", "90 %", "50 %", "0 %"),
                 pair="member"), whose="ours", source="the paper has the two ends", unit="accuracy"),
    Claim("strength-halved", "One free example in ten takes away more than half of the resistance.",
          _bound(of.BOUND).minus(_bound(0.0, 1.0)).above(0), whose="ours",
          source="unseen accuracy at 90 % bound less the mean of both ends", unit="accuracy"),
)  # fmt: skip


def _stopped(task: str, optimizer: str, side: str) -> Cells:
    return cells("unseen", "optimizers", task=task, optimizer=optimizer, setting=side)


def _costs(task: str, optimizer: str) -> Quantity:
    """What redundancy costs where training stops below one loss."""
    return _stopped(task, optimizer, "B").minus(_stopped(task, optimizer, "A"))


def _resists_equally(id: str, sentence: str, task: str, optimizer: str, source: str) -> Claim:
    sides = (_stopped(task, optimizer, side) for side in ("A", "B"))
    test = rising(*sides, names=("unseen in A", "unseen in B"), pair="member")
    return Claim(id, sentence, test, whose="ours", source=source, unit="accuracy")


OPTIMIZERS = (
    *(_resists_equally(f"optimizer-{name.lower()}", f"Stopped below the same loss, networks trained by {name} resist.",
                       "digit pairs", name, "section 4 argues for gradient descent in general")
      for name in ("SGD", "momentum", "Adam", "sign")),
    _resists_equally("optimizer-evolution", "Stopped below the same loss, a search without gradients resists too.",
                     "toy", of.EVOLUTION, "the control that the paper's title asks for, on the toy"),
    Claim("optimizer-special", "Gradient descent resists more than a search without gradients does.",
          rising(*(_stopped("toy", name, "A") for name in ("SGD", of.EVOLUTION)),
                 names=("gradient descent", "evolution")),
          source="the title and the conclusion: the bias “is caused by gradient descent”",
          unit="accuracy on the unseen quarter, in A"),
    Claim("optimizer-differ", "Below the same loss optimisers differ: on digits momentum costs more than sign does.",
          _costs("digit pairs", "momentum").minus(_costs("digit pairs", "sign")).above(0), whose="ours",
          source="the largest of the six differences in our first runs, which stopped on batches", unit="accuracy"),
    Claim("optimizer-differ-toy", "On the toy Adam costs more than plain gradient descent does.",
          _costs("toy", "Adam").minus(_costs("toy", "SGD")).above(0), whose="ours",
          source="seen in our first runs, which stopped on batches", unit="accuracy"),
)  # fmt: skip


def _helps(id: str, sentence: str, worse: str, better: str, source: str = "", whose: Whose = "ours") -> Claim:
    sides = (cells("unseen", "remedies", remedy=remedy) for remedy in (worse, better))
    return Claim(id, sentence, rising(*sides, names=(worse, better), pair="member"), whose, None, source, "accuracy")


REMEDIES = (
    _helps("remedy-streams",
           "Structure alone does not cure it: with a network of its own for each digit, unseen pairs stay below B.",
           of.STREAMS, of.FREE,
           "section 7: “if only model structure design is considered … it is hard to achieve good compositionality”",
           "paper"),
    _helps("streams-resist", "Two streams resist, too: the same network answers unseen pairs worse in A than in B.",
           of.STREAMS, of.STREAMS_FREE, "remedy-streams has one network in B; declared before its run"),
    _helps("remedy-noise", "Noise on the representation and a charge for its size (entropy regularisation) help.",
           of.UNTREATED, of.NOISE, "the authors' remedy for SCAN (Li et al. 2019), applied here"),
    _helps("remedy-dropout", "Hiding the redundant digit half of the time helps.", of.UNTREATED, of.DROPOUT),
    _helps("remedy-gradient", "A penalty on the gradient at the redundant digit helps.", of.UNTREATED, of.GRADIENT),
    _helps("remedy-balanced", "Where one example in ten is free, drawing all combinations alike helps.",
           of.LOOSE, of.BALANCED),
)  # fmt: skip

CLAIMS = (*PAIRS, *SCAN, *STEPS, *LATER, *STRENGTH, *OPTIMIZERS, *REMEDIES)
