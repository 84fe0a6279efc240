"""Which asked combination is best, and which cannot be told from it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from recombine.checks import check
from recombine.cli.main import main


def table(noise: float) -> dict[str, list]:
    """a + b on 5 × 5, but for the corner and the cells beside it: asked about are 8, 7, 7 and 0."""
    cells = [(a, b) for a in range(5) for b in range(5) if (a, b) not in {(4, 4), (3, 4), (4, 3), (0, 0)}]
    y = [float(a + b + noise * e) for (a, b), e in zip(cells, np.random.default_rng(0).normal(size=21), strict=True)]
    return {"a": [f"a{a}" for a, _ in cells], "b": [f"b{b}" for _, b in cells], "y": y}


def test_the_largest_and_the_smallest_are_found() -> None:
    result = check(table(0.01), ["a", "b"], target="y")
    most, least = result.best("max"), result.best("min")
    assert [(f["a"], f["b"]) for f in (most["first"][0], least["first"][0])] == [("a4", "b4"), ("a0", "b0")]
    assert most["alike"] == least["alike"] == 0
    assert "no other asked one has a range that reaches it" in most["words"]
    assert "; the best seen one is a" in most["words"]


def test_what_noise_hides_cannot_be_told_apart() -> None:
    assert "nothing tells" in check(table(3.0), ["a", "b"], target="y").best("max")["words"]
    found = check(table(1.0), ["a", "b"], target="y").best("max")
    assert found["alike"] >= 1
    assert "cannot be told apart" in found["words"]
    assert "less good than it looks" in found["words"]


def test_two_classes_are_ranked_by_the_chance_of_one_and_more_have_no_best() -> None:
    classes = table(0.0) | {"y": ["p", "q", "r"] * 7}
    assert "more than two classes" in check(classes, ["a", "b"], target="y").best("max")["words"]
    classes["y"] = ["yes" if a > "a2" else "no" for a in classes["a"]]
    result = check(classes, ["a", "b"], target="y")
    most, least = result.best("max"), result.best("min")
    assert most["words"].startswith("by the chance of yes: a")
    assert most["first"][0]["chance"] > 0.5 > least["first"][0]["chance"]
    assert (least["first"][0]["a"], least["first"][0]["b"]) == ("a0", "b0")
    for good, bad, said in (
        ("pass", "fail", "pass: "),
        ("OK", "faulty", "OK: "),
        ("on", "off", "off, the rarer class: "),
    ):
        classes["y"] = [good if a > "a0" else bad for a in classes["a"]]
        assert check(classes, ["a", "b"], target="y").best("max")["words"].startswith(f"by the chance of {said}")
    assert "give --target" in check(classes, ["a", "b"]).best("max")["words"]


def test_the_command_says_it(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    path, rows = tmp_path / "t.csv", table(0.01)
    path.write_text("a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in zip(*rows.values(), strict=True)))
    with pytest.raises(SystemExit):
        main(["check", str(path), "--factors", "a,b", "--target", "y", "--best", "max"])
    assert "best (max): a4, b4: 8" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["check", str(path), "--factors", "a,b", "--target", "y", "--best", "min", "--json"])
    assert json.loads(capsys.readouterr().out)["best"]["first"][0]["a"] == "a0"


def test_beyond_what_was_seen_a_rank_scale_leaves_ranges_open() -> None:
    cells = [(a, b) for a in range(7) for b in range(7) if (a, b) != (6, 6) and (3 * a + b) % 5]
    rng = np.random.default_rng(1)
    y = [float(np.sinh(a + b - 6) + 0.1 * rng.normal()) for a, b in cells]
    rows = {"a": [f"a{a}" for a, _ in cells], "b": [f"b{b}" for _, b in cells], "y": y}
    result = check(rows, ["a", "b"], target="y")
    assert result.rule == "additive on a rank scale"
    (top,) = [q for q in result.queries if result.combination(q.codes) == {"a": "a6", "b": "b6"}]
    assert top.low is not None
    assert top.low < np.sinh(6) < top.high == float("inf")
    said = result.words_of(top)
    assert (said["low"], said["high"], said["open"]) == (top.low, None, ["above"])
    inside = next(q for q in result.queries if q.low is not None and np.isfinite([q.low, q.high]).all())
    assert "open" not in result.words_of(inside)
    words = result.best("max")["words"]
    assert words.startswith("a6, b6: ")
    assert " or more)" in words
    assert "by how much a rank scale does not tell" in words
    assert "less good than it looks" not in words
    assert any("open at an end" in note for note in result.notes)
    assert not any("cut at" in note for note in result.notes)
    json.dumps(result.to_dict(), allow_nan=False)
