"""Real tables: the registry keeps to its rule, the locked half stays locked, and the contest knows planted truth."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import ttest_ind

from recombine.checks.rules.seen_cells import Cells
from recombine.checks.verdicts.elsewhere import FILE, elsewhere
from recombine.errors import InputError
from recombine.runs import Context
from recombine.studies.chances import welch
from recombine.studies.real_tables import STUDY, registry as tables
from recombine.studies.real_tables.again import ForecastRun, again
from recombine.studies.real_tables.claims import CLAIMS, JUDGED
from recombine.studies.real_tables.closer import _median, closer
from recombine.studies.real_tables.collecting import _plans
from recombine.studies.real_tables.contest import FOREST, ONE, ContestRun, _Kind
from recombine.studies.real_tables.halves import readings
from recombine.studies.real_tables.holes import BEYOND, HOLES, Holes, hold_out, indicators
from recombine.studies.real_tables.networks import _judged, _kernel
from recombine.studies.real_tables.summaries import each, for_check
from recombine.tables import TABLES

RESULTS = Path(__file__).parents[2] / "results"
REGISTRY = tables.registered()
SETTLED = "7eda52ded140a7d7"
"""Of every claim and its criterion, as they were when the locked half was opened."""


def planted(noise: float, additive: float = 1.0, seed: int = 0) -> Cells:
    rng = np.random.default_rng(seed)
    codes = np.stack(np.unravel_index(np.arange(48), (8, 6)), axis=1)
    answers = additive * (rng.normal(size=8)[codes[:, 0]] + rng.normal(size=6)[codes[:, 1]])
    return Cells(codes, (8, 6), np.ones(48), answers + noise * rng.normal(size=48), None)


def test_every_table_keeps_to_the_rule() -> None:
    assert len(REGISTRY) >= 100
    for name, entry in REGISTRY.items():
        assert 2 <= len(entry.source.factors) <= 4, name
        assert max(24, 0.6 * entry.grid) <= entry.cells <= min(entry.grid, entry.rows), name
        assert entry.grid <= 6000, name
        assert all((entry.kind, entry.scale, entry.why)), name
        assert entry.source.answer not in entry.source.factors, name
    assert len({entry.source.digest for entry in REGISTRY.values()}) == len(REGISTRY)


def test_halves_are_by_the_hash_of_the_name() -> None:
    for name, entry in REGISTRY.items():
        even = int(hashlib.sha1(f"recombine {name}".encode()).hexdigest(), 16) % 2 == 0
        assert entry.source.half == ("development" if even or name in TABLES else "locked")
    locked = sum(entry.source.half == "locked" for entry in REGISTRY.values())
    assert 0.35 < locked / len(REGISTRY) < 0.65


def test_the_locked_half_is_refused_unless_it_was_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    source = next(entry.source for entry in REGISTRY.values() if entry.source.half == "locked")
    monkeypatch.setattr(tables, "read_rows", lambda *_: pytest.fail("its answers were read"))
    with pytest.raises(InputError, match="locked half"):
        source.cells()
    assert source.replace(opened=True).address != source.address
    for opened, halves in ((False, {"development"}), (True, {"development", "locked"})):
        monkeypatch.setattr("recombine.studies.real_tables.OPENED", opened)
        planned = STUDY.planned("paper").values()
        assert {setting.labels["half"] for setting in planned} == halves
        assert all(s.run.source.opened == (s.labels["half"] == "locked") for s in planned)  # type: ignore[attr-defined]


def test_claims_are_judged_on_the_locked_half_once_there_is_one() -> None:
    rows = pl.DataFrame({"half": ["development", "locked"]})
    assert rows.filter(JUDGED)["half"].to_list() == ["locked"]
    assert rows.head(1).filter(JUDGED)["half"].to_list() == ["development"]


def test_criteria_are_those_that_were_settled_before_the_locked_half_was_opened() -> None:
    told = "\n".join(f"{claim.id}: {claim.test.criterion}, nothing is {claim.test.nothing}" for claim in CLAIMS)
    assert hashlib.sha256(told.encode()).hexdigest()[:16] == SETTLED
    page = (RESULTS.parent / "docs" / "real-tables.md").read_text(encoding="utf-8")
    assert [claim.id for claim in CLAIMS if f"| `{claim.id}` |" not in page] == []


def test_the_locked_half_was_run_after_the_other_and_each_at_one_clean_commit() -> None:
    told = json.loads((RESULTS / "real-tables" / "study.json").read_text(encoding="utf-8"))["runs"]
    halves: dict[str, list[dict[str, str]]] = {"development": [], "locked": []}
    for name, run in told.items():
        if not name.endswith(", forecast again"):  # made anew whenever forecasts change
            halves[REGISTRY[name.partition(", ")[0]].source.half].append(run)
    assert max(run["started"] for run in halves["development"]) < min(run["started"] for run in halves["locked"])
    for runs in halves.values():
        (commit,) = {run["commit"] for run in runs}
        assert not commit.endswith("-dirty")


def test_tables_of_the_package_are_those_of_the_registry() -> None:
    for name in TABLES:
        if name != "buchwald_hartwig":  # a second; the run of it asserts the same
            cells = REGISTRY[name].source.cells()
            assert len(cells.codes) == REGISTRY[name].cells
    with pytest.raises(InputError, match="other rows"):
        REGISTRY["glue"].source.replace(digest="0" * 16).cells()


@pytest.mark.parametrize("holes", HOLES)
def test_what_is_held_out(holes: str) -> None:
    cells = planted(0.1)
    found = hold_out(cells, holes, np.random.default_rng(3), hidden=9)  # type: ignore[arg-type]
    assert found is not None
    out, determined = found
    assert determined[~out].all()
    if holes == "as many at random":
        assert out.sum() == 9
    if holes == "sparse":
        assert (~out).sum() == round(BEYOND * np.linalg.matrix_rank(indicators(cells)))
    else:
        assert determined.all()


def test_places_seen_twice_are_asked_where_one_is_left() -> None:
    """Of fifty places with two cells each, some lose both in nearly every draw: those are not asked about."""
    codes = np.stack(np.unravel_index(np.arange(100), (50, 2)), axis=1)
    cells = Cells(codes, (50, 2), np.ones(100), np.random.default_rng(0).normal(size=100), None)
    found = hold_out(cells, "random", np.random.default_rng(0))
    assert found is not None
    out, determined = found
    left = np.isin(codes[:, 0], codes[~out, 0])
    assert (determined == left).all()


def _measured(cells: Cells, learners: bool = False, holes: Holes = "random") -> dict[tuple[str, str], float]:
    kind = _Kind()
    found = hold_out(cells, holes, np.random.default_rng(1), hidden=14)
    assert found is not None
    kind.add(cells, *found, holes=holes, seed=0, learners=learners)
    return {(rule, what): value for rule, what, value in kind.rows()}


def test_a_sum_is_found_to_be_one_and_noise_to_be_none() -> None:
    exact = _measured(planted(0.0), learners=True)
    assert exact["additive", "R²"] > 0.9999
    assert exact[FOREST, "R²"] < 0.99
    assert exact[ONE, "R²"] < 0.9
    assert abs(_measured(planted(1.0, additive=0.0))["additive", "R²"]) < 0.3


def test_repeated_rows_take_noise_off() -> None:
    cells = planted(0.5)
    noisy = Cells(cells.codes, cells.shape, cells.rows, cells.answers, pure=0.25)
    found = _measured(noisy)
    assert found["additive", "R² beyond noise"] > found["additive", "R²"]
    assert 0 < found["", "noise"] < 0.5


def test_plans_choose_as_many_cells_each_once() -> None:
    sizes: dict[str, set[int]] = {}
    for budget, _, chosen in _plans(planted(0.1), np.random.default_rng(0)):
        assert len(set(chosen.tolist())) == len(chosen)
        sizes.setdefault(budget, set()).add(len(chosen))
    assert [len(some) for some in sizes.values()] == [1, 1]


def test_theory_that_is_right_is_off_by_nothing() -> None:
    rng = np.random.default_rng(0)
    truth, sums = rng.normal(size=20), rng.normal(size=20)
    found = _judged(truth, 0.5 * sums, 0.5 * sums, sums)
    assert found["shrinkage"] == pytest.approx(0.5)
    assert found["off by the kernel's shrinkage"] == pytest.approx(0) == found["distance to the kernel"]
    assert found["off by no shrinkage"] == pytest.approx(0.5)
    assert found["correlation with the kernel"] == pytest.approx(1)
    kernel = _kernel(2)
    assert (np.diff(kernel.similarities) > 0).all()


def test_the_best_single_factor_is_as_good_as_adding_up_where_there_is_one() -> None:
    cells = planted(0.0)
    rows_only = Cells(
        cells.codes, cells.shape, cells.rows, np.random.default_rng(2).normal(size=8)[cells.codes[:, 0]], None
    )
    assert _measured(rows_only)[ONE, "R²"] > 0.9999
    noise = _measured(planted(1.0, additive=0.0))
    assert abs(noise[ONE, "R²"]) < 0.3  # the better of two, in hindsight


def test_as_many_at_random_are_compared_by_adding_up_alone() -> None:
    cells = planted(1.0)
    told = _measured(cells, holes="as many at random")
    assert {rule for rule, _ in told} == {"", "additive"}
    found = hold_out(cells, "as many at random", np.random.default_rng(1), hidden=14)
    assert found is not None
    varies = float(((cells.answers[found[0]] - cells.answers[~found[0]].mean()) ** 2).mean())
    over = told["additive", "log error over all"] - told["additive", "log error"]
    assert np.exp(2 * over) == pytest.approx(varies / np.var(cells.answers))


NAMES = ["table", "half", "holes", "rule", "what", "value"]


def test_each_table_has_a_row_that_compares_other_hold_outs() -> None:
    rows = [("a", "random", "additive", "log error", -0.1), ("a", "random", FOREST, "log error", -0.4),
            ("a", "structured", "additive", "R²", 0.2), ("a", "random", "additive", "R²", 0.5),
            ("a", "random", ONE, "R²", 0.3)]  # fmt: skip
    long = pl.DataFrame(rows, ["table", "holes", "rule", "what", "value"], orient="row")
    found = each(long.with_columns(kind=pl.lit("x"), half=pl.lit("development"), factors=2))
    assert found.select("gain", "low", "beyond one").rows() == [(pytest.approx(0.3), True, pytest.approx(0.2))]


def test_families_count_once_and_never_in_both_halves() -> None:
    once = tables.counted_once()
    families: dict[str, list[str]] = {}
    for name, entry in REGISTRY.items():
        families.setdefault(entry.family or name, []).append(name)
    assert all(len(once.intersection(names)) == 1 for names in families.values())
    for names in families.values():
        halves = {REGISTRY[name].source.half for name in names}
        (kept,) = once.intersection(names)
        assert "development" not in halves or REGISTRY[kept].source.half == "development"


def test_claims_are_read_on_either_half_and_with_families_once() -> None:
    """The table of another family would make the claim fail; where families count once it is not there."""
    first, second = "Stat2Data/CO2Hawaii", "Stat2Data/CO2SouthPole"
    good = [name for name, entry in REGISTRY.items() if not entry.family and entry.source.half == "locked"][:20]
    rows = [(name, "locked", "random", "additive", "R²", 0.9) for name in good]
    rows += [
        (second, "locked", "random", "additive", "R²", -9.0),
        (first, "development", "random", "additive", "R²", 0.9),
    ]
    long = pl.DataFrame(rows, NAMES, orient="row").with_columns(
        pl.col("table").alias("run"), kind=pl.lit("x"), factors=2
    )
    found = readings(long, each(long)).filter(pl.col("claim") == "adds-up-mostly")
    told = {(row["half"], row["families"]): (row["tables"], row["value"]) for row in found.iter_rows(named=True)}
    assert told["locked", "once"] == (20, 1.0)
    assert told["locked", "all"] == (21, pytest.approx(20 / 21))
    assert told["development", "all"] == told["development", "once"] == (1, 1.0)
    assert {claim.id for claim in CLAIMS} == set(readings(long, each(long))["claim"])


def test_check_quotes_the_committed_tables() -> None:
    measured = pl.read_parquet(RESULTS / "real-tables" / "tables" / "measured.parquet")
    told = for_check(measured)
    assert json.loads(FILE.read_text(encoding="utf-8")) == told
    said = elsewhere(2, 0.7)
    nearest = [min(tried, key=lambda pair: abs(pair[0] - 0.7)) for factors, tried in told if factors == 2]
    alike = [value for seen, value in nearest if abs(seen - 0.7) <= 0.15]
    low, high = np.quantile(alike, [0.25, 0.75])
    assert said is not None
    assert said.startswith(f"not from this table: of {len(alike)} other real ones (2 factors, about 70 % seen)")
    assert f"{100 * low:.0f} % to {100 * high:.0f} %" in said
    assert elsewhere(9, 0.7) is None


def test_closer_looks_are_means_shares_and_medians_of_the_tables_they_name() -> None:
    assert _median(np.arange(1.0, 11.0)) == (5.5, 2.0, 9.0)  # of ten throws at most one is heads in 11 of 1024
    assert np.isnan(_median(np.arange(5.0))[1:]).all()
    rows = [(f"t{i}", "panels" if i < 8 else "pay", "development", 2, "random", "additive", "R²", i / 10)
            for i in range(10)]  # fmt: skip
    names = ["table", "kind", "half", "factors", "holes", "rule", "what", "value"]
    found = closer(pl.DataFrame(rows, names, orient="row"))
    told = {row["look"]: (row["tables"], row["value"]) for row in found.iter_rows(named=True)}
    assert told == {"median-adding-up": (10, pytest.approx(0.45)), "above-half-in-time": (8, 0.25),
                    "above-half-elsewhere": (2, 1.0)}  # fmt: skip


def test_the_chance_of_a_difference_is_welchs_and_is_multiplied_by_holm() -> None:
    first, second = np.array([0.1, 0.4, 0.2, 0.9]), np.array([0.7, 1.1, 0.8, 2.0, 1.3])
    errors = [(float(some.var(ddof=1)) / len(some), len(some) - 1) for some in (first, second)]
    told = ttest_ind(second, first, equal_var=False).pvalue
    assert welch(float(second.mean() - first.mean()), errors) == pytest.approx(told)
    chances, read = (pl.read_parquet(RESULTS / "real-tables" / "tables" / f"{name}.parquet")
                     for name in ("chances", "readings"))  # fmt: skip
    found = chances.join(read.filter(half="locked", families="all"), on="claim").sort("p")
    assert len(found) == len(CLAIMS)
    assert found["holm"][0] == pytest.approx(len(CLAIMS) * found["p"][0])
    assert found["holm"].is_sorted()
    assert (found["holm"] >= found["p"]).all()
    # The interval is an exact or a resampled one, so at its edge the two may differ a little.
    sure = found.filter(~pl.col("claim").str.starts_with("forecast"), (pl.col("p") - 0.05).abs() > 0.005)
    assert ((sure["p"] < 0.05) == (sure["status"] == "holds")).all()


def test_forecasts_again_are_of_the_cells_that_the_contest_held_out(tmp_path: Path) -> None:
    source, context = REGISTRY["glue"].source, Context("cpu", tmp_path)
    contest = ContestRun(source=source, draws=1, learners=False).compute(context).tables["measured"]
    found = ForecastRun(source=source, draws=1).compute(context).tables["forecasts"]
    both = found.join(contest.filter(rule=""), on=["holes", "what"], suffix="_then")
    assert both.height >= 6
    assert both["value"].to_list() == both["value_then"].to_list()
    told = again(found.with_columns(half=pl.lit("development"), table=pl.lit("glue")))
    ways = ["random", "structured", "sparse", "random and structured"]
    assert told["holes"].unique(maintain_order=True).to_list() == ways
    each = dict(told.filter(what="forecast interval holds").select("holes", "value").rows())
    assert each[ways[3]] == (each["random"] + each["structured"]) / 2
