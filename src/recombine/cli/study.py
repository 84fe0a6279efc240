"""`recombine study`: list, show, run and verify the studies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import cyclopts
from cyclopts import Parameter

from recombine.cli.options import (
    OUT,
    STORE,
    Device,
    DryRun,
    FailOn,
    Json,
    Members,
    On,
    Out,
    Precision,
    Scale,
    StorePath,
    words,
)
from recombine.cli.printing import console, counted, print_json, say, shown, wrapped
from recombine.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recombine.runs import Run, Store
    from recombine.studies.study import Scale as ScaleName, Study, StudyResult

app = cyclopts.App(
    name="study",
    help="A paper as data: runs, claims and figures.",
    sort_key=4,
    help_epilogue="""Examples:

    recombine study list
    recombine study show gradient-toy
    recombine study run gradient-toy --scale quick --members 64
    recombine study run gradient-toy --json --fail-on fails
    recombine study run ./my_study.py --scale smoke
    recombine study verify results/gradient-toy""",
    help_format="plaintext",
)

Mine = Annotated[
    str | None, Parameter(name="--study", help="The file of a study of your own whose results these are: ./mine.py.")
]
Kept = Annotated[
    str | None,
    Parameter(
        name="--store",
        help="Take the member from this store if it is there, and keep it there; otherwise it is trained from nothing.",
    ),
]
Results = Annotated[Path, Parameter(help="A folder of committed results.")]
Only = Annotated[
    str | None,
    Parameter(
        help="Compute these runs alone, a,b,c of `recombine study show`, and store them; no claim is judged, no page "
        "written. `recombine study renew` puts them into committed results."
    ),
]
Name = Annotated[
    str, Parameter(help="The name of a study (see `recombine study list`), or a file of your own: ./my_study.py.")
]


@app.command(name="list", sort_key=1, help_epilogue="")
def list_studies(*, as_json: Json = False) -> None:
    """List the studies.

    Example: recombine study list"""
    from recombine.studies import STUDIES

    rows = [_listed(study) for study in STUDIES.values()]
    if as_json:
        print_json({"studies": rows})
        return
    from rich.table import Table

    table = Table("study", "title", "the paper's claims", "ours", "hold at paper scale", box=None, pad_edge=False)
    table.columns[0].no_wrap = True
    for row in rows:
        told = [f"{_number(row[f'{whose}_hold'])} of {row[whose]}" for whose in ("paper", "ours") if row[whose]]
        table.add_row(row["study"], row["title"], str(row["paper"]), str(row["ours"]), " and ".join(told))
    console().print(table)
    say("\nThe last column: of the paper's claims, then of ours, as committed at paper scale.")


def _listed(study: Study[Any]) -> dict[str, Any]:
    """A study in a list: how many claims are the paper's and how many ours, and how many hold as committed; None where
    the package carries no verdicts."""
    from recombine.studies.committed import carried

    verdicts = carried().get(study.name)
    row: dict[str, Any] = {"study": study.name, "title": study.title}
    for whose in ("paper", "ours"):
        mine = [claim.id for claim in study.claims if claim.whose == whose]
        row[whose] = len(mine)
        holds = [] if verdicts is None else [verdicts.get(claim, {}).get("status") == "holds" for claim in mine]
        row[f"{whose}_hold"] = None if verdicts is None else sum(holds)
    return row


@app.command(sort_key=2, help_epilogue="")
def show(
    name: Name,
    /,
    *,
    scale: Scale = "quick",
    members: Members = None,
    precision: Precision = "float32",
    as_json: Json = False,
) -> None:
    """Show what a study asks, runs and claims, before anything is run.

    Example: recombine study show gradient-toy --scale paper"""
    from dataclasses import replace

    from recombine.studies import find_study
    from recombine.studies.committed import carried
    from recombine.studies.study import address_of
    from recombine.studies.variation import changes, refuse_unasked

    study = replace(find_study(name), precision=precision)
    refuse_unasked([study], scale, members)
    planned, verdicts = study.runs(scale, members), carried().get(study.name, {})
    if as_json:
        claims = [
            {
                "id": c.id,
                "sentence": c.sentence,
                "whose": c.whose,
                "criterion": str(c.test.criterion),
                "published": c.published.value if c.published else None,
                "at_paper_scale": verdicts.get(c.id),
            }
            for c in study.claims
        ]
        runs = {n: {"address": run.address, **run.describe()} for n, run in planned.items()}
        print_json({
            "study": study.name, "scale": scale, "claims": claims, "runs": runs,
            "deviations": list(study.notes.deviations), "changes": list(changes(study, scale, members)),
        })  # fmt: skip
        return
    from rich.table import Table

    where = console()
    where.print(shown(study.title, "bold"))
    where.print(shown(f"{study.question}\n"))
    say_changes(study, scale, members)
    if paper := study.paper:
        where.print(shown(f"{paper.authors} ({paper.year}). {paper.title}. {paper.url}\n"))
    table = Table("claim", "sentence, and what would make it hold", box=None)
    table.columns[0].no_wrap = True
    for claim in study.claims:
        published = "" if claim.published is None else f"; published {claim.published.value:g}"
        ours = " (ours)" if claim.whose == "ours" else ""
        words = f"{claim.sentence}{ours}\n{claim.test.criterion}{published}"
        if verdict := verdicts.get(claim.id):
            words += f"\nat paper scale: {', '.join(verdict[key] for key in ('status', 'how') if verdict[key])}"
        table.add_row(shown(claim.id), shown(words))
    where.print(table)
    together = address_of(one.address for one in planned.values())[:12]
    where.print(shown(f"\n{counted(len(planned), 'run')} at {scale} scale, together {together}", "bold"))
    table = Table("run", "members", "steps", "address", box=None, pad_edge=False)
    for run_name, planned_run in planned.items():
        told = planned_run.describe()
        table.add_row(run_name, *(_number(told.get(n)) for n in ("members", "steps")), planned_run.address[:12])
    where.print(table)
    if study.notes.deviations:
        heading = "Where this differs from the paper" if study.paper else "How it was done"
        where.print(shown(f"\n{heading}", "bold"))
    for deviation in study.notes.deviations:
        where.print(shown(f"· {deviation}"))


@app.command(sort_key=3, help_epilogue="")
def run(
    name: Name,
    /,
    *,
    scale: Scale = "quick",
    members: Members = None,
    only: Only = None,
    precision: Precision = "float32",
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
              recombine study run gradient-toy --scale paper --dry-run
              recombine study run kernel-theory --scale paper --only convnet-cd3-d0,convnet-cd1-d0"""
    from dataclasses import replace

    from recombine.cli.forecast import forecast
    from recombine.cli.progress import study_progress
    from recombine.runs import Store
    from recombine.studies import find_study, run_study
    from recombine.studies.running import checked
    from recombine.studies.variation import refuse_unasked

    study = whole = replace(find_study(name), precision=precision)
    checked([study], scale, members)
    if only is not None:
        if fail_on:
            raise InputError("--only judges no claim, so there is nothing for --fail-on.")
        study = study.only(words(only))
        refuse_unasked([study], scale, members)
    planned = study.runs(scale, members)
    if not as_json:
        say_changes(whole, scale, members)
    if dry_run:
        return forecast([study], scale, members, store, device, on, as_json)
    check_place(on, device, precision)
    opened = Store(store)
    if only is not None:
        return _store(study, planned, opened, device, on, as_json)
    from recombine.figures.cache import cached_in
    from recombine.reporting import write_study

    check_writable(out)
    with study_progress([(study.name, planned)], quiet=as_json) as (progress, on_done):
        result = run_study(
            study, scale, store=opened, members=members, device=device, on=on, progress=progress, on_done=on_done
        )
    with cached_in(opened.local / "cache"):
        page = write_study(result, out / study.name)
    if as_json:
        print_json({**result.to_dict(), "page": str(page)})
    else:
        print_claims(result)
        say(f"\n{result.sentence()}\nwritten to {page}")
    return int(any(result.counts()[status] for status in fail_on or ()))


