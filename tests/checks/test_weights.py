"""Rows that stand for many cases count by them: exactly where that can be said exactly, and on planted rates."""

from __future__ import annotations

import json

import numpy as np
import pytest
from planted_tables import grid
from scipy.linalg import orth
from scipy.special import fdtrc

import recombine as rc
from recombine.checks.adds_up.additivity import additivity
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.rules.effects import Effects
from recombine.checks.rules.scales import PLAIN, scales
from recombine.checks.rules.weighing import SHARES, variance, worth
from recombine.cli.main import main
from recombine.errors import InputError
from recombine.support.answers import Target
from recombine.support.counted import counted, never_empty
from recombine.support.table import read_tables

FACTORS = ["channel", "region", "device"]


def rates(seed: int, cases: tuple[float, float] = (20, 20_000), scatter: float = 0.0, effects: float = 0.05):
    """A table of rates, a fifth of it to be asked about, with the truth of every row and its cases."""
    rng = np.random.default_rng(seed)
    codes = grid(4, 5, 3)
    truth = 0.4 + sum(effects * rng.normal(size=k)[codes[:, i]] for i, k in enumerate((4, 5, 3)))
    truth = (truth + scatter * rng.normal(size=len(codes))).clip(0.01, 0.99)
    n = np.exp(rng.uniform(*np.log(cases), len(codes))).round().astype(int)
    part = np.where(rng.random(len(codes)) < 0.2, "asked", "seen")
    table = {f: [f"{f[0]}{c}" for c in codes[:, i]] for i, f in enumerate(FACTORS)}
    table |= {"visits": n.tolist(), "rate": (rng.binomial(n, truth) / n).tolist(), "part": part.tolist()}
    return table, truth, n


def checked(table, **more):
    return rc.check(table, FACTORS, target="rate", split="part=asked", draws=9, **more)


def few(**columns):
    codes = grid(3, 3)[:-1]
    table = {"a": [f"a{c}" for c in codes[:, 0]], "b": [f"b{c}" for c in codes[:, 1]]}
    return table | {"y": (codes.sum(axis=1) + np.array([0, 1, 0, 0, 1, 0, 1, 0]) * 0.3).tolist(), **columns}


def test_weights_that_are_all_the_same_change_nothing():
    table, _, _ = rates(0)
    without, with_them = checked(table).to_dict(), checked(table | {"visits": [7] * 60}, weights="visits").to_dict()
    assert with_them["settings"].pop("weights") == "visits"
    assert without["settings"].pop("weights") is None
    notes = with_them.pop("notes")
    assert "rows weigh by visits, all 7, so nothing is weighed." in notes
    left = [note for note in without.pop("notes") if "visits" not in note]
    assert [note for note in notes if "visits" not in note] == left
    assert json.dumps(with_them, default=str) == json.dumps(without, default=str)


def test_whole_weights_are_rows_repeated():
    rng = np.random.default_rng(1)
    codes, w = grid(4, 5)[:-3], rng.integers(1, 9, 17)
    y, often = rng.normal(size=17), np.repeat(np.arange(17), w)
    one = Effects(codes, (4, 5), y, 1 / w, 1)
    many = Effects(codes[often], (4, 5), y[often], np.ones(len(often)), 1)
    assert np.allclose(one.unshrunk(grid(4, 5)), many.unshrunk(grid(4, 5)))
    free = [
        Effects(c, (4, 5), v, u, 1, free=True) for c, v, u in ((codes, y, 1 / w), (codes[often], y[often], often**0.0))
    ]
    assert np.allclose(free[0].answers(grid(4, 5)), free[1].answers(grid(4, 5)), atol=1e-4)


def test_shares_of_known_numbers_of_cases_are_told_from_others():
    rng = np.random.default_rng(0)
    n = rng.integers(50, 5_000, 60).astype(float)
    share = rng.binomial(n.astype(int), 0.08) / n
    assert counted(share, n)
    assert counted(share.round(4), n)
    assert not counted(share, rng.permutation(n))
    assert not counted(share + 0.3 / n, n)
    assert not counted(rng.integers(0, 5, 60) / 4, 4.0 * rng.integers(1, 99, 60))
    assert np.allclose(never_empty(np.array([0.0, 0.5]), np.array([9.0, 4.0])), [0.05, 0.5])


