"""`recombine reproduce`: every study, one after the other."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from recombine.cli.options import OUT, STORE, Device, DryRun, FailOn, Json, Members, On, Out, Scale, StorePath
from recombine.cli.printing import console, print_json, say

if TYPE_CHECKING:
    from recombine.studies import StudyResult


def reproduce(
    *,
    scale: Scale = "quick",
    members: Members = None,
    device: Device = "auto",
    on: On = "here",
    store: StorePath = STORE,
    out: Out = OUT,
    as_json: Json = False,
    fail_on: FailOn = None,
    dry_run: DryRun = False,
) -> int:
    """Run every study at a scale, write one page and a page per study, and say which claims hold.

    Below paper scale the page shows the committed verdicts at paper scale beside the fresh ones.

    Examples: recombine reproduce --scale quick --out report
              recombine reproduce --on processes
              recombine reproduce --scale paper --dry-run"""
    from recombine.cli.forecast import forecast
    from recombine.cli.progress import study_progress, waiting
    from recombine.cli.study import check_place, check_writable
    from recombine.figures.cache import cached_in
    from recombine.reporting import write_overview
    from recombine.reporting.provenance import duration
    from recombine.runs import Store
    from recombine.studies import STUDIES, run_studies
    from recombine.studies.running import checked

    started = time.monotonic()
    studies = checked(list(STUDIES.values()), scale, members)
    if dry_run:
        return forecast(studies, scale, members, store, device, on, as_json)
    check_place(on, device)
    opened = Store(store)
    check_writable(out)
    planned = [(study.name, study.runs(scale, members)) for study in studies]
    with study_progress(planned, quiet=as_json) as (progress, on_done):
        results = run_studies(
            studies, scale, store=opened, members=members, device=device, on=on, progress=progress, on_done=on_done
        )
    with waiting("drawing the figures and writing the page", quiet=as_json), cached_in(opened.local / "cache"):
        page = write_overview(results, out)
    seconds = time.monotonic() - started
    if as_json:
        found = [result.to_dict() for result in results]
        print_json({"scale": scale, "seconds": round(seconds, 3), "page": str(page), "studies": found})
    else:
        print_summary(results)
        say(f"\n{duration(seconds)} at {scale} scale. Every claim with its figures is on the page:\n{page.resolve()}")
    return int(any(result.counts()[status] for result in results for status in fail_on or ()))


def print_summary(results: Sequence[StudyResult]) -> None:
    """One row per study: how many claims of the paper, and how many of ours, hold, fail, or could not be judged."""
    from rich.table import Table

    from recombine.studies.claims import WHOSE

    sides = [(whose, status) for whose in WHOSE for status in results[0].counts()]
    heads = [f"{whose} {status}".replace(" ", "\n") for whose, status in sides]
    table = Table("study", *heads, box=None, pad_edge=False, padding=(0, 1, 0, 0), show_footer=len(results) > 1)
    for result in results:
        table.add_row(result.study.name, *(str(result.counts(whose)[status]) for whose, status in sides))
    table.columns[0].no_wrap = True
    table.columns[0].footer = "all studies"
    for column, (whose, status) in zip(table.columns[1:], sides, strict=True):
        column.justify = "right"
        column.footer = str(sum(result.counts(whose)[status] for result in results))
    console().print(table)
