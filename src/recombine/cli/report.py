"""`recombine report`: the pages of committed results, from their tables alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from recombine.cli.options import OUT, STORE, Json, Out, StorePath
from recombine.cli.printing import print_json, say
from recombine.cli.study import Mine


def report(
    folder: Annotated[Path, Parameter(help="A folder of results: of one study, or with one subfolder per study.")],
    /,
    *,
    study: Mine = None,
    store: StorePath = STORE,
    out: Out = OUT,
    as_json: Json = False,
) -> int:
    """Judge committed results again and write their pages; nothing is trained. What was drawn before is found again in
    the store, where there is one.

    Examples: recombine report results
              recombine report results/kernel-theory --out report
              recombine report results --study ./my_study.py"""
    from recombine.cli.progress import waiting
    from recombine.cli.reproduce import print_summary
    from recombine.cli.study import check_writable
    from recombine.figures.cache import cached_in
    from recombine.reporting import write_overview
    from recombine.runs import Store
    from recombine.studies import find_study
    from recombine.studies.committed import read_all

    there = "://" in store or Path(store).is_dir()
    drawn = Store(store, writable=False).local / "cache" if there else None
    with waiting("reading tables, drawing the figures and writing the page", quiet=as_json), cached_in(drawn):
        results = read_all(folder, find_study(study) if study else None)
        check_writable(out)
        page = write_overview(results, out)
    if as_json:
        print_json({"page": str(page), "studies": [result.to_dict() for result in results]})
    else:
        print_summary(results)
        say(f"\nwritten to {page}")
    return 0
