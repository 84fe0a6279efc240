"""What follows where answers drift over an order that nobody named: a wider forecast, and what is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from recombine.checks.as_read import per_cent, shown
from recombine.checks.asked.queries_asked import Asked
from recombine.checks.columns.drifting import drifting
from recombine.checks.columns.unnamed import MOST_ROWS
from recombine.checks.exact.identifiability import DETERMINED
from recombine.checks.forecasts.widened import widened
from recombine.checks.given import Given
from recombine.checks.headed import Headed
from recombine.checks.judging import Judged
from recombine.checks.rules.drifted import Drift


def with_drift(
    table: Any, given: Given, asked: Asked, judged: Judged, order: int, said: Sequence[str], how: dict[str, Any]
) -> tuple[Judged, list[str]]:
    """What is judged, and a note where none was ``said`` of the same drift."""
    told = judged.forecast
    if told is None or given.train.rows > MOST_ROWS:
        return judged, []
    drift = drifting(table, given.train, given.blocks, order, told.scale, **how)
    if drift is None:
        return judged, []
    wider = widened(told, drift, asked.codes[asked.status == DETERMINED].astype("int64"))
    headed = [note for note in said if isinstance(note, Headed)]
    again = any(
        note.along_rows if not drift.column else note.moving and note.moving.name == drift.column for note in headed
    )
    return replace(judged, forecast=wider), [] if again else [_words(drift, wider.share, told.error, wider.error)]


def supposed(notes: Sequence[str], judged: Judged) -> list[str]:
    """These notes, without a sentence that supposes no drift over a column where there is one."""
    told = judged.forecast
    over = None if told is None or told.drift is None else told.drift.column
    return [str(note) if isinstance(note, Headed) and note.steady == (over or " ") else note for note in notes]


def _words(drift: Drift, share: bool, before: float, error: float) -> str:
    chance = f"p = {drift.p_value:.1g}" if drift.p_value >= 1e-4 else "p below 0.0001"
    first = f"answers drift over {drift.over}: a line or a bend along it explains {per_cent(drift.share)} of what the "
    first += f"factors leave ({chance}), and {per_cent(drift.alike)} of it goes with {drift.factor}"
    first += f". The forecast would be {shown(before, share)} without it" if error != before else ""
    if not drift.column:
        return (
            f"{first}. If rows stand in the order in which they were run, {drift.to_do}; if in no order of time, "
            "shuffle them and check again."
        )
    return f"{first}. If that is the order in which rows were run, {drift.to_do}; else leave the column out."
