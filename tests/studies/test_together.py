"""What the five say together: the tasks by hand, and what orders planted networks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch

from recombine.runs import Store, get_or_compute
from recombine.studies.together import STUDY
from recombine.studies.together.claims import CLAIMS
from recombine.studies.together.lenses import (
    ACROSS,
    ALL,
    ELSEWHERE,
    GIVEN_COUNT,
    GIVEN_MADE,
    GIVEN_OTHERS,
    GIVEN_SUPPORT,
    LOOKS,
    POOLED,
    SAME_ROWS,
    by_setting,
    forecasts,
    summary,
    two_way,
)
from recombine.studies.together.networks import MADE, SPLITS, TASKS, design
from recombine.tasks import Draws
from recombine.tasks.two_factors import LEVELS, BumpsTask, DigitTask, SumsTask, TwoFactors


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
                made = dict(zip(MADE, rng.normal(size=3), strict=True))
                rows.append({"run": f"{task}-{split}", "task": task, "split": str(split), "member": member,
                             "fitted": True, "error": base + own[member], **made, **lenses})  # fmt: skip
    table = pl.DataFrame(rows)
    missing = [pl.lit(None, pl.Float64).alias(lens) for lens in ALL if lens not in order]
    return table.with_columns(missing)


def test_the_looks_that_are_corrected_for_are_the_claims() -> None:
    assert len(CLAIMS) == LOOKS


def test_settings_that_share_tasks_and_splits_are_no_more_than_these() -> None:
    """Values that depend on the task alone: by tasks Σ (7 r)² / 21² = 98 / 441 for r = −1, 0, 1, by splits nothing."""
    values = pl.DataFrame([{"task": f"{t}", "split": f"{s}", "rho": float(t)} for t in range(3) for s in range(7)])
    assert two_way(values) == pytest.approx(4.302653 * (98 / 441) ** 0.5, rel=1e-6)
    # Drawn one by one, they are 21: the sum of squares is 14, and no cluster has a sum of its own.
    alone = pl.DataFrame([{"task": f"{i}", "split": f"{i}", "rho": float(i % 3 - 1)} for i in range(21)])
    assert two_way(alone) == pytest.approx(2.085963 * (14 / 441) ** 0.5, rel=1e-6)
    assert two_way(values.filter(pl.col("task") == "0")) is None


def test_what_count_and_making_explain_is_not_told_by_a_lens() -> None:
    """Lenses that are the number seen, or the size of the first weights, and noise; the error follows both."""
    rng = np.random.default_rng(1)
    rows = []
    for split in range(6):
        for member in range(30):
            size, seen, own = rng.normal(), split / 6, rng.normal()
            rows.append({"run": f"one-{split}", "task": "one", "split": str(split), "member": member, "fitted": True,
                         "error": size - 5 * seen + own, "share_seen": seen, "init_scale": size, "lr": rng.normal(),
                         "weight_decay": rng.normal(), "kernel": size - 5 * seen + 0.01 * rng.normal(),
                         "influence": own + 0.01 * rng.normal(), "support": seen + 0.01 * rng.normal()})  # fmt: skip
    table = pl.DataFrame(rows)
    missing = [pl.lit(None, pl.Float64).alias(lens) for lens in ALL if lens not in table.columns]
    found = by_setting(table.with_columns(missing))
    kernel, influence = (figure(found, GIVEN_MADE, lens) for lens in ("kernel", "influence"))
    assert kernel is not None
    assert influence is not None
    assert abs(kernel) < 0.2
    assert influence > 0.9
    support = figure(found, GIVEN_COUNT, "support")
    assert support is not None
    assert abs(support) < 0.3


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
        for column, (low, high) in zip(design(members).values(), MADE.values(), strict=True):
            places = np.sort(np.log(np.array(column) / low) / np.log(high / low))
            assert places == pytest.approx((np.arange(members) + 0.5) / members, abs=2e-3)


def test_a_run_is_labelled_with_its_task_split_and_how_members_were_made() -> None:
    quick = STUDY.planned("quick")
    assert len(quick) == len(TASKS) * len(SPLITS)
    labels, run = quick["bumps-02468"].labels, quick["bumps-02468"].run
    assert (labels["task"], labels["split"]) == ("bumps", "02468")
    assert labels["lr"] == run.optimizer.lr  # type: ignore[attr-defined]
    assert run.task.offsets == SPLITS["02468"]  # type: ignore[attr-defined]


def test_a_lens_that_is_the_error_orders_everything() -> None:
    table = by_setting(planted({"kernel": (1, 1)}))
    for kind in (SAME_ROWS, ACROSS, POOLED):
        assert figure(table, kind, "kernel") == pytest.approx(1.0)
    assert figure(table, ELSEWHERE, "kernel") == pytest.approx(1.0)
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


def test_a_lens_is_chosen_on_the_other_tasks() -> None:
    """The kernel tells in one task and misleads in the other, where it is chosen; influence tells a little in both."""
    networks = planted({"kernel": (1, 1), "influence": (1, 0.2)}, noise=0.3).with_columns(
        pl.when(pl.col("task") == "two").then(-pl.col("kernel")).otherwise("kernel").alias("kernel")
    )
    table = by_setting(networks)
    chosen = table.filter(pl.col("kind") == ELSEWHERE)
    assert chosen.filter(pl.col("task") == "two")["lens"].unique().to_list() == ["kernel"]
    assert chosen.filter(pl.col("task") == "one")["lens"].unique().to_list() == ["influence"]
    claim = next(claim for claim in CLAIMS if claim.id == "one-lens-elsewhere")
    assert claim.evaluate({"by_setting": table}).status == "fails"
    honest = by_setting(planted({"kernel": (1, 1)}))
    assert claim.evaluate({"by_setting": honest}).status == "holds"


def test_a_network_learns_to_compose_the_more_it_has_seen(tmp_path: Path) -> None:
    """Eight networks of sums: an error many deviations smaller with half of the pairs than with a tenth of them."""
    planned = STUDY.runs("quick", 4)
    shorter = {"measured": planned["sums-0"].measured[:1], "steps": 300}  # type: ignore[attr-defined]
    short = {name: planned[name].replace(**shorter) for name in ("sums-0", "sums-01247")}
    stored = get_or_compute(Store(tmp_path), short, device="cpu")
    errors = {}
    for name, run in stored.items():
        table = run.table("per_combination").filter((pl.col("step") == pl.col("step").max()) & ~pl.col("seen"))
        errors[name] = table.group_by("member").agg(pl.col("error").mean())["error"].to_numpy()
    assert errors["sums-0"].min() > 2 * errors["sums-01247"].max()
