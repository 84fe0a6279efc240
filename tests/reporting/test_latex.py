"""LaTeX that is written for others: whether pdflatex would take it, without having it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from recombine.reporting.citing import package_entry, paper_entry, paper_key
from recombine.reporting.export import claims_latex, study_latex
from recombine.reporting.latex import latex_comment, latex_frame, latex_row, latex_text
from recombine.reporting.measured import ERROR_HEAD, EVIDENCE_HEAD, latex_table
from recombine.studies import STUDIES, Paper, StudyResult
from recombine.studies.study import address_of

ROOT = Path(__file__).parents[2]
KERNEL = set(
    re.findall(
        r"\w+",
        """
    addlinespace AE ae alpha approx arraybackslash b begin begingroup beta bottomrule c cap caption cdot centering
    chi circ cite copyright cup d dag ddag Delta delta DH dh div DJ dj emph emptyset end endfirsthead endfoot
    endgroup endhead equiv eta exists footnotesize forall Gamma gamma geq gg guillemotleft guillemotright H i in
    infty int iota j k kappa L l label Lambda lambda langle ldots leftarrow leftrightarrow leq linewidth ll mapsto
    mid midrule mp mu multicolumn nabla neg neq newline notin nu O o odot OE oe Omega omega oplus otimes P parallel
    partial perp Phi Pi pi pm prod propto Psi psi quotedblbase quotesinglbase r raggedright rangle rho Rightarrow
    rightarrow S setlength Sigma sigma sim small smallskip ss subset subseteq sum surd tabcolsep tau textasciicircum
    textasciitilde textbackslash textbar textbf textbullet textgreater textless textquotedbl texttt TH th Theta
    theta times toprule u Upsilon upsilon v varepsilon varphi varsigma vee wedge Xi xi zeta
