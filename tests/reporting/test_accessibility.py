"""What those who do not see a page, or see it badly, are given: names, order, contrast and a visible focus."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise

import pytest

from recombine.reporting import overview_page, study_page
from recombine.studies.study import StudyResult

STYLE = files("recombine.reporting").joinpath("templates/style.css").read_text(encoding="utf-8")
WORDS = ("ink", "muted", "link", "good", "bad")
VOID = {"meta", "link", "br", "image", "path", "rect", "circle", "line"}


class Reader(HTMLParser):
    """A page as a screen reader meets it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.levels: list[int] = []
        self.images: list[dict[str, str | None]] = []
        self.links: list[tuple[dict[str, str | None], str]] = []
        self.tables: list[list[dict[str, str | None]]] = []
        self.captions = self.figures = self.groups = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        elif tag in ("svg", "img"):
            self.images.append(named)
        elif tag == "a":
            self.links.append((named, ""))
        elif tag == "table":
            self.tables.append([])
        elif tag == "th":
            self.tables[-1].append(named)
        self.groups += tag == "tbody" and len(self.tables) == 1
        self.figures += tag == "figure"
        self.captions += tag == "figcaption"

    def handle_data(self, data: str) -> None:
        if self.links:
            self.links[-1] = (self.links[-1][0], self.links[-1][1] + data)


@pytest.fixture(scope="module", params=["study", "overview"])
def read(request: pytest.FixtureRequest, result: StudyResult) -> Reader:
    few = replace(result, study=replace(result.study, figures=result.study.figures[:2]))
    return Reader(study_page(few) if request.param == "study" else overview_page([few]))


def test_headings_follow_one_another(read: Reader) -> None:
    assert read.levels[0] == 1
    assert read.levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(read.levels))


def test_every_picture_is_named_by_what_it_shows(read: Reader, result: StudyResult) -> None:
    captions = [figure.caption for figure in result.study.figures]
    assert read.figures == read.captions
    for image in read.images:
        name = image.get("aria-label") or ""
        assert image.get("role") == "img"
        assert any(caption in name for caption in captions) or name.startswith("The claims of the study")


def test_links_and_columns_have_names(read: Reader) -> None:
    for link, text in read.links:
        assert link.get("href")
        assert (link.get("aria-label") or text).strip()
    if not read.tables:  # the page of all studies has none
        return
    assert all(head.get("scope") in ("col", "row", "rowgroup") for table in read.tables for head in table)
    groups = [head for head in read.tables[0] if head["scope"] == "rowgroup"]
    assert len(groups) == 2, "the paper's claims and ours"
    assert read.groups == len(groups), "each heads the rows of its own group, and no others"


def test_files_of_a_figure_are_told_apart(read: Reader) -> None:
    names = [link["aria-label"] for link, _ in read.links if link.get("aria-label")]
    assert len(names) == len(set(names))


def test_every_study_that_is_shipped_says_what_its_figures_show() -> None:
    from recombine.studies import STUDIES

    for study in STUDIES.values():
        for figure in study.figures:
            assert len(figure.caption) > len(figure.title), f"{study.name}: {figure.id}"
            assert figure.caption.rstrip().endswith((".", "!", "?", ")")), f"{study.name}: {figure.id}"


def schemes() -> dict[str, dict[str, str]]:
    """The colours of light, dark and print; a scheme that leaves one out keeps the light one."""
    blocks = [dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", block)) for block in re.split("@media", STYLE)]
    light, dark, printed = [block for block in blocks if block]
    return {"light": light, "dark": light | dark, "print": light | printed}


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_the_formula_is_that_of_the_guidelines() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_words_stand_out_from_what_they_stand_on(scheme: str) -> None:
    colours = schemes()[scheme]
    for word in WORDS:
        for ground in ("paper", "wash"):
            assert contrast(colours[word], colours[ground]) >= 4.5, (word, ground)


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_marks_of_a_figure_stand_out_from_the_page(scheme: str) -> None:
    colours = schemes()[scheme]
    for number in range(1, 7):
        assert contrast(colours[f"data-{number}"], colours["paper"]) >= 3, number


def test_focus_is_seen_and_print_hides_what_cannot_be_followed() -> None:
    assert re.search(r":focus-visible \{ outline: 2px solid var\(--link\)", STYLE)
    printed = STYLE[STYLE.index("@media print") :]
    assert re.search(r":is\(nav, \.files, \.skip, \.filter\) \{ display: none", printed)
    assert "break-inside: avoid" in printed
