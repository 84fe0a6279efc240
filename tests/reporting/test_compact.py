"""Charts in few bytes that look the same: what is drawn is read back from what was written."""

from __future__ import annotations

import base64
import struct
import xml.etree.ElementTree as ET
import zlib

import numpy as np

from recombine.reporting.compact import compact, png


def pixels_of(data: bytes) -> np.ndarray:
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    at, found = 8, {}
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(kind + body)
        found[kind] = body
        at += 12 + size
    width, height = struct.unpack(">II", found[b"IHDR"][:8])
    lines = np.frombuffer(zlib.decompress(found[b"IDAT"]), np.uint8).reshape(height, 1 + 4 * width)
    assert (lines[:, 0] == 0).all()
    return lines[:, 1:].reshape(height, width, 4)


def chart(body: str) -> ET.Element:
    return ET.fromstring(f"<svg>{body}</svg>")


def test_a_picture_is_read_back() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 4)).astype(np.uint8)
    assert (pixels_of(png(pixels)) == pixels).all()


def test_cells_that_reach_over_the_next_become_a_picture_of_one_pixel_each() -> None:
    step, count = 5.71, 9
    colours = np.random.default_rng(1).integers(0, 256, (count, count, 3))
    cells = []
    for row in range(count):
        for column in range(count):
            x, top = column * step, row * step - (1.43 if row else 0)
            width, height = step + (1.43 if column < count - 1 else 0), step + (1.43 if row else 0)
            colour = "#" + bytes(colours[row, column].astype(np.uint8)).hex()
            cells.append(f'<path d="M{x:.2f},{top:.2f}h{width:.2f}v{height:.2f}h-{width:.2f}Z" fill="{colour}" />')
    root = chart(f"<g>{''.join(cells)}</g>")
    compact(root)
    (image,) = root[0]
    assert image.tag == "image"
    assert (pixels_of(base64.b64decode(image.get("href", "").partition(",")[2]))[..., :3] == colours).all()
    assert abs(float(image.get("width", "0")) - count * step) < 0.1
    assert abs(float(image.get("x", "1"))) < 0.05
    assert abs(float(image.get("y", "1"))) < 0.05


def test_few_cells_and_uneven_ones_stay_shapes() -> None:
    few = chart('<path d="M0,0h1v1h-1Z" fill="#000000" /><path d="M1,0h1v1h-1Z" fill="#111111" />')
    compact(few)
    assert [part.tag for part in few] == ["path", "path"]
    uneven = chart("".join(f'<path d="M{i * i},0h1v1h-1Z" fill="#{i:06x}" />' for i in range(80)))
    compact(uneven)
    assert {part.tag for part in uneven} == {"path"}


def test_dots_become_circles_that_keep_their_look() -> None:
    arc = "M1.5,0A1.5,1.5,0,1,1,-1.5,0A1.5,1.5,0,1,1,1.5,0"
    dots = "".join(
        f'<path transform="translate({i},2)" d="{arc}" fill="red" stroke-width="2" opacity="0.7" />' for i in range(3)
    )
    root = chart(dots + f'<path transform="translate(9,9)" d="{arc}" fill="blue" />')
    compact(root)
    group, single = root
    assert group.attrib == {"fill": "red", "fill-opacity": "0.7", "stroke-opacity": "0.7"}
    assert [circle.attrib for circle in group] == [{"cx": str(i), "cy": "2", "r": "1.5"} for i in range(3)]
    assert single.attrib == {"cx": "9", "cy": "9", "r": "1.5", "fill": "blue"}


def test_only_neighbours_of_one_look_are_joined_so_that_what_is_on_top_stays_there() -> None:
    root = chart(
        '<path d="M0,0h1" stroke="a" /><path d="M1,0h1" stroke="a" /><path d="M2,0h1" stroke="b" />'
        '<path d="M3,0h1" stroke="a" /><path d="M4,0h1" stroke="a" opacity="0.5" />'
        '<path d="M5,0h1" stroke="a" opacity="0.5" />'
    )
    compact(root)
    assert [(part.get("d"), part.get("stroke")) for part in root] == [
        ("M0,0h1M1,0h1", "a"),
        ("M2,0h1", "b"),
        ("M3,0h1", "a"),
        ("M4,0h1", "a"),
        ("M5,0h1", "a"),
    ]
