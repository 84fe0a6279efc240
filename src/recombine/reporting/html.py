"""Charts inside a page: named, and in its colours."""

from __future__ import annotations

import hashlib
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping

import altair as alt
from markupsafe import Markup

from recombine.figures import theme
from recombine.figures.check_marks import FILL
from recombine.figures.data import plain
from recombine.figures.export import Drawn
from recombine.reporting.compact import compact

GROWN = 1.285
"""How much larger than in a paper a figure may be shown: as wide as the page, its letters as large as the text."""
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_DROPPED = ("aria-hidden", "aria-label", "aria-roledescription", "role", "class", "pointer-events", "version")
"""The picture is announced as one image with one name; what the converter says about its parts only costs space."""


def responsive_svg(draw: Callable[[], alt.TopLevelMixin], alt_text: str, name: str = "") -> Markup:
    """A chart drawn for two columns and again for a telephone; the page shows the one that fits."""
    with theme.drawn_for("double"):
        wide = Drawn(draw())
    with theme.drawn_for("phone"):
        narrow = Drawn(draw())
    return responsive(wide, narrow, alt_text, name)


def responsive(wide: Drawn, narrow: Drawn, alt_text: str, name: str = "") -> Markup:
    """Two drawings of one chart of which the page shows the one that fits; one where they are the same."""
    if wide.spec == narrow.spec:
        return inline_svg(wide, alt_text, name)
    both = inline_svg(wide, alt_text, f"{name}-wide"), inline_svg(narrow, alt_text, f"{name}-narrow")
    return Markup('<div class="wide">{}</div><div class="narrow">{}</div>').format(*both)


def inline_svg(chart: alt.TopLevelMixin | Drawn, alt_text: str, name: str = "") -> Markup:
    """The chart as an ``<svg>`` element: named for screen readers, as wide as its place, in the page's colours.

    Identifiers inside are made unique by ``name`` and the content, so that several charts can share a page."""
    text = (chart if isinstance(chart, Drawn) else Drawn(chart)).svg
    prefix = "f" + hashlib.sha256(f"{name}\n{alt_text}\n{text}".encode()).hexdigest()[:8]
    root = ET.fromstring(text)
    _without_ground(root)
    _prune(root)
    colours = theme.PAGE_COLOURS | (theme.MAP_COLOURS if any(map(_shades, root.iter())) else {})
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        _clean(element, prefix, colours)
    compact(root)
    width = float(root.attrib.pop("width"))
    del root.attrib["height"]
    root.attrib |= {
        "role": "img",
        "aria-label": plain(alt_text),
        "style": f"max-width:{GROWN * width:.0f}px",
        "font-family": theme.FONT,
    }
    # ElementTree escapes text and attributes, so what it writes is safe as it is.
    return Markup(ET.tostring(root, encoding="unicode"))


def _without_ground(root: ET.Element) -> None:
    """Without the white behind the whole picture: the page's own colour is seen through it."""
    first = next(iter(root), None)
    if first is not None and first.tag.endswith("rect") and first.get("fill") == theme.PAPER:
        root.remove(first)


def _prune(parent: ET.Element) -> None:
    """Without the invisible frames that the converter puts around every group."""
    for child in list(parent):
        if child.get("display") == "none" or child.get("d") in ("", "M0,0h0v0h0Z"):
            parent.remove(child)
        else:
            _prune(child)


def _shades(element: ET.Element) -> bool:
    """Whether these are cells of a map or its key, whose lightness a dark page turns round; statuses keep the colours
    that the words beside them name."""
    cells = element if re.search("mark-rect|role-legend-symbol", element.get("class", "")) else ()
    fills = {cell.get("fill", "") for cell in cells if cell.get("fill-opacity") != "0"}
    own = {fill for fill in fills if fill.startswith(("#", "url("))} - theme.PAGE_COLOURS.keys()
    return bool(own) and not own & set(FILL.values())


def _clean(element: ET.Element, prefix: str, colours: Mapping[str, str]) -> None:
    shades = _shades(element)
    for name in _DROPPED:
        element.attrib.pop(name, None)
    if shades:
        element.set("class", "map")
    for name, value in list(element.attrib.items()):
        if name.rpartition("}")[2] == "href" and not value.startswith("#"):
            raise ValueError(f"a figure on a page must not refer to {value[:80]!r}: pages load nothing")
        if name == "id":
            element.set(name, f"{prefix}-{value}")
        elif name in ("fill", "stroke") and value.lower() in colours:
            element.set(name, f"var({colours[value.lower()]})")
        elif (name == "opacity" and value == "1") or (name == "font-family" and value == theme.FONT):
            del element.attrib[name]
        elif "url(#" in value:
            element.set(name, _REFERENCE.sub(rf"url(#{prefix}-\1)", value))