def test_a_case_scatters_as_its_chance_says_on_every_scale():
    p = np.array([0.02, 0.3, 0.9])
    log, odds = scales(p, counted=1.0)
    assert np.allclose(PLAIN.of_a_case(p), p * (1 - p))
    assert np.allclose(log.of_a_case(p), (1 - p) / p)
    assert np.allclose(odds.of_a_case(p), 1 / (p * (1 - p)))
    assert np.allclose(scales(100 * p, counted=100.0)[1].of_a_case(p, 100.0), 1 / (p * (1 - p)))


def test_rows_of_none_among_known_numbers_of_cases_are_data():
    rng = np.random.default_rng(2)
    codes = grid(6, 7)
    p = 1 / (1 + np.exp(3.5 - rng.normal(0, 1, 6)[codes[:, 0]] - rng.normal(0, 1, 7)[codes[:, 1]]))
    n = np.exp(rng.uniform(np.log(30), np.log(3_000), 42)).astype(int)
    clicks = rng.binomial(n, p)
    assert (clicks == 0).any()
    table = {"a": codes[:, 0], "b": codes[:, 1], "rate": clicks / n, "n": n}
    keep = rng.random(42) < 0.8
    found = rc.check({k: v[keep] for k, v in table.items()}, ["a", "b"], target="rate", weights="n", draws=3)
    assert found.forecast.scale.name in ("log", "log-odds")
    assert not any("no log scale is tried" in note for note in found.notes)
    off = [q.prediction - p[7 * int(q.codes[0]) + int(q.codes[1])] for q in found.queries if q.prediction is not None]
    assert np.sqrt(np.mean(np.square(off))) < 0.4 * p[~keep].std()


def test_the_mean_of_repeated_rows_is_by_weight():
    table = {"a": ["x", "x", "y", "y"], "b": ["u", "u", "u", "v"], "y": [1.0, 4.0, 2.0, 5.0], "w": [1, 3, 2, 2]}
    target = read_tables([table], ["a", "b"], target="y", weights="w")[0].target
    typical = 4 / (1 + 1 / 3 + 1 / 2 + 1 / 2)
    assert np.allclose(target.mean, [13 / 4, 2, 5])
    assert np.allclose(target.weight, np.array([4, 2, 2]) / typical)
    assert np.allclose(target.spread, np.array([1 * (9 / 4) ** 2 + 3 * (3 / 4) ** 2, 0, 0]) / typical)


def test_the_test_of_repeated_rows_is_weighted_least_squares_by_hand():
    """Noise of a row is 1 / weight, and repeats tell it: F of what is left to that of the repeats."""
    rng = np.random.default_rng(5)
    codes, w = grid(4, 3), rng.uniform(1, 9, 12)
    mean, spread = 1.2 * rng.normal(size=12), rng.chisquare(2, 12)
    target = Target("y", None, np.full(12, 3), mean, spread, weights=w)
    found = additivity(Identifiability(codes, (4, 3), 1), target, ("a", "b"))
    x = np.hstack([np.ones((12, 1)), np.eye(4)[codes[:, 0]], np.eye(3)[codes[:, 1]]]) * np.sqrt(w)[:, None]
    left = mean * np.sqrt(w) - x @ np.linalg.lstsq(x, mean * np.sqrt(w), rcond=None)[0]
    assert found.test == "lack of fit"
    assert np.isclose(found.p_value, 3 * fdtrc(6, 24, (left @ left / 6) / (spread.sum() / 24)))


