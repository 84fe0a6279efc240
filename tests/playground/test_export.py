"""What is copied from the page gives its numbers: the program is run, the command is run on the downloaded table."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recombine.cli import main

SAID = """async (m, changes) => {
    const {fresh, truthOf} = await import('./state.js'), learners = await import('./learners.js');
    const theory = await import('./theory.js');
    const state = fresh(changes);
    if (state.values) state.values = Float64Array.from(state.values);
    const spec = {...state, truth: truthOf(state), asked: []}, learner = learners.LEARNERS[state.world](spec);
    for (let s = 0; s < state.epochs; s++) learner.step();
    const report = learner.report(), S = state.by === 'depth' ? theory.salienceOfDepth(state.depth) : state.salience;
    return {
        python: m.asPython(state), command: m.asCommand(state), csv: m.asCsv(state),
        mean: [...(report.mean || report.pictures || [])], rendered: [...(report.rendered || [])],
        status: [...theory.statuses(state.seen, state.rows, state.columns)],
        suggestions: theory.suggestions(state.seen, state.rows, state.columns),
        kernel: [...theory.kernelFit(state.seen, truthOf(state), state.rows, state.columns, S)],
    };
}"""


def executed(program: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(program, "copied", "exec"), names)
    return names


@pytest.mark.parametrize("model", ["one", "composed", "planted", "joint"])
def test_the_copied_program_trains_the_networks_of_the_page(run: Callable[..., Any], model: str) -> None:
    said = run("export", SAID, {"rows": 5, "columns": 4, "support": "random", "share": 0.6, "model": model, "width": 8,
                                "layers": 2, "lr": 0.1, "epochs": 40, "seed": 2, "scale": 1.5})  # fmt: skip
    names = executed(said["python"])
    assert np.allclose(names["said"].mean(0), said["mean"], rtol=0, atol=1e-4)
    for query in names["result"].queries:
        shown = said["kernel"][query.codes[0] * 4 + query.codes[1]]
        assert (query.network is None) == np.isnan(shown)
        assert query.network is None or abs(query.network - shown) < 1e-6


def test_the_copied_program_of_the_decoders(run: Callable[..., Any]) -> None:
    said = run("export", SAID, {"world": "bumps", "rows": 4, "columns": 4, "support": "ell", "width": 6, "lr": 0.01,
                                "optimiser": "adam", "epochs": 20, "scale": 1})  # fmt: skip
    program = said["python"].replace("how =", "drawn = []\nhow =")
    drawn = executed(program.replace("    print(networks", "    drawn.append(networks"))["drawn"]
    assert np.allclose(drawn[0].flatten(), said["mean"], rtol=0, atol=1e-4)
    assert np.allclose(drawn[1].flatten(), said["rendered"], rtol=0, atol=1e-4)


def test_the_copied_program_of_the_toy_runs(run: Callable[..., Any]) -> None:
    said = run("export", SAID, {"world": "toy", "rows": 2, "columns": 2, "rule": "first", "support": "leave",
                                "epochs": 3, "lr": 0.1})  # fmt: skip
    assert executed(said["python"])["networks"].flat.shape[0] == 8


ODD = 'it\'s "a", $(x) `y`; ü—😀\\'


def test_the_copied_command_gives_the_statuses_of_the_page(
    run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    levels = [["x", "=1+2", "a,b"], ["p", 'q"r', "- s"]]
    seen = [1, 1, 0, 0, 0, 0, 0, 0, 1]
    said = run("export", SAID, {"rows": 3, "columns": 3, "names": [ODD, "seen"], "target": "y z", "levels": levels,
                                "rule": "own", "values": [1, 2, None, 4, 5, 6, 7, 8, 9.5], "support": "painted",
                                "seen": seen, "epochs": 2, "by": "salience", "salience": 0.3})  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("play.csv").write_text(said["csv"], encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main([*shlex.split(said["command"])[1:], "--json"])
    assert ended.value.code == 0
    result = json.loads(capsys.readouterr().out)
    assert result["counts"] == {"seen": 0, "determined": 0, "undetermined": 3, "unseen level": 3}
    assert sorted(said["status"]) == [0] * 3 + [2] * 3 + [3] * 3
    names = executed(said["python"].replace("null", "None"))
    assert names["result"].space.names == (ODD, "seen")


def test_where_everything_is_seen_nothing_is_split(run: Callable[..., Any]) -> None:
    said = run("export", SAID, {"rows": 2, "columns": 3, "support": "full", "epochs": 1})
    assert "--split" not in said["command"]
    assert executed(said["python"])["result"].total == 0
