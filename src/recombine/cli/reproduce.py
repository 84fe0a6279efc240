"""`recombine reproduce`: every study, one after the other."""

from __future__ import annotations

import json
import time

from recombine.cli.options import OUT, STORE, Device, FailOn, Json, Members, Out, Scale, StorePath


def reproduce(
    *,
    scale: Scale = "quick",
    members: Members = None,
    device: Device = "auto",
    store: StorePath = STORE,
    out: Out = OUT,
    as_json: Json = False,
    fail_on: FailOn = None,
) -> int:
    """Run every study at a scale, write their pages, and say which claims hold.

    Example: recombine reproduce --scale quick --out report"""
    from recombine.cli.progress import study_progress
    from recombine.cli.study import check_writable, print_claims
    from recombine.reporting import write_study
    from recombine.runs import Store
    from recombine.studies import STUDIES, conduct

    started = time.monotonic()
    opened = Store(store)
    check_writable(out)
    planned = [(study.name, study.runs(scale, members)) for study in STUDIES.values()]
    results, pages = [], []
    with study_progress(planned, quiet=as_json) as (progress, on_done):
        for study in STUDIES.values():
            result = conduct(
                study, scale, store=opened, members=members, device=device, progress=progress, on_done=on_done
            )
            results.append(result)
            pages.append(write_study(result, out / study.name))
    seconds = time.monotonic() - started
    if as_json:
        studies = [{**result.to_dict(), "page": str(page)} for result, page in zip(results, pages, strict=True)]
        answer = {"schema": 1, "scale": scale, "seconds": round(seconds, 3), "studies": studies}
        print(json.dumps(answer, ensure_ascii=False, allow_nan=False))
    else:
        print_claims(results)
        counts = {status: sum(result.counts()[status] for result in results) for status in results[0].counts()}
        print("\n" + ", ".join(f"{count} {status}" for status, count in counts.items()) + f" — {seconds:.0f} s")
        for page in pages:
            print(page)
    return int(any(result.counts()[status] for result in results for status in fail_on or ()))
