"""Every page of docs/ is run from top to bottom: it prints what it shows, and its links lead somewhere."""

from __future__ import annotations

import importlib.util
import itertools
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import recombine as rc
from recombine.figures import to_svg
from recombine.figures.cache import cached_in

DOCS = Path(__file__).parents[2] / "docs"
HEADINGS = ["What it is", "Why it matters", "Formula", "Example", "Picture", "How to fix", "Reference"]
MOST_LINES = 20


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


pages = load("pages")
PAGES = {str(page.relative_to(DOCS)): page for page in pages.pages()}
LONG = {"scale.md", "together.md", "tutorials/a-published-claim.md", "tutorials/taking-a-network-apart.md",
        "concepts/subroutine.md", "concepts/superposition.md"}  # fmt: skip
"""They train for a while, and `make docs` runs them too."""
CONCEPTS = sorted((DOCS / "concepts").glob("*.md"))


@pytest.fixture(scope="module")
def sixteen(of_all_workers: Path) -> Path:
    """A store for the study that README and tutorial run alike, with sixteen members: the second finds it."""
    (store := of_all_workers / "sixteen").mkdir(exist_ok=True)
    return store


@pytest.mark.parametrize(
    "page", [pytest.param(page, id=name, marks=[pytest.mark.long] * (name in LONG)) for name, page in PAGES.items()]
)
def test_a_page_prints_what_it_shows_and_draws_what_its_pictures_say(
    page: Path, tmp_path: Path, sixteen: Path, drawings: Path
) -> None:
    if page.stem == "a-published-claim":
        (tmp_path / "store").symlink_to(sixteen)
    for step in pages.play(page, tmp_path):
        if isinstance(step, pages.Picture):
            assert step.alt
            assert step.file.is_file(), "run `make docs` to draw it"
            with cached_in(drawings):
                step = step.beside_kept(to_svg(step.chart))
        assert step.matches, f"line {step.line} shows\n{step.expected}\nand prints or draws\n{step.printed}"


def test_the_readme_prints_what_it_shows(tmp_path: Path, sixteen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The page of this study at smoke scale is drawn by `tests/studies/test_conformance.py`, and written by
    # `tests/cli/test_cli_study.py`.
    monkeypatch.setattr("recombine.reporting.write_study", lambda _, out: out / "index.html")
    shutil.copytree(DOCS.parent / "examples", tmp_path / "examples")
    (tmp_path / ".recombine").symlink_to(sixteen)
    shown = [step for step in pages.play(DOCS.parent / "README.md", tmp_path) if isinstance(step, pages.Shown)]
    assert len(shown) == 3
    for step in shown:
        assert step.matches, f"line {step.line} shows\n{step.expected}\nand prints\n{step.printed}"


BESIDE = [DOCS.parent / name for name in ("README.md", "CHANGELOG.md")]


@pytest.mark.parametrize("page", [*PAGES.values(), *BESIDE], ids=[*PAGES, *(page.name for page in BESIDE)])
def test_links_lead_somewhere(page: Path) -> None:
    assert [link for link in pages.links(page) if not (page.parent / link).exists()] == []


def test_the_index_names_every_page() -> None:
    named = {(DOCS / link).resolve() for link in pages.links(DOCS / "index.md")}
    assert [name for name, page in PAGES.items() if page.resolve() not in named and name != "index.md"] == []


def test_the_plan_of_the_house_lists_every_file() -> None:
    listed = re.findall(r"\w+", (DOCS / "architecture.md").read_text(encoding="utf-8").partition("## The listing")[2])
    package = Path(rc.__file__).parent
    files = [*package.glob("[!_]*.py"), *package.glob("*/*.py"), *DOCS.parent.glob("benchmarks/*.py")]
    assert sorted({file.stem.strip("_") for file in files} - {"init", *listed}) == []


@pytest.mark.parametrize("page", CONCEPTS, ids=[page.stem for page in CONCEPTS])
def test_a_concept_has_its_headings_and_a_short_example(page: Path) -> None:
    tokens = pages.READER.parse(page.read_text(encoding="utf-8"))
    titles = [
        after.content
        for token, after in itertools.pairwise(tokens)
        if (token.type, token.tag) == ("heading_open", "h2")
    ]
    assert titles == HEADINGS
    first = next(token.content for token in tokens if token.type == "fence" and token.info == "python")
    assert len([line for line in first.splitlines() if line.strip()]) <= MOST_LINES


def test_there_are_eight_concepts() -> None:
    assert len(CONCEPTS) == 8


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("a 0.74\n", "a 0.75", True),
        ("a 0.74", "a 0.77", False),
        ("a -0.74", "a 0.74", False),
        ("12 of 16", "13 of 16", False),
        ("first …\nlast", "first of many\nand more\nlast", True),
        ("first …\nlast", "first\nlast one", False),
        ("trailing  \nspace", "trailing\nspace  \n", True),
        ("", "printed and not shown", False),
    ],
)
def test_what_counts_as_the_same(expected: str, printed: str, same: bool) -> None:
    assert pages.Shown(1, expected, printed).matches is same


