"""The page in a real browser: it paints, trains, keeps itself in its address, and no input breaks it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import recombine as rc
from recombine.playground import given_table, page, write_page
from recombine.playground.page import inlined

DOORS = ("leak", "redundant", "support", "rendering", "parts")
HOSTILE = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>'


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_page(tmp_path_factory.mktemp("playground") / "play.html")


@pytest.fixture(scope="session")
def opened_page(opened: Callable[..., Any]) -> Callable[..., Any]:
    """A tab with the page, in which nothing trains unless it is asked to, and of which no browser complains."""

    @contextmanager
    def tab_of(file: Path, fragment: str = "", **how: Any) -> Iterator[Any]:
        with opened(file.as_uri() + fragment, **{"reduced_motion": "reduce"} | how) as tab:
            yield tab
        assert [*tab.said, *(url for url in tab.asked if not url.startswith(("file:", "blob:", "data:")))] == []

    return tab_of


def frame(tab: Any) -> None:
    """Until what was done is drawn."""
    tab.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")


def until(tab: Any, condition: str) -> None:
    """Until a condition holds. Playwright's own way evaluates text in the page, which the page does not allow."""
    deadline = time.monotonic() + 30
    while not tab.evaluate(condition):
        assert time.monotonic() < deadline, condition
        tab.wait_for_timeout(20)


def shown(tab: Any) -> str:
    frame(tab)
    return str(tab.inner_text("#problem")) if tab.is_visible("#problem") else ""


def seen(tab: Any) -> int:
    frame(tab)
    return int(tab.locator("#paint .seen").count())


def cell(tab: Any, number: int) -> Any:
    return tab.locator(f"#paint [data-cell='{number}']")


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_every_door_opens_fits_and_trains(opened_page: Any, file: Path, width: int, scheme: str) -> None:
    with opened_page(file, viewport=(width, 900), color_scheme=scheme, reduced_motion="no-preference") as tab:
        for door in DOORS:
            tab.click(f"[data-door={door}]")
            until(tab, "parseInt(document.getElementById('epoch').textContent) >= 2")
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            assert len(tab.inner_text("#door").splitlines()) >= 2
            blank = tab.evaluate(
                """() => [...document.querySelectorAll('canvas')].filter(drawn => {
                    const empty = document.createElement('canvas');
                    [empty.width, empty.height] = [drawn.width, drawn.height];
                    return drawn.toDataURL() === empty.toDataURL();
                }).map(c => c.id)"""
            )
            assert blank == []
        dark = tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"
        assert dark == (scheme == "dark")


def test_painting_by_mouse_keyboard_and_touch(opened_page: Any, file: Path) -> None:
    with opened_page(file, has_touch=True, viewport=(1000, 900)) as tab:
        cell(tab, 30).scroll_into_view_if_needed()
        before = seen(tab)
        boxes = [cell(tab, n).bounding_box() for n in (30, 31, 32)]
        middle = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]
        tab.mouse.move(*middle[0])
        tab.mouse.down()
        for place in middle[1:]:
            tab.mouse.move(*place)
        tab.mouse.up()
        assert seen(tab) == before + 3
        assert tab.input_value("#support") == "painted"
        tab.touchscreen.tap(*middle[1])
        assert seen(tab) == before + 2
        cell(tab, 31).focus()
        tab.keyboard.press("ArrowDown")
        assert tab.evaluate("document.activeElement.dataset.cell") == "40"
        assert cell(tab, 40).get_attribute("aria-selected") == "false"
        tab.keyboard.press("Space")
        tab.wait_for_selector('[data-cell="40"][aria-selected="true"]')
        assert "seen" in tab.inner_text("#readout")


def test_what_is_missing_can_be_collected(opened_page: Any, file: Path) -> None:
    with opened_page(file) as tab:
        tab.select_option("#support", "blocks")
        until(tab, "document.getElementById('said-settled').textContent.includes('2 pieces')")
        assert "1 further cell" in tab.inner_text("#said-settled")
        tab.click("#collect")
        until(tab, "document.getElementById('said-settled').textContent.includes('One piece')")


