"""A table of predictions: known learners are named for what they are, one that follows no rule is not, and nothing is
said of one that did not fit."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from everything_said import everything
from hypothesis import given, settings, strategies as st

from recombine.errors import InputError
from recombine.mechanisms import Finding, measure_predictions
from recombine.mechanisms.verdicts.verdict_words import _silent
from recombine.statistics import Interval

SIDE = 8
GRID = np.array([(a, b) for a in range(SIDE) for b in range(SIDE)])
A, B = GRID.T
UNSEEN = np.random.default_rng(0).random(len(GRID)) < 0.4
CLASSES = np.array([f"sum {a + b}" for a, b in GRID])
SPURIOUS = np.array([f"class {b if a < 4 else (a + b) % SIDE}" for a, b in GRID])
PRODUCT = (A - 3.5) * (B - 3.2) + 0.3 * A
EVIL = "<script>alert('x')</script>"


def measured(target, prediction, **options):
    table = {"a": A, "b": B, "y": target, "p": prediction, "part": np.where(UNSEEN, "test", "train")}
    options = {"noise": 0.0, **options}
    return measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test", **options)


def on_unseen(target, answers):
    return np.where(UNSEEN, answers, target)


def level_answers(target, column):
    """The most frequent (or mean) training answer of each level of one factor."""
    found = []
    for row in GRID:
        here = target[~UNSEEN & (GRID[:, column] == row[column])]
        texts = [str(v) for v in here]
        found.append(here.mean() if here.dtype.kind == "f" else max(sorted(set(texts)), key=texts.count))
    return np.array(found)


def copied(target):
    rng = np.random.default_rng(1)
    neighbours = [np.flatnonzero(~UNSEEN & ((row != GRID).sum(axis=1) == 1)) for row in GRID]
    return np.array([target[rng.choice(rows)] for rows in neighbours])


def summed(target):
    design = np.concatenate([np.eye(SIDE)[A], np.eye(SIDE)[B]], axis=1)
    return design @ np.linalg.lstsq(design[~UNSEEN], target[~UNSEEN], rcond=None)[0]


KNOWN = {
    "lookup table that copies a neighbour, classes": (CLASSES, copied(CLASSES), "memorization: a copied answer"),
    "lookup table that copies a neighbour, numbers": (PRODUCT, copied(PRODUCT), "memorization: a copied answer"),
    "lookup table with one answer for the rest": (CLASSES, np.full(64, "sum 0"), "memorization: one fixed answer"),
    "one factor alone, classes": (SPURIOUS, level_answers(SPURIOUS, 1), "shortcut by b"),
    "one factor alone, numbers": (PRODUCT, level_answers(PRODUCT, 0), "shortcut by a"),
    "a sum where a product is asked": (PRODUCT, summed(PRODUCT), "additive rule"),
    "half of the right answer": (PRODUCT, 0.5 * PRODUCT + 0.1, "memorization leak"),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_learners_are_named_with_their_number(name):
    target, answers, mechanism = KNOWN[name]
    result = measured(target, on_unseen(target, answers))
    assert result.verdict == ("partly" if mechanism == "memorization leak" else "fails")
    assert all(e.p is None or e.p > 0 for e in result.evidence)
    assert result.mechanisms == (mechanism,)
    named = result.evidence[0]
    assert named.named
    assert f"{named.value.mean:.2f}" in result.sentence()


def test_a_spurious_factor_of_two_classes_is_named():
    rng = np.random.default_rng(3)
    agree = (A >= 4) == (B >= 4)
    unseen = np.where(agree, rng.random(64) < 0.1, rng.random(64) < 0.85)
    right, other = np.where(A >= 4, "yes", "no"), np.where(B >= 4, "yes", "no")
    table = {"a": A, "b": B, "y": right, "p": np.where(unseen, other, right), "part": np.where(unseen, "t", "s")}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=t")
    assert result.mechanisms == ("shortcut by b",)
    assert result.evidence[0].value.mean == 1.0


@pytest.mark.parametrize("target", [CLASSES, PRODUCT], ids=["classes", "numbers"])
@pytest.mark.parametrize("seed", range(2))
def test_answers_that_follow_no_rule_get_no_mechanism(target, seed):
    result = measured(target, on_unseen(target, np.random.default_rng(seed).permutation(target)))
    assert result.verdict == "fails"
    assert result.mechanisms == ()
    assert "No mechanism is named" in result.sentence()


def test_a_perfect_learner_composes_and_a_random_one_is_not_fitted():
    perfect = measured(CLASSES, CLASSES)
    assert perfect.verdict == "composes"
    assert perfect.gap.mean == 0
    assert perfect.mechanisms == ()
    random = measured(CLASSES, np.random.default_rng(0).permutation(CLASSES))
    assert random.verdict == "not fitted"
    assert random.sentence().startswith("On its training data it does not count as fitted")
    assert not random.evidence


def test_errors_are_shares_and_numbers_are_in_units_of_the_spread():
    table = {
        "a": [0, 0, 1, 1, 1],
        "b": [0, 1, 0, 1, 1],
        "y": [0.0, 2, 4, 6, 6],
        "p": [0.0, 2, 4, 6, 2],
        "s": [0, 0, 0, 1, 1],
    }
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="s=1")
    spread = np.var([0.0, 2, 4])
    assert result.unseen.mean == pytest.approx(8 / spread)
    assert result.seen.mean == 0
    assert result.worst[0]["combination"] == {"a": 1, "b": 1}
    assert result.worst[0]["count"] == 2
    shares = measure_predictions({**table, "y": list("xyzww"), "p": list("xyzwx")}, ["a", "b"], target="y",
                                 prediction="p", split="s=1")  # fmt: skip
    assert shares.unseen.mean == 0.5
    assert {row["level"]: row["unseen"] for row in shares.levels() if row["factor"] == "a"} == {0: None, 1: 0.5}


def test_a_training_table_says_what_was_seen_with_or_without_its_answers():
    answers = on_unseen(SPURIOUS, level_answers(SPURIOUS, 1))
    table = {"a": A, "b": B, "y": SPURIOUS, "p": answers}
    train = {"a": A[~UNSEEN], "b": B[~UNSEEN], "y": SPURIOUS[~UNSEEN]}
    by_split = measured(SPURIOUS, answers)
    for known in (train, {k: train[k] for k in "ab"}):
        result = measure_predictions(table, ["a", "b"], target="y", prediction="p", train=known, noise=0)
        assert result.mechanisms == ("shortcut by b",)
        assert result.unseen == by_split.unseen


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("y", [PRODUCT, CLASSES])
def test_without_unseen_or_without_seen_combinations_that_is_said(y):
    table = {"a": A, "b": B, "y": y, "p": y}
    everything = measure_predictions(table, ["a", "b"], target="y", prediction="p", train={"a": A, "b": B})
    assert everything.verdict == "nothing unseen"
    twice = {"s": [0] * len(A) + [1] * len(A), **{k: [*v, *v] for k, v in table.items()}}
    new = measure_predictions(twice, ["a", "b"], target="y", prediction="p", split="s=1")
    assert new.verdict == "nothing unseen"
    alone = {k: v[UNSEEN] for k, v in table.items()}
    train = {"a": A[~UNSEEN], "b": B[~UNSEEN], "y": y[~UNSEEN]}
    nothing = measure_predictions(alone, ["a", "b"], target="y", prediction="p", train=train)
    assert nothing.verdict == "nothing seen"
    assert math.isnan(nothing.gap.mean)
    json.loads(nothing.to_json())


def test_few_unseen_combinations_name_nothing_and_say_why():
    table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": list("xyzw"), "p": list("xyzx"), "s": [0, 0, 0, 1]}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="s=1")
    assert result.mechanisms == ()
    assert "1 unseen combination, of which 0 can be looked at, cannot tell a rule" in result.left_out["rules"]


@pytest.mark.parametrize(("y", "p"), [(["0", "1"], ["0.0", "1.0"]), (["True", "False"], ["true", "false"])])
def test_one_class_written_in_two_ways_is_one_class(y, p):
    table = {"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "y": y * 2, "p": p * 2, "s": ["s", "s", "s", "t"]}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="s=t")
    assert result.answers.kind == "class"
    assert result.unseen.mean == 0
    assert result.training.mean == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": "z"}, "unknown column 'z'"),
        ({"prediction": "y"}, "two columns"),
        ({"prediction": "a"}, "a factor and an answer at once"),
        ({"target": "a"}, "a factor and an answer at once"),
        ({"prediction": ["p", "y"]}, "two columns"),
        ({"against": "p"}, "'p' is named as prediction and as what it is compared with"),
        ({"against": [["p"]]}, "name another model's there"),
        ({"against": "y"}, "two columns"),
        ({"split": "y=class 0"}, "say which rows are test rows at once"),
        ({"split": None}, "say what training saw"),
        ({"split": "part"}, "write column=value"),
        ({"split": "part=other"}, "unknown value"),
        ({"target_kind": "number"}, "not a finite number"),
        ({"factors": ["nothing"]}, "unknown column 'nothing'"),
        ({"max_rows": 3}, "more than the 3 allowed"),
        ({"fitted": -1.0}, "fitted is -1"),
        ({"noise": "0.3"}, "noise is '0.3'; give a number"),
        ({"margin": "0.1"}, "margin is '0.1'; give a number"),
    ],
)
def test_bad_input_is_one_sentence(change, message):
    table = {"a": A, "b": B, "y": CLASSES, "p": CLASSES, "part": np.where(UNSEEN, "test", "train")}
    options = {"factors": ["a", "b"], "target": "y", "prediction": "p", "split": "part=test", **change}
    with pytest.raises(InputError, match=message):
        measure_predictions(table, options.pop("factors"), **options)


def test_probabilities_are_no_classes_and_missing_predictions_are_asked_about():
    table = {
        "a": [0, 1, 0, 1],
        "b": [0, 0, 1, 1],
        "y": [0, 1, 1, 0],
        "p": [0.1, 0.9, 0.8, 0.2],
        "s": ["s", "s", "s", "t"],
    }
    with_hole = {**table, "p": [0, 1, None, 0]}
    with pytest.raises(InputError, match="1 row has no 'y' or no 'p'"):
        measure_predictions(with_hole, ["a", "b"], target="y", prediction="p", split="s=t")
    left = measure_predictions(with_hole, ["a", "b"], target="y", prediction="p", split="s=t", missing="drop")
    assert left.notes[0].startswith("1 training row has no prediction: what was trained on is known from it")


def test_training_rows_need_no_prediction_and_unseen_combinations_that_blanks_take_are_counted():
    a, b = np.indices((6, 6)).reshape(2, -1).repeat(4, axis=1)
    hidden, new = (a + b) % 5 == 0, np.tile(np.arange(4), 36) == 0
    rows = pl.DataFrame({"a": a, "b": b, "y": a + 2.0 * b, "p": (a + 2.0 * b) * np.where(hidden, 0.5, 1)})
    table = rows.with_columns(part=np.where(hidden | new, "test", "train"))
    test = pl.col("part") == "test"
    bare = table.with_columns(p=pl.when(test).then("p"))
    how = {"target": "y", "prediction": "p"}
    one = measure_predictions(bare, ["a", "b"], split="part=test", missing="drop", **how)
    two = measure_predictions(rows.filter(hidden | new), ["a", "b"], train=table.filter(~test).drop("p"), **how)
    assert (one.verdict, one.mechanisms, one.gap) == (two.verdict, two.mechanisms, two.gap)
    holes = table.with_columns(p=pl.when(~((pl.col("a") < 3) & pl.Series(hidden))).then("p"))
    left = measure_predictions(holes, ["a", "b"], split="part=test", missing="drop", **how)
    lost = int((hidden & (a < 3)).sum())
    said = (
        f"{lost} rows were left out: no target or no prediction; {lost} of them are test rows, and {lost // 4} unseen"
    )
    assert left.notes[0].startswith(said)
    assert left.verdict == "fails"
    assert left.sentence().startswith(
        f"{lost // 4} of {hidden.sum() // 4} unseen combinations have no prediction at all"
    )


def test_who_gives_no_answer_to_some_unseen_combinations_composes_in_part():
    a, b = np.indices((6, 6)).reshape(2, -1).repeat(4, axis=1)
    hidden, new = (a + b) % 5 == 0, np.tile(np.arange(4), 36) == 0
    y = a + 2.0 * b
    table = {"a": a, "b": b, "y": y, "p": y, "part": np.where(hidden | new, "test", "train")}
    silent = hidden & (a < 3)

    def without(name, rows):
        blank = table | {name: [None if left else v for v, left in zip(table[name], rows, strict=True)]}
        return measure_predictions(
            blank, ["a", "b"], target="y", prediction="p", split="part=test", missing="drop", noise=0
        )

    part, none, asked = without("p", silent), without("p", hidden), without("y", silent)
    assert part.verdict == "partly"
    words = "4 of 8 unseen combinations have no prediction at all and are not judged"
    assert part.why == f"{words}; every row without one is of an unseen combination"
    assert part.sentence().startswith(f"{part.why}. It composes in part: error 0.00")
    assert part.sentence().endswith("The other 4 err by 0.00, seen ones by 0.00.")
    assert part.to_dict()["combinations"]["unanswered"] == 4
    assert none.verdict == "nothing unseen"
    assert none.sentence().startswith("8 of 8 unseen combinations have no prediction at all and are not judged; every")
    assert "Every other combination asked about was seen" in none.sentence()
    assert (asked.verdict, asked.answers.unanswered.count) == ("composes", 0)  # No right answer: nobody was asked.
    assert without("p", silent | (new & (a == 5))).why == words


def test_results_show_themselves_and_are_saved_as_every_kind(tmp_path):
    result = measured(SPURIOUS, on_unseen(SPURIOUS, level_answers(SPURIOUS, 1)))
    assert result.to_frame().height == 64
    assert set(result.to_frame().columns) == {"a", "b", "seen", "count", "error", "target", "prediction"}
    data = json.loads(result.to_json())
    assert data["mechanisms"] == ["shortcut by b"]
    assert data["evidence"][0]["value"]["mean"] == pytest.approx(result.evidence[0].value.mean)
    page = result._repr_html_()
    assert "shortcut by b" in page
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", page)
    for ending in ("json", "csv", "parquet", "html", "svg"):
        assert result.save(tmp_path / f"r.{ending}").stat().st_size > 100


@pytest.mark.parametrize("factors", [1, 2, 3])
def test_names_and_levels_are_text_never_markup_and_never_too_long(factors):
    rng = np.random.default_rng(0)
    names = [EVIL, "../../etc/passwd", "x" * 100_000][:factors]
    levels = [EVIL, "a/../b", "y" * 100_000, "&amp;"]
    table = {name: [levels[i] for i in rng.integers(4, size=60)] for name in names}
    table |= {"y": [levels[i] for i in rng.integers(3, size=60)], "part": ["s", "t", "s"] * 20}
    table["p"] = table["y"]
    result = measure_predictions(table, names, target="y", prediction="p", split="part=t")
    page = result._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert len(page) < 500_000
    assert len(result.sentence()) < 2_000


def test_factors_may_be_called_like_our_own_columns():
    table = {"seen": A, "error": B, "y": CLASSES, "p": CLASSES, "count": np.where(UNSEEN, "test", "train")}
    result = measure_predictions(table, ["seen", "error"], target="y", prediction="p", split="count=test")
    assert result.to_frame()["measure: seen"].sum() == (~UNSEEN).sum()
    assert result.verdict == "composes"


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2), st.integers(0, 2)), min_size=4, max_size=25
    )
)
def test_any_small_table_gives_errors_between_none_and_all(rows):
    rows = [(0, 0, 0, 0), (0, 0, 1, 1), *rows]  # One answer for all is refused, and so is one that is never right.
    a, b, y, p = (list(map(str, column)) for column in zip(*rows, strict=True))
    part = ["test" if i % 3 == 0 else "train" for i in range(len(rows))]
    table = pl.DataFrame({"a": a, "b": b, "y": [f"c{v}" for v in y], "p": [f"c{v}" for v in p], "part": part})
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    frame = result.to_frame()
    assert frame["error"].is_between(0, 1).all()
    seen = {tuple(r) for r in table.filter(pl.col("part") == "train").select("a", "b").rows()}
    assert {(str(r["a"]), str(r["b"])) for r in frame.filter("seen").to_dicts()} == seen
    json.loads(result.to_json())


@pytest.mark.parametrize(
    ("taken", "said"),
    [
        (0, "No mechanism is named: no measure of one could be taken."),
        (1, "No mechanism is named: the one measure taken does not speak for one."),
        (4, "No mechanism is named: none of the 4 measures taken speaks for one."),
    ],
)
def test_what_named_no_mechanism_is_counted_in_words(taken: int, said: str) -> None:
    quiet = Finding("copy", "a copy", "copied answers", Interval(0.1), p=0.5, why="chance may give as much")
    assert _silent([quiet] * taken) == said
    close = replace(quiet, value=Interval(0.5, 0.4, 0.6), chance=0.2, p=0.001, why="it is rare")
    near = "No mechanism is named. Most like: a copy (0.50 [0.40, 0.60] follow it, chance 0.20), but it is rare."
    more, less = replace(close, explained=Interval(0.5)), replace(close, explained=Interval(0.1), id="factor 1")
    assert not taken or _silent([less, more]) == near


def shortcut_of_ties(wrong):
    """Five animals, each seen at two places of five, so that every place has two animals equally often; what is said of
    unseen ones is ``wrong(animal, place)``."""
    rows = [
        (i, j, "train" if (j - i) % 5 in (0, 1) and k < 9 else "test", i, i if (j - i) % 5 in (0, 1) else wrong(i, j))
        for i in range(5) for j in range(5) for k in range(12)
    ]  # fmt: skip
    table = {name: [f"{name}{row[c]}" for row in rows] for c, name in enumerate(("animal", "place"))}
    table |= {name: [f"a{row[c]}" for row in rows] for c, name in ((3, "y"), (4, "p"))}
    table["part"] = [row[2] for row in rows]
    return measure_predictions(table, ["animal", "place"], target="y", prediction="p", split="part=test")


def test_a_shortcut_by_levels_with_two_answers_equally_often_is_named():
    found = shortcut_of_ties(lambda i, j: j)
    assert found.mechanisms == ("shortcut by place",)
    (by_place,) = (e for e in found.evidence if e.named)
    assert by_place.value.mean == 1.0
    assert by_place.chance == pytest.approx(0.4)  # Each place gives two animals of five.
    copied = next(e for e in found.evidence if e.id == "copy")
    assert copied.speaks
    assert "cannot be told apart" in copied.why
    rng = np.random.default_rng(0)
    assert shortcut_of_ties(lambda i, j: (i + rng.integers(1, 5)) % 5).mechanisms == ()
    neighbour = rng.integers(2, size=(5, 5))  # Either of the two.
    assert shortcut_of_ties(lambda i, j: (j - neighbour[i, j]) % 5).mechanisms == ("shortcut by place",)


def test_answers_one_of_which_is_right_are_no_shortcut():
    # Two classes, equally often at every level: any wrong answer is one of the two.
    rows = [(a, b, (a + b) % 2, k) for a in range(6) for b in range(6) for k in range(6)]
    unseen = [(a // 2 + b // 2) % 3 == 0 for a, b, *_ in rows]
    table = {name: [row[c] for row in rows] for c, name in enumerate(("a", "b"))}
    table["part"] = ["test" if u or row[3] == 5 else "train" for u, row in zip(unseen, rows, strict=True)]
    table["y"] = [f"c{row[2]}" for row in rows]
    table["p"] = [f"c{1 - row[2] if u else row[2]}" for u, row in zip(unseen, rows, strict=True)]
    found = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert found.verdict == "fails"
    assert not any(m.startswith("shortcut") for m in found.mechanisms)
    assert "at 12 training has several answers equally often: which" in found.left_out["shortcut by a"]


@pytest.mark.parametrize("everywhere", [True, False])
def test_one_unseen_group_names_a_shortcut_only_where_new_rows_of_seen_ones_follow_it_too(everywhere):
    """Birds on backgrounds; land birds on water are rare, and water birds on land unseen."""
    bird, place = np.repeat([[0, 0], [1, 1], [0, 1], [1, 0]], [200, 200, 48, 100], axis=0).T
    unseen, new = (bird == 1) & (place == 0), np.arange(len(bird)) % 4 == 0
    said = np.where(unseen | everywhere, place, bird)
    names = np.array(["land", "water"])
    table = {"bird": names[bird], "place": names[place], "y": names[bird], "p": names[said]}
    table |= {"part": np.where(unseen | new, "test", "train")}
    result = measure_predictions(table, ["bird", "place"], target="y", prediction="p", split="part=test")
    assert result.verdict == "fails"
    assert result.mechanisms == (("shortcut by place",) if everywhere else ())


@pytest.mark.parametrize(("follows", "named"), [("background", True), ("bird", False), ("row", False)])
def test_six_birds_that_were_never_seen_on_the_other_background_tell_a_shortcut(follows: str, named: bool) -> None:
    """Too few to be shuffled: 20 ways to hand the answers out; their rows tell."""
    rng = np.random.default_rng(0)
    rows = [
        (bird, place, bird % 2, "train" if k >= 15 else "test")
        for bird in range(12) for place in range(2)
        for k in range(75 if place == bird % 2 else 15 if bird < 6 else 20)
    ]  # fmt: skip
    bird, place, kind = (np.array([row[i] for row in rows]) for i in range(3))
    part = np.array([row[3] for row in rows])
    shown = {(row[0], row[1]) for row in rows if row[3] == "train"}
    unseen = np.array([(row[0], row[1]) not in shown for row in rows])
    said = {"background": place, "bird": kind, "row": rng.integers(2, size=len(rows))}[follows]
    names = np.array(["land", "water"])
    table = {"bird": bird, "place": place, "y": names[kind], "p": names[np.where(unseen, said, kind)], "part": part}
    result = measure_predictions(table, ["bird", "place"], target="y", prediction="p", split="part=test")
    assert unseen.any()
    assert (result.mechanisms == ("shortcut by place",)) == named
    finding = next(e for e in result.evidence if e.mechanism == "shortcut by place")
    assert finding.p is not None
    if named:  # 20 ways to hand answers out are no reason for a smaller p.
        assert finding.p >= 1 / 20 - 1e-9
        assert f"p = {finding.p:.2g} over combinations, " in result.sentence()
    assert ("over rows if these are independent" in result.sentence()) == named


@pytest.mark.parametrize("follows", ["one factor", "nothing", "both"])
def test_single_rows_that_follow_one_factor_are_said_to_though_they_may_be_noise(follows: str) -> None:
    rng = np.random.default_rng(3)
    a, b = np.indices((8, 8)).reshape(2, -1)
    y, unseen = rng.integers(4, size=64), rng.random(64) < 0.35
    usual = np.array([np.bincount(y[~unseen & (a == level)], minlength=4).argmax() for level in range(8)])[a]
    said = {"one factor": usual, "nothing": rng.integers(4, size=64), "both": y}[follows]
    names = np.array([f"class {k}" for k in range(4)])
    part = np.where(unseen, "test", "train")
    table = {"a": a, "b": b, "y": names[y], "p": names[np.where(unseen, said, y)], "part": part}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert result.verdict == ("composes" if follows == "both" else "unclear")
    words = "A suspicion and no finding: where they are wrong, answers to unseen ones are those that a alone gives ("
    assert (words in everything(result)) == (follows == "one factor")


@pytest.mark.parametrize("columns", [["p_yes"], ["p_no", "p_yes"]])
def test_probabilities_that_are_not_numbers_are_missing(columns):
    rng = np.random.default_rng(0)
    a, b = np.indices((4, 4)).reshape(2, -1).repeat(6, axis=1)
    chance = rng.uniform(0.1, 0.9, size=96)
    table = pl.DataFrame({"a": a, "b": b, "y": np.where(rng.random(96) < chance, "yes", "no")}).with_columns(
        part=pl.Series(np.where((a == b) | (np.arange(96) % 6 == 0), "test", "train")),
        p_no=pl.Series(1 - chance),
        p_yes=pl.Series(np.where(np.arange(96) == 0, np.nan, chance)),
    )
    how = {"target": "y", "prediction": columns, "split": "part=test"}
    with pytest.raises(InputError, match="1 row has no 'y' or no 'p_"):
        measure_predictions(table, ["a", "b"], **how)
    left = measure_predictions(table, ["a", "b"], missing="drop", **how)
    assert any("1 row was left out" in note for note in left.notes)


def test_answers_too_small_to_be_squared_are_not_called_all_the_same():
    table = {"a": A, "b": B, "y": 1e-200 * (A + B), "p": 1e-200 * A, "part": np.where(UNSEEN, "test", "train")}
    with pytest.raises(InputError, match=r"differ by .*e-199 at most, too little to calculate with"):
        measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")


def test_a_column_that_is_missing_is_not_looked_for_among_columns_of_ours():
    table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": list("xyzw"), "p": list("xyzx"), "s": [0, 0, 0, 1]}
    with pytest.raises(InputError, match=r"unknown column 'q'; there are: a, b, y, p, s\."):
        measure_predictions(table, ["a", "b"], target="y", prediction="q", split="s=1")
    with pytest.raises(InputError, match="name the column with the predictions"):
        measure_predictions(table, ["a", "b"], target="y", prediction=[], split="s=1")


@pytest.mark.parametrize("split", [[], ("s",), "s", "s=", ""])
def test_a_split_that_is_no_column_and_value_is_refused(split):
    table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": list("xyzw"), "p": list("xyzx"), "s": [0, 0, 0, 1]}
    with pytest.raises(InputError, match="write column=value"):
        measure_predictions(table, ["a", "b"], target="y", prediction="p", split=split)
