"""Files as people have them: other encodings, compressed, out of a spreadsheet."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import zipfile

import pytest

from recombine.errors import InputError
from recombine.support.table import read_tables

TEXT = "stadt,y\nZürich,1\nGenève,2\n"


def levels(path):
    (table,) = read_tables([path], ["stadt"], target="y")
    return table.space.factors[0].levels, table.notes


@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_unicode_of_every_width(tmp_path, coding):
    path = tmp_path / "t.csv"
    path.write_bytes(TEXT.encode(coding))
    assert levels(path) == (("Genève", "Zürich"), ())


@pytest.mark.parametrize("before", ["", "Bern,3\n" * 30_000])
def test_latin_1_is_read_and_said_wherever_it_begins(tmp_path, before):
    path = tmp_path / "t.csv"
    path.write_bytes(TEXT.replace("Z", before + "Z", 1).encode("latin-1"))
    found, (note,) = levels(path)
    assert {"Genève", "Zürich"} <= set(found)
    assert (
        note == "'t.csv' is not UTF-8 and was read as Windows-1252 (latin-1); save it in UTF-8 if letters look wrong."
    )


@pytest.mark.parametrize("squeeze", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_files(tmp_path, squeeze):
    path = tmp_path / "t.csv.x"
    path.write_bytes(squeeze(TEXT.encode()))
    assert levels(path) == (("Genève", "Zürich"), ())
    path.write_bytes(squeeze(TEXT.encode("latin-1") * 9)[:-12])
    with pytest.raises(InputError, match="cannot be decompressed") as caught:
        levels(path)
    assert "\n" not in str(caught.value)


def test_a_zip_of_something_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("t.csv", TEXT)
    with pytest.raises(InputError, match=r"is compressed \(zip\); decompress it"):
        levels(tmp_path / "t.zip")


def test_blank_rows_are_no_rows(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TEXT + "\n,\n\n")
    (table,) = read_tables([path], ["stadt"], target="y")
    assert table.rows == 2


def test_a_workbook_without_a_reader_says_what_to_install(tmp_path, monkeypatch):
    path = tmp_path / "book.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/worksheets/sheet1.xml", "<worksheet/>")
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    for name in ("book.xlsx", "book.csv"):
        with pytest.raises(InputError, match="is an Excel workbook, which needs a reader: pip install fastexcel"):
            levels(path.rename(tmp_path / name))
        path = tmp_path / name


def test_a_workbook(tmp_path):
    pytest.importorskip("fastexcel")
    xlsxwriter = pytest.importorskip("xlsxwriter")
    path = tmp_path / "book.xlsx"
    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet()
    book.add_worksheet("notes")
    for i, line in enumerate(TEXT.splitlines()):
        for j, cell in enumerate(line.split(",")):
            sheet.write(i, j, cell)
    book.close()
    assert levels(path) == (("Genève", "Zürich"), ("The workbook 'book.xlsx' has 2 sheets; the first was read.",))
