"""The page of one study: complete, self-contained, text as text, and readable by more than eyes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any

import polars as pl
import pytest
from markupsafe import Markup

from recombine.figures import curves, members
from recombine.figures.theme import PAGE_COLOURS
from recombine.reporting import inline_svg, render, study_page
from recombine.studies import Figure, Notes, Paper, Published, StudyResult

HOSTILE = "<script>alert(1)</script> \"quoted\" 'single' {{7*7}} {% raise %} </style> é ₂ 漢字"
Make = Callable[..., Any]
Tables = dict[str, pl.DataFrame]


class Reader(HTMLParser):
    """Elements with their attributes, and the text, of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def all(self, *tags: str) -> list[tuple[str, dict[str, str | None]]]:
        return [(tag, attributes) for tag, attributes in self.elements if tag in tags]


@pytest.fixture(scope="module")
def page(result: StudyResult) -> str:
    return study_page(result)


@pytest.fixture(scope="module")
def reader(page: str) -> Reader:
    return Reader(page)


def test_the_page_is_small_and_runs_nothing(page: str, reader: Reader) -> None:
    assert len(page.encode()) < 500_000
    assert "<script" not in page.lower()
    assert not [name for _, attributes in reader.elements for name in attributes if name.startswith("on")]


def test_the_page_loads_nothing(page: str, reader: Reader) -> None:
    loading = {"src", "srcset", "xlink:href", "data"}
    loads = [tag for tag, attributes in reader.elements if loading & set(attributes)]
    assert loads == []
    assert [attributes["href"] for _, attributes in reader.all("link")] == ["data:,"]
    addresses = set(re.findall(r"https?://[^\"'<> ]+", page))
    assert addresses == {"https://openreview.net/forum?id=example"}, "only the paper, and only as a link"
    assert "@import" not in page
    assert set(re.findall(r"url\((.)", page)) <= {"#"}