def test_everything_is_in_the_address(opened_page: Any, file: Path) -> None:
    with opened_page(file) as tab:
        tab.click("[data-door=parts]")
        tab.select_option("#rule", "modular")
        cell(tab, 0).click()
        tab.fill("#seed", "7")
        tab.press("#seed", "Enter")
        tab.click("#copy-link")
        link = tab.input_value("#copy")
        table = "() => { document.getElementById('answers').open = true; return null; }"
        tab.evaluate(table)
        tab.click("#reset")
        tab.wait_for_selector("#table tbody tr")
        first = tab.eval_on_selector_all("#table tbody tr", "rows => rows.map(r => r.textContent.slice(0, 40))")
    with opened_page(file, "#" + link.partition("#")[2]) as tab:
        tab.evaluate(table)
        tab.wait_for_selector("#table tbody tr")
        assert tab.input_value("#seed") == "7"
        assert tab.input_value("#model") == "planted"
        again = tab.eval_on_selector_all("#table tbody tr", "rows => rows.map(r => r.textContent.slice(0, 40))")
        assert again == first
        assert shown(tab) == ""


DAMAGED = [
    "#a=9&b=9&seen=AAA",
    "#a=1e300&b=NaN&v=1",
    "#a=10000&b=10000&v=1",
    "#rule=own&values=1,2,3&v=1",
    "#a=3&b=3&rule=own&values=1,2,3,4,5,6,7,8,1e300&seen=____&v=1",
    "#levels=[[&v=1",
    f"#door={HOSTILE}&v=1",
    "#world=toy&a=3&b=3&v=1",
    "#" + "x" * 200_000,
    "#seen=%00%00&s=Infinity&lr=-1&v=1",
]
WHOLE = "a=4&b=3&rule=own&support=painted&seen=_w8&values=1,2,3,4,5,6,7,8,9,10,11,12&levels=" + json.dumps(
    [["p", "q"], "y", ["a", "b", "c", "d"], ["e", "f", "g"]]
).replace('"', "%22").replace(" ", "") + "&v=1"  # fmt: skip


def test_a_damaged_link_is_a_sentence(opened_page: Any, file: Path) -> None:
    cut = [f"#{WHOLE[: int(share * len(WHOLE))]}" for share in (0.1, 0.3, 0.5, 0.8, 0.99)]
    with opened_page(file, DAMAGED[0]) as tab:
        for fragment in (DAMAGED[0], *DAMAGED[1:], *cut):
            tab.goto(file.as_uri() + fragment)
            assert shown(tab).startswith("The link is not complete: "), fragment[:80]
            assert len(shown(tab)) < 300
            assert tab.locator("#paint [role=gridcell]").count() >= 4
            assert tab.evaluate("window.hit") is None
        tab.goto(f"{file.as_uri()}#{WHOLE}")
        assert shown(tab) == ""
        assert tab.locator("#paint [role=gridcell]").count() == 12


PASTED = {
    "": "Nothing was pasted",
    "a,b,y": "no rows",
    "a\n1\n2": "at least two columns",
    "a,b,y\n1,1,NaN\n2,2,nan": "all missing",
    "a,b,y\n1,1,1e300\n2,2,1\n1,2,3": "larger than 1e+9",
    "a,b,y\n1,1,red\n2,2,green\n1,2,blue": "not a finite number",
    "a,b,y\n1,1,5\n2": "Row 2 has 1 field,",
    "a;b;y\n1;1;5,5\n2;1;4.5\n1;2;3": "write decimals with a point",
    "1,2\n3": "Row 2 of the matrix has 1 number,",
    "a,b,y\n" + "\n".join(f"{i},{i % 3},1" for i in range(10_000)): "There are 10,000 levels in “a”",
    "a,b\n1,1": "There is 1 level in",
    "x" * 2_000_001: "more than the 2,000,000",
    '"': "Nothing was pasted",
}


def test_what_cannot_be_pasted_is_a_sentence(run: Callable[..., Any]) -> None:
    tried = "(m, all) => all.map(text => { try { m.pasted(text); } catch (error) { return error.message; } })"
    for sentence, said in zip(PASTED.values(), run("table", tried, list(PASTED)), strict=True):
        assert sentence in said
        assert len(said) < 300


