"""Factors of which one lies within another."""

from __future__ import annotations

import numpy as np

from recombine.checks import Purpose, check
from recombine.checks.holes.nested import nested, together
from recombine.cli.check_printing import print_check
from recombine.space import FactorSpace

HOME = [0, 0, 1, 1, 2, 2]


def sold(home=HOME, **more):
    """Five products in each city, but for one or two."""
    cells = [(c, p) for c in range(len(home)) for p in range(5) if (c + p) % 4]
    rows = {"country": [f"C{home[c]}" for c, _ in cells], "city": [f"c{c}" for c, _ in cells]}
    return {**rows, "product": [f"p{p}" for _, p in cells], "y": [1.0 * c + 2 * p + (c * p) % 3 for c, p in cells]}


def said(table, factors=("country", "city", "product"), **how):
    return [n for n in check(table, list(factors), target="y", draws=9, **how).notes if " lies in one " in n]


def test_cities_in_countries_are_said_with_what_to_name_instead():
    result = check(sold(), ["country", "city", "product"], target="y", draws=9)
    (note,) = [n for n in result.notes if " lies in one " in n]
    assert note == (
        "each city lies in one country: if it can lie in no other, leave country out (city tells it: --factors "
        "city,product (factors=['city', 'product'])), or exclude such combinations (--exclude, exclude); what is asked "
        "about, and to be collected, of a city elsewhere may not exist."
    )
    assert "Each city lies in one country: what is asked of it elsewhere may not exist" in result.sentence()
    assert check(sold(), ["city", "product"], target="y", draws=9).determined


def test_a_rare_city_does_not_silence_the_others():
    table = sold([0, 0, 0, 1, 1, 1])
    rare = {n: [*v, more] for (n, v), more in zip(table.items(), ("C1", "c6", "p0", 3.0), strict=True)}
    (note,) = said(rare)
    assert note.startswith("each city lies in one country (1 seen in a single combination tells nothing): if it can")
    assert said({n: v[::-1] for n, v in rare.items()})  # wherever its row stands
    few = [i for i, city in enumerate(table["city"]) if city in ("c0", "c3") or table["city"].index(city) == i]
    assert said({n: [v[i] for i in few] for n, v in table.items()}) == []  # of two cities nobody can tell


def test_beside_what_to_collect_stands_that_it_may_not_exist(tmp_path, capsys):
    result = check(sold(), ["country", "city", "product"], target="y", draws=9)
    words = "All of these 2 have a city outside its country and may not exist: a note says what to do."
    assert result.may_not_exist == words == result.to_dict()["advice"]["may_not_exist"]
    result.save(tmp_path / "check.html")
    assert words in (tmp_path / "check.html").read_text()
    print_check(result, None, None, None)
    assert "outside its country and may not exist" in " ".join(capsys.readouterr().out.split())
    planned = check(sold(), ["country", "city", "product"], target="y", draws=9, purpose=Purpose(budget=1))
    assert planned.may_not_exist == "This one has a" + words.removeprefix("All of these 2 have a")
    assert check(sold(), ["city", "product"], target="y", draws=9).may_not_exist == ""


def test_factors_around_each_other_are_one_note():
    table = sold([0, 0, 1, 1, 2, 2, 3, 3])
    table["part"] = ["N" if c in ("C0", "C1") else "S" for c in table["country"]]
    (note,) = said(table, ("part", "country", "city", "product"))
    assert note.startswith("each city lies in one part and one country: ")
    assert "leave part and country out (city tells it: --factors city,product (factors=['city', 'product']))" in note


def test_nothing_is_said_of_cities_seen_elsewhere_of_names_for_the_same_or_of_what_is_not_asked():
    moved = sold()
    moved["country"][0] = "C2"
    assert said(moved) == []
    assert said(sold([0, 1, 2, 3, 4, 5])) == []  # a second name for each city
    never = [{"city": f"c{c}", "country": f"C{k}"} for c in range(6) for k in range(3) if HOME[c] != k]
    assert said(sold(), exclude=never) == []
    table = sold()
    assert said({n: v[:-1] for n, v in table.items()}, test={n: v[-1:] for n, v in table.items()}) == []


def test_factors_that_always_go_together_are_said_if_others_are_asked_about():
    seen = {"a": [f"a{i}" for i in range(8)] * 2, "b": [f"b{7 - i}" for i in range(8)] * 2, "y": [*range(16)]}
    seen["c"] = ["c0"] * 8 + ["c1"] * 8
    for factors in (["a", "b"], ["a", "b", "c"]):
        (note,) = [n for n in check(seen, factors, target="y", draws=9).notes if "always go together" in n]
        assert note == (
            "a and b always go together in what was seen: each a with one b alone, and each b with one a. So what they "
            "do cannot be told apart; rows of one a with the b of another would tell. If these are names for the same, "
            "leave all but one out."
        )
    space = FactorSpace.of(a=4, b=4, c=3)
    codes = np.array([(i, i, (i + j) % 3) for i in range(4) for j in range(2)])
    assert together(codes, codes, space, ()) == []
    assert len(together(codes, space.grid(), space, ())) == 1
    assert together(np.vstack([codes, [0, 1, 0]]), space.grid(), space, ()) == []


def test_sparse_tables_drawn_at_random_are_not_said_to_be_nested():
    rng, named = np.random.default_rng(0), 0
    for _ in range(2000):
        space = FactorSpace.of(a=int(rng.integers(2, 4)), b=int(rng.integers(3, 7)), c=int(rng.integers(3, 7)))
        every = space.grid()
        codes = every[rng.choice(len(every), int(rng.integers(6, 18)), replace=False)]
        named += bool(nested(codes, every, space, ()))
    assert named <= 10


def test_rare_levels_are_not_said_to_be_nested_because_chance_shows_them_in_one_level():
    rng, named = np.random.default_rng(1), 0
    for _ in range(500):
        space = FactorSpace.of(a=int(rng.integers(2, 9)), b=int(rng.integers(10, 60)), c=int(rng.integers(3, 12)))
        each = [rng.choice(n, 2 * space.shape[1], p=rng.dirichlet(np.full(n, 0.7))) for n in space.shape]
        named += bool(nested(np.unique(np.stack(each, axis=1), axis=0), space.grid(), space, ()))
    assert named <= 3
