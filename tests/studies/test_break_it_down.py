"""The break-it-down study: its readings, derived tables and shares by hand, and the bases that come with it."""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars as pl
import pytest
import torch

import recombine
from recombine.models import OddOneOutNet
from recombine.runs import Context, StoredRun
from recombine.runs.files import sha256_of
from recombine.structure import Choice, MaskSettings, Protocol, accuracy
from recombine.studies.break_it_down import STUDY, tables
from recombine.studies.break_it_down.bases import STEPS
from recombine.studies.break_it_down.claims import BASE, CHOSEN, LANGUAGE, PASSED, _of
from recombine.studies.break_it_down.dissection import DissectionRun, Pretraining, read_bases
from recombine.studies.break_it_down.generalizing import rho
from recombine.studies.break_it_down.settings import FILE, HASH, SMALL_RESNET, _encoder
from recombine.tasks import Contours, OddOneOutTask
from recombine.training import Adam, train

LABELS = {"kind": "word encoder", "pretraining": "none", "rate": 5e-4, "network": "trained"}


def _masks(run: str = "agreement", **more: Any) -> pl.DataFrame:
    """Two bases, two settings, one subroutine: numbers whose means are known."""
    rows = [
        {"run": run, "bases_of": run, "task": "agreement", "called": "2 × 16", "base": base, "role": "search",
         "subroutine": "verb", "setting": s, "passed": passed, "chosen": chosen, "d_abl": d, "d_sub": 0.5,
         "kept": 10}
        | LABELS | more
        for base, s, passed, chosen, d in (
            (0, 0, True, True, -0.6), (0, 1, True, False, -0.2), (1, 0, True, True, -0.4), (1, 1, False, False, 0.1),
        )
    ]  # fmt: skip
    return pl.DataFrame(rows)


def _bases(run: str, count: int, bases_of: str | None = None) -> pl.DataFrame:
    return pl.DataFrame(
        [{"run": run, "bases_of": bases_of or run, "base": i, "accuracy": 1.0, "on subject": 1.0, "on verb": 0.9,
          "on number": None} | LABELS for i in range(count)],
        schema_overrides={"on number": pl.Float64},
    )  # fmt: skip


def test_the_paper_scale_has_its_settings_and_says_how_far_they_are_from_the_papers() -> None:
    found = STUDY.planned("paper")
    grid = found["bert-grid"]
    assert isinstance(grid.run, DissectionRun)
    assert len(grid.run.protocol.settings) == 24
    assert grid.labels["bases_of"] == "bert-scratch"
    scratch = found["bert-scratch"]
    assert scratch.faithful is not None
    shares = scratch.faithful.shares(scratch.run)
    assert (shares.steps, shares.members) == (9 * 32 / (90 * 149), 2)
    assert (shares.data, shares.size) == (2000 / 9500, 1)
    for name in ("toy", "planted-positive", "three-rules", "digit-pairs"):
        assert found[name].faithful is None, "not in the paper"
    untrained = found["resnet18-untrained"]
    assert untrained.faithful is not None
    assert untrained.faithful.shares(untrained.run).members == 1
    context = cast(Context, SimpleNamespace(device="cpu"))
    assert cast(DissectionRun, untrained.run).trained(context) == [], "there is no base to train"


@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("agreement", "bert-slow"),
        ("pretrained", "bert-slow-pretrained"),
        ("longer", "agreement-pretrained-long"),
        ("contours", "resnet18-number-contact"),
    ],
)
def test_the_faithful_search_is_as_long_as_the_papers_and_of_the_same_bases(name: str, like: str) -> None:
    found = STUDY.planned("paper")
    short = cast(DissectionRun, found[like].run)
    for base in range(3):
        setting = found[f"faithful-{name}-{base}"]
        run = cast(DissectionRun, setting.run)
        assert setting.faithful is not None
        shares = setting.faithful.shares(run)
        assert (shares.steps, shares.data) == (1, 1)
        assert (shares.size == 1) == (name != "contours")
        assert setting.labels["bases_of"] == like
        assert (run.bases, run.first) == (1, base)
        same = ("protocol", "learn", "bases", "precision", "search_precision", "untrained")
        kept = {field: getattr(short, field) for field in same} | {"first": 0}
        assert run.replace(**kept).address == short.address
        weights = [(one.penalty, one.penalty_on, one.epochs, one.batch_size) for one in run.protocol.settings]
        assert weights == [(1e-8, "sum", 90, 64)] * 24
        assert {one.optimizer.lr for one in run.protocol.settings} == {1e-2, 1e-4}


