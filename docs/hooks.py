"""What `mkdocs build` (`make docs`) does beside turning Markdown into pages.

Each page is run first (`pages.py`); a picture is drawn in the colours of the site and kept in docs/pictures too, for
whoever reads the Markdown. Examples in cells are pages and notebooks (`notebooks.py`). A page per package documents
its public names, a gallery shows the pages with a picture, and the playground and the committed results, as `recombine
report results` writes them, lie beside the pages.
"""

from __future__ import annotations

import atexit
import importlib
import inspect
import os
import re
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

sys.path.insert(0, str(Path(__file__).parent))
import notebooks
from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files
from pages import HERE, Picture, pages, play

from recombine.cli.options import STORE
from recombine.figures import to_svg
from recombine.figures.cache import cached_in
from recombine.playground import write_page
from recombine.reporting import responsive_svg

ROOT = HERE.parent
PICTURE = re.compile(r"^!\[(?P<alt>[^\]]*)\]\((?P<target>[^)]*/(?P<name>[\w-]+)\.svg)\)$", re.MULTILINE)
FIGURE = re.compile(r"results/(?P<study>[\w-]+)/figures/(?P<name>[\w-]+)\.svg")
"""A picture of a study, as it is committed."""
OUTSIDE = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<target>(?:\.\./)+[^)#]*)(?P<place>#[^)]*)?\)")
NAMED = re.compile(r"^```(\w+) ([\w.-]+)$", re.MULTILINE)
"""A block that is written as a file: MkDocs reads no name after the language, and sets the file as running text."""
AS_KEPT = "AS_KEPT" in os.environ
"""For who works on the words or the looks of a page: nothing is run, pictures are those that are kept."""
DRAWN = ROOT / STORE / "cache"
"""Where `recombine report` keeps what it draws: a picture is drawn once for its file and for a wide page, and by the
next build not at all."""
SHIM = "https://unpkg.com/iframe-worker/shim"
MARK = re.compile(r"<!--=.*?-->|<!--/-->")
REPORTS: list[subprocess.Popen[str]] = []
"""The process that writes the pages of the committed results, which takes as long as all else together."""


def on_config(config: Any) -> Any:
    """A ``math`` block, which GitHub shows as a formula too, becomes MathML: no script, nothing to load."""
    fence = {"name": "math", "class": "math", "format": _formula}
    config.mdx_configs.setdefault("pymdownx.superfences", {})["custom_fences"] = [fence]
    return config


