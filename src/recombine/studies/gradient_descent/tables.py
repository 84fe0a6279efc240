"""The tables of the study from those of its runs; each is made of the runs that are there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from recombine.studies import gradient_toy

if TYPE_CHECKING:
    from recombine.runs import StoredRun

PAIRS = {
    "pair-a": "A: X₂ redundant",
    "pair-b": "B: X₂ uninformative",
    "pair-noise": "B′: X₂ noise",
    "pair-blank": "B′: X₂ blank",
    "three-a": "A, three convolutions",
    "three-b": "B, three convolutions",
}
SCANS = {
    "scan-a": "A: words as given",
    "scan-b": "B: words uniform",
    "scan-apart": "B′: “jump” kept apart",
    "scan-without": "B′: “jump” never shown",
    "transformer-a": "A, transformer",
    "transformer-b": "B, transformer",
}
ONE_STEP = {"one-step-a": "A: X₂ redundant", "one-step-b": "B: X₂ uninformative"}
BOTH = {"both-a": "A: other input redundant", "both-b": "B: other input uninformative"}
REMEDIES = {
    "strength-1": "none (A)",
    "remedy-streams": "two streams",
    "remedy-noise": "noise on the representation",
    "remedy-dropout": "component dropout",
    "remedy-gradient": "gradient penalty",
    "strength-0": "X₂ uninformative (B)",
    "strength-0.9": "none, 90 % bound",
    "remedy-balanced": "group-balanced, 90 % bound",
}
OPTIMIZERS = {
    "sgd": "SGD",
    "momentum": "momentum",
    "adam": "Adam",
    "sign": "sign",
    "evolution": "evolution (no gradient)",
}


def tables(stored: Mapping[str, StoredRun]) -> dict[str, pl.DataFrame]:
    """``pairs``, ``scan``: accuracies along training; ``dependence``, ``parts``, ``wrong``, ``hard``: what the pair
    networks rely on; ``strength``, ``optimizers``, ``remedies``: accuracies at the end; ``one_step``; ``both``,
    ``both_step``, ``both_answers``: the toy with both answers asked; and those of the toy."""
    toy = {name.removeprefix("toy-"): run for name, run in stored.items() if name.startswith("toy-")}
    found = {f"toy_{name}": table for name, table in gradient_toy.tables(toy).items()} if toy else {}
    pairs = [(stored[name], title) for name, title in PAIRS.items() if name in stored]
    scans = [(stored[name], title) for name, title in SCANS.items() if name in stored]
    steps = [(stored[name], title) for name, title in ONE_STEP.items() if name in stored]
    both = [(stored[name], title) for name, title in BOTH.items() if name in stored]
    remedies = [(stored[name], title) for name, title in REMEDIES.items() if name in stored]
    stopped = {name: run for name, run in stored.items() if name.startswith(("optimizer-", "equal-"))}
    made = {
        "pairs": [_measure(run, "views", title) for run, title in pairs],
        "scan": [_measure(run, "views", title) for run, title in scans],
        "dependence": [_dependence(run, title) for run, title in pairs],
        "parts": [_measure(run, "variance", title) for run, title in pairs],
        "wrong": [_measure(run, "snap", title) for run, title in pairs],
        "hard": [_measure(run, "hard_answer", title) for run, title in pairs],
        "one_step": [_measure(run, "one_step", title) for run, title in steps],
        "both": [_measure(run, "views", title) for run, title in both],
        "both_step": [_measure(run, "step_matrix", title) for run, title in both],
        "both_answers": [_measure(run, "snap", title) for run, title in both],
        "strength": [_strength(run, name) for name, run in stored.items() if name.startswith("strength-")],
        "remedies": [_ends(run).select(pl.lit(title).alias("remedy"), pl.all()) for run, title in remedies],
        "optimizers": [_optimizer(run, name) for name, run in stopped.items()],
    }
    # A run that was stored before a measure had a column lacks it: null there.
    return found | {name: pl.concat(parts, how="diagonal") for name, parts in made.items() if parts}


def _fitted(run: StoredRun) -> pl.DataFrame:
    table = run.table("members")
    whole = pl.col("diverged_at").is_null() if "diverged_at" in table.columns else pl.lit(True)
    return table.select("member", pl.col("fitted") & whole)


def _measure(run: StoredRun, name: str, title: str) -> pl.DataFrame:
    return run.table(name).join(_fitted(run), on="member", how="left").select(pl.lit(title).alias("setting"), pl.all())


def _dependence(run: StoredRun, title: str) -> pl.DataFrame:
    """Swap, influence and information of each digit, where they were taken."""
    keys = ["member", "component", "step"]
    table = run.table("swap").join(run.table("component_influence"), on=keys, how="left")
    known = run.table("information").select(*keys, "information", "plugin", "null")
    joined = table.join(known, on=keys, how="left").join(_fitted(run), on="member", how="left")
    return joined.select(pl.lit(title).alias("setting"), pl.all())


def _ends(run: StoredRun) -> pl.DataFrame:
    """Accuracy on both views at the end, and the flips by X₂ where they were taken. One row a member."""
    views = run.table("views")
    wide = views.filter(pl.col("step") == pl.col("step").max()).pivot(
        on="view", index=["member", "step"], values="accuracy"
    )
    ends = wide.select("member", "step", "trained", "unseen")
    if "swap" in run.tables:
        flips = run.table("swap").filter(pl.col("component") == "digit_2").select("member", "flip")
        ends = ends.join(flips, on="member", how="left")
    return ends.join(_fitted(run), on="member", how="left")


def _strength(run: StoredRun, name: str) -> pl.DataFrame:
    return _ends(run).select(pl.lit(float(name.removeprefix("strength-"))).alias("strength"), pl.all())


def _optimizer(run: StoredRun, name: str) -> pl.DataFrame:
    where, optimizer, setting = name.split("-")
    return _ends(run).select(
        pl.lit("digit pairs" if where == "optimizer" else "toy").alias("task"),
        pl.lit(OPTIMIZERS[optimizer]).alias("optimizer"),
        pl.lit(setting.upper()).alias("setting"),
        pl.col("member"), pl.col("step"), pl.col("trained"), pl.col("unseen"), pl.col("fitted"),
    )  # fmt: skip