def say_changes(study: Study[Any], scale: ScaleName, members: int | None) -> None:
    """Say before anything is run what is changed of the study that it was made of, field by field."""
    from recombine.studies.variation import changes

    if told := changes(study, scale, members):
        wrapped(f"{study.name} changes of {study.original.name}: {'; '.join(told)}.\n")


def _store(study: Study[Any], runs: Mapping[str, Run], store: Store, device: str, on: str, as_json: bool) -> int:
    """Some runs of a study, computed and stored."""
    from recombine.cli.progress import study_progress
    from recombine.runs import get_or_compute

    with study_progress([(study.name, runs)], quiet=as_json) as (progress, on_done):
        get_or_compute(store, runs, device=device, on=on, progress=progress, on_done=on_done)
    if as_json:
        print_json({"study": study.name, "store": store.name, "runs": {n: run.address for n, run in runs.items()}})
    else:
        say(f"{counted(len(runs), 'run')} of {study.name} stored in {store.name}: {_some(list(runs))}")
    return 0


@app.command(sort_key=4, help_epilogue="")
def verify(
    folder: Results, /, *, study: Mine = None, device: Device = "cpu", store: Kept = None, as_json: Json = False
) -> int:
    """Recompute every claim of committed results from their tables, and train one small member again.

    Exits with 1 where something does not agree.

    Examples: recombine study verify results/gradient-toy
              recombine study verify results/my-study --study ./my_study.py"""
    from recombine.studies import find_study, verify as verify_results
    from recombine.studies.committed import study_of

    record = _record(folder)
    check_place("here", device)
    name, mine = str(record["study"]), find_study(study) if study else None
    found = verify_results(mine or study_of(record), folder, device, store)
    if as_json:
        print_json({"study": name, "claims": found.claims, "compared": found.compared, "problems": found.problems,
                    "unknown_origin": found.unknown, "awaited": found.awaited, "stored": found.stored})  # fmt: skip
    else:
        how = "that the store had" if found.stored else "trained again"
        again = f"{found.compared} figures of one member {how} ({found.again})"
        say(f"{name}: {found.claims} claims recomputed, {again}")
        if found.unknown:
            say(f"  commit or version are not known of {counted(len(found.unknown), 'run')}: {_some(found.unknown)}")
        if found.awaited:
            say(f"  nothing is committed yet of {counted(len(found.awaited), 'declared run')}: {_some(found.awaited)}")
        for problem in found.problems:
            say(f"  {problem}")
        say("verified" if not found.problems else counted(len(found.problems), "problem"))
    return int(bool(found.problems))


