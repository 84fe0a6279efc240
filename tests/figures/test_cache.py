"""What was drawn before: served as it was, made again where it is damaged, bounded, and never in the way."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from recombine.figures import curves, to_svg
from recombine.figures.cache import Cache, cached_in, recall

KEY = "ab" * 32


@pytest.fixture
def chart() -> object:
    return curves(pl.DataFrame({"x": [0.0, 1.0, 2.0], "y": [0.0, 1.0, 0.5]}), "x", "y")


def never() -> bytes:
    raise AssertionError("this was kept and must not be made again")


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*/*") if path.is_file())


@settings(max_examples=25, deadline=None)
@given(data=st.binary(max_size=200))
def test_what_is_kept_comes_back(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    cache = Cache(tmp_path_factory.mktemp("cache"))
    assert cache.recall(KEY, lambda: data) == data
    assert cache.recall(KEY, never) == data


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-1], lambda b: b + b"x", lambda b: b"", lambda b: b[:40] + b"?" + b[41:]]
)
def test_a_damaged_entry_is_made_again(tmp_path: Path, damage: object) -> None:
    cache = Cache(tmp_path)
    cache.recall(KEY, lambda: b"a picture" * 9)
    (file,) = entries(tmp_path)
    file.write_bytes(damage(file.read_bytes()))  # type: ignore[operator]
    assert cache.recall(KEY, lambda: b"made again") == b"made again"
    assert cache.recall(KEY, never) == b"made again"


def test_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=3 * 3000)
    noise = {f"{i:02d}" * 32: os.urandom(2500) for i in range(4)}
    for age, (key, data) in enumerate(noise.items()):
        cache.recall(key, lambda data=data: data)  # type: ignore[misc]
        os.utime(tmp_path / key[:2] / key, (1e9 + age, 1e9 + age))
    oldest, second, *_ = noise
    cache.recall(oldest, never)
    cache.trim()
    assert sum(file.stat().st_size for file in entries(tmp_path)) <= cache.limit
    assert not (tmp_path / second[:2] / second).exists()
    assert (tmp_path / oldest[:2] / oldest).exists()


def test_a_cache_that_cannot_be_written_is_not_needed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with cached_in(tmp_path / "file"):
        assert recall(lambda: ["a"], lambda: b"made") == b"made"
    assert (tmp_path / "file").read_text() == "no folder"


def test_nothing_is_kept_outside_or_far_away(tmp_path: Path) -> None:
    assert recall(lambda: never(), lambda: b"made") == b"made"
    with cached_in("memory://store/cache"):
        assert recall(lambda: never(), lambda: b"made") == b"made"
    assert list(tmp_path.iterdir()) == []


def test_a_drawing_from_the_cache_is_the_drawing(
    tmp_path: Path, chart: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = to_svg(chart)  # type: ignore[arg-type]
    with cached_in(tmp_path):
        first = to_svg(chart)  # type: ignore[arg-type]
    monkeypatch.setattr("recombine.figures.export.vl_convert.vegalite_to_svg", lambda *a, **k: never())
    with cached_in(tmp_path):
        assert to_svg(chart) == first == plain  # type: ignore[arg-type]
    assert len(entries(tmp_path)) == 1


def test_another_converter_draws_again(tmp_path: Path, chart: object, monkeypatch: pytest.MonkeyPatch) -> None:
    with cached_in(tmp_path):
        to_svg(chart)  # type: ignore[arg-type]
    monkeypatch.setattr("recombine.figures.export._drawn_with", lambda: ("another",))
    with cached_in(tmp_path):
        to_svg(chart)  # type: ignore[arg-type]
    assert len(entries(tmp_path)) == 2
