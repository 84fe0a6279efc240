"""Texts that would like to be more than text, and what a page must be to show them as text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from importlib.resources import files

TEXTS = {
    "script": "<script>document.title='owned';alert(1)</script>",
    "image": "<img src=x onerror=alert(1)><svg onload=alert(1)>",
    "attribute": '" onmouseover="alert(1)" x=\'',
    "style": "</style></svg><style>*{display:none}</style>",
    "link": "javascript:alert(1)",
    "expression": "datum['a'] + width; toString.constructor('alert(1)')()",
    "signal": "{'signal': 'width'}",
    "template": "{{ 7 * 191 }}{% for x in y %}${7*191}",
    "path": "../../../outside",
    "absolute": "/tmp/outside\\..\\x:y",
    "terminal": "\x1b[31mred\x1b]0;owned\x07\x08",
    "direction": "\u202egnp.exe\u2066",
    "markup": "[bold red]x[/] [link=https://example.org]y[/link] :smile:",
    "formula": "=cmd|' /C calc'!A0",
    "latex": r"\input{/etc/passwd} $x$ % & # _ ^ ~",
    "markdown": "[a](javascript:alert(1)) | `b` ![c](http://example.org/x.png)",
    "long": "long " * 20_000,
}
LEVELS = list(TEXTS.values())

_OWN = (files("recombine.reporting") / "templates" / "check.js").read_text(encoding="utf-8").removesuffix("\n")
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; script-src [^"]*">')
_LOADS = ("src", "href", "xlink:href", "data", "action", "formaction", "poster", "srcset", "background")
_RUNS = {"script", "iframe", "object", "embed", "base", "form", "foreignobject"}


class Page(HTMLParser):
    """A page as a browser would see it: what it would run, what it would load, and what it shows."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.runs: list[str] = []
        self.loads: list[str] = []
        self._shown: list[str] = []
        self._hidden = 0
        self.feed(text)
        self.close()
        self.text = " ".join(" ".join(self._shown).split())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attributes}
        if tag in _RUNS or any(name.startswith("on") for name in named) or "http-equiv" in named:
            self.runs.append(self.get_starttag_text() or tag)
        found = (re.sub(r"[\s\x00]", "", named[name]) for name in _LOADS if name in named)
        self.loads += [value for value in found if not value.startswith(("#", "data:image/", "data:,"))]
        self._hidden += tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag == "style"

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._shown.append(data)


def assert_harmless(page: str, beside: bool = False) -> Page:
    """A page that runs nothing (but a script of the package), loads nothing (but files beside it), and computed nothing
    from its texts."""
    seen = Page(_POLICY.sub("", page, count=1).replace(f"<script>{_OWN}</script>", ""))
    assert seen.runs == [], seen.runs
    assert [at for at in seen.loads if not (beside and re.fullmatch(r"[a-z0-9_./-]+", at) and ".." not in at)] == []
    assert "1337" not in page
    return seen
