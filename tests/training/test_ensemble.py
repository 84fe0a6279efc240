"""Ensembles: members as plain modules, outputs in chunks, weights on disk."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from safetensors.torch import save_file
from torch import nn
from trainees import NET, Choosy, Normed, Pair, Tied, fixed_task, short

from recombine.errors import InputError
from recombine.models import Perceptron
from recombine.training import SGD, Ensemble, Record
from recombine.training.progress import in_notebook, reporter

X = torch.randn(9, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
MODELS: list[Any] = [NET, Normed, Tied, Choosy]
NAMES = ["plain", "batchnorm", "tied", "looped"]


@pytest.fixture(scope="module")
def ensemble() -> Ensemble:
    return short(Normed, members=[4, 0, 2], steps=20)


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_a_member_is_a_plain_module_with_the_same_outputs(model: Any) -> None:
    trained = short(model, steps=20)
    outputs = trained.predict(X)
    assert outputs.shape == (4, 9, 2)
    for i in range(4):
        module = trained.member(i)
        assert type(module) is type(model())
        assert not module.training
        assert all(p.grad is None for p in module.parameters())
        assert all(p.requires_grad for p in module.parameters())
        torch.testing.assert_close(module(X).detach(), outputs[i], rtol=1e-12, atol=1e-14)
    assert not torch.allclose(outputs[0], outputs[1])


def test_a_member_shares_nothing(ensemble: Ensemble) -> None:
    before = ensemble.flat.clone()
    module = ensemble.member(2)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(1)
    assert torch.equal(ensemble.flat, before)
    assert not torch.allclose(ensemble.member(2)(X), module(X))
    tied = short(Tied, steps=3).member(1)
    assert tied.inner.weight is tied.outer.weight  # type: ignore[union-attr]


def test_a_member_can_be_trained_on(ensemble: Ensemble) -> None:
    module = ensemble.member(0).train()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    first = module(X).square().mean()
    first.backward()
    optimizer.step()
    assert float(module(X).square().mean().detach()) < float(first.detach())


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 100, "auto"])
def test_chunks_of_members_give_the_same_outputs(ensemble: Ensemble, chunk_size: Any) -> None:
    expected = torch.stack([ensemble.member(m)(X).detach() for m in ensemble.members])
    torch.testing.assert_close(ensemble.predict(X, chunk_size=chunk_size), expected, rtol=1e-12, atol=1e-14)


def test_auto_chunks_stay_within_bounds(ensemble: Ensemble, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = ensemble.predict(X)
    monkeypatch.setattr("recombine.training.ensemble.PREDICT_BYTES", {"cpu": 1})
    assert ensemble._chunk((X,)) == 1
    torch.testing.assert_close(ensemble.predict(X), expected, rtol=1e-12, atol=1e-14)


def test_several_inputs() -> None:
    trained = short(Pair, fixed_task(several=True), steps=5)
    kinds = torch.arange(9) % 4
    outputs = trained.predict((X, kinds))
    torch.testing.assert_close(trained.member(3)(X, kinds).detach(), outputs[3], rtol=1e-12, atol=1e-14)


def test_a_function_of_every_member_may_differentiate(ensemble: Ensemble) -> None:
    def slope(model: Any, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"slope": torch.func.grad(lambda z: model(z).sum())(x), "mean": model(x).mean()}

    got = ensemble.map(slope, X)
    for i, member in enumerate(ensemble.members):
        x = X.clone().requires_grad_()
        out = ensemble.member(member)(x)
        (expected,) = torch.autograd.grad(out.sum(), x)
        torch.testing.assert_close(got["slope"][i], expected, rtol=1e-10, atol=1e-12)
        torch.testing.assert_close(got["mean"][i], out.mean().detach(), rtol=1e-10, atol=1e-12)
    one = ensemble.select([2]).map(slope, X)
    torch.testing.assert_close(one["slope"][0], got["slope"][2], rtol=1e-10, atol=1e-12)


def test_parameters_are_views_of_one_matrix(ensemble: Ensemble) -> None:
    copy = short(Normed, members=3, steps=2)
    copy.parameters["layers.0.weight"][1].fill_(7)
    assert (copy.member(1).layers[0].weight == 7).all()  # type: ignore[index, union-attr]
    assert ensemble.parameters["layers.0.weight"].shape == (3, 6, 2)


def test_selecting_members(ensemble: Ensemble) -> None:
    some = ensemble.select([2, 4])
    assert some.members == (2, 4)
    torch.testing.assert_close(some.predict(X), ensemble.predict(X)[[2, 0]], rtol=1e-12, atol=1e-14)
    assert len(some.diverged_at) == len(some.fitted) == 2
    for call in (lambda: ensemble.member(1), lambda: ensemble.select([0, 7])):
        with pytest.raises(InputError, match=r"there is no member \d; this ensemble has members 4 to 2"):
            call()
    with pytest.raises(InputError, match="member 2 only"):
        ensemble.select([2]).member(0)


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_weights_come_back_from_disk(tmp_path: Path, model: Any, dtype: torch.dtype) -> None:
    trained = short(model, members=[3, 1], steps=10, dtype=dtype)
    again = Ensemble.load(trained.save(tmp_path / "deep" / "weights.safetensors"), model)
    assert again.members == (3, 1)
    assert again.flat.dtype == dtype
    x = X.to(dtype)
    assert torch.equal(again.predict(x), trained.predict(x))
    assert torch.equal(again.member(1)(x), trained.member(1)(x))
    assert again.tensors().keys() == trained.tensors().keys()
    assert all(torch.equal(tensor, again.tensors()[name]) for name, tensor in trained.tensors().items())


def test_weights_of_another_model_are_refused(tmp_path: Path, ensemble: Ensemble) -> None:
    path = ensemble.save(tmp_path / "weights.safetensors")
    with pytest.raises(InputError, match=r"do not fit this model: '0\.weight' is missing or has another shape"):
        Ensemble.load(path, NET)
    wide = short(Perceptron(widths=(2, 8, 2)), steps=0).save(tmp_path / "wide.safetensors")
    with pytest.raises(InputError, match="another shape"):
        Ensemble.load(wide, Perceptron(widths=(2, 9, 2)))
    with pytest.raises(InputError, match="another shape"):
        Ensemble.of(ensemble.tensors(), (0, 1), Normed)


def test_files_that_hold_no_weights_are_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    plain = {"0.weight": torch.zeros(1, 2)}
    for write in (
        lambda: bad.write_bytes(b""),
        lambda: bad.write_bytes(b"\x80\x04\x95 a pickle"),
        lambda: bad.write_bytes(np.zeros(30).tobytes()),
        lambda: torch.save({"0.weight": torch.zeros(1, 2)}, bad),
        lambda: save_file(plain, bad),
        lambda: save_file(plain, bad, metadata={"members": "{"}),
        lambda: save_file(plain, bad, metadata={"members": "3"}),
        lambda: save_file(plain, bad, metadata={"members": '["a"]'}),
        lambda: bad.write_bytes(short(NET, steps=0).save(tmp_path / "w").read_bytes()[:-10]),
    ):
        write()
        with pytest.raises(InputError, match=r"does not hold the weights of an ensemble|do not fit|is a pickle"):
            Ensemble.load(bad, NET)
    with pytest.raises(InputError, match="does not hold the weights"):
        Ensemble.load(tmp_path / "nowhere", NET)


def test_nothing_is_unpickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pickle

    monkeypatch.setattr(pickle, "load", lambda *_: pytest.fail("a pickle was loaded"))
    monkeypatch.setattr(pickle, "loads", lambda *_: pytest.fail("a pickle was loaded"))
    monkeypatch.setattr(torch, "load", lambda *_, **__: pytest.fail("a pickle was loaded"))
    trained = short(NET, steps=1)
    Ensemble.load(trained.save(tmp_path / "w.safetensors"), NET)


def test_a_module_without_state_to_draw_works_in_an_ensemble() -> None:
    assert isinstance(short(nn.Sequential(nn.Linear(2, 2)), steps=1, fresh=True).member(0), nn.Sequential)


def test_an_ensemble_is_called_indexed_and_gone_through(ensemble: Ensemble) -> None:
    assert torch.equal(ensemble(X), ensemble.predict(X))
    assert torch.equal(ensemble[2](X), ensemble.member(2)(X))
    assert all(torch.equal(member(X), ensemble.member(i)(X)) for i, member in zip((4, 0, 2), ensemble, strict=True))
    assert ensemble.state_dict().keys() == ensemble.tensors().keys()
    assert ensemble.state_dict()["layers.1.running_mean"].shape == (3, 6)
    with pytest.raises(InputError, match="there is no member 1"):
        ensemble[1]


def test_an_ensemble_moves_and_changes_precision(ensemble: Ensemble) -> None:
    for single in (ensemble.to(dtype=torch.float32), ensemble.to(torch.float32), ensemble.to("cpu", torch.float32)):
        assert single.flat.dtype == single.buffers["layers.1.running_mean"].dtype == torch.float32
        assert single.buffers["layers.1.num_batches_tracked"].dtype == torch.int64
        torch.testing.assert_close(single(X.float()).double(), ensemble(X), rtol=1e-5, atol=1e-5)
        assert single.members == ensemble.members
    assert ensemble.flat.dtype == torch.float64


def test_it_says_in_short_what_it_is(ensemble: Ensemble) -> None:
    told = repr(ensemble)
    assert told == "Ensemble(3 × Normed of 38 numbers; members 4 to 2; steps 20; stacked, cpu)"
    assert "steps 20" in ensemble._repr_html_()
    assert "<table" in ensemble._repr_html_()
    wild = short(Perceptron(widths=(2, 8, 2)), fixed_task(), optimizer=SGD(1e6), fit_below=1.0)
    assert "fitted 0; diverged 4" in repr(wild)
    assert repr(Ensemble.of(ensemble.tensors(), (4, 0, 2), Normed)).count(";") == 1


def test_all_that_is_known_of_a_training_comes_back_from_disk(tmp_path: Path) -> None:
    def norms(ensemble: Ensemble, task: Any) -> pl.DataFrame:
        return pl.DataFrame({"member": ensemble.members, "norm": ensemble.flat.norm(dim=1).tolist()})

    records = [Record("norms", norms, (0, -1)), Record("a/b c", norms)]
    trained = short(Choosy, members=[3, 1], steps=10, fit_below=9.0, records=records)
    again = Ensemble.load(trained.save(tmp_path / "w.safetensors"), Choosy)
    for name in ("members", "looped", "fitted", "diverged_at", "notes"):
        assert getattr(again, name) == getattr(trained, name)
    assert again.history_frame().equals(trained.history_frame())
    assert again.status_frame().equals(trained.status_frame())
    assert again.records.keys() == trained.records.keys()
    assert all(again.records[name].equals(trained.records[name]) for name in trained.records)


def test_a_training_shows_a_bar_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    handle, shell = SimpleNamespace(update=shown.append), type("ZMQInteractiveShell", (), {})()
    display = SimpleNamespace(display=lambda *_, **__: handle, HTML=str)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell, display=display))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    assert in_notebook()
    short(steps=40)
    assert not shown
    monkeypatch.setattr("recombine.training.progress.WAIT", 0.0)
    monkeypatch.setattr("recombine.training.progress.LEFT", 0.0)
    short(steps=40)
    assert shown[-1] == "training <progress value=160 max=160></progress> 100%"
    monkeypatch.delitem(sys.modules, "IPython")
    assert not in_notebook()


def test_a_bar_appears_where_time_has_gone_by_and_more_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, drawn = [0.0], list[tuple[int, int]]()
    monkeypatch.setattr("recombine.training.progress.time.monotonic", lambda: clock[0])
    monkeypatch.setattr("recombine.training.progress.in_notebook", lambda: True)
    monkeypatch.setattr(
        "recombine.training.progress._cell", lambda title: lambda done, total: drawn.append((done, total))
    )

    def seconds(each: float, steps: int = 100) -> list[tuple[int, int]]:
        clock[0] = 0.0
        drawn.clear()
        with reporter(None, steps) as report:
            for _ in range(steps):
                clock[0] += each
                report(1)
        return list(drawn)

    assert seconds(0.015) == []  # over before anybody waits
    assert seconds(0.025) == []  # nearly over when the wait is
    assert seconds(0.25)[0] == (8, 100)
    assert seconds(0.25)[-1] == (100, 100)


def test_progress_of_a_training_takes_two_arguments_or_three() -> None:
    two, three = list[tuple[int, int]](), list[tuple[int, int, str]]()
    short(steps=4, progress=lambda done, total: two.append((done, total)))
    short(steps=4, progress=lambda done, total, words: three.append((done, total, words)))
    assert [(*both, "training") for both in two] == three
    assert two[-1] == (16, 16)
