"""What becomes of single members: those that stop, diverge, or do not fit; and what is kept of training."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
import torch
from torch import nn
from trainees import NET, TOY, Choosy, Normed, assert_same, fixed_task, short, weights

from recombine.errors import InputError
from recombine.models import Perceptron
from recombine.tasks import ToyTask
from recombine.training import SGD, Adam, Ensemble, Record, pick_device, powers_of_two, train

EASY = ToyTask(second="uninformative")


def test_a_diverging_member_is_marked_kept_and_touches_no_other() -> None:
    task = fixed_task()
    rates = (0.05, 0.05, 0.05, 0.05)
    calm = short(
        Perceptron(widths=(2, 8, 2)), task, optimizer=SGD(lr=rates), steps=80, strategy="stacked", fit_below=10
    )
    wild = short(
        Perceptron(widths=(2, 8, 2)),
        task,
        optimizer=SGD(lr=(0.05, 1e6, 0.05, 0.05)),
        steps=80,
        strategy="stacked",
        fit_below=10,
    )
    for member in (0, 2, 3):
        mine, theirs = weights(calm, member), weights(wild, member)
        assert all(torch.equal(mine[name], theirs[name]) for name in mine)
    assert torch.equal(calm.history["loss"][[0, 2, 3]], wild.history["loss"][[0, 2, 3]])
    assert len(wild) == 4
    at = wild.diverged_at[1]
    assert at is not None
    assert 1 <= at < 10
    assert wild.diverged_at == (None, at, None, None)
    assert wild.fitted == (True, False, True, True)
    status = wild.status_frame()
    assert status.columns == ["member", "diverged_at", "fitted", "final_loss", "fitted_at"]
    assert status["final_loss"][1] is None
    assert status["final_loss"].null_count() == 1
    looped = short(
        Perceptron(widths=(2, 8, 2)),
        task,
        optimizer=SGD(lr=(0.05, 1e6, 0.05, 0.05)),
        steps=80,
        strategy="loop",
        fit_below=10,
    )
    assert looped.diverged_at == wild.diverged_at
    assert_same(looped, wild, [0, 2, 3], 1e-9)


def test_the_step_of_divergence_does_not_hang_on_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    wild = {"optimizer": SGD(lr=1e4), "task": fixed_task(), "strategy": "stacked", "steps": 30}
    first = short(Perceptron(widths=(2, 8, 2)), **wild)
    assert all(d is not None for d in first.diverged_at)
    monkeypatch.setattr("recombine.training.engine.BLOCK_STEPS", 3)
    assert short(Perceptron(widths=(2, 8, 2)), **wild).diverged_at == first.diverged_at


def test_fit_below_judges_the_loss_at_the_end() -> None:
    ensemble = short(NET, EASY, steps=400, optimizer=Adam(lr=0.03), batch_size=32, fit_below=0.3)
    assert ensemble.fitted == (True,) * 4
    final = ensemble.notes["final_loss"]
    tail = ensemble.history["loss"][:, -8:].mean(1)  # the last fiftieth of 400 bins
    assert final == pytest.approx(tail.tolist(), rel=1e-12)
    assert max(final) < 0.3 < float(ensemble.history["loss"][:, 0].min())
    between = sorted(final)[1] + 1e-9
    some = short(NET, EASY, steps=400, optimizer=Adam(lr=0.03), batch_size=32, fit_below=between)
    assert sorted(some.fitted) == [False, False, True, True]
    assert short(NET, steps=3).fitted == (None,) * 4
    assert short(NET, steps=0, fit_below=10.0).fitted == (None,) * 4  # no training, no training loss
    assert short(NET, steps=0).notes["final_loss"] == [None] * 4


@pytest.mark.parametrize("strategy", ["stacked", "loop"])
@pytest.mark.parametrize("model", [NET, Normed], ids=["plain", "batchnorm"])
def test_a_member_that_has_learnt_enough_is_left_as_it_is(model: Any, strategy: str) -> None:
    settings = {"task": EASY, "optimizer": Adam(lr=0.05), "batch_size": 64, "strategy": strategy, "stop_below": 0.2}
    ensemble = short(model, steps=300, **settings)
    longer = short(model, steps=700, **settings)
    free = short(model, steps=300, **{**settings, "stop_below": None})
    assert_same(ensemble, longer, range(4), 0)
    assert not torch.allclose(ensemble.flat, free.flat)
    losses = ensemble.history["loss"]
    for member in range(4):
        below = (losses[member] <= 0.2).nonzero()[:, 0]
        stopped = int(below[0])
        assert 0 < stopped < 300
        assert (losses[member, stopped:] == losses[member, stopped]).all()
        assert torch.equal(losses[member, :stopped], free.history["loss"][member, :stopped])
        exactly = short(model, steps=stopped, members=[member], **{**settings, "stop_below": None})
        mine = dict(weights(ensemble, member))
        theirs = weights(exactly, member)
        parameters = {name for name, _ in ensemble.member(member).named_parameters()}
        for name in parameters:
            torch.testing.assert_close(mine[name], theirs[name], rtol=1e-9, atol=1e-12)
        if model is Normed:  # the batch that showed it had learnt enough was the last it saw
            assert mine["layers.1.num_batches_tracked"] == stopped + 1


@pytest.mark.parametrize("strategy", ["stacked", "loop"])
def test_how_long_the_others_go_on_does_not_matter_to_one_that_stopped(
    strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recombine.training.engine.BLOCK_STEPS", 2)  # training ends with the block in which all stop
    settings = {"task": EASY, "optimizer": Adam(lr=0.05), "batch_size": 64, "strategy": strategy, "stop_below": 0.2}
    settings |= {"fit_below": 0.2, "steps": 400}
    together = short(Normed, members=6, **settings)
    stopped = (together.history["loss"] == together.history["loss"][:, -1:]).int().argmax(1)
    first, last = int(stopped.argmin()), int(stopped.argmax())
    assert stopped[last] > stopped[first] + 4
    for member in (first, last):
        alone = short(Normed, members=[member], **settings)
        assert_same(together, alone, [member], 1e-9)
        row = together.history["loss"][together.position(member)]
        torch.testing.assert_close(alone.history["loss"][0], row, rtol=1e-9, atol=1e-12)
        assert alone.fitted == (True,)
    assert together.fitted == (True,) * 6


def test_members_that_start_below_the_threshold_never_move() -> None:
    start = short(NET, steps=0)
    record = Record("weights", lambda e, t: pl.DataFrame({"sum": e.flat.sum(1).tolist()}), at=(0, 1, 2, 500, -1))
    ensemble = short(NET, steps=3000, stop_below=100.0, fit_below=100.0, records=[record])
    assert torch.equal(ensemble.flat, start.flat)
    assert torch.isfinite(ensemble.history["loss"]).all()
    assert ensemble.fitted == (True,) * 4
    taken = ensemble.records["weights"]
    assert taken["step"].unique().sort().to_list() == [0, 1, 2, 500, 3000]
    assert taken.group_by("step").len()["len"].unique().to_list() == [4]


def test_the_history_is_the_mean_loss_of_its_bin(monkeypatch: pytest.MonkeyPatch) -> None:
    fine = short(NET, steps=25)
    assert fine.history["step"].tolist() == list(range(1, 26))
    monkeypatch.setattr("recombine.training.log.HISTORY_BINS", 10)
    coarse = short(NET, steps=25)
    ends = coarse.history["step"].tolist()
    assert ends == [3, 5, 8, 10, 13, 15, 18, 20, 23, 25]
    for b, (start, stop) in enumerate(zip([0, *ends], ends, strict=False)):
        expected = fine.history["loss"][:, start:stop].mean(1)
        torch.testing.assert_close(coarse.history["loss"][:, b], expected, rtol=1e-12, atol=1e-14)
    monkeypatch.setattr("recombine.training.log.HISTORY_NUMBERS", 5 * len(fine))
    assert short(NET, steps=25).history["step"].tolist() == [5, 10, 15, 20, 25], "of many members less is kept"
    frame = fine.history_frame()
    assert frame.columns == ["member", "step", "loss"]
    assert frame.filter(pl.col("member") == 2)["loss"].to_list() == fine.history["loss"][2].tolist()


def test_records_are_taken_at_their_steps_and_change_nothing() -> None:
    def taken(ensemble: Ensemble, task: Any) -> pl.DataFrame:
        ensemble.module.eval()
        torch.rand(3)
        assert not ensemble.module.training
        return pl.DataFrame({"member": ensemble.members, "norm": ensemble.flat.norm(dim=1).tolist()})

    plain = short(Normed, members=3)
    recorded = short(Normed, members=3, records=[Record("norm", taken, (0, 1, 7, 19, -1)), Record("end", taken)])
    assert_same(plain, recorded, range(3), 0)
    norms = recorded.records["norm"]
    assert norms.columns == ["member", "norm", "step"]
    assert norms["step"].unique().sort().to_list() == [0, 1, 7, 19, 20]
    assert recorded.records["end"]["step"].unique().to_list() == [20]
    for step in (1, 7, 19):
        there = short(Normed, members=3, steps=step).flat.norm(dim=1).tolist()
        assert norms.filter(pl.col("step") == step)["norm"].to_list() == pytest.approx(there, rel=1e-12)
    chunked = short(Normed, members=3, chunk_size=2, records=[Record("norm", taken, (0, -1))])
    assert sorted(chunked.records["norm"]["member"].to_list()) == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("step", [51, -52, 10_000])
def test_a_record_outside_of_training_is_an_error(step: int) -> None:
    never = Record("norm", lambda e, t: pytest.fail("measured"), at=(-1, step))
    with pytest.raises(InputError, match=f"'norm' is to be recorded at step {step}, .* the steps 0 to 50"):
        short(NET, steps=50, records=[never])
    assert Record("norm", lambda e, t: pl.DataFrame(), at=(0, 50, -1, -51)).steps(50) == {0, 50}


@pytest.mark.parametrize("device", ["abacus", "cuda:x", ""])
def test_one_function_says_which_device(device: str) -> None:
    assert pick_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert pick_device("cpu") == torch.device("cpu")
    with pytest.raises(InputError, match="there is no device"):
        pick_device(device)


def test_powers_of_two() -> None:
    assert powers_of_two(1024) == (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
    assert powers_of_two(100) == (0, 1, 2, 4, 8, 16, 32, 64, 100)
    assert (powers_of_two(0), powers_of_two(1), powers_of_two(2), powers_of_two(3)) == (
        (0,),
        (0, 1),
        (0, 1, 2),
        (0, 1, 2, 3),
    )


def test_progress_counts_member_steps() -> None:
    told: list[tuple[int, int]] = []
    short(members=3, steps=130, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (390, 390)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    told.clear()
    short(members=3, steps=400, stop_below=100.0, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (1200, 1200)


def test_nothing_is_printed_where_there_is_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    train(NET, TOY, members=64, steps=400, batch_size=2, device="cpu")
    assert capfd.readouterr() == ("", "")


class Bare(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(2, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: short(members=0), "members must be a positive number"),
        (lambda: short(members=-3), "members must be a positive number"),
        (lambda: short(members=[1, 1]), "distinct member numbers"),
        (lambda: short(members=[-1]), "distinct member numbers"),
        (lambda: short(steps=-1), "steps must be a whole number from 0 on"),
        (lambda: short(batch_size=0), "batch_size must be a whole number from 1 on"),
        (lambda: short(optimizer=SGD(lr=(0.1, 0.2))), "lr has 2 entries, member 3 has none"),
        (lambda: short(init_scale=(1.0,)), "init_scale has 1 entries"),
        (lambda: short(members=[9], penalty_weight=(1.0,) * 9), "penalty_weight has 9 entries, member 9"),
        (lambda: short(strategy="stackd"), "unknown strategy 'stackd'; did you mean 'stacked'"),
        (lambda: short(strategy="captured"), "needs a CUDA device"),
        (lambda: short(strategy="compiled"), "needs a CUDA device"),
        (lambda: short(chunk_size=0), "chunk_size must be at least 1"),
        (lambda: short(nn.ReLU), "no parameters to train"),
        (lambda: short(lambda: 3), "must give an nn.Module, got int"),
        (lambda: short(Bare(), fresh=True), "parameter 'weight' cannot be drawn anew"),
        (lambda: short(device="quantum"), "device"),
    ],
)
def test_bad_requests_are_one_sentence(call: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_device_that_is_not_there_is_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="no CUDA device is available here"):
        short(device="cuda")
    assert short(device="auto").device.type == "cpu"


def test_settings_may_be_lists() -> None:
    scales = [1.0, 0.5, 2.0, 3.0]
    assert torch.equal(short(steps=2, init_scale=scales).flat, short(steps=2, init_scale=tuple(scales)).flat)


def test_what_was_chosen_is_said() -> None:
    notes = short().notes
    assert {"strategy", "stack", "reason", "stacks", "device", "seconds", "final_loss"} == set(notes)
    assert (notes["strategy"], notes["device"], notes["stacks"]) == ("stacked", "cpu", [4])
    assert short(Choosy, strategy="loop").notes["reason"] == "asked for"
