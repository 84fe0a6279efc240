"""The page and the pictures: self-contained, nothing of the table is ever markup, every size can be drawn."""

from __future__ import annotations

import base64
import hashlib
import html
import itertools
import re
import xml.etree.ElementTree as ET
from collections import Counter
from importlib.resources import files

import numpy as np
import pytest

import recombine.reporting.check
from recombine.checks import Purpose, check, plan
from recombine.checks.plans.in_brief import details, in_brief
from recombine.figures.check import check_figure, check_grid, check_pairs
from recombine.figures.check_cells import pair_cells
from recombine.figures.data import shortened
from recombine.figures.export import to_svg
from recombine.reporting.check_picture import picture

PIECES = {"shape": ["disc", "disc", "square", "star"], "colour": ["red", "blue", "red", "green"]}
EVIL = "<script>alert('x')</script>"


def _texts(chart):
    return [e.text for e in ET.fromstring(to_svg(chart)).iter() if e.tag.endswith("text") and e.text]


def test_a_long_status_of_several_rows_is_said_once_below():
    long = "determined only if effects add up, which the seen combinations contradict"
    rows = [{"words": long}] * 3 + [{"words": "seen (1 row)"}]
    listed, legend = recombine.reporting.check._legend(rows)
    assert [row["words"] for row in listed] == ["determined only if (a)"] * 3 + ["seen (1 row)"]
    assert legend == ["(a) effects add up, which the seen combinations contradict"]
    assert recombine.reporting.check._legend(rows[:3]) == (rows[:3], [])


def _without_own_script(page):
    """The page without the script of the package, which it allows itself to run by its hash and nothing else."""
    script = (files("recombine.reporting") / "templates" / "check.js").read_text().removesuffix("\n")
    before, after = page.split(f"<script>{script}</script>")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; script-src 'sha256-{digest}';" in before
    return before + after


def test_the_grid_shows_every_level_and_status():
    texts = _texts(check_grid(check(PIECES, ["shape", "colour"])))
    assert {"disc", "square", "star", "red", "blue", "green"} <= set(texts)
    assert {"seen", "determined", "undetermined", "collect"} <= set(texts)
    assert texts.count("?") == 4 + 1  # four cells and the key


def test_the_title_of_the_rows_stands_above_their_labels():
    svg = to_svg(check_grid(check(PIECES, ["shape", "colour"])))
    height = {e.text: float(e.get("transform").rpartition(",")[2][:-1]) for e in ET.fromstring(svg).iter() if e.text}
    assert height["shape"] < min(height["disc"], height["square"], height["star"]) - 20


def test_the_suggested_cell_is_ringed():
    svg = to_svg(check_grid(check(PIECES, ["shape", "colour"])))
    assert svg.count('stroke="#b2182b"') == 2  # one cell and the key
    done = to_svg(check_grid(check({"a": [0, 0, 1], "b": [0, 1, 0]}, ["a", "b"])))
    assert done.count('stroke="#b2182b"') == 0  # nothing to collect: no ring, and none in the key


def test_pairs_show_all_factors():
    rng = np.random.default_rng(0)
    result = check(
        {name: rng.integers(3, size=9) for name in ("one", "two", "three", "four")}, ["one", "two", "three", "four"]
    )
    assert {"one", "two", "three", "four"} <= set(_texts(check_pairs(result)))


@pytest.mark.parametrize("factors", [1, 2, 3, 8])
@pytest.mark.parametrize("levels", [1, 60])
def test_every_size_can_be_drawn(factors, levels):
    rng = np.random.default_rng(0)
    table = rng.integers(levels, size=(80, factors))
    result = check(table, [str(k) for k in range(factors)], max_queries=200)
    assert to_svg(check_figure(result)).startswith("<svg")
    page = result._repr_html_()
    assert len(page) < 5_000_000


def test_the_page_says_verdict_suggestion_and_reason():
    page = check(PIECES, ["shape", "colour"])._repr_html_()
    assert "Some combinations cannot be answered from this data" in page
    assert "1 further combination would determine all of them" in page
    assert "any sum of effects gives (disc, blue) − (disc, red) + (square, red)<" in page
    assert "additive identifiability" in page
    assert "compositional support" not in page  # no level is unseen


def test_where_nothing_is_asked_no_table_is_empty():
    page = recombine.reporting.check.check_page(check({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}, ["a", "b"]))
    assert re.search(r"<h2[^>]*>Counts, and what they rest on<", page)
    assert not re.search(r"<tbody>\s*</tbody>", page)
    assert page.count('<td class="none" data-label="Examples"></td>') == page.count('data-label="Examples"') == 2


