"""Options that several verbs share, said once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

Scale = Annotated[
    Literal["smoke", "quick", "paper"],
    Parameter(help="smoke: seconds, for tests; quick: minutes on two cores; paper: hours without a GPU."),
]
Members = Annotated[int | None, Parameter(help="Train this many members instead of the scale's own number.")]
Device = Annotated[str, Parameter(help="auto, cpu or cuda.")]
StorePath = Annotated[Path, Parameter(name="--store", env_var="RECOMBINE_STORE", help="The directory of the store.")]
Out = Annotated[Path, Parameter(name="--out", help="Where the page, figures and tables are written.")]
Json = Annotated[bool, Parameter(name="--json", negative=(), help="Print one JSON object and nothing else.")]
FailOn = Annotated[
    list[Literal["fails", "not fitted"]] | None,
    Parameter(name="--fail-on", help="Exit with 1 where a claim has this status."),
]

STORE = Path(".recombine")
OUT = Path("recombine-report")
