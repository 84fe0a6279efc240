"""Why a run failed, kept beside the store's runs until it succeeds."""

from __future__ import annotations

import json
import logging
import traceback
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from recombine.runs import files
from recombine.runs.layout import why
from recombine.runs.run import Run, plain
from recombine.runs.store import Store

if TYPE_CHECKING:
    from recombine.runs.files import Location

log = logging.getLogger("recombine.runs")


def keep_failure(store: Store, run: Run, error: BaseException) -> None:
    """Write type, message and traceback. Where they cannot be written that is logged: the error itself matters more."""
    record = {
        "schema": 1,
        "address": run.address,
        "description": run.describe(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "type": type(error).__name__,
        "message": str(error),
        "traceback": "".join(traceback.format_exception(error)),
    }
    try:
        path = _path(store, run)
        files.make(path.parent)
        files.write(path, json.dumps(plain(record), indent=1, ensure_ascii=False).encode())
    except OSError as problem:
        log.warning("why the run %s failed cannot be kept: %s", run.address[:12], why(problem))


def failure(store: Store, run: Run) -> dict[str, Any] | None:
    """The kept reason of a run's last failure, or None."""
    data = files.read_optional(_path(store, run))
    try:
        record = None if data is None else json.loads(data)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def forget_failure(store: Store, run: Run) -> None:
    """Delete the reason, if there is one."""
    with suppress(OSError):
        files.remove(_path(store, run))


def _path(store: Store, run: Run) -> Location:
    return store.root / "failed" / f"{run.address}.json"