def test_a_part_is_a_base_and_a_subroutine_of_its_run() -> None:
    found = tables.parts(_bases("agreement", 2))
    assert found.select("base", "subroutine", "alone").rows() == [
        (0, "subject", 1.0), (1, "subject", 1.0), (0, "verb", 0.9), (1, "verb", 0.9),
    ]  # fmt: skip


def test_masks_are_averaged_by_base_and_bases_without_one_are_asked_for() -> None:
    read = {"masks": _masks(), "parts": tables.parts(_bases("agreement", 3))}
    assert _of("d_abl", LANGUAGE).read(read).values() == pytest.approx((-0.4, -0.15))
    assert _of("d_abl", LANGUAGE, CHOSEN).read(read).values() == pytest.approx((-0.6, -0.4))
    assert _of("d_abl", LANGUAGE).read(read).asked.height == 3
    assert _of("d_abl", LANGUAGE, pl.col("d_abl") < -1).read(read).values() == (), "nothing is filled in"
    gain = _of("d_abl", LANGUAGE, CHOSEN).minus(_of("d_abl", LANGUAGE, PASSED), pair=BASE)
    assert gain.read(read).values() == pytest.approx((-0.2, 0.0))


def test_a_base_that_two_runs_share_is_counted_once() -> None:
    masks = pl.concat([_masks("bert-grid", bases_of="bert-scratch"), _masks("bert-scratch")])
    bases = pl.concat([_bases("bert-grid", 1, "bert-scratch"), _bases("bert-scratch", 2)])
    found = _of("d_abl", LANGUAGE, CHOSEN).read({"masks": masks, "parts": tables.parts(bases)})
    assert found.values() == pytest.approx((-0.6, -0.4))
    assert found.asked.select(BASE).height == 2


def test_tests_have_the_base_as_their_unit() -> None:
    table = tables.by_run(tables.by_bases)(_masks())
    chosen = table.filter(pl.col("which") == "chosen").row(0, named=True)
    assert (chosen["bases"], chosen["masks"], chosen["p_signs"]) == (2, 2, 0.5)
    assert table.filter(pl.col("which") == "passing")["d_abl"][0] == pytest.approx((-0.4 - 0.4) / 2)


def _along() -> pl.DataFrame:
    """Twelve members of which ten do their task; D_abl falls as accuracy rises, as does the size they start from."""
    members = pl.DataFrame({"member": range(12), "step": [5] * 12, "gated": [True] * 10 + [False] * 2,
                            "unseen": [i / 10 for i in range(12)], "on left digit": [0.5] * 12,
                            "on right digit": [0.5] * 12})  # fmt: skip
    masks = pl.DataFrame([
        {"member": m, "step": 5, "role": "search", "passed": True, "chosen": True, "d_abl": -m / 20, "d_sub": 0.1}
        for m in range(12)
    ])  # fmt: skip
    stored = {"along": members, "masks": masks}
    run = cast(StoredRun, SimpleNamespace(tables=stored, table=stored.__getitem__))
    kept = tables.along(run, STUDY.planned("smoke")["digit-pairs"])
    assert kept is not None
    return kept.with_columns(pl.lit("digit-pairs").alias("run"), (12.0 - pl.col("member")).alias("init_scale"))


