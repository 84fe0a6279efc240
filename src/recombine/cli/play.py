"""`recombine play`: the playground, as one page that opens from disk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from recombine.cli.options import check_file, words
from recombine.cli.printing import say
from recombine.errors import InputError


def play(
    table: Annotated[Path | None, Parameter(help="A table to begin with: CSV or Parquet.")] = None,
    /,
    *,
    factors: Annotated[str | None, Parameter(help="The two columns of the table that are recombined: a,b.")] = None,
    target: Annotated[str | None, Parameter(help="Column with the answer: numbers, or two classes.")] = None,
    out: Annotated[Path, Parameter(help="Where the page is written; it ends in .html.")] = Path("play.html"),
    open: Annotated[
        bool, Parameter(name="--open", negative=(), show_default=False, help="Show the page in the browser.")
    ] = False,
) -> int:
    """Write the playground: paint what training saw, and watch theory and live networks answer.

    One file that opens from disk and asks for nothing else. With a TABLE of two factors (2 to 24 levels each) it
    begins with the table's combinations and answers.

    Examples: recombine play --open
              recombine play tickets.csv --factors region,plan --target hours --out tickets.html"""
    if (table is None) != (factors is None):
        raise InputError("a table and its two factors go together: recombine play TABLE --factors a,b --target y.")
    if table is None and target is not None:
        raise InputError("--target names a column of a table; give the table too.")
    if out.suffix.lower() != ".html":
        raise InputError(f"{str(out)!r} does not end in .html; the playground is a page.")
    check_file(out, table)
    from recombine.playground import given_table, write_page

    given = None if table is None or factors is None else given_table(table, words(factors), target)
    path = write_page(out, given)
    say(f"written to {path} ({path.stat().st_size / 1000:.0f} kB); open it in a browser.")
    if open:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())
    return 0
