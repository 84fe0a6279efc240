"""`recombine report`: the pages of committed results, from their tables alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from recombine.cli.options import OUT, Json, Out
from recombine.cli.printing import print_json, say
from recombine.errors import InputError


def report(
    folder: Annotated[Path, Parameter(help="A folder of results: of one study, or with one subfolder per study.")],
    /,
    *,
    out: Out = OUT,
    as_json: Json = False,
) -> int:
    """Judge committed results again and write their pages; nothing is trained.

    Examples: recombine report results
              recombine report results/kernel-theory --out report"""
    from recombine.cli.progress import waiting
    from recombine.cli.reproduce import print_summary
    from recombine.cli.study import check_writable
    from recombine.reporting import write_overview
    from recombine.studies import STUDIES
    from recombine.studies.committed import read_results

    below = [folder] if (folder / "study.json").is_file() else [p.parent for p in folder.glob("*/study.json")]
    if not below:
        raise InputError(f"{str(folder)!r} holds no results of a study (study.json), nor does any folder in it.")
    check_writable(out)
    with waiting("reading tables, drawing the figures and writing the page", quiet=as_json):
        known = list(STUDIES)
        results = [read_results(path) for path in below]
        results.sort(key=lambda r: (known.index(r.study.name) if r.study.name in known else len(known), r.study.name))
        page = write_overview(results, out)
    if as_json:
        print_json({"page": str(page), "studies": [result.to_dict() for result in results]})
    else:
        print_summary(results)
        say(f"\nwritten to {page}")
    return 0
