"""The study gradient-descent: its runs, its claims, and all of it once at the smallest scale."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import torch

from recombine.models import Perceptron
from recombine.runs import Store
from recombine.runs.evolution import EvolutionRun
from recombine.runs.run import Context
from recombine.runs.training import Measured
from recombine.studies import conduct, gradient_toy
from recombine.studies.gradient_descent import STUDY
from recombine.studies.gradient_descent.pair_claims import PAIR_CLAIMS
from recombine.studies.gradient_descent.tables import OPTIMIZERS, PAIRS
from recombine.studies.verification import _again
from recombine.tasks import ToyTask

VIEWS = ("trained", "unseen")
NEEDS_VIEWS = ("pair-resistance-b", "three-resistance")
TOY = Perceptron(widths=(2, 8, 8, 8, 2), start="playground")


def test_the_toy_is_the_study_of_the_toy() -> None:
    for scale in ("smoke", "quick", "paper"):
        own, toy = STUDY.runs(scale, None), gradient_toy.runs(scale, None)  # type: ignore[arg-type]
        assert all(own[f"toy-{name}"].address == run.address for name, run in toy.items())
    ids = [claim.id for claim in STUDY.claims]
    assert len(set(ids)) == len(ids)
    assert {claim.id for claim in gradient_toy.CLAIMS} <= set(ids)
    assert len({figure.id for figure in STUDY.figures}) == len(STUDY.figures)


def test_the_paper_s_settings_are_the_paper_s() -> None:
    runs = STUDY.runs("paper", None)
    pair, scan = runs["pair-a"].resolved(), runs["scan-a"].resolved()  # type: ignore[attr-defined]
    assert pair["batch_size"] == 64
    assert pair["steps"] == 200
    assert pair["members"] >= 64
    assert pair["optimizer"]["lr"] == 0.001
    assert pair["model"]["shape"] == [1, 28, 56]
    assert scan["batch_size"] == 256
    assert scan["steps"] == 2000
    assert scan["members"] >= 8
    assert scan["task"]["longest"] == 48
    # The ends of the sweep are the main runs, computed once.
    assert runs["strength-1"].task == runs["pair-a"].task  # type: ignore[attr-defined]
    # B′ and the other architectures are their controls' runs in everything but what they are.
    for name, words in (("scan-b", "uniform"), ("scan-apart", "apart"), ("scan-without", "without")):
        assert runs[name].replace(task=runs["scan-a"].task).address == runs["scan-a"].address  # type: ignore[attr-defined]
        assert runs[name].task.words == words  # type: ignore[attr-defined]
    assert runs["three-a"].replace(model=runs["pair-a"].model).address == runs["pair-a"].address  # type: ignore[attr-defined]
    few = STUDY.runs("quick", 5)
    assert {run.resolved()["members"] for name, run in few.items() if not name.startswith("toy-")} == {5}


def test_all_of_it_at_smoke_scale(tmp_path: Path) -> None:
    result = conduct(STUDY, "smoke", store=Store(tmp_path), members=2, device="cpu")
    assert len(result.claims) == len(STUDY.claims)
    for figure in STUDY.figures:
        chart = figure.draw(figure.rows(result.tables[figure.table]))
        assert chart.to_dict()
    assert {"pairs", "scan", "dependence", "optimizers", "remedies", "both", "both_step", "toy_map"} <= set(
        result.tables
    )
    assert {"combinations", "perplexity"} <= set(result.tables["wrong"].columns) & set(
        result.tables["both_answers"].columns
    )
    for table in result.tables.values():
        assert not table.is_empty()
    # Committed results are verified by training one member of the shortest run again.
    name, compared, problems = _again(STUDY, STUDY.runs("smoke", 2), dict(result.tables), "cpu")
    assert name.startswith("one-step")
    assert compared > 0
    assert not problems


def test_a_claim_whose_runs_are_not_there_at_a_scale_is_not_fitted() -> None:
    titles = (PAIRS["pair-a"], PAIRS["pair-b"])
    views = [(title, m, 200, view, 0.9, True) for title in titles for m in range(4) for view in VIEWS]
    table = pl.DataFrame(views, schema=["setting", "member", "step", "view", "accuracy", "fitted"], orient="row")
    found = {claim.id: claim.evaluate({"pairs": table}) for claim in PAIR_CLAIMS if claim.id in NEEDS_VIEWS}
    assert (found["three-resistance"].status, found["three-resistance"].members) == ("not fitted", 0)
    assert (found["pair-resistance-b"].status, found["pair-resistance-b"].figure.mean) == ("fails", 0)


def test_answers_that_say_nothing_are_counted() -> None:
    """Proposition 1 is about informative answers: the others are no evidence, and not left out of the count."""
    rows = [(PAIRS["pair-a"], m, 0.5 if m < 2 else 0.0, 0.0, True) for m in range(8)]
    table = pl.DataFrame(rows, schema=["setting", "member", "information", "moves", "fitted"], orient="row")
    claim = next(claim for claim in PAIR_CLAIMS if claim.id == "pair-hard-answer").evaluate({"hard": table})
    assert (claim.fitted, claim.members, claim.status) == (2, 8, "not fitted")


def test_two_searches_of_different_size_must_both_fit() -> None:
    """Ten searches without gradients all fit, and ten of forty by gradient descent."""
    rows = [
        ("toy", OPTIMIZERS[name], "A", m, base + 0.001 * m, name == "evolution" or m < 10)
        for name, count, base in (("sgd", 40, 0.5), ("evolution", 10, 0.9))
        for m in range(count)
    ]
    table = pl.DataFrame(rows, schema=["task", "optimizer", "setting", "member", "unseen", "fitted"], orient="row")
    claim = next(claim for claim in STUDY.claims if claim.id == "optimizer-special").evaluate({"optimizers": table})
    assert (claim.fitted, claim.members, claim.status) == (10, 40, "not fitted")


def test_evolution_lowers_the_loss_without_gradients_and_again_alike(tmp_path: Path) -> None:
    run = EvolutionRun(
        task=ToyTask(), model=TOY, members=3, generations=40, batch_size=64, stop_below=0.2,
        measured=(Measured(measure="views", arguments={"count": 256}),),
    )  # fmt: skip
    with torch.no_grad():
        first = run.compute(Context("cpu", tmp_path))
    again = run.compute(Context("cpu", tmp_path))
    assert first.tables["members"].equals(again.tables["members"])
    assert first.tables["members"]["final_loss"].max() < 0.6  # type: ignore[operator]
    trained = first.tables["views"].filter(pl.col("view") == "trained")
    assert trained["accuracy"].mean() > 0.75  # type: ignore[operator]
    fewer = run.replace(members=2).compute(Context("cpu", tmp_path))
    assert fewer.tables["members"].equals(first.tables["members"].head(2))