def test_the_order_of_combinations_is_named_as_it_is():
    page = check(PIECES, ["shape", "colour"])._repr_html_()
    assert '<h2 id="queries">Combinations</h2>' in page
    assert "The largest leverage first. Leverage: " in page
    answered = check(PIECES | {"y": [1.0, 2.0, 3.0, 4.0]}, ["shape", "colour"], target="y")._repr_html_()
    assert '<h2 id="queries">Answers</h2>' in answered
    assert "The largest leverage first, then what has no answer. Leverage: " in answered


def test_what_was_asked_is_answered_before_what_to_collect_and_one_reason_is_said_once():
    table = {"a": [0, 0, 1, 1, 2, 2, 3, 3], "b": [0, 1, 0, 1, 2, 3, 2, 3]}
    page = check(table, ["a", "b"])._repr_html_()
    parts = re.findall(r'<h2 id="(\w+)"', page)
    assert parts == re.findall(r'<a href="#(\w+)"', page.split("<nav")[1].split("</nav>")[0])
    assert parts.index("queries") < parts.index("collect")
    assert page.count("not determined by this data</td>") == 1  # in the counts
    assert "All listed are not determined by this data.</p>" in page
    assert re.findall(r"Why[^:]*: may shift together", page) == ["Why, of these 8: may shift together"]


def test_the_reason_of_a_combination_has_the_width_of_the_table():
    page = check(PIECES | {"y": [1.0, 2.0, 3.0, 4.0]}, ["shape", "colour"], target="y")._repr_html_()
    table = page.split('<h2 id="queries">')[1].split("</table>")[0]
    columns = table.split("</thead>")[0].count("<th ")
    assert f'<tr class="notes"><td colspan="{columns}">Why, of these 4: may shift together' in table
    assert "<details><summary>Why</summary>any sum of effects gives (" in table  # folded where there is an answer


def test_a_test_table_with_targets_and_unseen_levels_has_a_page():
    table = {**PIECES, "y": [1.0, 2.0, 3.0, 4.0]}
    result = check(table, ["shape", "colour"], target="y", test={"shape": ["ring", "disc"], "colour": ["red", "green"]})
    page = result._repr_html_()
    assert "new: shape = ring" in page
    assert "Cramér" in page


def test_picture_and_plan_stand_under_the_headline_in_visiting_order():
    table = {"a": [0, 0, 1, 1, 2], "b": ["x y", "z", "x y", "z", "x y"], "y": [1.0, 2.0, 2.0, 3.5, 4.0]}
    result = check(table, ["a", "b"], target="y", purpose=Purpose(budget=3, change={"a": 5.0}))
    page = result._repr_html_()
    places = [page.index(text) for text in ('id="picture"', 'id="collect"', "3 rows, chosen", ">Run<", 'id="numbers"')]
    assert places == sorted(places)
    rows = re.findall(r'<tr><th scope="row" class="number">([\d, ]+)</th><td data-label="a">(\d)</td>', page)
    runs = {int(run): int(a) for named, a in rows for run in named.split(", ")}
    assert [runs[run] for run in (1, 2, 3)] == result.plan.cells[:, 0].tolist()
    assert ("×2" in page) == (len(rows) < 3)
    assert "Changes from row to row cost" in page


def test_a_plan_from_nothing_has_a_page(tmp_path):
    path = plan({"a": 3, "b": ["red", "green"]}, 6, change={"a": 2.0}).save(tmp_path / "plan.html")
    page = path.read_text(encoding="utf-8")
    assert page.count('<th scope="row" class="number">') == 6
    assert "stair" in page


def test_what_a_combination_to_collect_would_determine_unfolds():
    page = check(PIECES, ["shape", "colour"])._repr_html_()
    assert "<summary>3 more combinations</summary>" in page
    opened = re.search(r'<details data-opens="([^"]+)">', page)[1].split()
    cells = dict(re.findall(r'<td class="([^"]+)" data-at="([^"]+)"', page)[::-1])
    assert len(opened) == 3
    assert all(re.search(rf'class="undetermined" data-at="{at}"', page) for at in opened)
    assert cells["undetermined collect"] not in opened


def test_a_cell_tells_its_sum_and_points_at_the_rows_of_it():
    page = check({**PIECES, "y": [1.0, 2.0, 4.0, 9.0]}, ["shape", "colour"], target="y")._repr_html_()
    cell = re.search(r'<td class="doubtful" data-at="0-1-1-0" title="([^"]+)" data-terms="([^"]+)">5</td>', page)
    assert "square, blue: determined only if effects add up, which is not shown; answer 5" in cell[1]
    assert "gives (disc, blue) − (disc, red) + (square, red); the answer averages over all such sums" in cell[1]
    assert sorted(cell[2].split()) == ["+0-1-0-0", "+0-1-1-2", "-0-1-0-2"]
    assert 'title="disc, red: seen in 1 row; answer 1"' in page