def test_between_semicolons_a_comma_is_a_decimal_point(run: Callable[..., Any]) -> None:
    tables = ["a;b;y\n1;x;-5,5\n2;x;4\n1;z;0,25", "1,5;2\n3;4,25"]
    values = run("table", "(m, all) => all.map(text => [...m.pasted(text).values].map(String))", tables)
    assert values == [["-5.5", "0.25", "4", "NaN"], ["1.5", "2", "3", "4.25"]]


def test_what_is_pasted_is_text(opened_page: Any, file: Path) -> None:
    with opened_page(file) as tab:
        tab.evaluate("document.querySelector('#paste').closest('details').open = true")
        tab.fill("#paste", "a,b,y\n1,1,1e300\n2,2,1\n1,2,3")
        tab.click("#use")
        assert "larger than 1e+9" in shown(tab)
        assert tab.locator("#paint [role=gridcell]").count() == 81, "the grid stays as it was"
        rows = [f"a,b,{HOSTILE}", f"{HOSTILE},1,2", f"{HOSTILE},2,4", "=cmd(),1,3"]
        tab.fill("#paste", "\n".join(row.replace(HOSTILE, '"' + HOSTILE.replace('"', '""') + '"') for row in rows))
        tab.click("#use")
        assert shown(tab) == ""
        assert tab.locator("#paint [role=gridcell]").count() == 4
        assert tab.evaluate("window.hit") is None
        assert tab.evaluate("document.querySelectorAll('img, #paint script').length") == 0
        assert "<img" in tab.inner_text("#paint") + tab.eval_on_selector("#paint", "grid => grid.textContent")
        tab.click("#copy-python")
        names: dict[str, Any] = {}
        exec(compile(tab.input_value("#copy").partition("result =")[0], "copied", "exec"), names)
        assert names["table"]["b"] == ["1", "2", "1", "2"]


COLUMNS = {
    "id,region,plan,note,hours\n1,EU,free,x,30\n2,EU,pro,y,12\n3,US,free,z,26": [1, 2, 4],
    "hours,region,plan,note\n30,EU,free,x\n12,EU,pro,x\n26,US,free,z\n8,US,pro,w": [1, 2, 0],
    "a,b,c,d\nx,x,x,p\ny,y,y,q\nz,z,x,r": [0, 1, 2],
    "b,a,y\n1,1,red\n2,2,green\n1,2,blue": [0, 1, 2],
}


def test_of_many_columns_the_likely_ones_are_offered(run: Callable[..., Any]) -> None:
    offered = run("table", "(m, all) => all.map(text => m.columnsOf(text).guess)", list(COLUMNS))
    assert offered == list(COLUMNS.values())
    assert run("table", "m => m.columnsOf('1,2,3\\n4,5,6').names") == []


