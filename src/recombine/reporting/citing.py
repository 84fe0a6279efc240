"""How a paper and this package are cited: keys and entries for BibTeX."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

from recombine import __version__
from recombine.reporting.latex import latex_text
from recombine.result import Result
from recombine.studies.study import Paper

PACKAGE, YEAR = "recombine", "2026"
_SMALL = {
    *("a", "an", "and", "are", "can", "do", "does", "for", "from", "how", "in", "is", "of", "on", "or", "the", "to"),
    *("what", "when", "where", "which", "who", "why", "with"),
}
"""Words that no key is made of."""


def paper_key(paper: Paper) -> str:
    """The first author's last name, the year and the first telling word of the title: li2020gradient."""
    first = (_authors(paper) or ["paper"])[0].split()[-1]
    words = [word for word in re.findall("[a-z]+", _plain(paper.title)) if word not in _SMALL]
    parts = (_plain(first), str(paper.year), words[0] if words else "")
    return "".join(re.sub("[^a-z0-9]", "", part) for part in parts)


def paper_entry(paper: Paper) -> list[str]:
    """The paper as BibTeX, line by line."""
    fields = {
        "title": f"{{{latex_text(paper.title)}}}",
        "author": " and ".join(name if name == "others" else latex_text(name) for name in _authors(paper)),
        "year": latex_text(str(paper.year)),
        "howpublished": latex_text(paper.venue),
        "url": quote(paper.url, safe=":/?#[]@!$&'()*+,;=%"),
    }
    return _entry(paper_key(paper), fields)


def package_entry() -> list[str]:
    """This package as BibTeX, line by line."""
    fields = {
        "title": f"{{{PACKAGE}}}",
        "author": "{The recombine developers}",
        "year": YEAR,
        "note": f"Version {__version__}",
    }
    return _entry(PACKAGE, fields)


def citation(result: Result) -> str:
    """What to cite for a result, as a file for BibTeX: this package, and of a study its paper."""
    paper = getattr(getattr(result, "study", None), "paper", None)
    return "\n".join(entries(paper)) + "\n"


def entries(paper: Paper | None) -> list[str]:
    """The paper, where there is one, and this package as BibTeX, line by line."""
    return [*(paper_entry(paper) if paper else ()), *package_entry()]


def _entry(key: str, fields: dict[str, str]) -> list[str]:
    said = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return [f"@misc{{{key},", *said, "}"]


def _authors(paper: Paper) -> list[str]:
    """Their names, “others” where they are not named."""
    names = re.split(r"\s*[,;&]\s*|\s+and\s+", re.sub(r"\s+et al\.?$", " and others", paper.authors.strip()))
    return [name for name in names if name]


def _plain(text: str) -> str:
    """In lower-case letters without accents."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
