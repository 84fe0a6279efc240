"""The page of all studies: the question and its answers in one screen, then a chapter per paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recombine.errors import InputError
from recombine.figures.export import file_name, write
from recombine.playground import write_page
from recombine.reporting.export import SIGN
from recombine.reporting.page import render
from recombine.reporting.provenance import computing
from recombine.reporting.study import lead_chart, located, study_view, write_study
from recombine.result import Result
from recombine.studies.claims import WHOSE
from recombine.studies.committed import read_all
from recombine.studies.study import StudyResult, counted


def overview_page(results: Sequence[StudyResult]) -> str:
    """All studies as one self-contained page, whose links lead to the pages of the single ones."""
    return _page(results, [study_view(result) for result in results])


def report(what: Result | Sequence[StudyResult] | str | Path, out: str | Path = "recombine-report") -> Path:
    """Write the page of a result, of several studies, or of a folder of committed results, and what lies beside it,
    under ``out``; returns where the page is.

        rc.report("results", "pages")                      # the pages of all committed studies
        rc.report(rc.check(table, ["a", "b"]), "page")     # or of one result
    """
    out = Path(out)
    if isinstance(what, StudyResult):
        return write_study(what, out / file_name(what.study.name))
    if isinstance(what, Result):
        return what.save(out / f"{what.kind}.html")
    results = read_all(Path(what)) if isinstance(what, str | Path) else list(what)
    if strange := [one for one in results if not isinstance(one, StudyResult)]:
        raise InputError(f"a page is made of results, or of a folder of committed ones, not of {strange[0]!r:.80}.")
    return write_overview(results, out)


def write_overview(results: Sequence[StudyResult], out: Path) -> Path:
    """Each study in a folder of its own, the playground, then the page of all of them."""
    out, names = Path(out), [file_name(result.study.name) for result in results]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"two studies are called {twice[0]!r}; give one another name: replace(study, name=…).")
    views = [study_view(result) for result in results]
    for result, view in zip(results, views, strict=True):
        write_study(result, out / file_name(result.study.name), view)
    write_page(out / "play.html")
    return write(out / "index.html", _page(results, views).encode())


def overall(results: Sequence[StudyResult]) -> str:
    """The verdict over all studies in two sentences, made of nothing but the counts; the papers' and ours apart, and
    apart from both what variations of studies give."""
    told = []
    for varied in (False, True):
        told += _told([result for result in results if (result.study.varies is not None) == varied], varied)
    return " ".join(told)


def _told(results: Sequence[StudyResult], varied: bool) -> list[str]:
    told = []
    for whose in WHOSE:
        counts = {status: sum(result.counts(whose)[status] for result in results) for status in SIGN}
        told += [sentence.replace("the paper", "the papers") for sentence in counted(counts, whose, varied)]
        held = [c for result in results for c in result.claims if c.claim.whose == whose and c.status == "holds"]
        beside = sum(claim.claim.published is not None for claim in held)
        if whose == "paper" and beside:  # ours stand beside a published figure by exception
            matched = sum(claim.how == "value matched" for claim in held)
            told.append(f"{matched} of the {beside} that hold beside a published figure match its value.")
    return told


def _page(results: Sequence[StudyResult], views: Sequence[Mapping[str, Any]]) -> str:
    if not results:
        raise InputError("a page of all studies needs at least one.")
    return render(
        "overview.html.j2",
        views=[_chapter(result, view) for result, view in zip(results, views, strict=True)],
        scale=results[0].scale,
        answer=overall(results),
        signs=SIGN,
    )


def _chapter(result: StudyResult, view: Mapping[str, Any]) -> dict[str, Any]:
    return located(view, f"{file_name(result.study.name)}/") | {
        "folder": file_name(result.study.name),
        "lead": lead_chart(result, view),
        "counts": [(whose, list(counts.items())) for whose in WHOSE
                   if any((counts := result.counts(whose)).values())],
        "failed": [row for row in view["claims"] if row["status"] != "holds"],
        "ran": _ran(result),
    }  # fmt: skip


def _ran(result: StudyResult) -> str:
    """Runs, device and computing time in one sentence."""
    runs = list(result.provenance.values())
    sizes = sorted({int(run["members"]) for run in runs if run.get("members")})
    devices = sorted({str(run.get("device")) for run in runs if run.get("device")})
    # No sum: the same starts may be in several runs.
    many = " to ".join(str(size) for size in sizes[:1] + sizes[1:][-1:])
    trained = f"{len(runs)} runs of {many} members" if sizes else f"{len(runs)} runs"
    where = f" on {' and '.join(devices)}" if devices else ""
    return f"{trained}{where}, {computing(result.provenance)} of computing."
