"""What the converter's SVG still lacks: true sub- and superscripts, and numbers no longer than a screen can show."""

from __future__ import annotations

import hashlib
import re
import xml.etree.ElementTree as ET

SVG = "http://www.w3.org/2000/svg"
ET.register_namespace("", SVG)
ET.register_namespace("xlink", "http://www.w3.org/1999/xlink")

LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", "0123456789+−=()aehijklmnoprstuvx", strict=True))
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁱⁿᵀ", "0123456789+−=()inT", strict=True))
"""Few fonts hold these letters, and a converter that misses one sets the whole line in another font."""

_SHIFTED = re.compile("([" + "".join(LOWERED) + "]+|[" + "".join(RAISED) + "]+)")
_LONG = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")
_RGB = re.compile(r"rgb\((\d+), (\d+), (\d+)\)")
_REFERENCE = re.compile(r"(?:url\(#|^#)([^)]+)")
_GEOMETRY = ("d", "transform", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "stroke-dashoffset")


def polish(text: str) -> str:
    """The same picture, smaller and with its indices set as indices; it does not tell what was drawn before it."""
    root = ET.fromstring(text)
    _rename(root)
    for element in list(root.iter()):
        for name in _GEOMETRY:
            if (value := element.get(name)) and "." in value:
                element.set(name, _LONG.sub(_rounded, value))
        for name in ("fill", "stroke"):
            if match := _RGB.fullmatch(element.get(name, "")):
                element.set(name, "#" + "".join(f"{int(part):02x}" for part in match.groups()))
        if element.tag == f"{{{SVG}}}text":
            size = float(element.get("font-size", "12px").removesuffix("px"))
            for line in list(element) or [element]:
                if _SHIFTED.search(line.text or ""):
                    _set_indices(line, size)
    return ET.tostring(root, encoding="unicode")


def width(text: str) -> float:
    """How wide the picture is, in pixels."""
    return float(ET.fromstring(text).attrib["width"])


def scaled(text: str, factor: float) -> str:
    """The same picture at another size."""
    root = ET.fromstring(text)
    for name in ("width", "height"):
        root.set(name, f"{factor * float(root.attrib[name]):g}")
    return ET.tostring(root, encoding="unicode")


def _rename(root: ET.Element) -> None:
    """Identifiers by what the picture shows: the converter's count on from one picture to the next, and two pictures
    on a page must not share any."""
    _number(root, "i")
    _number(root, "i" + hashlib.sha256(ET.tostring(root)).hexdigest()[:8])


def _number(root: ET.Element, prefix: str) -> None:
    found = [name for element in root.iter() if (name := element.get("id"))]
    names = {old: f"{prefix}-{number}" for number, old in enumerate(found, 1)}
    for element in root.iter() if names else ():
        for attribute, value in element.attrib.items():
            if attribute == "id":
                element.set(attribute, names[value])
            elif "#" in value and (match := _REFERENCE.search(value)) and match[1] in names:
                element.set(attribute, value.replace(f"#{match[1]}", f"#{names[match[1]]}"))


def _rounded(match: re.Match[str]) -> str:
    return f"{float(match.group()):.2f}".rstrip("0").rstrip(".")


def _set_indices(element: ET.Element, size: float) -> None:
    pieces = _SHIFTED.split(element.text or "")
    element.text, shift = pieces[0], 0.0
    for index, piece in enumerate(pieces[1:], 1):
        if not piece:
            continue
        span = ET.SubElement(element, f"{{{SVG}}}tspan")
        target = 0.0
        if index % 2:
            lowered = piece[0] in LOWERED
            target = size * (0.22 if lowered else -0.36)
            span.set("font-size", f"{0.74 * size:.4g}px")
            piece = "".join((LOWERED if lowered else RAISED)[letter] for letter in piece)
        span.set("dy", f"{target - shift:.2f}")
        span.text, shift = piece, target
