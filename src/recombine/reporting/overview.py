"""The page of all studies: the question and its answers in one screen, then a chapter a paper."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recombine.errors import InputError
from recombine.figures.data import decimals_for, number
from recombine.figures.export import file_name, write
from recombine.reporting.export import SIGN, measured_text, published_text
from recombine.reporting.html import render
from recombine.reporting.provenance import computing
from recombine.reporting.study import lead_chart, located, study_view, write_study
from recombine.studies.study import StudyResult

Committed = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Claims measured before, by study and claim: what ``claims.json`` of committed results holds."""


def overview_page(results: Sequence[StudyResult], committed: Committed | None = None) -> str:
    """All studies as one self-contained page, whose links lead to the pages of the single ones."""
    return _page(results, [study_view(result) for result in results], committed)


def write_overview(results: Sequence[StudyResult], out: Path, committed: Committed | None = None) -> Path:
    """Each study in a folder of its own, then the page of all of them."""
    out = Path(out)
    views = [study_view(result) for result in results]
    for result, view in zip(results, views, strict=True):
        write_study(result, out / file_name(result.study.name), view)
    return write(out / "index.html", _page(results, views, committed).encode())


def overall(results: Sequence[StudyResult]) -> str:
    """The verdict over all studies in one sentence, made of nothing but the counts."""
    counts = {status: sum(result.counts()[status] for result in results) for status in SIGN}
    total = sum(counts.values())
    rest = f"{counts['fails']} fail" if counts["fails"] != 1 else "1 fails"
    unfitted = f", and {counts['not fitted']} could not be judged" if counts["not fitted"] else ""
    return f"Of {total} claims, {counts['holds']} hold, {rest}{unfitted}."


def read_committed(folder: Path) -> Committed:
    """The claims under ``folder``, one subfolder a study; what cannot be read is left out."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for file in sorted(Path(folder).glob("*/claims.json")):
        try:
            stored = json.loads(file.read_text(encoding="utf-8"))
            found[str(stored["study"])] = {str(claim["id"]): claim for claim in stored["claims"]}
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found


def _page(results: Sequence[StudyResult], views: Sequence[Mapping[str, Any]], committed: Committed | None) -> str:
    if not results:
        raise InputError("a page of all studies needs at least one.")
    return render(
        "overview.html.j2",
        views=[
            _chapter(result, view, (committed or {}).get(result.study.name, {}))
            for result, view in zip(results, views, strict=True)
        ],
        scale=results[0].scale,
        answer=overall(results),
        signs=SIGN,
    )


def _chapter(
    result: StudyResult, view: Mapping[str, Any], committed: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    return located(view, f"{file_name(result.study.name)}/") | {
        "folder": file_name(result.study.name),
        "lead": lead_chart(result, view),
        "counts": list(result.counts().items()),
        "failed": [row for row in view["claims"] if row["status"] != "holds"],
        "ran": _ran(result),
        "committed": [
            _beside(claim, committed[claim.claim.id]) for claim in result.claims if claim.claim.id in committed
        ],
    }


def _ran(result: StudyResult) -> str:
    """Members, device and computing time in one sentence."""
    runs = list(result.provenance.values())
    members = sum(int(run.get("members") or 0) for run in runs)
    devices = sorted({str(run.get("device")) for run in runs if run.get("device")})
    trained = f"{members} members in {len(runs)} runs" if members else f"{len(runs)} runs"
    where = f" on {' and '.join(devices)}" if devices else ""
    return f"{trained}{where}, {computing(result.provenance)} of computing."


def _beside(claim: Any, before: Mapping[str, Any]) -> dict[str, str]:
    return {
        "sentence": claim.claim.sentence,
        "published": published_text(claim),
        "committed": _figure(before),
        "committed_status": str(before.get("status", "")),
        "measured": measured_text(claim),
        "status": claim.status,
    }


def _figure(before: Mapping[str, Any]) -> str:
    mean, low, high = (before.get(name) for name in ("measured", "low", "high"))
    if not isinstance(mean, int | float):
        return "–"
    if not (isinstance(low, int | float) and isinstance(high, int | float)):
        return number(mean)
    digits = decimals_for(low, high)
    return f"{number(mean, digits)} [{number(low, digits)}, {number(high, digits)}]"