@pytest.mark.parametrize("val", [(-0.3, 0.2, 0.1), (0.0, 0.4, -0.1), (0.5,)])
def test_what_choosing_alone_gives_is_that_of_all_coins(val: tuple[float, ...]) -> None:
    """Every way to turn the signs is tried; a mask is chosen as in a dissection, the first of the lowest."""
    d_abl, d_sub = (-0.2, 0.3, 0.4)[: len(val)], (0.5, 0.5, -0.1)[: len(val)]
    chosen = min(range(len(val)), key=val.__getitem__)
    rows = [{"run": "a", "bases_of": "a", "task": "t", "called": "c", "base": 0, "role": "search", "subroutine": "verb",
             "passed": True, "chosen": i == chosen, "val_d_abl": val[i], "d_abl": d_abl[i], "d_sub": d_sub[i]} | LABELS
            for i in range(len(val))]  # fmt: skip
    hits = 0
    for coins in product((-1, 1), repeat=len(val)):
        best = min(range(len(val)), key=lambda i: coins[i] * val[i])
        hits += d_sub[best] > 0 and coins[best] * d_abl[best] < 0
    found = tables.signs(pl.DataFrame(rows))
    assert found["by_choosing"].to_list() == pytest.approx([hits / 2 ** len(val)])
    assert found["both"].to_list() == [float(d_sub[chosen] > 0 and d_abl[chosen] < 0)]


def test_correlation_over_members_that_pass_the_gate() -> None:
    ranks = tables.ranks(_along())
    found = rho("d_abl_all").read({"ranks": ranks})
    assert (len(found.values()), found.asked.height) == (10, 12)
    assert found.values() == pytest.approx((-1.0,) * 10)
    assert rho("d_sub_all").read({"ranks": ranks}).values() == (), "it does not vary"
    assert rho("d_abl_all", "init_scale").read({"ranks": ranks}).values() == (), "the start says all"
    told = tables.correlations(ranks).filter(pl.col("column") == "d_abl_all", pl.col("given").is_null())
    assert told.row(0, named=True)["rho"] == pytest.approx(-1)


@pytest.mark.parametrize("shared", [0.0, 1.0])
def test_tenths_take_out_what_a_line_through_ranks_of_the_start_leaves(shared: float) -> None:
    """The start moves structure and accuracy along a curve; beyond it they share something, or nothing."""
    rng = np.random.default_rng(3)
    scale, common = np.geomspace(0.5, 12, 200), rng.normal(size=200)
    curve = 1.5 * np.cos(np.linspace(0, 2 * np.pi, 200))
    along = pl.DataFrame({
        "run": "many", "member": range(200), "step": 400, "gated": True, "init_scale": scale,
        "unseen": curve + shared * common + 0.5 * rng.normal(size=200),
        "d_abl_all": -curve - shared * common + 0.5 * rng.normal(size=200),
        **{name: rng.normal(size=200) for name in tables.PREDICTORS if name not in ("init_scale", "d_abl_all")},
    })  # fmt: skip
    ranks = {"many_ranks": tables.ranks(along)}
    line, tenths = (
        np.mean(rho("d_abl_all", given, table="many_ranks").read(ranks).values())
        for given in ("init_scale", tables.TENTHS)
    )
    assert line < -0.6, "the curve is left over, whatever is shared"
    assert (tenths < -0.4) if shared else (abs(tenths) < 0.25)


def test_structure_and_error_are_ranked_over_networks_that_fit() -> None:
    """D_abl of both searches rises with the error in nine networks; a tenth, which did not fit, is left out."""
    rows = [
        {"run": f"sums-alike-{s}", "task": "sums, one size", "search": s, "member": i, "fitted": i < 9,
         "seen_error": 0.01 * ((i * 4) % 9), "error": 0.1 * i if i < 9 else 0.0, "d_abl": -0.9 + 0.05 * i + 0.001 * s}
        for s in (0, 1) for i in range(10)
    ]  # fmt: skip
    found = tables.same_ranks(pl.DataFrame(rows))
    values = {name: found.filter(score=name)["value"].to_list() for name in ("error", "again")}
    assert values == {name: pytest.approx([1.0] * 9) for name in values}
    one = pl.DataFrame(rows).filter(pl.col("search") == 0)
    assert tables.same_ranks(one).height == 0, "one search does not say what a search repeats"