def _noisy(f, shape=(6, 6), seed=0):
    """Two rows in most cells of a grid, with an answer and some noise, and a level that is only asked about."""
    cells = [c for c in itertools.product(*map(range, shape)) if (c[0] + 2 * c[1] + sum(c[2:])) % 5] * 2
    noise = np.random.default_rng(seed).normal(size=len(cells)) / 20
    table = {name: [c[k] for c in cells] for k, name in enumerate("abc"[: len(shape)])}
    return {**table, "y": np.array([f(*c) for c in cells]) + noise}


def test_a_sum_is_not_given_for_the_answer_of_another_rule():
    """× and ÷ where effects multiply; of a rule that does not add up the answer is said to be another."""
    products = check({**_noisy(lambda a, b: 9 * 2.0**a * 1.7**b)}, ["a", "b"], target="y")
    assert (products.scale, products.rule) == ("log", "additive on a log scale")
    page = products._repr_html_()
    assert re.search(r"any product of effects gives \(\d, \d\) ÷ \(\d, \d\) × \(\d, \d\); the answer averages", page)
    assert 'class="cells times"' in page
    assert products.to_dict()["queries"][0]["witness"]["scale"] == "log"
    pairs = check(_noisy(lambda a, b, c: 3 * ((a * b) % 3) + c, (5, 5, 3)), ["a", "b", "c"], target="y")
    assert pairs.rule == "pairs"
    assert "the answer is not this but that of the rule “pairs”" in pairs._repr_html_()
    assert re.findall(r">([^<]*) \(recommended\)<", pairs._repr_html_()) == ["pairs"]


def test_a_worse_status_does_not_hide_that_adding_up_is_rejected():
    rejected = check(_noisy(lambda a, b: 10 * ((a * b) % 2)), ["a", "b"], target="y", test={"a": [0, 9], "b": [0, 0]})
    assert (rejected.verdict, rejected.doubt) == ("unseen level", "rejected")
    assert "if effects add up, which the seen combinations contradict (p" in rejected.sentence()
    page = rejected._repr_html_()
    assert "<h1>Some levels were never seen, and effects do not simply add up</h1>" in page
    assert "is determined if effects add up, which the seen combinations contradict. No smaller" in page
    fine = check(_noisy(lambda a, b: 3 * a + b), ["a", "b"], target="y", test={"a": [0, 9], "b": [0, 0]})
    assert (fine.doubt, fine.beside) == (None, "")


def test_a_pair_of_levels_that_was_seen_is_drawn_as_seen():
    """Of three factors, whatever is asked with the pair; and how much of it was seen or is determined is told."""
    table = {"a": [0, 0, 1, 0], "b": [0, 1, 0, 0], "c": [0, 0, 0, 1]}
    page = check(table, ["a", "b", "c"], test={"a": [0, 1, 0], "b": [0, 1, 0], "c": [2, 0, 1]})._repr_html_()
    cell = re.search(r'<td class="([^"]+)" data-at="0-1-0-0" title="([^"]+)">([^<]+)<', page)
    assert (cell[1].split()[0], cell[3]) == ("seen", "1/2")
    assert "asked with it: 1 unseen level, 1 seen" in cell[2]


@pytest.mark.parametrize("contradicted", [False, True])
def test_what_is_determined_looks_doubtful_where_the_table_contradicts_adding_up(contradicted):
    cells = [(a, b) for a in range(6) for b in range(6) if (a + 2 * b) % 5]
    table = {"a": [a for a, _ in cells] * 2, "b": [b for _, b in cells] * 2}
    wrong = np.array([-2 * b * (a == 2) for a, b in cells]) if contradicted else np.zeros(len(cells))
    noise = np.random.default_rng(0).normal(size=2 * len(cells)) / 20
    y = np.tile(np.array([a + b for a, b in cells]) + wrong, 2) + noise
    result = check({**table, "y": y}, ["a", "b"], target="y")
    page, drawn = result._repr_html_(), _texts(check_figure(result))
    assert result.doubt == ("rejected" if contradicted else None)
    assert ('<td class="doubtful' in page, '<td class="determined' in page) == (contradicted, not contradicted)
    assert ("which the seen combinations contradict" in page) == contradicted
    assert ("if effects add up" in drawn, "determined" in drawn) == (contradicted, not contradicted)