def on_files(files: Files, config: Any) -> Files:
    if not AS_KEPT:
        _begin_results(Path(config.site_dir) / "results" / "pages")
    made = {"gallery.md": _gallery(), "results/index.md": _results()}
    for source in [*(ROOT / "benchmarks").glob("README.md"), *(ROOT / "benchmarks" / "results").glob("*.md")]:
        made[source.relative_to(ROOT).as_posix()] = source.read_text(encoding="utf-8")
    for path in notebooks.notebooks():
        found = notebooks.cells(path) if AS_KEPT else notebooks.run(path)
        made[f"notebooks/{path.stem}.md"] = notebooks.as_page(path, found)
        made[f"notebooks/{path.stem}.ipynb"] = notebooks.as_notebook(found)
    made |= {target: _reference(Path(target).stem) for target in _named(config.nav) if target.startswith("reference/")}
    for shown in {found[0] for page in pages() for found in FIGURE.finditer(page.read_text(encoding="utf-8"))}:
        made[shown] = (ROOT / shown).read_text(encoding="utf-8")
    for target, text in made.items():
        files.append(File.generated(config, target, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    source = HERE / page.file.src_uri
    drawings: dict[str, str] = {}
    if source.is_file() and AS_KEPT:
        drawings = {path.stem: path.read_text(encoding="utf-8") for path in (HERE / "pictures").glob("*.svg")}
    elif source.is_file():
        with tempfile.TemporaryDirectory() as folder:
            for step in play(source, Path(folder)):
                if isinstance(step, Picture):
                    with cached_in(DRAWN):
                        _keep(step, to_svg(step.chart))
                        drawings[step.name] = str(responsive_svg(step.draw, step.alt, step.name))
                elif not step.matches:
                    sys.exit(f"{source.name}, line {step.line}: shows\n{step.expected}\nand prints\n{step.printed}")

    def figure(found: re.Match[str]) -> str:
        committed = FIGURE.search(found["target"])
        drawn = drawings[found["name"]] if committed is None else _committed(committed, page.file.src_uri)
        return f"<figure>{drawn}<figcaption>{escape(found['alt'])}</figcaption></figure>"

    text = PICTURE.sub(figure, NAMED.sub(r'```\1 title="\2"', MARK.sub("", markdown)))
    return OUTSIDE.sub(lambda found: _moved(found, page.file.src_uri), text)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """The search works from disk with a script of ours beside the pages, and has a name; what scrolls sideways can be
    reached with the keyboard."""
    output = output.replace(SHIM, f"{'../' * page.file.dest_uri.count('/')}worker.js")
    output = output.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)
    return re.sub(r"<(table|math)\b(?![^>]*tabindex)", r'<\1 tabindex="0"', output)


def on_post_build(config: Any) -> None:
    site = Path(config.site_dir)
    write_page(site / "play.html")
    if AS_KEPT:
        return
    report = REPORTS.pop()
    told, _ = report.communicate()
    if report.returncode:
        sys.exit(f"the pages of the results were not written:\n{told}")
    _check_links(site)
    _check_blocks(site)


def _committed(figure: re.Match[str], place: str) -> str:
    return f'<img src="{"../" * place.count("/")}{figure[0]}" alt="">'


def _begin_results(out: Path) -> None:
    """`recombine report results` beside all else, in a process of its own; a store keeps figures for the next."""
    (ROOT / STORE).mkdir(exist_ok=True)
    words = [sys.executable, "-m", "recombine", "report", "results", "--out", str(out.absolute())]
    pipe = subprocess.PIPE
    report = subprocess.Popen(words, cwd=ROOT, stdout=pipe, stderr=subprocess.STDOUT, text=True, encoding="utf-8")
    atexit.register(report.kill)  # where a page stops the build
    REPORTS.append(report)


def _keep(picture: Picture, drawn: str) -> None:
    """The picture for whoever reads the Markdown; it is said where it had other words or numbers."""
    if picture.file.is_file() and not picture.beside_kept(drawn).matches:
        print(f"{picture.file.name} had other words or numbers; it is drawn anew", file=sys.stderr)
    picture.file.write_text(drawn, encoding="utf-8")


def _formula(source: str, *_: Any, **__: Any) -> str:
    return str(convert(source, display="block"))


def _named(nav: Any) -> list[str]:
    """Every page that the navigation names."""
    if isinstance(nav, str):
        return [nav]
    return [name for item in (nav.values() if isinstance(nav, dict) else nav) for name in _named(item)]


def _reference(name: str) -> str:
    """The public names of a package, each as its docstring has it."""
    module = importlib.import_module("recombine" if name == "recombine" else f"recombine.{name}")
    told = inspect.getdoc(module) or ""
    named = {key: getattr(module, key) for key in getattr(module, "__all__", vars(module)) if not key.startswith("_")}
    ours = [
        key for key, value in named.items()
        if (inspect.isclass(value) or inspect.isfunction(value)) and value.__module__.startswith("recombine")
    ]  # fmt: skip
    return "\n\n".join([f"# `{module.__name__}`", told, *(f"::: {module.__name__}.{key}" for key in ours)])


def _gallery() -> str:
    cards = []
    for page in pages():
        text = MARK.sub("", page.read_text(encoding="utf-8"))
        drawn = re.search(r"!\[([^\]]*)\]\(\.{0,2}/?(pictures/[\w-]+\.\w+)\)", text)
        if drawn and page.name != "index.md":
            target = page.relative_to(HERE).with_suffix(".html").as_posix()
            title = text.partition("\n")[0].removeprefix("# ")
            cards.append(
                f'<a href="{target}"><img src="{drawn[2]}" alt="">'
                f"<strong>{escape(title)}</strong><span>{escape(drawn[1])}</span></a>"
            )
    words = "Every drawing is made by the code of its page."
    return f'# Gallery\n\n{words}\n\n<div class="gallery">{"".join(cards)}</div>\n'


def _results() -> str:
    from recombine.studies import find_study

    rows = ["# Results\n\nCommitted tables at paper scale, as pages.\n", "- [All studies](pages/index.html)"]
    for folder in sorted((ROOT / "results").iterdir()):
        if (folder / "claims.json").is_file():
            study = find_study(folder.name)
            rows.append(f"- [{study.title}](pages/{folder.name}/index.html)")
    return "\n".join(rows)


def _moved(found: re.Match[str], place: str) -> str:
    """A link as it must be in the site: to a page, to the rendered results; of one to a source only the words."""
    page = HERE / place if (HERE / place).is_file() else ROOT / place
    target = (page.parent / found["target"]).resolve()
    up = "../" * place.count("/")
    if target.is_relative_to(ROOT / "results"):
        study = "".join(f"{part}/" for part in target.relative_to(ROOT / "results").parts[:1])
        return f'<a href="{up}results/pages/{study}index.html">{found["text"]}</a>'
    for room in (HERE, ROOT):
        if target.suffix == ".md" and target.is_relative_to(room):
            return f"[{found['text']}]({up}{target.relative_to(room).as_posix()}{found['place'] or ''})"
    return found[0] if target.is_relative_to(HERE) else found["text"]


def _check_links(site: Path) -> None:
    """Every link and picture of the site leads to a file of it."""
    missing = [
        f"{page.relative_to(site)}: {target}"
        for page in site.rglob("*.html")
        for target in re.findall(r'(?:href|src)="?([^"#?\s>]+)', page.read_text(encoding="utf-8"))
        if not re.match(r"[a-z]+:|//|/|\$", target) and not (page.parent / unquote(target)).exists()
    ]
    if missing:
        sys.exit("links that lead nowhere:\n" + "\n".join(missing))


def _check_blocks(site: Path) -> None:
    """Every block of code of the site was read as one."""
    code = re.compile(r"<code\b.*?</code>", re.DOTALL)
    torn = [page for page in site.rglob("*.html") if "```" in code.sub("", page.read_text(encoding="utf-8"))]
    if torn:
        sys.exit("blocks of code that were not read:\n" + "\n".join(str(page.relative_to(site)) for page in torn))
