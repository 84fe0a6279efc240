"""`recombine study`: list, show, run and verify the studies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import cyclopts
from cyclopts import Parameter

from recombine.cli.options import OUT, STORE, Device, DryRun, FailOn, Json, Members, On, Out, Scale, StorePath

app = cyclopts.App(
    name="study",
    help="A paper as data: runs, claims and figures.",
    help_epilogue="""Examples:

    recombine study list
    recombine study show gradient-toy
    recombine study run gradient-toy --scale quick --members 64
    recombine study run gradient-toy --json --fail-on fails
    recombine study verify results/gradient-toy""",
    help_format="plaintext",
)

Name = Annotated[str, Parameter(help="The name of a study; see `recombine study list`.")]


@app.command(name="list")
def list_studies(*, as_json: Json = False) -> None:
    """List the studies.

    Example: recombine study list"""
    from recombine.studies import STUDIES

    if as_json:
        rows = [{"study": s.name, "title": s.title, "claims": len(s.claims)} for s in STUDIES.values()]
        print(json.dumps({"schema": 1, "studies": rows}, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("study", "title", "claims", box=None)
    for study in STUDIES.values():
        table.add_row(study.name, study.title, str(len(study.claims)))
    Console().print(table)


@app.command
def show(name: Name, *, scale: Scale = "quick", as_json: Json = False) -> None:
    """Show what a study asks, runs and claims, before anything is run.

    Example: recombine study show gradient-toy --scale paper"""
    from recombine.studies import find_study

    study = find_study(name)
    planned = study.runs(scale, None)
    if as_json:
        claims = [
            {"id": c.id, "sentence": c.sentence, "criterion": str(c.criterion), "published": c.published}
            for c in study.claims
        ]
        runs = {n: {"address": run.address, **run.describe()} for n, run in planned.items()}
        answer = {"schema": 1, "study": name, "scale": scale, "claims": claims, "runs": runs}
        print(json.dumps(answer, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    console.print(f"[bold]{escape(study.title)}[/]\n{escape(study.question)}\n")
    if paper := study.paper:
        console.print(f"{escape(paper.authors)} ({paper.year}). {escape(paper.title)}. {escape(paper.url)}\n")
    table = Table("claim", "sentence", "criterion", "published", title="Claims", box=None, title_justify="left")
    for claim in study.claims:
        published = "–" if claim.published is None else f"{claim.published:g}"
        table.add_row(claim.id, escape(claim.sentence), escape(str(claim.criterion)), published)
    console.print(table)
    title = f"\nRuns at {scale} scale"
    table = Table("run", "members", "steps", "address", title=title, box=None, title_justify="left")
    for run_name, run in planned.items():
        described = run.describe()
        table.add_row(run_name, str(described.get("members")), str(described.get("steps")), run.address[:12])
    console.print(table)


@app.command
def run(
    name: Name,
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
    """Run a study and write its page. Runs that are in the store are not repeated.

    Examples: recombine study run gradient-toy --scale quick --out report
              recombine study run gradient-toy --scale paper --dry-run"""
    from recombine.cli.forecast import forecast
    from recombine.cli.progress import study_progress
    from recombine.figures.cache import cached_in
    from recombine.reporting import write_study
    from recombine.runs import Store
    from recombine.runs.executors import executor
    from recombine.studies import conduct, find_study

    study = find_study(name)
    if dry_run:
        return forecast([study], scale, members, store, device, on, as_json)
    executor(on, device)  # What cannot be meant is said before anything is made.
    opened = Store(store)
    check_writable(out)
    planned = study.runs(scale, members)
    with study_progress([(study.name, planned)], quiet=as_json) as (progress, on_done):
        result = conduct(
            study, scale, store=opened, members=members, device=device, on=on, progress=progress, on_done=on_done
        )
    with cached_in(opened.local / "cache"):
        page = write_study(result, out / study.name)
    if as_json:
        print(json.dumps({**result.to_dict(), "page": str(page)}, ensure_ascii=False, allow_nan=False))
    else:
        print_claims([result])
        print(f"\n{page}")
    return int(any(result.counts()[status] for status in fail_on or ()))


@app.command
def verify(folder: Annotated[Path, Parameter(help="A folder of committed results.")], *, as_json: Json = False) -> int:
    """Recompute every claim of committed results from their tables, and train one small member again.

    Exits with 1 where something does not agree. Example: recombine study verify results/gradient-toy"""
    from recombine.errors import InputError
    from recombine.studies import find_study
    from recombine.studies import verify as verify_results

    try:
        name = json.loads((folder / "study.json").read_text(encoding="utf-8"))["study"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{str(folder)!r} does not hold committed results: {error}.") from None
    found = verify_results(find_study(name), folder)
    if as_json:
        answer: dict[str, Any] = {
            "schema": 1, "study": name, "claims": found.claims, "compared": found.compared, "problems": found.problems,
        }  # fmt: skip
        print(json.dumps(answer, ensure_ascii=False))
    else:
        again = f"{found.compared} figures of one member trained again ({found.again})"
        print(f"{name}: {found.claims} claims recomputed, {again}")
        for problem in found.problems:
            print(f"  {problem}")
        print("verified" if not found.problems else f"{len(found.problems)} problems")
    return int(bool(found.problems))


def print_claims(results: list[Any]) -> None:
    """The claims of studies as a table on the terminal."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from recombine.reporting.export import SIGN, measured_text, published_text

    colours = {"holds": "green", "fails": "red", "not fitted": "yellow"}
    table = Table("claim", "sentence", "published", "measured", "members", "status", box=None, pad_edge=False)
    for result in results:
        for claim in result.claims:
            status = f"[{colours[claim.status]}]{SIGN[claim.status]} {claim.status}[/]"
            table.add_row(
                claim.claim.id, escape(claim.claim.sentence), published_text(claim), escape(measured_text(claim)),
                str(claim.members), status,
            )  # fmt: skip
    Console().print(table)


def check_writable(out: Path) -> None:
    """Say at once, not after an hour of training, that the page could not be written."""
    from recombine.errors import InputError

    try:
        out.mkdir(parents=True, exist_ok=True)
        probe = out / f".writable-{uuid4().hex[:12]}"  # its own name: another process may try the same folder now
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise InputError(f"cannot write to {str(out)!r}: {error.strerror}; choose another --out.") from None
