"""Options that several verbs share, said once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter, Token

from recombine.errors import InputError

Scale = Annotated[
    Literal["smoke", "quick", "paper"],
    Parameter(help="smoke: seconds, for tests; quick: minutes on two cores; paper: hours without a GPU."),
]


def _whole(_type: object, tokens: Sequence[Token]) -> int:
    # Cyclopts would cut 2.5 down to 2.
    try:
        return int(tokens[0].value)
    except ValueError:
        raise InputError(f"the number of members must be a whole number, got {tokens[0].value[:80]!r}.") from None


Members = Annotated[
    int | None, Parameter(converter=_whole, help="Train this many members instead of the scale's own number.")
]
Device = Annotated[str, Parameter(help="auto, cpu or cuda.")]
On = Annotated[
    str,
    Parameter(
        name="--on",
        help="Where runs are computed: here, processes (one a core), processes:4, ray (this machine, or the cluster of "
        "RAY_ADDRESS) or ray://HOST:PORT. The tables are the same.",
    ),
]
DryRun = Annotated[
    bool,
    Parameter(
        name="--dry-run",
        negative=(),
        help="Say what would be computed, how long it might take and in how much memory; write nothing.",
    ),
]
StorePath = Annotated[
    str,
    Parameter(
        name="--store", env_var="RECOMBINE_STORE", help="The directory of the store, or a URL such as s3://bucket/path."
    ),
]
Out = Annotated[Path, Parameter(name="--out", help="Where the page, figures and tables are written.")]
MaxRows = Annotated[int, Parameter(help="Refuse a file with more rows, before it is expanded.")]
MaxBytes = Annotated[int, Parameter(help="Refuse a file that is larger, or would be once it is decompressed.")]
Json = Annotated[bool, Parameter(name="--json", negative=(), help="Print one JSON object and nothing else.")]
FailOn = Annotated[
    list[Literal["fails", "not fitted"]] | None,
    Parameter(name="--fail-on", help="Exit with 1 where a claim has this status."),
]

STORE = ".recombine"
OUT = Path("recombine-report")