def test_what_is_not_drawn_is_said():
    rng = np.random.default_rng(0)
    table = rng.integers(2, size=(40, 8))
    table[:, 0] = np.arange(40) % 20
    page = check(table, [str(k) for k in range(8)], max_queries=200)._repr_html_()
    assert "Not drawn: 6, 7. Drawn: 16 of the 20 levels of 0." in page


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["a", "b"], ["a", "b"]),
        (["a very long beginning of x", "a very long beginning of yy"], ["…x", "…yy"]),
        (["methylisoxazole-5-carboxylate", "water"], ["methyliso…rboxylate", "water"]),
        (["the same beginning, and X, the end", "the same beginning, and Y, the end"], ["…X, the end", "…Y, the end"]),
        (["aaaaaaaaaaaaXaaaaaaaaaaaa", "aaaaaaaaaaaaYaaaaaaaaaaaa"],) * 2,
    ],
)
def test_long_names_are_shortened_in_the_middle(names, short):
    assert shortened(names) == short


def test_names_and_levels_are_text_never_markup():
    table = {EVIL: [EVIL, "b", "b"], "c & d": ['"quoted"', "&amp;", '"quoted"'], "y": ["<i>yes</i>", "no", "no"]}
    page = _without_own_script(check(table, [EVIL, "c & d"], target="y")._repr_html_())
    assert "<script" not in page
    assert "<i>" not in page
    assert "&lt;script&gt;" in page


def test_the_page_loads_nothing():
    page = check(PIECES, ["shape", "colour"])._repr_html_()
    assert not re.search(r"(?:src|href)=\"(?!#|data:,)", page)
    assert "<script" not in _without_own_script(page)
    assert "@import" not in page
    assert "url(http" not in page


def test_results_save_as_every_kind(tmp_path):
    result = check(PIECES, ["shape", "colour"])
    for ending in ("json", "csv", "parquet", "html", "svg"):
        assert result.save(tmp_path / f"r.{ending}").stat().st_size > 100
    assert recombine.reporting.check.check_page(result) == (tmp_path / "r.html").read_text(encoding="utf-8")


def three_factors() -> dict[str, list[int] | list[float]]:
    """A third of 4 × 3 × 3 levels that add up, a pair of which was never seen."""
    cells = [c for c in itertools.product(range(4), range(3), range(3)) if c[:2] != (0, 0)][::2]
    return {
        **{name: [c[k] for c in cells] for k, name in enumerate("abc")},
        "y": [c[0] + 0.5 * c[1] - c[2] for c in cells],
    }


def test_pairs_of_three_factors_have_a_ring_where_they_were_not_seen_and_say_in_how_many_rows_others_were():
    result = check(three_factors(), ["a", "b", "c"], target="y", draws=9, purpose=Purpose(budget=40))
    seen = {tuple(c) for c in result.known.codes[:, :2].tolist()}
    ringed = {(a, b) for a, b, _, ring in pair_cells(result, 0, 1) if ring}
    planned = {tuple(c) for c in result.plan.cells[:, :2].tolist()}
    assert ringed == planned - seen
    assert planned & seen
    panel = picture(result)["panels"][0]
    written = {cell["at"]: cell["sign"] for _, cells in panel["rows"] for cell in cells}
    rows = Counter(f"0-1-{a}-{b}" for a, b, _ in result.known.codes.tolist())
    assert written == {at: str(rows[at]) for at in written}


def test_a_plan_is_told_in_few_words_and_all_else_unfolds_and_without_rows_there_is_no_table():
    table = three_factors()
    table["y"] = [v + 0.1 * (i % 3) for i, v in enumerate(table["y"])]
    for purpose, any_rows in ((Purpose(error=50.0), False), (Purpose(error=0.05), True)):
        result = check(table, ["a", "b", "c"], target="y", draws=9, purpose=purpose)
        page, brief = result._repr_html_(), in_brief(result.plan)
        assert len(brief.split()) <= 60
        assert brief[1:] in html.unescape(page)
        assert ('aria-label="rows to collect"' in page) == any_rows == bool(len(result.plan.cells))
        assert all(sentence in html.unescape(page) for sentence in details(result.plan))
        told, plan = result.to_dict()["plan"], result.plan
        assert told["enough"] == (plan.enough and not (plan.doubted or plan.unsure))


def test_commands_in_notes_are_set_as_such_and_names_stay_text():
    every = {"a": [0, 0, 1, 1], "b<": ["`x`", "<i>", "`x`", "<i>"], "y": [1.0, 2.0, 2.0, 3.5]}
    page = check(every, ["a", "b<"], target="y", draws=9)._repr_html_()
    assert "<code>recombine split</code>" in page
    assert "<i>" not in page