@app.command(sort_key=5, help_epilogue="")
def renew(folder: Results, /, *, study: Mine = None, store: StorePath = STORE, as_json: Json = False) -> int:
    """Put runs that a store holds into committed results, in place of the committed ones; judge and draw again.

    A run is renewed where the store holds it and it is another than the committed one (computed at another
    moment); what the store does not hold stays as it is. Nothing is computed.

    Example: recombine study renew results/gradient-descent --store .recombine"""
    from recombine.reporting.study import write_results
    from recombine.runs import Store
    from recombine.studies import find_study
    from recombine.studies.committed import renew as renewed

    _record(folder)
    if "://" not in store and not Path(store).is_dir():
        raise InputError(f"there is no store at {store!r}; --store names one, nothing was renewed.")
    result, fresh = renewed(folder, Store(store), find_study(study) if study else None)
    write_results(result, folder)
    if as_json:
        print_json({**result.to_dict(), "renewed": list(fresh)})
    else:
        say(f"{counted(len(fresh), 'run')} renewed{': ' + _some(fresh) if fresh else ''}\n{result.sentence()}")
    return 0


def _some(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _record(folder: Path) -> dict[str, Any]:
    """What a folder of committed results says of itself; it names a study."""
    try:
        record: dict[str, Any] = json.loads((folder / "study.json").read_text(encoding="utf-8"))
        return {**record, "study": str(record["study"])}
    except FileNotFoundError:
        below = [str(path.parent) for path in sorted(folder.glob("*/study.json"))[:5]]
        hint = f"; these do: {', '.join(below)}" if below else ""
        raise InputError(f"{str(folder)!r} does not hold committed results (study.json){hint}.") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{str(folder)!r} does not hold committed results: {error}.") from None


def _number(value: object) -> str:
    return "–" if value is None else str(value)


def print_claims(result: StudyResult) -> None:
    """The claims of a study as a table on the terminal."""
    from rich.table import Table

    from recombine.reporting.export import SIGN, changed_text, measured_text, members_text, published_text, status_text

    colours = {"holds": "green", "fails": "red", "open": "yellow", "not fitted": "yellow", "not run": "dim"}
    published = any(claim.claim.published is not None for claim in result.claims)
    heads = ["claim", *(["published"] if published else []), "measured", "members", "status"]
    table = Table(*heads, box=None, pad_edge=False)
    for claim in sorted(result.claims, key=lambda claim: claim.claim.whose == "ours"):
        name = claim.claim.id + (" (ours)" if claim.claim.whose == "ours" else "")
        table.add_row(
            shown("")
            .append_text(shown(name, "bold"))
            .append_text(shown(f"\n{claim.claim.sentence}"))
            .append_text(shown(f" {changed}" if (changed := changed_text(claim)) else "", "yellow"))
            .append_text(shown(f"\n{claim.absent}" if claim.absent else "", "yellow")),
            *([shown(published_text(claim))] if published else []),
            shown(measured_text(claim)),
            shown(members_text(claim)),
            shown(f"{SIGN[claim.status]} {status_text(claim)}", colours[claim.status]),
        )
    console().print(table)


def check_place(on: str, device: str, precision: Precision = "float32") -> None:
    """Say before anything is made that there is no such executor, or no such device here, or what it does not do."""
    from recombine.runs.executors import executor
    from recombine.training import pick_device
    from recombine.training.precision import check_precision

    executor(on, device)
    if not on.startswith("ray"):  # A cluster may have devices that this machine lacks.
        check_precision(precision, pick_device(device))


def check_writable(out: Path) -> None:
    """Say at once, not after an hour of training, that the page could not be written."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        probe = out / f".writable-{uuid4().hex[:12]}"  # its own name: another process may try the same folder now
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise InputError(f"cannot write to {str(out)!r}: {error.strerror}; choose another --out.") from None