def test_headings_are_in_order(reader: Reader) -> None:
    levels = [int(tag[1]) for tag, _ in reader.all("h1", "h2", "h3", "h4", "h5", "h6")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_the_way_to_the_sections_stands_before_the_long_picture_of_all_claims(page: str) -> None:
    assert page.index('<nav aria-label="Sections">') < page.index('<details class="overview">')


def test_every_figure_has_a_name_and_keeps_its_proportions(reader: Reader) -> None:
    pictures = reader.all("svg")
    assert len(pictures) == 2 * 5, "five figures, each for a wide page and for a telephone"
    for _, attributes in pictures:
        assert attributes["role"] == "img"
        assert attributes["aria-label"]
        assert attributes["viewbox"]
        assert not {"width", "height"} & set(attributes)


def test_identifiers_are_unique_and_references_found(page: str, reader: Reader) -> None:
    found = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(found) == len(set(found))
    anchors = [attributes["href"] or "" for _, attributes in reader.all("a")]
    referred = re.findall(r"url\(#([^)]+)\)", page) + [anchor[1:] for anchor in anchors if anchor.startswith("#")]
    assert set(referred) <= set(found)


def test_figures_follow_the_colours_of_the_page(page: str) -> None:
    style = page[page.index("<style>") : page.index("</style>")]
    light, dark = (_variables(part) for part in style.split("prefers-color-scheme: dark")[:2])
    for colour, variable in PAGE_COLOURS.items():
        assert light[variable] == colour, "a figure on the light page looks as it does in its file"
        assert variable in dark
    body = page[page.index("</style>") :]
    assert not [colour for colour in PAGE_COLOURS if f'"{colour}"' in body]
    assert "var(--ink)" in body


def test_contrast_is_enough_in_both_schemes(page: str) -> None:
    for part in page[: page.index("</style>")].split("prefers-color-scheme: dark")[:2]:
        colours = _variables(part)
        for name in ("--ink", "--muted", "--link", "--good", "--bad"):
            assert _contrast(colours[name], colours["--paper"]) >= 4.5, name
            assert _contrast(colours[name], colours["--wash"]) >= 4.5, name
        for index in range(1, 7):
            assert _contrast(colours[f"--data-{index}"], colours["--paper"]) >= 3


def test_claims_are_shown_with_what_decided_them(reader: Reader, result: StudyResult) -> None:
    text = " ".join(" ".join(reader.text).split())
    assert "Of 4 claims of the paper 3 hold and 1 fails." in text
    for claim in result.claims:
        assert claim.claim.sentence in text
        assert claim.claim.source in text
    assert "Of 1 question of ours 0 hold and 1 could not be judged" in text
    assert text.index("What the paper claims") < text.index("What we ask besides")
    assert "12 of 256 fitted" in text
    assert "all 256: 0.132" in text, "the figure over all members stands beside"
    assert "Published: section 6, figure 5 (read off a figure of the paper)." in text
    assert "direction only" in text, "nothing is known of the paper's steps"
    assert "0.5 if nothing were going on" in text
    assert "The boundary keeps moving for hundreds of steps" in text, "a failing claim is explained"
    assert "Would settle it: the same runs with a step for each pass." in text
    assert "within 0.02 of the published figure" in text


def test_an_explanation_is_not_shown_where_the_claim_holds(result: StudyResult) -> None:
    kept = result.claims[0].explained("never needed", "no experiment")
    page = study_page(replace(result, study=replace(result.study, figures=()), claims=(kept,)))
    assert "never needed" not in page
    assert "no experiment" not in page
    assert "Of 1 claim of the paper 1 holds." in page


def test_provenance_and_command_are_shown(reader: Reader, result: StudyResult) -> None:
    text = " ".join(" ".join(reader.text).split())
    for part in (result.command, "3fa94c103fa9", "393 MiB", "41.2 s", "stacked", "torch 2.13.0", "0f3c2a9d41b7c6e5"):
        assert part in text
    for deviation in result.study.notes.deviations:
        assert deviation in text


def test_figures_link_to_their_files_only_where_these_exist(page: str, result: StudyResult) -> None:
    for ending in ("svg", "pdf", "csv", "vl.json"):
        assert f'href="figures/accuracy.{ending}"' in page
    small = replace(result, study=replace(result.study, figures=result.study.figures[:1]))
    assert "figures/accuracy" not in small._repr_html_()


def test_whatever_a_study_says_is_text(make_study: Make, make_result: Make, tables: Tables, reader: Reader) -> None:
    hostile = {**tables, "accuracy": pl.DataFrame({"g": [HOSTILE] * 3, "x": [1.0, 2.0, 3.0], "v": [1.0, 2.0, 4.0]})}
    study = make_study(
        title=HOSTILE,
        question=HOSTILE,
        paper=Paper(HOSTILE, HOSTILE, 2022, HOSTILE, "javascript:alert(1)"),
        notes=Notes(deviations=(HOSTILE,)),
        figures=(
            Figure("members", HOSTILE, HOSTILE, "accuracy", lambda t: members(t, "g", "v", title=HOSTILE)),
            Figure("curve", HOSTILE, HOSTILE, "accuracy", lambda t: curves(t, "x", "v", "g", x_title=HOSTILE)),
        ),
    )
    origin = {HOSTILE: {HOSTILE: HOSTILE, "versions": {HOSTILE: HOSTILE}}}
    result = make_result(replace(study, file=HOSTILE), hostile, provenance=origin)
    words = {"sentence": HOSTILE, "source": HOSTILE, "unit": HOSTILE, "published": Published(0.5, HOSTILE)}
    explained = tuple(
        replace(claim, claim=replace(claim.claim, **words)).explained(HOSTILE, HOSTILE) for claim in result.claims
    )
    page = study_page(replace(result, claims=explained))
    assert "<script" not in page.lower()
    assert "javascript:" not in page
    assert page.count("</style>") == 1
    read = Reader(page)
    assert {tag for tag, _ in read.elements} <= {tag for tag, _ in reader.elements}, "no element the study brought"
    assert sum(HOSTILE in text for text in read.text) >= 12
    assert "{{7*7}}" in page
    assert "49" not in re.sub(r"<svg.*?</svg>|\d+\.\d+|#[0-9a-f]{6}", "", page[page.index("<body") :], flags=re.DOTALL)


def test_a_study_without_claims_or_figures_still_has_a_page(make_study: Make, make_result: Make) -> None:
    page = study_page(make_result(make_study(claims=(), figures=(), notes=Notes()), {}, provenance={}))
    assert "This study declares no claims." in page
    assert "<svg" not in page


def test_the_templates_need_every_name_and_escape_every_value() -> None:
    with pytest.raises(Exception, match="undefined"):
        render("study.html.j2")


def test_two_equal_figures_do_not_share_identifiers(tables: Tables, draw_boundary: Make) -> None:
    chart = draw_boundary(tables["boundary"].filter(pl.col("step") == 0))
    one, two = inline_svg(chart, "a map", "one"), inline_svg(chart, "a map", "two")
    assert isinstance(one, Markup)
    ids = [set(re.findall(r' id="([^"]+)"', text)) for text in (one, two)]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_the_style_stays_inside_the_page() -> None:
    style = (files("recombine.reporting") / "templates" / "style.css").read_text()
    rules = re.findall(r"([^{}]+)\{[^{}]*\}", re.sub(r"/\*.*?\*/|@media[^{]*\{", "", style, flags=re.DOTALL))
    assert rules
    for selector in ",".join(re.sub(r"\([^()]*\)", "", rule) for rule in rules).split(","):
        assert selector.strip().lstrip("}").strip().startswith(".recombine"), selector


def _variables(css: str) -> dict[str, str]:
    first = css[css.index("--ink") :]
    return dict(re.findall(r"(--[a-z0-9-]+): (#[0-9a-f]{6})", first[: first.index("}")]))


def _contrast(one: str, two: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)
