"""A study made of another with `dataclasses.replace`: it says what it changes, and takes over no verdict or reason."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import recombine as rc
from recombine.cli.study import print_claims, say_changes
from recombine.errors import InputError
from recombine.models import ConvNet, EmbeddingCNN, OddOneOutNet, PairCNN, PixelTransformer, ResNet
from recombine.reporting.escaped import markdown_text
from recombine.reporting.export import members_text
from recombine.reporting.overview import overall, write_overview
from recombine.reporting.study import called, claims_chart, study_page, study_view, write_results
from recombine.runs.training import Measured, TrainingRun
from recombine.studies import Claim, Setting, StudyResult, cells, find_study
from recombine.studies.committed import read_results, read_tables
from recombine.studies.gradient_toy import EPOCH_STEPS, STUDY
from recombine.studies.running import OF_COMMITTED, checked, judged, run_study
from recombine.studies.study import shares_of
from recombine.studies.tables import derived
from recombine.studies.unread import same, unread
from recombine.studies.variation import asked, changes
from recombine.studies.varied_claims import beside_claims
from recombine.tasks import ToyTask

RESULTS = Path(__file__).parents[2] / "results"
Settings = Callable[[Any, int | None], Mapping[str, Setting]]


def with_adam(size: Any, members: int | None) -> Mapping[str, Setting]:
    settings = STUDY.settings(size, members)
    return {name: replace(s, run=s.run.replace(optimizer=rc.Adam(lr=0.01))) for name, s in settings.items()}


def part_of(study: Any, *names: str) -> Settings:
    return lambda size, members: {n: s for n, s in study.settings(size, members).items() if n in names}


@pytest.fixture(scope="module")
def committed() -> StudyResult:
    return read_results(RESULTS / "gradient-toy")


@pytest.fixture(scope="module")
def varied(committed: StudyResult) -> StudyResult:
    """The committed numbers, as if other runs had given them."""
    return judged(replace(committed, study=replace(STUDY, name="adam-toy", settings=with_adam, figures=())))


def test_what_a_variation_changes_is_found_in_the_descriptions_of_its_runs(
    committed: StudyResult, varied: StudyResult
) -> None:
    assert varied.changes == ("optimizer is adam (lr 0.01) instead of sgd (lr 0.1), in all 7 runs",)
    assert committed.changes == ()
    few = replace(STUDY, name="few", settings=part_of(STUDY, "redundant"), claims=STUDY.claims[1:])
    told = replace(committed, study=few).changes
    assert told[0].startswith("not run here: uninformative, redundant-playground")
    assert told[1] == "claims not asked here: toy-wrong-quarter"


READERS = find_study("forced-rendering")


def filters(run: Any, count: int = 128) -> Any:
    model = getattr(run, "model", None)
    return run.replace(model=model.replace(filters=count)) if isinstance(model, PairCNN) else run


def convolves(run: Any) -> bool:
    return getattr(getattr(run, "model", None), "convolutions", 0) > 0


def with_runs(study: Any, change: Callable[[Any], Any], name: str = "mine", beside: str = "") -> Any:
    """The study with every run changed, or with the changed runs ``beside`` its own."""

    def settings(size: Any, members: int | None) -> Mapping[str, Setting]:
        own = study.settings(size, members)
        made = {n + beside: replace(s, run=change(s.run)) for n, s in own.items()}
        return {**own, **made} if beside else made

    return replace(study, name=name, settings=settings)


def test_a_change_is_told_with_both_values_the_fields_name_and_its_runs() -> None:
    """Values that are at their default are told too, which descriptions leave out."""

    def longer(run: Any) -> Any:
        return run.replace(steps=512, seed=1) if run.task.second == "redundant" else run.replace(batch_size=None)

    told = changes(with_runs(STUDY, longer), "smoke")
    of = "redundant, redundant-playground, redundant-epochs, redundant-many"
    assert "seed is 1 instead of 0, in the runs " + of in told
    assert "steps is 512 instead of 256, in the runs redundant, redundant-playground, redundant-many" in told
    assert not any("redundant-epochs" in one for one in told if one.startswith("steps")), "they are 512 anyway"
    assert told[-2].startswith("batch_size is none instead of 10, in the runs uninformative, ")
    assert told[-1] == "what was recorded at the last step is recorded at the new one"
    assert not any("record" in one for one in told[:-1]), "that follows from the steps"
    inner = changes(with_runs(STUDY, lambda run: run.replace(model=run.model.replace(activation="tanh"))), "smoke")
    assert inner == ("model.activation is tanh instead of relu, in all 7 runs",)


def test_what_is_recorded_otherwise_is_told_by_measure_in_a_few_words() -> None:
    usual = counted, shown, bent, mapped = STUDY.runs("smoke")["redundant"].measured
    few, fewer = Measured(measure="influence", at=(0, 3, -1)), counted.replace(arguments={"count": 9})
    for measured, said in (
        ((shown, counted, bent, mapped), "measured is described otherwise and records the same"),
        ((counted, shown, bent, mapped, Measured(measure="drawing")), "drawing is recorded too"),
        ((counted, few, bent), "decision_map is not recorded; influence is recorded at other steps"),
        ((fewer, shown, bent, mapped), "per_combination is measured with count 9 instead of 512"),
    ):
        other = with_runs(STUDY, lambda run, to=measured: run.replace(measured=to) if run.measured == usual else run)
        assert "; ".join(changes(other, "smoke")).replace(AT_FOUR, "") == said
    unlike = with_runs(STUDY, lambda run: run.replace(steps=128, measured=(few,)))
    assert "influence is recorded at other steps" in " ".join(changes(unlike, "smoke"))


AT_FOUR = ", in the runs redundant, uninformative, redundant-playground, uninformative-playground"


@pytest.mark.parametrize(("share", "end"), [
    (0.5, "what was to be recorded after the last step is recorded at the new one"),
    (2.0, "what was recorded at the last step is recorded at the new one"),
])  # fmt: skip
def test_other_steps_are_run_as_the_study_of_so_many_would_be_up_to_their_end(share: float, end: str) -> None:
    def scaled(steps: int) -> int:
        return int(share * steps)

    other, size = with_runs(STUDY, lambda run: run.replace(steps=scaled(run.steps))), STUDY.scales["smoke"]
    alike = STUDY.settings(replace(size, steps=scaled(size.steps), long_steps=scaled(size.long_steps)), None)
    assert other.runs("smoke") == {name: setting.run for name, setting in alike.items()}
    checked([other], "smoke", None)
    told = [one.partition(",")[0] for one in changes(other, "smoke")]
    assert told == [*(f"steps is {scaled(steps)} instead of {steps}" for steps in (256, 512)), end]


def test_tasks_that_keep_tensors_can_be_varied() -> None:
    longer = with_runs(READERS, lambda run: run.replace(steps=99) if isinstance(run, TrainingRun) else run)
    checked([longer], "smoke", None)
    assert changes(longer, "smoke")[0].startswith("steps is 99 instead of ")


def test_what_a_variation_records_of_its_own_is_recorded_when_it_says() -> None:
    own = with_runs(STUDY, lambda run: run.replace(steps=1024, measured=(Measured(measure="influence", at=(1, 512)),)))
    assert {run.measured[0].at for run in own.runs("smoke").values()} == {(1, 512)}


def test_a_variation_that_changes_nothing_is_refused_before_anything_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recombine.studies.running.get_or_compute", lambda *_, **__: pytest.fail("run"))
    same_value = with_runs(STUDY, lambda run: run.replace(optimizer=rc.SGD(lr=0.1)))
    for study in (same_value, replace(same_value, claims=STUDY.claims[:1]), STUDY.only(STUDY.runs("smoke"))):
        with pytest.raises(InputError, match=r"changes nothing of 'gradient-toy' at smoke scale"):
            run_study(study, "smoke", store=tmp_path)
    for more in ({"tables": dict(STUDY.tables)}, {"scales": dict(STUDY.scales)}):
        assert replace(STUDY, name="copied", **more).varies is None, "what is equal is no change"


@pytest.mark.parametrize("beside", ["", "-wide"])
def test_filters_without_convolutions_are_refused_and_it_is_said_what_would_read_them(beside: str) -> None:
    wide = with_runs(READERS, filters, beside=beside)
    name = "read-dense-wide (beside read-dense)" if beside else "read-dense"
    told = f"model.filters is 128 instead of 8, in {name}; nothing there reads it (it would be read where "
    with pytest.raises(InputError) as refused:
        checked([wide], "quick", None)
    assert told + "model.convolutions is 2)" in str(refused.value)
    assert "read-cnn" not in str(refused.value)
    checked([wide], "smoke", None)  # where the perceptron is not trained
    some = with_runs(READERS, lambda run: filters(run) if convolves(run) else run)
    checked([some], "quick", None)
    assert changes(some, "quick") == ("model.filters is 128 instead of 8, in the runs read-cnn, read-cnn-ramp",)


def test_a_field_that_nothing_reads_beside_one_that_is_read_is_told() -> None:
    both = with_runs(READERS, lambda run: filters(run).replace(seed=5) if isinstance(run, TrainingRun) else run)
    checked([both], "quick", None)
    told = [change for change in changes(both, "quick") if "filters" in change]
    said = [("nothing there reads it" in change, "read-dense" in change) for change in told]
    assert said == [(False, False), (True, True)]


def test_weights_that_no_table_reads_are_refused() -> None:
    keeps = with_runs(STUDY, lambda run: run.replace(keep_weights=True))
    with pytest.raises(
        InputError, match=r"the same again at smoke scale: keep_weights is True instead of False, in red"
    ):
        checked([keeps], "smoke", None)
    checked([replace(keeps, tables={**STUDY.tables, "mine": lambda run, _: None})], "smoke", None)
    with pytest.raises(InputError, match=r"optimizer.nesterov is True.*read where optimizer.momentum is above 0"):
        checked([with_runs(STUDY, lambda run: run.replace(optimizer=rc.SGD(lr=0.1, nesterov=True)))], "smoke", None)


def toy(model: Any, **more: Any) -> TrainingRun:
    return TrainingRun(task=ToyTask(), model=model, members=2, steps=1, optimizer=rc.SGD(lr=0.1), **more)


FLAT, BENT = rc.Perceptron(widths=(2, 2)), rc.Perceptron(widths=(2, 4, 2))
SMALL = ResNet(shape=(1, 8, 8), channels=(2, 4), blocks=1)


@pytest.mark.parametrize(("one", "other", "path"), [
    (toy(FLAT), toy(FLAT.replace(activation="tanh")), "model.activation"),
    (toy(SMALL), toy(SMALL.replace(widen=2)), "model.widen"),
    (toy(OddOneOutNet(encoder=SMALL)), toy(OddOneOutNet(encoder=SMALL.replace(widen=2))), "model.encoder.widen"),
    (toy(EmbeddingCNN(side=4)), toy(EmbeddingCNN(side=4, terms=4)), "model.terms"),
    (toy(BENT), toy(BENT, penalty_weight=0.5), "penalty_weight"),
    (toy(BENT), toy(BENT, stop_every=9), "stop_every"),
    (toy(BENT), toy(BENT).replace(optimizer=rc.SGD(lr=0.1, nesterov=True)), "optimizer.nesterov"),
])  # fmt: skip
def test_what_computes_the_same_is_known(one: TrainingRun, other: TrainingRun, path: str) -> None:
    assert one.address != other.address
    assert same(one, other)
    assert list(unread(one, other)) == [path]


@pytest.mark.parametrize(("one", "other"), [
    (toy(BENT), toy(BENT.replace(activation="tanh"))),
    (toy(BENT), toy(BENT.replace(start="tensorflow"))),  # the same shapes, drawn otherwise
    (toy(SMALL), toy(SMALL.replace(norm="instance"))),
    (toy(SMALL.replace(block="bottleneck")), toy(SMALL.replace(block="bottleneck", widen=2))),
    (toy(EmbeddingCNN(side=4)), toy(EmbeddingCNN(side=4, terms=3))),
    (toy(PixelTransformer(inputs=2, side=2, dim=4, heads=1)), toy(PixelTransformer(inputs=2, side=2, dim=4, heads=2))),
    (toy(BENT), toy(BENT, seed=1)),
    (toy(BENT), toy(BENT).replace(optimizer=rc.SGD(lr=0.1, momentum=0.9, nesterov=True))),
    (toy(BENT), toy(BENT).replace(optimizer=rc.SGD(lr=0.2, nesterov=True))),
    (toy(BENT), toy(BENT).replace(optimizer=rc.Adam(lr=0.1))),
    (toy(BENT, fit_below=0.1), toy(BENT, fit_below=0.1, stop_every=9)),
    (toy(FLAT), toy(FLAT.replace(activation="tanh"), seed=1)),
    (toy(ConvNet(shape=(1, 4, 4))), toy(ConvNet(shape=(1, 4, 4), kernel=6))),  # neither can be built
])  # fmt: skip
def test_nothing_is_called_the_same_that_is_not_known_to_be(one: TrainingRun, other: TrainingRun) -> None:
    assert not same(one, other)


def test_members_and_precision_that_change_no_run_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.studies.running.get_or_compute", lambda *_, **__: pytest.fail("run"))
    with pytest.raises(InputError, match="256 members change no run of gradient-toy at quick scale"):
        run_study(STUDY, "quick", members=256, store=tmp_path)
    with pytest.raises(InputError, match="precision tf32 changes no run of break-it-down at quick scale"):
        run_study(replace(find_study("break-it-down"), precision="tf32"), "quick", store=tmp_path)
    assert asked(STUDY, "smoke", 16) == ("members is 16 instead of 32, in the runs redundant-many, uninformative-many",)
    assert asked(replace(STUDY, precision="tf32"), "smoke") == ("precision is tf32 instead of float32, in all 7 runs",)
    assert asked(STUDY, "smoke") == ()


def test_a_variation_is_named_and_counted_apart_and_explains_nothing(
    committed: StudyResult, varied: StudyResult
) -> None:
    assert called(varied.study) == "adam-toy, made of gradient-toy"
    assert called(committed.study) == ""
    assert varied.command.startswith("rc.run_study(STUDY, 'paper')")
    assert any(claim.explanation for claim in committed.claims)
    assert not any(claim.explanation for claim in varied.claims)
    assert overall([committed, varied]).count("Of 9 claims of the papers 8 hold and 1 fails.") == 1
    assert "Of 9 claims of the papers, asked of a variation, 8 hold" in overall([committed, varied])


def said(result: StudyResult) -> dict[str, str]:
    return {claim.claim.id: "; ".join(claim.changed) for claim in result.claims}


def test_beside_a_claim_stands_what_is_changed_of_the_runs_that_it_reads_and_not_of_all(
    committed: StudyResult, varied: StudyResult
) -> None:
    assert not any(said(varied).values()), "its head says it"
    assert not any(said(committed).values())
    one = with_runs(
        STUDY, lambda run: run.replace(seed=run.seed + 1) if run == STUDY.runs("paper")["redundant"] else run
    )
    told = said(judged(replace(committed, study=one)))
    assert told["toy-gap"] == "seed is 1 instead of 0", "it reads no other run"
    assert told["toy-resistance"] == "seed is 1 instead of 0, in the run redundant"
    assert {told[name] for name in ("toy-playground", "toy-epochs", "toy-whole", "toy-tail")} == {""}
    both = replace(one, settings=lambda *given: {
        name: replace(s, run=s.run.replace(optimizer=rc.Adam(lr=0.01))) for name, s in one.settings(*given).items()
    })  # fmt: skip
    assert said(judged(replace(committed, study=both))) == told
    unknown = replace(STUDY.claims[1], test=cells(pl.lit(1.0), "ends", unit="member").above(0))
    (claim,) = beside_claims([unknown.evaluate({})], both, "paper")
    assert claim.changed[:1] == ("seed is 1 instead of 0, in the run redundant",), "it may be of any run"


def test_other_rows_and_other_criteria_are_told_beside_the_claims_they_are_of(committed: StudyResult) -> None:
    looser = replace(STUDY.claims[0], test=cells("quarter_11", "accuracy", run="redundant").below(0.999, nothing=1.0))
    tables = {**STUDY.tables, "ends": "members"}
    mine = replace(STUDY, name="mine", tables=tables, claims=(looser, *STUDY.claims[1:]))
    told = said(judged(replace(committed, study=mine)))
    assert told["toy-wrong-quarter"] == "asked in other words or by another criterion than in gradient-toy"
    assert told["toy-whole"] == "other rows are kept as ends"
    assert told["toy-gap"] == ""


def test_a_claim_that_would_compare_a_run_with_itself_is_not_asked(committed: StudyResult) -> None:
    """Both settings are uninformative: what the paper claims of their difference cannot be asked."""
    alike = with_runs(STUDY, lambda run: run.replace(task=run.task.replace(second="uninformative")))
    found = {claim.claim.id: claim for claim in judged(replace(committed, study=alike)).claims}
    result = found["toy-resistance"]
    assert (result.status, result.how) == ("not run", None)
    assert math.isnan(result.figure.mean)
    assert result.changed[0] == (
        "redundant and uninformative are one run, which would be compared with itself or counted twice"
    )
    assert {name for name, claim in found.items() if claim.status == "not run"} == {
        "toy-resistance", "toy-bend", "toy-influence", "toy-playground",
    }  # fmt: skip
    assert found["toy-gap"].status == "holds", "its own run at two places"
    assert found["toy-gap"].changed[-1] == "the same run as uninformative"
    assert "4 were not run here" in judged(replace(committed, study=alike)).verdict()


def test_what_is_changed_of_all_runs_is_said_once_and_of_some_beside_their_claims(
    committed: StudyResult, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    adam = {"redundant": {"optimizer": rc.Adam(lr=0.01)}, "uninformative": {}}
    mine = with_runs(STUDY, lambda run: run.replace(seed=1, **adam[run.task.second]))
    asked_here = tuple(claim for claim in STUDY.claims if claim.id in ("toy-gap", "toy-bend", "toy-rare-control"))
    varied = judged(replace(committed, study=replace(mine, figures=(), claims=asked_here)))
    of_all, of_some = "seed is 1 instead of 0", "Here optimizer is adam (lr 0.01) instead of sgd (lr 0.1)"
    write_results(varied, tmp_path)
    say_changes(varied.study, "paper", None)
    print_claims(varied)
    page, terminal = study_page(varied, links=False), " ".join(capsys.readouterr().out.split())
    texts = {name: (tmp_path / f"claims.{name}").read_text() for name in ("tex", "md", "json")}
    assert [text.count(of_all) for text in (*texts.values(), terminal)] == [1] * 4
    head, _, claims = page.partition('id="claims"')
    assert (of_all in head, of_all in claims) == (True, False)
    count = sum(bool(claim.changed) for claim in varied.claims)
    assert count == 2, "toy-rare-control reads no run with a redundant input"
    assert min(texts["tex"].count(of_some), page.count(of_some)) >= count
    assert of_some in terminal
    assert texts["md"].count(markdown_text(of_some)) == count
    assert sum("changed" in claim for claim in json.loads(texts["json"])["claims"]) == count
    assert varied.to_frame()["changed"].null_count() == 1
    chart = claims_chart(varied).to_dict()
    assert "Here optimizer is adam" in json.dumps(chart["datasets"])
    assert of_all in " ".join(chart["title"]["text"])


def test_reasons_say_of_which_runs_they_speak_where_these_are_others(committed: StudyResult) -> None:
    few = judged(replace(committed, members=64))
    for small, large in zip(few.claims, committed.claims, strict=True):
        assert small.explanation == (OF_COMMITTED + large.explanation if large.explanation else "")


def test_other_figures_or_titles_make_no_variation() -> None:
    assert replace(STUDY, title="Mine", figures=(), precision="tf32", claims=STUDY.claims[:2]).varies is None
    assert replace(replace(STUDY, settings=with_adam), title="Mine").varies is STUDY


@pytest.mark.parametrize("name", ["gradient-descent", "forced-rendering"])
def test_a_part_of_a_study_judges_and_draws_what_was_run(name: str) -> None:
    """Tables of every second run: what they do not tell is not run, and no error."""
    study = find_study(name)
    runs = list(study.planned("paper"))[::2]
    some = replace(study, name="part", settings=part_of(study, *runs))
    tables = {n: t.filter(pl.col("run").is_in(runs)) for n, t in read_tables(study, RESULTS / name).items()
              if n in study.tables}  # fmt: skip
    tables = {n: t.filter(pl.col("member") < 12) if "member" in t.columns else t for n, t in tables.items()}
    # What no run gave is no column, as where only these had been run.
    tables = {n: t.select(c for c in t.columns if t[c].null_count() < t.height) for n, t in tables.items()}
    if name == "gradient-descent":
        with pytest.raises(pl.exceptions.ColumnNotFoundError):
            derived(study, tables)
    statuses = [claim.status for claim in some.judge(derived(some, tables), some.planned("paper"))]
    assert {"holds", "not run"} <= set(statuses)


def test_figures_that_cannot_be_drawn_of_a_part_are_named(committed: StudyResult) -> None:
    only = {name: t.filter(pl.col("run") == "redundant-many") for name, t in committed.tables.items() if name == "ends"}
    some = replace(STUDY, name="part", settings=part_of(STUDY, "redundant-many"))
    view = study_view(judged(replace(committed, study=some, tables=only)))
    assert [chart["figure"].id for chart in view["charts"]] == ["tails"]
    assert view["undrawn"] == [figure.id for figure in STUDY.figures if figure.id != "tails"]


def test_notes_of_claims_that_were_left_out_are_not_used_and_misspelt_ones_are_refused() -> None:
    assert "toy-stable" in STUDY.notes.reasons
    fewer = replace(STUDY, claims=STUDY.claims[:1])
    assert [claim.id for claim in fewer.claims] == ["toy-wrong-quarter"]
    with pytest.raises(InputError, match="did you mean 'toy-stable'"):
        replace(STUDY, notes=replace(STUDY.notes, reasons={"toy-stabel": ("", "")}))


def test_a_column_that_ones_own_claim_misspells_is_an_error_that_lists_the_columns(varied: StudyResult) -> None:
    mine = Claim("mine", "Mine.", cells("quarter11", "accuracy").above(0), whose="ours")
    with pytest.raises(InputError, match=r"'mine'.*quarter11.*accuracy has run, .*quarter_11.*stored"):
        replace(varied.study, claims=(mine,)).judge(varied.tables, {})


def test_too_few_networks_to_ask_is_not_run_and_never_not_fitted(committed: StudyResult) -> None:
    few = {name: t.filter(pl.col("member") < 256) if "member" in t.columns else t
           for name, t in committed.tables.items()}  # fmt: skip
    rare = [claim for claim in STUDY.judge(few, {}) if claim.claim.test.tables == {"ends"}]
    assert [(c.status, c.fitted, c.members, c.needs) for c in rare] == 3 * [("not run", 256, 256, 10_000)]
    assert {c.missing for c in rare} == {"It takes 10000 members to ask, and there are 256 here."}


def test_a_claim_about_a_long_training_is_not_asked_of_a_short_one(committed: StudyResult) -> None:
    """512 of 25 600 updates: the sentence speaks of all of them."""
    settings = STUDY.planned("paper")
    one = settings["redundant-epochs"]
    (asked_of,) = (claim for claim in STUDY.claims if claim.id == "toy-epochs")
    for steps, status in ((512, "not run"), (EPOCH_STEPS, "holds")):
        short = {"redundant-epochs": replace(one, run=one.run.replace(steps=steps))}
        table = committed.tables["accuracy"].filter(pl.col("run") == "redundant-epochs", pl.col("step") <= steps)
        result = asked_of.evaluate({"accuracy": table}, shares_of(short))
        assert (result.status, result.shares.steps) == (status, steps / EPOCH_STEPS)
        assert members_text(result) == ("512 of 25600 steps needed" if steps == 512 else "256")
        assert result.missing == ("It speaks of 25600 steps, and its runs have 512 here." if steps == 512 else "")
    unheard_of = asked_of.evaluate({"accuracy": table.clear()}, {})
    assert (unheard_of.status, unheard_of.short) == ("not run", None), "no run says how long it is"


def test_two_studies_of_one_name_are_not_written_over_each_other(committed: StudyResult, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two studies are called 'gradient-toy'"):
        write_overview([committed, committed], tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_file_that_imports_the_one_beside_it_is_told_how(tmp_path: Path) -> None:
    (tmp_path / "beside_it.py").touch()
    (tmp_path / "imports_it.py").write_text("import beside_it\n")
    with pytest.raises(InputError, match=f"set PYTHONPATH='{tmp_path}'"):
        find_study(str(tmp_path / "imports_it.py"))


def test_a_bar_over_all_runs_where_somebody_can_see_it(shared_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[float, int]] = []

    @contextmanager
    def told(_: None, title: str) -> Iterator[Callable[[float, int], None]]:
        assert title == "7 runs"
        yield lambda done, total: seen.append((done, total))

    monkeypatch.setattr("recombine.studies.running.told", told)
    how: Any = {"store": shared_store, "members": 2, "device": "cpu"}
    run_study("gradient-toy", "smoke", **how)
    assert seen == []
    monkeypatch.setattr("recombine.studies.running.watched", lambda: True)
    ended: list[str] = []
    run_study("gradient-toy", "smoke", on_done=lambda name, _: ended.append(name), **how)
    assert [total for _, total in seen] == [7] * len(seen)
    assert seen[-1][0] == len(ended) == 7
    seen.clear()
    run_study("gradient-toy", "smoke", progress=lambda *_: None, **how)
    assert seen == []