def test_how_much_of_a_variance_no_weight_takes_away_is_the_likeliest():
    """The fixed point is that of the restricted likelihood, tried for every share."""
    codes = grid(6, 8)
    x = np.hstack([np.ones((48, 1)), np.eye(6)[codes[:, 0]][:, 1:], np.eye(8)[codes[:, 1]][:, 1:]])
    near = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n = np.exp(rng.uniform(np.log(20), np.log(20_000), 48))
        w = n * np.mean(1 / n)
        y = x @ rng.normal(size=13) + np.sqrt(0.2 / n + 0.02**2) * rng.normal(size=48)
        losses = []
        for share in SHARES:
            u = variance(share, w)
            root = 1 / np.sqrt(u)
            basis = orth(x * root[:, None])
            left = root * y - basis @ (basis.T @ (root * y))
            inside = np.linalg.slogdet((x * root[:, None]).T @ (x * root[:, None]))[1]
            losses.append(35 * np.log(left @ left) + np.log(u).sum() + inside)
        best = variance(float(SHARES[int(np.argmin(losses))]), w)
        near.append(np.abs(np.log(worth(x, y, w) * best / best.mean())).max())
    assert np.median(near) < 0.1
    assert max(near) < 0.5


@pytest.mark.parametrize("scatter", [0.0, 0.03])
def test_rates_over_few_cases_no_longer_spoil_those_over_many(scatter):
    """Against what the factors tell: the sum of planted effects, which scatter around it does not change."""
    gains, inside = [], {"few": [], "many": []}
    for seed in range(4):
        table, truth, n = rates(seed, scatter=scatter)
        place = {cell: i for i, cell in enumerate(zip(*(table[f] for f in FACTORS), strict=True))}
        errors = []
        for weights in (None, "visits"):
            result = checked(table, weights=weights)
            told = [
                (place[tuple(result.combination(q.codes).values())], q) for q in result.queries if q.low is not None
            ]
            errors.append(np.sqrt(np.mean([(q.prediction - truth[i]) ** 2 for i, q in told])))
            if weights:
                for i, q in told:
                    inside["few" if n[i] < np.median(n) else "many"].append(q.low <= table["rate"][i] <= q.high)
            assert result.doubt != "rejected" or weights is None
        gains.append(errors[1] / errors[0])
    assert np.median(gains) < (0.6 if not scatter else 1.1)
    assert all(np.mean(held) > 0.75 for held in inside.values())


def test_a_range_is_as_wide_as_what_the_asked_row_weighs_makes_it():
    """Told in the split, in rows without an answer, or not at all: then as of a typical row."""
    table, _, n = rates(3)
    place = {cell: i for i, cell in enumerate(zip(*(table[f] for f in FACTORS), strict=True))}
    asked = np.array(table["part"]) == "asked"
    blank = {**table, "rate": [None if a else y for a, y in zip(asked, table["rate"], strict=True)]}
    untold = {**blank, "visits": [None if a else v for a, v in zip(asked, table["visits"], strict=True)]}
    both = [checked(table, weights="visits")]
    both += [rc.check(t, FACTORS, target="rate", weights="visits", draws=9) for t in (blank, untold)]
    wide = []
    for result in both:
        width = {
            tuple(result.combination(q.codes).values()): q.high - q.low for q in result.queries if q.low is not None
        }
        wide.append(np.array([width[cell] for cell in sorted(width)]))
    cases = np.array([n[place[cell]] for cell in sorted(width)])
    assert np.allclose(wide[0], wide[1])
    assert np.corrcoef(np.log(wide[0]), np.log(cases))[0, 1] < -0.9
    assert np.ptp(np.log(wide[2])) < 0.5 * np.ptp(np.log(wide[0]))
    assert any("asked combinations without a weight are taken to weigh" in note for note in both[2].notes)
    assert not any("without a weight" in note for note in both[1].notes)