def test_columns_of_a_table_are_chosen(opened_page: Any, file: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,region,plan,hours\n1,EU,free,3\n2,EU,pro,1\n3,US,free,2\n", encoding="utf-8")
    with opened_page(file) as tab:
        tab.evaluate("document.querySelector('#paste').closest('details').open = true")
        tab.set_input_files("#file", tmp_path / "t.csv")
        until(tab, "!document.getElementById('columns-of').hidden")
        tab.click("#use")
        until(tab, "document.getElementById('names').textContent.startsWith('Rows are region, columns plan')")
        assert "of 1 unseen, 1 is determined" in tab.inner_text("#said-settled")
        tab.select_option("#column-2", "1")
        tab.click("#use")
        assert shown(tab) == "The two factors and the answer are three different columns."


def test_what_was_trained_to_its_end_is_trained_again_and_what_was_paused_is_not(opened_page: Any, file: Path) -> None:
    with opened_page(file, "#a=3&b=3&epochs=3&support=ell&v=1", reduced_motion="no-preference") as tab:
        trained = "document.getElementById('epoch').textContent === '3 epochs'"
        until(tab, trained)
        cell(tab, 4).hover()
        assert "a 1, b 1" in tab.inner_text("#readout")
        tab.select_option("#support", "full")
        until(tab, trained)
        tab.click("#reset")
        until(tab, "document.getElementById('epoch').textContent === '0 epochs'")
        tab.select_option("#support", "ell")
        until(tab, "document.getElementById('epoch').textContent === '0 epochs'")
        assert tab.inner_text("#run") == "Train"
        tab.click("[data-door=support]")
        until(tab, "document.getElementById('readout').textContent.startsWith('Choose a cell')")


def test_a_table_is_what_check_says_of_it(opened_page: Any, tmp_path: Path) -> None:
    table = {"region": ["EU", "EU", "US", "Asia"], "plan": ["free", "pro", "free", "ent"], "hours": [30, 12, 26, 3]}
    file = write_page(tmp_path / "t.html", given_table(table, ["region", "plan"], "hours"))
    result = rc.check(table, ["region", "plan"], target="hours", draws=1)
    with opened_page(file) as tab:
        counts = result.counts
        assert (counts["determined"], counts["undetermined"]) == (1, 4)
        settled = "of 5 unseen, 1 is determined, 4 are not"
        assert settled in tab.inner_text("#said-settled")
        assert tab.locator("#paint [role=rowheader]").all_inner_texts() == ["Asia", "EU", "US"]
        cell(tab, 1).click()
        assert shown(tab).startswith("This cell has no answer")


@pytest.mark.parametrize(
    ("table", "factors", "target", "sentence"),
    [
        ({"a": list(range(10_000)), "b": [0, 1] * 5_000}, ["a", "b"], None, "10,000 levels"),
        ({"a": [1, 2], "b": [1, 2], "c": [1, 2]}, ["a", "b", "c"], None, "two factors"),
        ({"a": [1, 2], "b": [1, 2], "y": [1.0, 1e300]}, ["a", "b"], "y", "1e\\+300"),
        ({"a": [1, 2, 3], "b": [1, 2, 1], "y": ["p", "q", "r"]}, ["a", "b"], "y", "3 classes"),
        ({"a": [1, 2, 1], "b": [1, 2, 2], "y": ["p", "p", "p"]}, ["a", "b"], "y", "1 class;"),
        ({"a": [1, 1], "b": [1, 2]}, ["a", "b"], None, "1 level;"),
    ],
)
def test_a_table_that_cannot_be_drawn_is_refused(table: Any, factors: list[str], target: str, sentence: str) -> None:
    with pytest.raises(rc.InputError, match=sentence):
        given_table(table, factors, target)


def test_names_from_a_table_are_text(opened_page: Any, tmp_path: Path) -> None:
    long = "d\n" * 99
    ending = "</script><script>window.hit=1</script>"
    table = {HOSTILE: [ending, "b"] * 2, "x\x00y": ["c", "c", long, long + "e"], "y": [1] * 4}
    file = write_page(tmp_path / "t.html", given_table(table, [HOSTILE, "x\x00y"], "y"))
    with opened_page(file) as tab:
        assert tab.evaluate("window.hit") is None
        heads = tab.locator("#paint [role=columnheader]").all_inner_texts()
        assert len(set(heads)) == 4, "names that are alike once they are cut are told apart"


def test_what_is_drawn_is_what_its_error_is_of(opened_page: Any, file: Path) -> None:
    """Answers 0, 0, 0, 4, all seen: the best sums are off by 1 in each cell."""
    own = "#a=2&b=2&rule=own&values=0,0,0,{}&seen=Dw&epochs=3&support=painted&v=1"
    with opened_page(file, own.format(4)) as tab:
        frame(tab)
        assert "No sum gives the seen cells: their error is 1." in tab.inner_text("#said-additive")
        tab.click("#step")
        until(tab, "document.getElementById('epoch').textContent === '1 epoch'")
        said = tab.inner_text("#said-mean")
        tab.evaluate("document.getElementById('answers').open = true")
        tab.wait_for_selector("#table tbody tr")
        networks = [float(text) for text in tab.locator("#table tbody td:nth-child(8)").all_inner_texts()]
        error = (sum((n - t) ** 2 for n, t in zip(networks, (0, 0, 0, 4), strict=True)) / 4) ** 0.5
        mean, one = (float(text.rstrip(".").partition("seen cells ")[2]) for text in said.split(". Error of one"))
        assert mean == pytest.approx(error, abs=0.01)
        assert one > mean
    with opened_page(file, own.format(0)) as tab:
        frame(tab)
        assert "Error on seen cells 0." in tab.inner_text("#said-additive")


def test_the_answers_of_a_cell_never_cover_what_is_being_used(opened_page: Any, file: Path) -> None:
    with opened_page(file, viewport=(1400, 900)) as tab:
        cell(tab, 4).hover()
        assert tab.eval_on_selector("#readout", "bar => bar.getBoundingClientRect().bottom") <= 900
        covered = """use => { const box = use.getBoundingClientRect();
            return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)?.id === 'readout'; }"""
        for control in ("#support", "#rule", "#depth", "#scale", "#model", "#run"):
            tab.hover(control)
            assert not tab.eval_on_selector(control, covered)
            assert tab.eval_on_selector("#readout", "bar => getComputedStyle(bar).position") == "static"
        tab.select_option("#support", "painted")
        fits = "one => one.scrollWidth <= one.clientWidth && one.offsetWidth <= one.closest('section').clientWidth"
        assert tab.eval_on_selector("#support", fits)


def test_with_nothing_painted_nothing_trains(opened_page: Any, file: Path) -> None:
    with opened_page(file, "#a=3&b=3&support=painted&seen=AAA&v=1") as tab:
        tab.click("#run")
        assert "Nothing to train on" in tab.inner_text("#said-mean")
        until(tab, "document.getElementById('run').textContent === 'Train'")
        assert "9 have a level never seen" in tab.inner_text("#said-settled")


def test_large_answers_and_rates_break_nothing(opened_page: Any, file: Path) -> None:
    with opened_page(file, "#a=2&b=2&rule=own&values=1e9,-1e9,1e-300,0&seen=Bw&lr=10&v=1") as tab:
        tab.click("#run")
        until(tab, "document.getElementById('said-mean').textContent.includes('diverged')")
        assert tab.is_visible("#paint")


def test_what_a_screen_reader_is_told(opened_page: Any, file: Path) -> None:
    with opened_page(file) as tab:
        assert tab.inner_text("#run") == "Train", "nothing moves unless it is asked to"
        levels = tab.eval_on_selector_all("h1, h2, h3", "all => all.map(h => Number(h.tagName[1]))")
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        session = tab.context.new_cdp_session(tab)
        nodes = [node for node in session.send("Accessibility.getFullAXTree")["nodes"] if not node.get("ignored")]
        named = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes]
        kinds = ("image", "img", "button", "combobox", "spinbutton", "slider", "gridcell", "textbox", "grid")
        assert [pair for pair in named if pair[0] in kinds and len(pair[1]) < 3] == []
        assert len([name for role, name in named if role == "gridcell"]) == 81
        assert "a 0, b 0: seen, truth -8" in [name for _, name in named]
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.textContent") == "Skip to the panels"
        tab.evaluate("document.getElementById('answers').open = true")
        tab.wait_for_selector("#table tbody tr")
        assert tab.locator("#table tbody tr").count() == 81


