"""Build the pages of this folder into docs/site: `make docs`, then open docs/site/index.html.

Each page is run first (`pages.py`); a picture is drawn in the colours of the page and kept in docs/pictures too, for
whoever reads the Markdown. A page is one file without scripts that loads nothing; the playground lies beside them.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader
from markdown_it.token import Token
from markupsafe import Markup, escape
from pages import HERE, READER, Picture, pages, play

from recombine.figures import to_svg
from recombine.playground import write_page
from recombine.reporting import responsive_svg

SITE = HERE / "site"
PAGE = """{% extends "base.html.j2" %}
{% block title %}{{ title }} · recombine{% endblock %}
{% block lead %}<style>
.recombine header nav { margin: 0 0 2rem; }
.recombine .scroll { margin-bottom: 1.25rem; }
.recombine h2 { margin-top: 2.5rem; }
@media (max-width: 44rem) { .recombine pre { white-space: pre; overflow-x: auto; } }
.recombine pre.shown { background: none; border-left: 3px solid var(--grid); border-radius: 0; }
.recombine :is(ol, table + p) { max-width: 70ch; }
.recombine p code, .recombine td code { overflow-wrap: anywhere; }
</style>
<nav aria-label="Pages"><a href="{{ index }}">All pages</a>
<a href="{{ play }}">Playground</a>
{% for word, page in beside %}<a href="{{ page[0] }}" rel="{{ word | lower }}">{{ word }}: {{ page[1] }}</a>
{% endfor %}</nav>{% endblock %}
{% block content %}{{ body }}{% endblock %}"""


def main() -> None:
    shutil.rmtree(SITE, ignore_errors=True)
    everything = pages()
    for page in everything:
        target = _target(page)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(whole(page, everything, keep=HERE / "pictures"), encoding="utf-8")
    write_page(SITE / "play.html")
    print(f"{len(everything)} pages: {os.path.relpath(SITE / 'index.html')}")


def whole(page: Path, everything: Sequence[Path], keep: Path | None = None) -> str:
    """A page as HTML, with links to the ones before and after it; its pictures are also kept as files."""
    place = everything.index(page)
    around = {"Previous": everything[place - 1] if place else None, "Next": [*everything, None][place + 1]}

    def to(other: Path) -> str:
        return os.path.relpath(_target(other), _target(page).parent)

    template = Environment(loader=PackageLoader("recombine.reporting"), autoescape=True).from_string(PAGE)
    return template.render(
        title=_title(page),
        index=to(HERE / "index.md"),
        play=os.path.relpath(SITE / "play.html", _target(page).parent),
        beside=[(word, (to(other), _title(other))) for word, other in around.items() if other],
        body=_body(page, keep),
    )


def _body(page: Path, keep: Path | None) -> Markup:
    """The page as HTML, its pictures inside."""
    drawings: dict[str, Markup] = {}
    with tempfile.TemporaryDirectory() as folder:
        for step in play(page, Path(folder)):
            if isinstance(step, Picture):
                if keep:
                    (keep / f"{step.name}.svg").write_text(to_svg(step.draw()), encoding="utf-8")
                drawings[step.name] = responsive_svg(step.draw, step.alt, step.name)
            elif not step.matches:
                sys.exit(f"{page.name}, line {step.line}: shows\n{step.expected}\nand prints\n{step.printed}")
    tokens = READER.parse(page.read_text(encoding="utf-8"))
    for token in tokens:
        for child in token.children or ():
            if child.type == "link_open":
                child.attrs["href"] = _moved(str(child.attrs["href"]), page)
            elif child.type == "image":
                child.type, child.tag = "html_inline", ""
                child.content = _figure(child, drawings, page)
        if token.type == "fence" and token.info == "text":
            token.type = "html_block"
            token.content = f'<pre class="shown"><code>{escape(token.content)}</code></pre>\n'
    html = READER.renderer.render(tokens, READER.options, {})
    html = html.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")
    return Markup(re.sub(r"<p>(<figure>.*?</figure>)</p>", r"\1", html, flags=re.DOTALL))


def _figure(image: Token, drawings: dict[str, Markup], page: Path) -> str:
    file = page.parent / str(image.attrs["src"])
    if file.suffix == ".svg":
        drawing = drawings[file.stem]
    else:
        told = base64.b64encode(file.read_bytes()).decode()
        drawing = Markup('<img alt="{}" style="max-width:100%" src="data:image/{};base64,{}">').format(
            image.content, file.suffix[1:], told
        )
    return f"<figure>{drawing}<figcaption>{escape(image.content)}</figcaption></figure>"


def _moved(link: str, page: Path) -> str:
    """A link as it must be from the built page: to the built page of a page, one folder further up to anything else."""
    path, sign, place = link.partition("#")
    if re.match(r"\w+:", link) or not path:
        return link
    if (page.parent / path).resolve().is_relative_to(HERE):
        return re.sub(r"\.md$", ".html", path) + sign + place
    return f"../{link}"


def _target(page: Path) -> Path:
    return SITE / page.relative_to(HERE).with_suffix(".html")


def _title(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


if __name__ == "__main__":
    main()
