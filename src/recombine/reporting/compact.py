"""Charts in few bytes: a map of cells is one small picture, dots are circles, neighbours that look alike are one path.

A page holds many charts twice, for a screen and for a telephone; written cell by cell it would be megabytes."""

from __future__ import annotations

import base64
import re
import struct
import xml.etree.ElementTree as ET
import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FEW = 64
"""Fewer cells than this stay as they are: shapes are sharper in print than a picture."""

_NUMBER = r"(-?\d*\.?\d+(?:e-?\d+)?)"
_CELL = re.compile(rf"M{_NUMBER},{_NUMBER}h{_NUMBER}v{_NUMBER}h-{_NUMBER}Z")
_DOT = re.compile(rf"M{_NUMBER},0A\1,\1,0,1,1,-\1,0A\1,\1,0,1,1,\1,0")
_PLACE = re.compile(rf"translate\({_NUMBER},{_NUMBER}\)")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


def compact(parent: ET.Element) -> None:
    """Rewrite the chart below ``parent`` in place; it looks the same."""
    for child in parent:
        compact(child)
    if not _map(parent):
        for child in parent:
            _dot(child)
        _merge(parent)


def _map(parent: ET.Element) -> bool:
    """Cells on an even grid, each of one colour, become a picture of one pixel per cell."""
    cells = list(parent)
    if len(cells) < FEW or any(set(cell.attrib) != {"d", "fill"} for cell in cells):
        return False
    shapes = [_CELL.fullmatch(cell.get("d", "")) for cell in cells]
    colours = [cell.get("fill", "") for cell in cells]
    if not all(shapes) or not all(_COLOUR.fullmatch(colour) for colour in colours):
        return False
    numbers = np.array([[float(shape[i]) for i in range(1, 5)] for shape in shapes if shape])
    columns, rows = _even(numbers[:, 0], numbers[:, 2]), _even(numbers[:, 1], numbers[:, 3])
    if columns is None or rows is None:
        return False
    pixels = np.zeros((rows.count, columns.count, 4), np.uint8)
    pixels[rows.index, columns.index] = [[*bytes.fromhex(colour[1:]), 255] for colour in colours]
    for cell in cells:
        parent.remove(cell)
    place = {
        "x": columns.first,
        "y": rows.first,
        "width": columns.step * columns.count,
        "height": rows.step * rows.count,
    }
    ET.SubElement(
        parent,
        "image",
        {name: f"{value:.6g}" for name, value in place.items()}
        | {
            "preserveAspectRatio": "none",
            "style": "image-rendering:pixelated",
            "href": "data:image/png;base64," + base64.b64encode(png(pixels)).decode(),
        },
    )
    return True


@dataclass(frozen=True)
class _Grid:
    first: float
    step: float
    count: int
    index: NDArray[np.intp]


def _even(begin: NDArray[np.float64], size: NDArray[np.float64]) -> _Grid | None:
    """Evenly spaced places along one axis, or None. Cells may reach over the next one, so that no seam shows."""
    for edge, shift in ((begin, 0), (begin + size, 1)):
        places = np.unique(edge.round(1))
        if len(places) < 2:
            return None
        step = float(np.ptp(edge)) / (len(places) - 1)
        index = np.rint((edge - edge.min()) / step).astype(np.intp)
        if np.abs(edge - edge.min() - index * step).max() < 0.05 and (size > 0.98 * step).all():
            return _Grid(float(edge.min()) - shift * step, step, len(places), index)
    return None


def png(pixels: NDArray[np.uint8]) -> bytes:
    """Pixels (rows × columns × red, green, blue, opacity) as a PNG file."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = pixels.shape
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")


def _dot(element: ET.Element) -> None:
    """A circle drawn as two arcs becomes a circle."""
    dot = _DOT.fullmatch(element.get("d", ""))
    place = _PLACE.fullmatch(element.get("transform", ""))
    if element.tag != "path" or dot is None or place is None:
        return
    del element.attrib["d"], element.attrib["transform"]
    if "stroke" not in element.attrib:
        element.attrib.pop("stroke-width", None)
    element.tag = "circle"
    element.attrib = {"cx": place[1], "cy": place[2], "r": dot[1]} | element.attrib


def _merge(parent: ET.Element) -> None:
    """Neighbours of one look: opaque paths become one path, circles a group that says their look once."""
    run: list[ET.Element] = []
    for child in [*parent, None]:
        if child is not None and run and _look(child) is not None and _look(child) == _look(run[0]):
            run.append(child)
            continue
        if len(run) > 1:
            _join(parent, run)
        run = [child] if child is not None and _look(child) is not None else []


def _look(element: ET.Element) -> tuple[object, ...] | None:
    """All that neighbours must share to be written as one, or None where they cannot be."""
    if len(element) or element.text:
        return None
    if element.tag == "path" and not {"transform", "opacity", "id", "clip-path"} & set(element.attrib):
        return ("path", *sorted((k, v) for k, v in element.attrib.items() if k != "d"))
    if element.tag == "circle":
        return ("circle", *sorted((k, v) for k, v in element.attrib.items() if k not in ("cx", "cy", "r")))
    return None


def _join(parent: ET.Element, run: list[ET.Element]) -> None:
    first = run[0]
    if first.tag == "path":
        first.set("d", "".join(path.get("d", "") for path in run))
        for path in run[1:]:
            parent.remove(path)
        return
    shared = {name: value for name, value in first.attrib.items() if name not in ("cx", "cy", "r")}
    if "opacity" in shared:
        # Inherited, and applied to each circle by itself, as the opacity of each was.
        opacity = shared.pop("opacity")
        shared |= {"fill-opacity": opacity, "stroke-opacity": opacity}
    group = ET.Element("g", shared)
    parent.insert(list(parent).index(first), group)
    for circle in run:
        parent.remove(circle)
        circle.attrib = {name: circle.get(name, "") for name in ("cx", "cy", "r")}
        group.append(circle)
