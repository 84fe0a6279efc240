"""What the five say together: the tasks by hand, what orders planted networks, and the study at smoke scale."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch

from recombine.cli import main
from recombine.reporting import study_page
from recombine.runs import Store, get_or_compute
from recombine.studies import SCALES, StudyResult, conduct, verify
from recombine.studies.together import STUDY
from recombine.studies.together.correlations import (
    ACROSS,
    BEST,
    GIVEN_OTHERS,
    GIVEN_SUPPORT,
    POOLED,
    SAME_ROWS,
    by_setting,
    summary,
)
from recombine.studies.together.forecasts import forecasts
from recombine.studies.together.lens_names import ALL, LENSES
from recombine.studies.together.runs import DECAYS, RATES, SCALES as FIRST_WEIGHTS, SPLITS, TASKS, design, runs
from recombine.studies.together.tasks import LEVELS, BumpsTask, DigitTask, SumsTask, TwoFactors
from recombine.tasks import Draws


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    return conduct(STUDY, "smoke", store=Store(tmp_path_factory.mktemp("store")), members=3, device="cpu")


def planted(order: dict[str, tuple[float, float]], networks: int = 8, noise: float = 0.0) -> pl.DataFrame:
    """Networks of two tasks and five splits; a lens is (between · the split's error + within · the network's own)."""
    rng = np.random.default_rng(0)
    rows = []
    for task in ("one", "two"):
        for split in range(5):
            base, own = rng.normal(), rng.normal(size=networks)
            for member in range(networks):
                lenses = {
                    lens: ALL[lens].sign * (a * base + b * own[member]) + noise * rng.normal()
                    for lens, (a, b) in order.items()
                }
                rows.append({"run": f"{task}-{split}", "task": task, "split": str(split), "member": member,
                             "fitted": True, "error": base + own[member], **lenses})  # fmt: skip
    table = pl.DataFrame(rows)
    missing = [pl.lit(None, pl.Float64).alias(lens) for lens in ALL if lens not in order]
    return table.with_columns(missing)


def figure(table: pl.DataFrame, kind: str, lens: str, task: str = "all tasks") -> float | None:
    found = summary(table).filter((pl.col("kind") == kind) & (pl.col("lens") == lens) & (pl.col("task") == task))
    return None if found.is_empty() else found["rho"][0]


@pytest.mark.parametrize("kind", [DigitTask, BumpsTask, SumsTask])
def test_a_right_answer_is_read_as_its_levels_and_a_constant_one_has_error_one(kind: type[TwoFactors]) -> None:
    task = kind(offsets=(0, 3))
    points = torch.as_tensor(task.space.grid())
    inputs, targets = task.examples(points, Draws.single(0))
    assert inputs.shape == (100, task.numbers[0])
    if isinstance(task, DigitTask):
        right = torch.nn.functional.one_hot(targets, LEVELS).flatten(1).float()
        constant = torch.nn.functional.one_hot(torch.tensor([4, 4]), LEVELS).flatten()[None].expand(100, -1).float()
    else:
        right, constant = targets, targets.mean(0).expand(100, -1)
    said = torch.stack([scores.argmax(-1) for scores in task.says(right)], -1)
    assert torch.equal(said, points)
    assert float(task.error(right, targets).mean()) == pytest.approx(0.0, abs=1e-6)
    assert float(task.error(constant, targets).mean()) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("kind", [DigitTask, BumpsTask, SumsTask])
def test_a_part_of_an_input_shows_its_own_factor(kind: type[TwoFactors]) -> None:
    task = kind(offsets=(0, 3))
    points = torch.tensor([[2, 5], [2, 6], [7, 5]])
    inputs, _ = task.examples(points, Draws.single(0))
    first, second = inputs[:, task.part(0)], inputs[:, task.part(1)]
    assert first.shape[1] + second.shape[1] == task.numbers[0]
    if not isinstance(task, DigitTask):
        assert torch.equal(first[0], first[1])
        assert torch.equal(second[0], second[2])
        assert not torch.equal(first[0], first[2])


def test_training_sees_the_offsets_alone() -> None:
    task = DigitTask(offsets=(0, 3))
    assert len(task.train) == 20
    assert len(task.test) == 80
    _, targets = task.batch(Draws.of([0, 1], range(3), 0), 16)
    assert targets.shape == (3, 2, 16, 2)
    assert set(((targets[..., 1] - targets[..., 0]) % LEVELS).flatten().tolist()) == {0, 3}


def test_members_cover_their_ranges_evenly() -> None:
    for members in (2, 8, 32):
        for column, (low, high) in zip(design(members), (FIRST_WEIGHTS, RATES, DECAYS), strict=True):
            places = np.sort(np.log(np.array(column) / low) / np.log(high / low))
            assert places == pytest.approx((np.arange(members) + 0.5) / members, abs=2e-3)


def test_there_are_enough_networks_of_enough_tasks_and_no_two_runs_are_one() -> None:
    for scale in SCALES:
        found = runs(scale, None)
        assert len({run.address for run in found.values()}) == len(found)
    quick = runs("quick", None)
    assert len(quick) == len(TASKS) * len(SPLITS)
    assert sum(int(run.members) for run in quick.values()) >= 60  # type: ignore[arg-type]


def test_a_lens_that_is_the_error_orders_everything() -> None:
    table = by_setting(planted({"kernel": (1, 1)}))
    for kind in (SAME_ROWS, ACROSS, POOLED):
        assert figure(table, kind, "kernel") == pytest.approx(1.0)
    assert figure(table, BEST, "best") == pytest.approx(1.0)
    assert figure(table, SAME_ROWS, "influence") is None


def test_a_lens_of_the_split_says_nothing_on_the_same_rows() -> None:
    table = by_setting(planted({"support": (1, 0), "kernel": (1, 1), "influence": (0, 1)}))
    assert figure(table, SAME_ROWS, "support") is None
    assert 0.3 < float(figure(table, ACROSS, "support") or 0) < 1
    assert figure(table, SAME_ROWS, "influence") == pytest.approx(1.0)
    assert figure(table, GIVEN_SUPPORT, "support") is None
    assert float(figure(table, GIVEN_SUPPORT, "influence") or 0) > float(figure(table, ACROSS, "influence") or 0)


def test_a_lens_turned_round_has_the_opposite_sign() -> None:
    networks = planted({"factorization": (1, 1)}).with_columns(-pl.col("factorization"))
    assert figure(by_setting(networks), SAME_ROWS, "factorization") == pytest.approx(-1.0)


def test_pooling_tasks_can_turn_an_order_round() -> None:
    networks = planted({"kernel": (1, 1)}).with_columns(
        (pl.col("kernel") + pl.when(pl.col("task") == "one").then(100).otherwise(0)).alias("kernel"),
        (pl.col("error") - pl.when(pl.col("task") == "one").then(100).otherwise(0)).alias("error"),
    )
    table = by_setting(networks)
    assert figure(table, ACROSS, "kernel") == pytest.approx(1.0)
    assert float(figure(table, POOLED, "kernel") or 0) < 0


def test_networks_that_did_not_fit_are_in_no_order() -> None:
    networks = planted({"kernel": (1, 1)})
    spoilt = networks.with_columns(
        pl.when(pl.col("member") == 0).then(-1e3).otherwise("kernel").alias("kernel"),
        (pl.col("member") != 0).alias("fitted"),
    )
    table = by_setting(spoilt)
    assert figure(table, SAME_ROWS, "kernel") == pytest.approx(1.0)
    few = by_setting(networks.with_columns((pl.col("member") < 4).alias("fitted")))
    assert figure(few, SAME_ROWS, "kernel") is None


def test_two_lenses_that_each_know_half_foretell_better_together() -> None:
    order = {"support": (1.0, 0.0), "influence": (0.0, 1.0), "kernel": (0.0, 0.0), "factorization": (0.0, 0.0),
             "structure": (0.0, 0.0)}  # fmt: skip
    networks = planted(order, noise=0.05)
    table = forecasts(networks)
    assert len(table) == 10
    off = {name: float(np.mean(table[name].to_numpy())) for name in ("together", "single", "middle")}
    assert off["together"] < 0.7 * off["single"] < 0.7 * off["middle"]
    assert float(figure(by_setting(networks), GIVEN_OTHERS, "influence") or 0) > 0.3


def test_every_claim_is_judged_and_none_on_networks_that_did_not_fit(result: StudyResult) -> None:
    assert [claim.claim.id for claim in result.claims] == [claim.id for claim in STUDY.claims]
    assert {claim.status for claim in result.claims} == {"not fitted"}
    assert {claim.evaluate({}).status for claim in STUDY.claims} == {"not fitted"}
    assert len({claim.id for claim in STUDY.claims}) == len(STUDY.claims)


def test_every_network_has_every_lens(result: StudyResult) -> None:
    networks = result.tables["networks"]
    assert len(networks) == 3 * 9
    known = networks.select(*(lens for lens in (*LENSES, "share_seen", "kernel_start") if lens != "structure"))
    assert known.null_count().sum_horizontal()[0] == 0
    assert networks.filter(pl.col("split") == "01")["support"].unique().to_list() == [1.0]
    assert networks.filter(pl.col("split") == "05")["support"].unique().to_list() == [0.0]


def test_every_figure_can_be_drawn_from_a_few_steps(result: StudyResult) -> None:
    for drawing in STUDY.figures:
        rows = drawing.rows(result.tables[drawing.table])
        assert drawing.draw(rows) is not None
    assert STUDY.lead in {drawing.id for drawing in STUDY.figures}


def test_a_study_without_a_paper_has_a_page_and_is_shown(
    result: StudyResult, capsys: pytest.CaptureFixture[str]
) -> None:
    page = study_page(dataclasses.replace(result, study=dataclasses.replace(STUDY, figures=())))
    assert "No paper of its own" in page
    assert "How it was done" in page
    assert "differs from the paper" not in page
    with pytest.raises(SystemExit) as ended:
        main(["study", "show", "together", "--scale", "smoke"])
    assert not ended.value.code
    assert "digits-01247" in capsys.readouterr().out


def test_the_tables_can_be_made_of_one_member_and_verify(
    result: StudyResult, committed: Callable[[StudyResult], Path]
) -> None:
    found = verify(STUDY, committed(result))
    assert found.problems == ()
    assert found.compared >= 2


def test_a_network_learns_to_compose_the_more_it_has_seen(tmp_path: Path) -> None:
    """Twelve networks of sums: an error many deviations smaller with half of the pairs than with a tenth of them."""
    chosen = {name: run for name, run in runs("quick", 4).items() if name in ("sums-0", "sums-01247")}
    short = {name: run.replace(measured=run.measured[:2]) for name, run in chosen.items()}
    stored = get_or_compute(Store(tmp_path), short, device="cpu")
    errors = {}
    for name, run in stored.items():
        table = run.table("per_combination").filter((pl.col("step") == pl.col("step").max()) & ~pl.col("seen"))
        errors[name] = table.group_by("member").agg(pl.col("error").mean())["error"].to_numpy()
    assert errors["sums-0"].min() > 2 * errors["sums-01247"].max()
