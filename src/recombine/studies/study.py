"""A study: a paper as data — runs, tables, figures and claims, at three scales."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from recombine.result import Result
from recombine.studies.claims import Claim, ClaimResult, Tables

if TYPE_CHECKING:
    import polars as pl

    from recombine.runs import Run, StoredRun

Scale = Literal["smoke", "quick", "paper"]
SCALES: tuple[Scale, ...] = ("smoke", "quick", "paper")


@dataclass(frozen=True)
class Paper:
    """What is reproduced, so that a reader can find and cite it."""

    title: str
    authors: str
    year: int
    venue: str
    url: str = ""


@dataclass(frozen=True)
class Figure:
    """A picture of a study: which rows of which table it shows, and how they are drawn, as an Altair chart."""

    id: str
    title: str
    caption: str
    table: str
    draw: Callable[[pl.DataFrame], Any]
    rows: Callable[[pl.DataFrame], pl.DataFrame] = lambda table: table
    """What of the table is drawn; saved beside the picture."""


@dataclass(frozen=True)
class Study:
    """Declared runs, how their results become the study's tables, the figures, and the claims."""

    name: str
    title: str
    question: str
    paper: Paper | None
    """None where the study asks what the others say together."""
    runs: Callable[[Scale, int | None], Mapping[str, Run]]
    """The runs at a scale, by name; the second argument overrides the number of members."""
    tables: Callable[[Mapping[str, StoredRun]], dict[str, pl.DataFrame]]
    claims: tuple[Claim, ...]
    figures: tuple[Figure, ...]
    deviations: tuple[str, ...] = ()
    """Where our setting differs from the paper's, or the paper leaves it open."""
    says: str = ""
    """What the paper says, in one sentence."""
    lead: str = ""
    """The figure that stands for the study where there is room for one; the first where nothing is said."""
    in_short: Callable[[pl.DataFrame], pl.DataFrame] = lambda rows: rows
    """Which of that figure's rows are drawn where there is little room: what a stranger takes in at a glance."""
    within: str = ""
    """The study whose runs and claims include these, where there is one: a reproduction of all runs that one."""


@dataclass(frozen=True)
class StudyResult(Result):
    """A study that was run: its claims with their status, its tables, and where everything came from."""

    kind: ClassVar[str] = "study"

    study: Study
    scale: Scale
    claims: tuple[ClaimResult, ...]
    tables: Tables
    provenance: Mapping[str, Mapping[str, Any]]
    """For each run by name: address, members, device, strategy, wall seconds, peak memory, versions, commit …"""
    seconds: float
    command: str
    notes: tuple[str, ...] = ()
    """What a reader must know of this run of the study, such as what was made smaller for the scale."""
    members: int | None = None
    """The number of members asked for, where it was not the scale's own."""

    def sentence(self) -> str:
        """How many claims hold, in one sentence."""
        held, failed, unfitted = self.counts().values()
        found = f"{held} hold, {failed} fail and {unfitted} could not be judged"
        return f"{self.study.name} at {self.scale} scale: of {len(self.claims)} claims {found}."

    def counts(self) -> dict[str, int]:
        """How many claims hold, fail, and were not fitted."""
        statuses = [claim.status for claim in self.claims]
        return {status: statuses.count(status) for status in ("holds", "fails", "not fitted")}

    def to_frame(self) -> pl.DataFrame:
        import polars as pl

        return pl.DataFrame([claim.to_dict() for claim in self.claims], infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "study": self.study.name,
            "scale": self.scale,
            "seconds": round(self.seconds, 3),
            "claims": [claim.to_dict() for claim in self.claims],
        }