def test_a_picture_with_an_old_word_or_number_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pages, "HERE", tmp_path)
    (tmp_path / "pictures").mkdir()
    picture = pages.Picture("leak", "how much leaks", 1, None, lambda: None)
    drawn = '<svg xmlns="http://www.w3.org/2000/svg"><g><text>R<tspan>2</tspan> on A</text><text>{}</text></g></svg>'
    assert not picture.beside_kept(drawn.format("0.74")).matches, "none is kept"
    picture.file.write_text(drawn.replace("<g>", "<g id='old'>").format("0.74"), encoding="utf-8")
    assert picture.beside_kept(drawn.format("0.75")).matches
    assert picture.beside_kept(drawn.format("0.75")).printed == "R2 on A\n0.75"
    for other in (
        drawn.format("0.77"),
        drawn.format("0.74").replace("on A", "on B"),
        drawn.replace("<text>{}</text>", ""),
    ):
        assert not picture.beside_kept(other).matches, other


def test_a_page_that_prints_something_else_is_caught(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\n```\n\n```text\n2\n```\n\n```python\nprint(3)\n```\n", encoding="utf-8")
    assert [(step.printed.strip(), step.matches) for step in pages.play(page, tmp_path)] == [("1", False), ("3", False)]


def test_a_command_with_another_exit_code_is_caught(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\nrecombine check missing.csv --factors a,b\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="exits with 2, not 0"):
        list(pages.play(page, tmp_path))


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    pytest.importorskip("mkdocs", reason="the site is built by MkDocs")
    return load("hooks")


def test_a_page_of_the_site_has_its_picture_inside(
    hooks: ModuleType, drawings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hooks, "DRAWN", drawings)
    page = SimpleNamespace(file=SimpleNamespace(src_uri="concepts/leak.md"))
    leak = hooks.on_page_markdown((DOCS / "concepts" / "leak.md").read_text(encoding="utf-8"), page)
    assert "<figure><" in leak
    assert "<!--=" not in leak
    assert "](salience.md)" in leak
    assert '<a href="../results/pages/kernel-theory/index.html">' in leak


def test_the_site_names_every_page_and_documents_every_public_name(hooks: ModuleType) -> None:
    plan = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r"^ +- (?:\w+: )?(\S+\.md)$", plan, re.MULTILINE)
    assert set(PAGES) <= set(named)
    packages = {Path(target).stem for target in named if target.startswith("reference/")}
    public = {name: getattr(rc, name) for name in rc.__all__ if name != "__version__"}
    modules = {name for name, of in public.items() if isinstance(of, ModuleType)}
    assert packages - {"recombine", "space", "tables"} == modules
    reference = hooks._reference("recombine")
    assert [name for name in public.keys() - modules if f"::: recombine.{name}\n" not in reference + "\n"] == []


def test_a_link_that_leads_nowhere_is_said(hooks: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text('<a href="other.html#place">', encoding="utf-8")
    with pytest.raises(SystemExit, match=r"page\.html: other\.html"):
        hooks._check_links(tmp_path)
    (tmp_path / "other.html").write_text('<a href="page.html">', encoding="utf-8")
    hooks._check_links(tmp_path)


def test_a_block_that_is_a_file_is_one_in_the_site_with_its_name(hooks: ModuleType, tmp_path: Path) -> None:
    markdown = pytest.importorskip("markdown")
    page = SimpleNamespace(file=SimpleNamespace(src_uri="elsewhere.md"))
    for name in ("t.csv", "my_study.py"):
        text = hooks.on_page_markdown(f"Before.\n\n```csv {name}\na,b\n```\n", page)
        found = markdown.markdown(text, extensions=["pymdownx.superfences", "pymdownx.highlight"])
        assert re.search(rf'class="filename">{name}<', found)
        (tmp_path / "page.html").write_text(found, encoding="utf-8")
        hooks._check_blocks(tmp_path)
    (tmp_path / "page.html").write_text("<p>```csv t.csv a,b</p><code>```</code>", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"page\.html"):
        hooks._check_blocks(tmp_path)