def test_a_mask_of_an_untrained_network_that_keeps_nothing_is_not_filled_in() -> None:
    scores = {name: pl.lit(0.25) for name in tables.SCORES}
    fresh = _masks(network="untrained").with_columns(kept=pl.Series([0, 0, 10, 0]), **scores)
    ours = tables.cells(fresh).filter(pl.col("from") == "here")
    assert ours["bases"].to_list() == [1], "one base has a mask"
    assert tables.cells(fresh.with_columns(kept=0)).filter(pl.col("from") == "here").is_empty()


def test_published_cells_stand_before_ours() -> None:
    known = {"sub_target": 0.9, "sub_other": 0.3, "abl_other": 1.0}
    rows = _masks().with_columns(
        pl.col("base").cast(pl.Float64).alias("abl_target"), **{k: pl.lit(v) for k, v in known.items()}
    )
    table = tables.cells(rows)
    assert table["cell"].unique().to_list() == ["agreement: verb"]
    assert table["from"].to_list() == ["published"] * 4 + ["here"]
    ours = table.row(-1, named=True)
    assert (ours["network"], ours["bases"], ours["abl_target"]) == ("here: 2 × 16", 2, 0.5), "chosen masks only"
    # A cell of the release: the verb of BERT from scratch, in the singular.
    published = table.row(0, named=True)
    assert (published["abl_target"], published["abl_other"], published["d_abl"]) == (0.508, 0.784, -0.26)


def test_every_cell_of_the_release_is_there() -> None:
    """34 of trained networks, 18 of vision and 16 of language, 4 of pruned and 28 of untrained ones."""
    released = pl.read_csv(Path(tables.__file__).with_name("published.csv"))
    language, sort = pl.col("network").str.contains("BERT"), pl.col("network").str.extract("(untrained|pruned)")
    counts = released.group_by(language.alias("language"), sort.alias("sort")).len()
    assert set(counts.rows()) == {(True, None, 16), (False, None, 18), (False, "pruned", 4), (True, "untrained", 16),
                                  (False, "untrained", 12)}  # fmt: skip
    clipped = {name: pl.col(name).clip(lower_bound=0.25) for name in tables.SCORES}
    off = (clipped["abl_target"] - clipped["abl_other"] - pl.col("d_abl")).abs()
    assert released.filter(off > 0.06).is_empty(), "a mean of differences is near the difference of means"


def test_every_cell_of_the_release_is_among_the_printed_figures_once() -> None:
    """18 cells of vision and 16 of language, each with two figures, and the pruned and untrained ones: what was run and
    what is left, with its cost, stands in one table."""
    released = pl.read_csv(Path(tables.__file__).with_name("published.csv"))
    with (Path(__file__).parents[2] / "docs" / "printed" / "break-it-down.csv").open(encoding="utf-8", newline="") as f:
        printed = [(row["what"].removesuffix(" (ours has 18 layers)"), row["printed"]) for row in csv.DictReader(f)]
    cells = [
        (f"{row['task']}, {row['network']}: {row['subroutine']}, {shown}", f"{row[shown.lower()]:.3f}")
        for row in released.iter_rows(named=True)
        for shown in ("D_sub", "D_abl")
    ]
    assert sorted(printed) == sorted(cells)
    trained = {what.rpartition(", ")[0] for what, _ in printed if "untrained" not in what and "pruned" not in what}
    assert [sum(("BERT" in cell) == language for cell in trained) for language in (True, False)] == [16, 18]


def test_the_bases_that_come_with_the_package_are_small_theirs_and_do_their_task() -> None:
    path = Path(recombine.__file__).parent / FILE
    assert path.stat().st_size < 2**20
    assert sha256_of(path) == HASH
    bases = read_bases(FILE, HASH, SMALL_RESNET)
    problems = OddOneOutTask(source=Contours(side=32), problems=1, held_out=100).split("test")
    assert bases.members == tuple(STEPS)
    assert all(accuracy(bases.member(m), problems) > 0.9 for m in bases.members)


