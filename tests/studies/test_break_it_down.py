"""The break-it-down study: its runs at every scale, its tables by hand, and the whole of it at smoke scale."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import torch

import recombine
from recombine.models import OddOneOutNet
from recombine.runs import Context, Store
from recombine.runs.dissection import DissectionRun, read_bases
from recombine.runs.files import sha256_of
from recombine.structure import MaskSettings, Protocol, accuracy
from recombine.studies import SCALES, StudyResult, conduct, verify
from recombine.studies.break_it_down import STUDY, runs
from recombine.studies.break_it_down.bases import FILE, HASH, STEPS
from recombine.studies.break_it_down.cells import BERT, PUBLISHED, cells
from recombine.studies.break_it_down.evidence import (
    CHOSEN,
    best_less_typical,
    correlation,
    layers_less,
    less,
    of,
    one_less_other,
)
from recombine.studies.break_it_down.runs import SMALL_RESNET, bert, encoder
from recombine.studies.break_it_down.tables import LABELS, along, by_bases, correlations
from recombine.tasks import Contours, OddOneOutTask
from recombine.training import train


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    return conduct(STUDY, "smoke", store=Store(tmp_path_factory.mktemp("store")), device="cpu")


def test_runs_are_described_at_every_scale() -> None:
    for scale in SCALES:
        found = runs(scale, None)
        assert len({run.address for run in found.values()}) == len(found)
    paper = runs("paper", None)
    assert set(paper) - set(LABELS) == {"digit-pairs"}
    grid = paper["bert-grid"]
    assert isinstance(grid, DissectionRun)
    assert len(grid.protocol.settings) == 24
    assert (grid.bases, grid.untrained) == (1, 1)
    assert paper["digit-pairs"].members >= 32  # type: ignore[attr-defined]


def test_claims_have_ids_sources_and_enough_is_judged_at_quick_scale() -> None:
    ids = [claim.id for claim in STUDY.claims]
    assert len(set(ids)) == len(ids)
    assert all(claim.source for claim in STUDY.claims)


def test_a_base_that_two_runs_share_is_counted_once() -> None:
    masks = pl.DataFrame({
        "run": ["bert-grid", "bert-scratch", "bert-scratch"], "network": ["trained"] * 3, "role": ["search"] * 3,
        "base": [0, 0, 1], "subroutine": ["verb"] * 3, "chosen": [True] * 3, "d_abl": [-0.2, -0.4, -0.5],
    })  # fmt: skip
    tables = {"masks": masks, "bases": masks.select("run", "network", "base")}
    found = of(("bert-grid", "bert-scratch"), "d_abl", where=CHOSEN)(tables)
    assert found.members == 2
    assert found.groups[0] == pytest.approx((-0.3, -0.5))


def test_a_claim_without_its_runs_is_not_fitted() -> None:
    assert {claim.evaluate({}).status for claim in STUDY.claims} == {"not fitted"}


def test_the_bases_that_come_with_the_package_are_small_theirs_and_do_their_task() -> None:
    path = Path(recombine.__file__).parent / FILE
    assert path.stat().st_size < 2**20
    assert sha256_of(path) == HASH
    bases = read_bases(FILE, HASH, SMALL_RESNET)
    problems = OddOneOutTask(source=Contours(side=32), problems=1, held_out=100).split("test")
    assert bases.members == tuple(STEPS)
    assert all(accuracy(bases.member(m), problems) > 0.9 for m in bases.members)


def test_a_pretrained_base_starts_from_what_was_learnt_and_is_dissected(tmp_path: Path) -> None:
    few = MaskSettings(epochs=1, batch_size=16)
    whole = bert(Protocol(settings=(few,), gate=0.0, seeds=1, random=0, shuffled=False), 2, pretrained=True)
    assert whole.pretraining is not None
    speaks = whole.pretraining.replace(model=encoder(8, 2, 1, masked_words=True), steps=2, batch_size=4)
    small = whole.replace(
        model=OddOneOutNet(encoder=encoder(8, 2, 1)), pretraining=speaks, steps=0, batch_size=4, learn=32, asked=20,
        task=whole.task.replace(problems=64, held_out=20),
    )  # fmt: skip
    learnt = train(speaks.model, speaks.task, members=2, steps=2, batch_size=4, optimizer=speaks.optimizer)  # type: ignore[arg-type]
    for member, base in enumerate(small.trained(Context("cpu", tmp_path))):
        own = dict(base.named_parameters())
        for name, tensor in learnt.member(member).named_parameters():
            torch.testing.assert_close(own[f"encoder.{name}"], tensor)
    found = small.replace(steps=2).dissected(Context("cpu", tmp_path / "again"))
    assert found.masks["subroutine"].to_list() == ["subject", "verb"] * 2


def masks() -> pl.DataFrame:
    """Two bases, two settings, one subroutine: numbers whose means are known."""
    rows = [
        {"run": "agreement", "base": base, "network": "trained", "role": "search", "subroutine": "verb", "setting": s,
         "passed": passed, "chosen": chosen, "d_abl": d, "d_sub": 0.5}
        for base, s, passed, chosen, d in (
            (0, 0, True, True, -0.6), (0, 1, True, False, -0.2), (1, 0, True, True, -0.4), (1, 1, False, False, 0.1),
        )
    ]  # fmt: skip
    return pl.DataFrame(rows)


def test_evidence_by_hand() -> None:
    bases = pl.DataFrame(
        {"run": ["agreement"] * 3, "network": ["trained"] * 3, "base": [0, 1, 2], "on verb": [1.0] * 3}
    )
    tables = {"masks": masks(), "bases": bases}
    assert of("agreement", "d_abl")(tables).groups[0] == pytest.approx((-0.4, -0.15))
    assert of("agreement", "d_abl", where=CHOSEN)(tables).groups[0] == pytest.approx((-0.6, -0.4))
    assert of("agreement", "d_abl")(tables).members == 3
    nothing = pl.col("d_abl") < -1
    assert of("agreement", "d_abl", where=nothing)(tables).groups == ((),)
    assert of("agreement", "d_abl", where=nothing, missing=0.0)(tables).groups[0] == (0.0, 0.0)
    assert of("agreement", "d_abl", each="cell")(tables).members == 3
    two = bases.with_columns(pl.lit(1.0).alias("on subject"), pl.lit(None).alias("on number"))
    assert of("agreement", "d_abl", each="cell")(tables | {"bases": two}).members == 6, "a subroutine of another run"
    both = pl.concat([masks(), masks().with_columns(pl.lit("subject").alias("subroutine"), pl.col("d_abl") + 0.25)])
    assert one_less_other("agreement", "d_abl", "verb", "subject")(tables | {"masks": both}).groups[0] == pytest.approx(
        (-0.25, -0.25)
    )
    assert best_less_typical(["agreement"])(tables).groups[0] == pytest.approx((0.2, 0.0))


def test_bases_are_compared_with_those_of_the_same_number() -> None:
    one = masks().with_columns(pl.lit("one").alias("run"), pl.lit("all").alias("layers"))
    # Base 0 is missing in the other run, and a subroutine is missing in the first.
    other = one.filter(pl.col("base") == 1).with_columns(pl.lit("other").alias("run"), pl.col("d_abl") - 0.1)
    more = other.with_columns(pl.lit("subject").alias("subroutine"))
    tables = {"masks": pl.concat([one, other, more])}
    assert less("d_abl", "one", "other")(tables).groups[0] == pytest.approx((0.1,))
    last = one.with_columns(pl.lit("last").alias("layers"), pl.col("d_abl") - 0.2)
    found = layers_less("d_abl", ["one"], "last", "all")({"masks": pl.concat([one, last])})
    assert found.groups[0] == pytest.approx((-0.2, -0.2))


def test_tests_have_the_base_as_their_unit() -> None:
    table = by_bases(masks())
    chosen = table.filter(pl.col("which") == "chosen").row(0, named=True)
    assert (chosen["bases"], chosen["masks"], chosen["p_signs"]) == (2, 2, 0.5)
    assert table.filter(pl.col("which") == "passing")["d_abl"][0] == pytest.approx((-0.4 - 0.4) / 2)


def test_correlation_over_members_that_pass_the_gate() -> None:
    members = pl.DataFrame({"member": range(12), "step": [5] * 12, "gated": [True] * 10 + [False] * 2,
                            "unseen": [i / 10 for i in range(12)], "on left digit": [0.5] * 12,
                            "on right digit": [0.5] * 12})  # fmt: skip
    rows = [
        {"member": m, "step": 5, "role": "search", "passed": True, "chosen": True, "d_abl": -m / 20, "d_sub": 0.1}
        for m in range(12)
    ]
    table = along(members, pl.DataFrame(rows))
    assert correlations(table).filter(pl.col("column") == "d_abl").row(0, named=True)["rho"] == pytest.approx(-1)
    found = correlation("d_abl_all")({"along": table})
    assert (len(found.groups[0]), found.members) == (10, 12)
    assert found.groups[0] == pytest.approx((-1.0,) * 10)


def test_smoke_judges_every_claim(result: StudyResult) -> None:
    assert [claim.claim.id for claim in result.claims] == [claim.id for claim in STUDY.claims]
    status = {claim.claim.id: claim.status for claim in result.claims}
    assert status["structure-predicts-generalization"] == "not fitted", "four members are too few"
    assert {"bases", "masks", "matrix", "overlap", "summary", "along", "correlations"} <= set(result.tables)


def test_committed_results_are_verified_by_a_member_trained_again(
    result: StudyResult, committed: Callable[[StudyResult], Path]
) -> None:
    folder = committed(result)
    found = verify(STUDY, folder)
    assert (found.again, found.problems) == ("digit-pairs", ())
    assert found.compared > 10
    table = result.tables["along"].with_columns(pl.col("unseen") + 0.1)
    table.write_parquet(folder / "tables" / "along.parquet")
    assert any("'unseen'" in problem for problem in verify(STUDY, folder).problems)


def test_every_figure_can_be_drawn_from_a_few_steps(result: StudyResult) -> None:
    for figure in STUDY.figures:
        if figure.table == "overlap" and result.tables["overlap"]["iou"].is_null().all():
            continue
        assert figure.draw(figure.rows(result.tables[figure.table])) is not None


def test_published_cells_stand_before_ours() -> None:
    known = {"sub_target": 0.9, "sub_other": 0.3, "abl_other": 1.0}
    rows = masks().with_columns(
        pl.col("base").cast(pl.Float64).alias("abl_target"), **{k: pl.lit(v) for k, v in known.items()}
    )
    table = cells(rows)
    assert table["cell"].unique().to_list() == ["agreement: verb"]
    assert table["from"].to_list() == ["published"] * 3 + ["here"]
    ours = table.row(-1, named=True)
    assert (ours["network"], ours["bases"], ours["abl_target"]) == ("here: 2 layers of 16", 2, 0.5), "chosen masks only"
    # A cell of the release: agreement of the subject in the singular (.316, .756) and plural (.617, .930).
    assert PUBLISHED["agreement", "subject"][BERT][2:] == pytest.approx(
        ((0.316 + 0.617) / 2, (0.756 + 0.930) / 2), abs=6e-4
    )