def test_without_scripts_there_is_a_still_picture(opened_page: Any, file: Path) -> None:
    with opened_page(file, java_script_enabled=False) as tab:
        assert "This page needs scripts" in tab.inner_text("main")
        assert tab.is_visible("#still svg")
        assert "slope 0.85" in tab.inner_text("#still")
        assert not tab.is_visible("#live")


def test_the_file_is_small_and_holds_its_own_rules() -> None:
    text = page()
    assert len(text.encode()) < 300_000
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text
    assert "default-src 'none'; script-src 'sha256-" in text
    assert "innerHTML" not in inlined("main", "worker").replace('byId("said-curves").innerHTML', "")


def test_the_command_writes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recombine.cli import main

    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a,b,y\n1,1,2\n1,2,3\n2,1,4\n", encoding="utf-8")

    def ends(*arguments: str) -> Any:
        with pytest.raises(SystemExit) as ended:
            main(["play", *arguments])
        return ended.value.code

    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert ends("t.csv", "--factors", "a,b", "--target", "y", "--out", "mine.html", "--open") == 0
    assert opened == [(tmp_path / "mine.html").as_uri()]
    assert '"seen": [1, 1, 1, 0]' in Path("mine.html").read_text(encoding="utf-8")
    assert ends() == 0
    assert Path("play.html").stat().st_size < 300_000
    assert ends("t.csv") == ends("--target", "y") == ends("--out", "x.txt") == ends("t.csv", "--factors", "a") == 2