def test_a_pretrained_base_starts_from_what_was_learnt_and_is_dissected(tmp_path: Path) -> None:
    whole = STUDY.planned("paper", 2)["bert-pretrained"].run
    assert isinstance(whole, DissectionRun)
    assert whole.pretraining is not None
    speaks = whole.pretraining.replace(model=_encoder(8, 2, 1, masked_words=True), steps=2, batch_size=4)
    few = MaskSettings(epochs=1, batch_size=16)
    small = whole.replace(
        model=OddOneOutNet(encoder=_encoder(8, 2, 1)), pretraining=speaks, steps=0, batch_size=4, learn=32, asked=20,
        task=whole.task.replace(problems=64, held_out=20),
        protocol=Protocol(settings=(few,), gate=0.0, seeds=1, random=0, shuffled=False),
    )  # fmt: skip
    learnt = train(speaks.model, speaks.task, members=2, steps=2, batch_size=4, optimizer=speaks.optimizer)
    for member, base in enumerate(small.trained(Context("cpu", tmp_path))):
        own = dict(base.named_parameters())
        for name, tensor in learnt.member(member).named_parameters():
            torch.testing.assert_close(own[f"encoder.{name}"], tensor)
    found = small.replace(steps=2).dissected(Context("cpu", tmp_path / "again"))
    assert found.masks["subroutine"].to_list() == ["subject", "verb"] * 2


def test_of_a_pruned_base_only_what_a_mask_of_its_task_keeps_is_left(tmp_path: Path) -> None:
    whole = cast(DissectionRun, STUDY.planned("paper")["agreement-plural"].run)
    strict = MaskSettings(choice=Choice(names="layers"), epochs=1, batch_size=16, penalty=1e4, optimizer=Adam(lr=1.0))
    small = whole.replace(
        model=OddOneOutNet(encoder=_encoder(8, 2, 1)),
        bases=2,
        steps=1,
        batch_size=4,
        pruning=strict,
        task=whole.task.replace(problems=64, held_out=20),
    )
    bases = small.trained(context := Context("cpu", tmp_path))
    before = [{name: tensor.clone() for name, tensor in base.named_parameters()} for base in bases]
    left = small._prune(bases, strict, context)
    for base, old, share in zip(bases, before, left, strict=True):
        emptied = {name for name, tensor in base.named_parameters() if old[name].any() and not tensor.any()}
        assert emptied, "under such a penalty nothing is kept"
        assert all("layers" in name for name in emptied)
        for name, tensor in base.named_parameters():
            assert name in emptied or torch.equal(tensor, old[name])
        assert share == 0.0
    unsearched = small.replace(protocol=small.protocol.replace(gate=1.0, settings=(strict,)), untrained=1)
    table = unsearched.dissected(Context("cpu", tmp_path / "again")).bases
    assert table["left"].to_list() == [0.0, 0.0, None], "what is left is told, of trained bases"


def test_what_is_compared_differs_in_one_thing() -> None:
    found = {name: cast(DissectionRun, setting.run) for name, setting in STUDY.planned("paper").items()}
    longer, plain = found["agreement-plural-pretrained-long"], found["agreement-plural-pretrained"]
    assert longer.pretraining is not None
    assert (longer.pretraining.steps, longer.steps) == (8000, 4000)
    assert longer.replace(pretraining=longer.pretraining.replace(steps=800)).address == plain.address
    masked, task = (cast(Pretraining, found[f"agreement-{what}-long"].pretraining) for what in ("pretrained", "task"))
    assert (masked.steps, masked.optimizer, masked.batch_size) == (task.steps, task.optimizer, task.batch_size * 4)
    assert task.task.address == found["agreement-task-long"].task.address, "its own task, for longer"
    same = found["agreement-pretrained-long"].replace(pretraining=None).address
    assert same == found["agreement-task-long"].replace(pretraining=None).address
    more, pretrained = found["agreement-plural-more"], found["agreement-plural-pretrained"]
    assert pretrained.pretraining is not None
    assert more.steps == pretrained.steps + pretrained.pretraining.steps
    assert more.batch_size * 4 == pretrained.pretraining.batch_size, "as many sentences in a step"
    assert more.replace(steps=4000).address == found["agreement-plural"].address
