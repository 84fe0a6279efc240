"""The page of all studies in a real browser: at three widths, in both colour schemes, and on paper."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from recombine.reporting import overview_page, study_page
from recombine.studies.study import StudyResult

SHOWN = """figures => figures.map(figure => {
    const seen = [...figure.querySelectorAll('svg')].map(svg => svg.getBoundingClientRect()).filter(box => box.width);
    return seen.map(box => [box.left, box.right, box.height]);
})"""

FOCUSED = "(look => [look.outlineStyle, look.outlineWidth])(getComputedStyle(document.activeElement))"


@pytest.fixture(scope="module")
def page(result: StudyResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    long = "A title without end: combinations, compositions and superpositions of disentangled representations"
    study = replace(result.study, name="other", title=long, says="What it says.", figures=result.study.figures[:2])
    other = replace(result, study=study)
    committed = {"other": {claim.claim.id: claim.to_dict() for claim in other.claims}}
    file = tmp_path_factory.mktemp("browser") / "study.html"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("recombine.reporting.study.carried", lambda: committed)
        file.write_text(study_page(other), encoding="utf-8")
        file.with_name("index.html").write_text(overview_page([result, other]), encoding="utf-8")
    return file


@pytest.fixture
def overview(page: Path) -> Path:
    return page.with_name("index.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 900, 390])
def test_the_page_fits_is_quiet_shows_every_figure_and_follows_the_scheme(
    opened: Any, page: Path, width: int, scheme: str
) -> None:
    with opened(page.as_uri(), viewport=(width, 900), color_scheme=scheme) as tab:
        assert tab.said == []
        assert [url for url in tab.asked if not url.startswith("data:")] == [page.as_uri()]
        assert tab.evaluate("innerWidth") == width
        assert tab.evaluate("document.documentElement.scrollWidth") <= width

        tab.evaluate("document.querySelector('details').open = true")
        figures = tab.eval_on_selector_all("figure", SHOWN)
        assert len(figures) == 2 + 1
        for seen in figures:
            assert len(seen) == 1, "a figure shows one drawing: the one that fits"
            left, right, height = seen[0]
            assert 0 <= left < right <= width
            assert height > 50

        paper = tab.evaluate("getComputedStyle(document.querySelector('.recombine')).backgroundColor")
        assert paper == ("rgb(20, 24, 29)" if scheme == "dark" else "rgb(255, 255, 255)")


def test_what_a_screen_reader_is_told(opened: Any, page: Path) -> None:
    with opened(page.as_uri()) as tab:
        levels = tab.eval_on_selector_all("h1, h2, h3, h4, h5, h6", "all => all.map(h => Number(h.tagName[1]))")
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        names = tab.eval_on_selector_all("svg", "all => all.map(svg => [svg.getAttribute('role'), svg.ariaLabel])")
        assert all(role == "img" and len(name) > 20 for role, name in names)

        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.textContent") == "Skip to the content"
        assert tab.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
        tab.keyboard.press("Enter")
        assert tab.evaluate("document.activeElement.id") == "content"


def test_the_tree_a_screen_reader_walks_names_every_picture_and_link(opened: Any, page: Path) -> None:
    with opened(page.as_uri(), viewport=(1400, 900)) as tab:
        session = tab.context.new_cdp_session(tab)
        nodes = [node for node in session.send("Accessibility.getFullAXTree")["nodes"] if not node.get("ignored")]
        named = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes]
        pictures = [name for role, name in named if role in ("image", "img")]
        assert len(pictures) == 2, "each figure once: the drawing that does not fit is not told"
        assert all(len(name) > 40 for name in pictures)
        assert all(name for role, name in named if role in ("link", "region", "navigation", "heading"))
        assert {"main", "navigation", "table", "columnheader", "rowheader"} <= {role for role, _ in named}


def test_what_has_the_focus_is_outlined(opened: Any, page: Path) -> None:
    for scheme in ("light", "dark"):
        with opened(page.as_uri(), color_scheme=scheme) as tab:
            for _ in range(6):
                tab.keyboard.press("Tab")
                look = tab.evaluate(FOCUSED)
                assert look == ["solid", "2px"]


def test_claims_are_filtered_without_a_script(opened: Any, page: Path, result: StudyResult) -> None:
    with opened(page.as_uri()) as tab:
        rows = tab.locator(".claims tr[id]:visible")
        assert rows.count() == len(result.claims)
        for value, wanted in (("open", "fails, not fitted"), ("paper", "paper"), ("ours", "ours")):
            tab.check(f"input[value={value}]")
            told = [c for c in result.claims if (c.status if value == "open" else c.claim.whose) in wanted]
            assert 0 < rows.count() == len(told) < len(result.claims)


def test_the_overview_fits_and_neighbouring_cards_share_their_rows(opened: Any, overview: Path) -> None:
    with opened(overview.as_uri(), viewport=(390, 900)) as tab:
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        tab.set_viewport_size({"width": 1400, "height": 900})
        for part in (".card", ".card .verdict", ".card figure"):
            tops = tab.eval_on_selector_all(part, "all => all.map(one => one.getBoundingClientRect().top)")
            assert max(tops) - min(tops) < 1, part


def test_the_page_prints(opened: Any, page: Path) -> None:
    with opened(page.as_uri(), color_scheme="dark") as tab:
        tab.emulate_media(media="print")
        paper = tab.evaluate("getComputedStyle(document.querySelector('.recombine')).backgroundColor")
        assert paper == "rgb(255, 255, 255)"
        assert not tab.is_visible("nav")
        printed = tab.pdf(format="A4")
        assert printed.startswith(b"%PDF")
        assert printed.count(b"/Type /Page\n") >= 2