@pytest.mark.parametrize("scatter", [0.0, 0.05])
def test_adding_up_is_seldom_rejected_where_it_is_true(scatter):
    """Single rows, with variance besides the cases or without; 1 % is the level."""
    codes, rejected = grid(4, 5, 3), 0
    known = Identifiability(codes, (4, 5, 3), 1)
    for seed in range(60):
        rng = np.random.default_rng([seed, 7])
        n = np.exp(rng.uniform(np.log(20), np.log(20_000), 60))
        truth = sum(rng.normal(size=k)[codes[:, i]] for i, k in enumerate((4, 5, 3)))
        y = truth + np.sqrt(0.2 / n + scatter**2) * rng.normal(size=60)
        target = Target("y", None, np.ones(60, dtype=int), y, np.zeros(60), weights=n * np.mean(1 / n))
        rejected += bool(additivity(known, target, ("a", "b", "c")).rejected)
    assert rejected <= 3


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, 2, 3, 4, 5, 6, 7, 0], r"hold 0 \(row 8 below the header\)"),
        ([1, 2, -3, 4, 5, 6, 7, 8], r"hold -3 \(row 3 below the header\)"),
        (["1", "2", "3", "many", "5", "6", "7", "8"], r"'many', which is not a number \(row 4"),
        ([1, 2, 3, 4, None, 6, 7, 8], r"1 answered row has no weight in 'w' \(row 5"),
        ([1.0, 2, 3, 4, 5, 6, 7, float("inf")], "infinite"),
    ],
)
def test_what_is_no_weight_is_refused(weights, words):
    with pytest.raises(InputError, match=words):
        rc.check(few(w=weights), ["a", "b"], target="y", weights="w")


def test_where_rows_would_count_alike_after_all_weights_are_refused():
    table = few(w=[1, 2, 3, 4, 5, 6, 7, 8], kind=list("xyxyxyxy"))
    for more, words in (
        ({}, "name the target too"),
        ({"target": "kind"}, "are for answers that are numbers"),
        ({"target": "y", "rules": ["forest"]}, "forest takes all rows alike"),
        ({"target": "y", "purpose": rc.Purpose(budget=3)}, "a plan .* takes all rows alike"),
    ):
        with pytest.raises(InputError, match=words):
            rc.check(table, ["a", "b"], weights="w", **more)
    with pytest.raises(InputError, match="both a factor and the weights"):
        rc.check(table, ["a", "b"], target="y", weights="a")
    with pytest.raises(InputError, match="unknown column 'v'"):
        rc.check(table, ["a", "b"], target="y", weights="v")


def test_the_command_says_what_rows_weigh_and_a_note_names_it(tmp_path, capsys):
    table, _, _ = rates(4)
    file = tmp_path / "rates.csv"
    rows = zip(*(table[c] for c in (*FACTORS, "visits", "rate")), strict=True)
    seen = [",".join(map(str, row)) for row, part in zip(rows, table["part"], strict=True) if part == "seen"]
    file.write_text("\n".join([",".join((*FACTORS, "visits", "rate")), *seen]))

    def said(*more: str) -> str:
        with pytest.raises(SystemExit, match="0"):
            main(["check", str(file), "--factors", ",".join(FACTORS), "--target", "rate", *more])
        return capsys.readouterr().out

    assert any(
        "--weights visits (weights='visits') lets rows count by it" in n for n in json.loads(said("--json"))["notes"]
    )
    told = json.loads(said("--weights", "visits", "--json"))
    assert told["settings"]["weights"] == "visits"
    assert not any("count alike" in note for note in told["notes"])
    assert "rows weigh by visits, 31 to 12,755" in said("--weights", "visits")


def test_shifts_of_days_are_weighed_too():
    """A day known by rows of many cases is taken off as these have it: over planted tables answers err less."""
    codes, day, errors = np.repeat(grid(3, 4), 3, axis=0), np.tile(np.arange(3), 12), []
    kept, truth = (codes != (2, 3)).any(axis=1), 2 + 6 + 3.0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        n = np.exp(rng.uniform(0, 8, 36)).round()
        y = codes[:, 0] + 2.0 * codes[:, 1] + 3.0 * day + 5 / np.sqrt(n) * rng.normal(size=36)
        columns = {"a": codes[:, 0].astype(str), "b": codes[:, 1].astype(str), "day": day.astype(str), "y": y, "n": n}
        table = {name: column[kept] for name, column in columns.items()}
        found = (rc.check(table, ["a", "b"], target="y", blocks="day", weights=w, draws=9) for w in (None, "n"))
        errors.append([float(result.queries[0].prediction) - truth for result in found])
    without, weighed = np.sqrt(np.mean(np.square(errors), axis=0))
    assert weighed < 0.7 * without