""",
    )
)
"""What LaTeX, T1, booktabs, array and longtable define; nothing else is loaded."""
SIGNS = set("\\{}$&%#_,*'`^~=.\"|")
"""What a backslash may stand before besides a name: a sign, an accent, a thin space, the end of a row."""


def assert_sets(text: str) -> None:
    """ASCII, known commands, braces and environments that close, and maths that closes before its group does."""
    assert text.isascii()
    body = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("%"))
    open_, environments, maths = [], [], False
    tokens = re.findall(r"\\(?:[A-Za-z]+|.|\n)|[^\\]", body)
    assert "".join(tokens) == body
    for place, token in enumerate(tokens):
        if token.startswith("\\"):
            assert token[1:] in KERNEL | SIGNS, token
            if token in (r"\begin", r"\end"):
                name = re.match(r"\{(\w+\*?)\}", "".join(tokens[place + 1 : place + 20]))
                assert name
                assert token == r"\begin" or environments.pop() == name[1]
                environments += [name[1]] * (token == r"\begin")
        elif token == "{":
            open_.append(maths)
        elif token == "}":
            assert open_.pop() == maths, "maths ends in the group in which it began"
        elif token == "$":
            maths = not maths
        else:
            assert token not in "%#", token
            assert token not in "_^" or maths, token
    assert not open_
    assert not environments
    assert not maths


def rows_of(text: str) -> list[str]:
    """Its rows of several cells."""
    return [line for line in text.splitlines() if " & " in line and not line.startswith("%")]


def assert_no_wider_than_a_line(text: str, rows: list[str]) -> None:
    """Of 345 points (article, 10 points): columns and the gaps between them, and each word in its column."""
    (columns,) = re.findall(r"\\begin\{(?:tabular|longtable)\}\{(.*)\}", text)
    shares = [float(share) for share in re.findall(r"p\{([\d.]+)\\linewidth\}", columns)]
    published = 41 * ("r>" in columns)  # the word itself
    gap = 8 if r"\setlength{\tabcolsep}{4pt}" in text else 12
    count = len(shares) + bool(published)
    assert 345 * sum(shares) + published + (count - 1) * gap <= 345
    for row in rows:
        cells = [re.sub(r"\\newline", " ", cell) for cell in re.split(r"(?<!\\)&", row.rstrip("*"))]
        assert len(cells) == count
        cells = [re.sub(r"\\\w+\{?|[{}$\\]", "", cell) for cell in cells]
        if published:
            del cells[1]
        for cell, share in zip(cells, shares, strict=True):
            for word in re.split(r"[\s~-]", cell):
                assert 4.6 * len(word) <= 345 * share + 4.6, (word, share)


@pytest.mark.parametrize("path", sorted((ROOT / "results").glob("*/claims.tex")), ids=lambda path: path.parent.name)
def test_what_is_committed_would_be_set(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert_sets(text)
    study = STUDIES[path.parent.name]
    rows = [row for row in rows_of(text) if not row.startswith("Claim & ")]
    assert not [row for row in rows if row.startswith(("[", "*"))]
    assert text.count(r"{\footnotesize") == len(rows), "the criterion"
    assert_no_wider_than_a_line(text, rows)
    cited = set(re.findall(r"\\cite\{(\w+)\}", text))
    assert cited == {"recombine"} | ({paper_key(study.paper)} if study.paper else set())
    assert cited == set(re.findall(r"^% @misc\{(\w+),$", text, re.MULTILINE))
    record = json.loads(path.with_name("study.json").read_text(encoding="utf-8"))
    assert record["address"] == address_of(run["address"] for run in record["runs"].values())
    assert rf"{len(record['runs'])} runs \texttt{{{record['address'][:12]}}}" in text


@given(st.text())
def test_any_text_is_set_as_text(text: str) -> None:
    assert_sets(latex_text(text))
    assert len(latex_comment([text])[0].splitlines()) == 1
    assert_sets(latex_comment([text])[0] + "\n")


@given(st.text("-'`,<>?!$_^~\\{}%&#[]*−ρ×…≥éŷᵢ²\u0302\u00a0 \n\0ab"))
def test_what_tex_reads_into_signs_is_set_as_text(text: str) -> None:
    found = latex_text(text)
    assert_sets(found)
    assert "---" not in found, "hyphens are no dash"
    assert text.count("--") == 0 or "--" not in found


@pytest.mark.parametrize(("text", "found"), [
    (r"\input{x} $1 & 50% #_^~ <b>", r"\textbackslash{}input\{x\} \$1 \& 50\% \#\_\textasciicircum{}\textasciitilde{} "
     r"\textless{}b\textgreater{}"),
    ("−.38 ≥ ρ × …", r"$-$.38 $\geq$ $\rho$ $\times$ \ldots{}"),
    ("Thaddäus, naïve, Ångström", r"Thadd{\"{a}}us, na{\"{\i}}ve, {\r{A}}ngstr{\"{o}}m"),
    ("a\u0308 x\u0302 Ŷ₁/∂X₁₀ ŷᵢ", r"{\"{a}} {\^{x}} {\^{Y}}$_1$/$\partial$X$_1$$_0$ {\^{y}}$_i$"),
    ("m² ½ ″ “q” ‘r’", r"m$^2$ 1/2 $'$$'$ ``q'' `r'"),
    ("60 % of 5 %%, % 3", r"60\,\% of 5\,\%\%, \% 3"),
    ("--only '' —", "-{}-only '{}' ---"),
    ("25\u00a0600  steps\n\nof", "25~600 steps of"),
    ("中 ≰ a\0b\u200bc", r"\texttt{U+4E2D} \texttt{U+2270} abc"),
])  # fmt: skip
def test_letters(text: str, found: str) -> None:
    assert latex_text(text) == found


def test_a_row_that_begins_with_a_bracket_or_star_is_no_option_of_the_row_before() -> None:
    rows = [latex_row(["[0, 1]", "[2]"], keep=True), latex_row(["* c", "d"])]
    assert rows_of(latex_frame("ll", ["[a]", "b"], rows, "none", "tab:x")) == [
        r"{}[a] & b \\", r"{}[0, 1] & [2] \\*", r"{}* c & d \\",
    ]  # fmt: skip


def test_the_caption_cites_the_paper_and_names_version_scale_and_runs(result: StudyResult) -> None:
    runs: dict[str, Any] = {"a": {"address": "b" * 64}, "c": {"address": "a" * 64}}
    text = study_latex(replace(result, provenance=runs))
    assert_sets(text)
    (caption,) = (line for line in text.splitlines() if line.startswith(r"\caption"))
    address = address_of(["a" * 64, "b" * 64])
    (key,) = set(re.findall(r"Published~\\cite\{(\w+)\} and measured figures", caption))
    assert f"@misc{{{key}," in text
    assert r"Made with recombine 0.1.0~\cite{recombine}: study gradient-toy at quick scale, 2 runs" in caption
    assert rf"2 runs \texttt{{{address[:12]}}}.}}\label" in caption
    assert f"% runs: {address}, the SHA-256" in text
    assert f"% made by: {result.command}" in text


def test_the_page_on_citing_and_the_citation_file_have_the_papers_as_the_studies_do() -> None:
    page = (ROOT / "docs" / "citing.md").read_text(encoding="utf-8")
    cited = " ".join((ROOT / "CITATION.cff").read_text(encoding="utf-8").split())
    papers = {study.paper for study in STUDIES.values() if study.paper}
    assert len({paper_key(paper) for paper in papers}) == len(papers) == 5
    assert page.count("@") == 6, "one entry each, and the package's"
    for entry in (package_entry(), *map(paper_entry, papers)):
        assert "\n".join(entry) in page
    for paper in papers:
        names = [name.rpartition(" ") for name in paper.authors.split(", ")]
        authors = " ".join(f"- family-names: {last} given-names: {first}" for first, _, last in names)
        quoted = f'"{paper.title}"' if ":" in paper.title else paper.title
        assert f"title: {quoted} year: {paper.year} authors: {authors}" in cited


@pytest.mark.parametrize(("paper", "key", "author"), [
    (Paper("On the Größe of {x}", "Zoë Müller et al.", 2021, "A & B", "https://x.org/a%20b}"), "muller2021groe",
     r"Zo{\"{e}} M{\"{u}}ller and others"),
    (Paper("The", "中", 2020, ""), "2020", r"\texttt{U+4E2D}"),
    (Paper("What for?", "", 2020, ""), "paper2020", ""),
    (Paper("Deep nets", "A. Ng and B. Li & C. Wu", 2019, "NeurIPS"), "ng2019deep", "A. Ng and B. Li and C. Wu"),
])  # fmt: skip
def test_entries_of_other_papers(paper: Paper, key: str, author: str) -> None:
    entry = paper_entry(paper)
    assert entry[0] == f"@misc{{{key},"
    assert (f"  author = {{{author}}}," in entry) == bool(author)
    text = "\n".join(entry)
    assert text.isascii()
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")


def test_tables_of_a_measure_are_no_wider_than_a_line_and_say_all_of_a_finding() -> None:
    rows = [("memorization: one fixed answer", "unseen combinations that get one answer", "0.24 [0.089, 0.45]",
             "0.12 (of the right ones)", "6.1e-05", "91%", "no")]  # fmt: skip
    text = latex_table(EVIDENCE_HEAD, rows, "What speaks & why.", "tab:evidence")
    assert_sets(text)
    assert_no_wider_than_a_line(text, rows_of(text))
    assert [row.count(" & ") for row in rows_of(text)] == [5, 5]
    assert r"p{\linewidth}@{}}{unseen combinations that get one answer} \\" in text
    three = latex_table(ERROR_HEAD, [("the gap, unseen − seen", "0.96 [0.70, 1.00]", "36 combinations")], "x", "tab:x")
    assert_sets(three)
    assert_no_wider_than_a_line(three, rows_of(three))


def test_a_title_that_asks_ends_as_it_does(result: StudyResult) -> None:
    for title, head in (("Can it be found?", "Can it be found? Published"), ("It can", "It can. Published")):
        assert rf"\caption{{{head}" in study_latex(replace(result, study=replace(result.study, title=title)))


def test_claims_alone_have_a_caption_of_text(result: StudyResult) -> None:
    assert_sets(claims_latex(result.claims, "100 % & more − ρ", "tab:gradient_toy"))
