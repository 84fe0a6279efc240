"""A study: a paper as data — settings, tables, figures and claims, at three scales."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, TypeVar

import polars as pl

from recombine.errors import InputError, unknown
from recombine.result import Result
from recombine.runs import Run, StoredRun
from recombine.runs.training import TrainingRun
from recombine.studies.claims import WHOSE, Claim, ClaimResult, Status, Whose
from recombine.studies.faithful import Faithful, Shares
from recombine.studies.notes import Notes
from recombine.studies.readings import Tables
from recombine.studies.recording import to_the_end
from recombine.studies.variation import asked, changes
from recombine.training.precision import Precision

Scale = Literal["smoke", "quick", "paper"]
SCALES: tuple[Scale, ...] = ("smoke", "quick", "paper")
STATUSES: tuple[Status, ...] = ("holds", "fails", "open", "not fitted", "not run")
Size = TypeVar("Size")
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")
"""What a study may be called: the name becomes that of a folder."""

Label = str | int | float | bool | None


@dataclass(frozen=True)
class Setting:
    """A run with labels, which become columns of every table that the run gives. A list has one value per member.

    ``faithful`` is the paper's own setting, where the paper has it."""

    run: Run
    labels: Mapping[str, Label | Sequence[Label]] = field(default_factory=dict)
    faithful: Faithful | None = None


Rows = str | Callable[[StoredRun, Setting], "pl.DataFrame | None"] | tuple[Any, ...]
"""What a table keeps of a run: one of the run's own tables by name, or what a function makes of them (None: nothing);
or such a function and the names of the tables without which it is not asked."""
Derived = tuple[Any, ...]
"""A function and the names of the tables that it is given; left out where one of them is missing."""


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
    """A picture of a study: which rows of which table it shows, and how they are drawn, as an Altair chart.

    `recombine.studies.charts` makes the usual ones from names of columns. A study fills an empty caption in from its
    notes."""

    id: str
    title: str
    caption: str
    table: str
    draw: Callable[[pl.DataFrame], Any]
    rows: Callable[[pl.DataFrame], pl.DataFrame] = lambda table: table
    """What of the table is drawn; saved beside the picture."""
    finding: Callable[[pl.DataFrame], str] = lambda rows: ""
    """What these rows show, as a sentence computed from them, so that it stays true; empty where they show nothing."""

    def heading(self, rows: pl.DataFrame) -> str:
        """What stands above the figure: what it shows, where that is known, else what it is of."""
        return self.finding(rows) or self.title


@dataclass(frozen=True)
class Study(Generic[Size]):
    """Declared settings, what is kept of their runs, what is derived from that, the figures, and the claims."""

    name: str
    title: str
    question: str
    paper: Paper | None
    """None where the study asks what the others say together."""
    scales: Mapping[Scale, Size]
    """What the scales differ in."""
    settings: Callable[[Size, int | None], Mapping[str, Setting]]
    """The settings at a size, by name of their run, the most telling first; the second argument overrides the number of
    members."""
    tables: Mapping[str, Rows]
    claims: tuple[Claim, ...]
    figures: tuple[Figure, ...] = ()
    derived: Mapping[str, Derived] = field(default_factory=dict)
    """Tables made of tables, in order."""
    notes: Notes = field(default_factory=Notes)
    """Where our setting differs from the paper's, captions, and why claims do not hold: prose, beside the code."""
    says: str = ""
    """What the paper says, in one sentence."""
    lead: str = ""
    """The figure that stands for the study where there is room for one; the first where nothing is said."""
    in_short: Callable[[pl.DataFrame], pl.DataFrame] = lambda rows: rows
    """Which of that figure's rows are drawn where there is little room: what a stranger takes in at a glance."""
    precision: Precision = "float32"
    """In which its trainings are run, those of its settings that name none; another is another set of runs."""
    file: str = ""
    """The name of the file it was found in, where it is in no package; `find_study` fills it in."""
    made_of: Study[Size] | None = field(default=None, repr=False, compare=False)
    """The study as it was first declared, itself until `dataclasses.replace` makes another of it: nobody names it."""

    def __post_init__(self) -> None:
        if self.made_of is None:
            object.__setattr__(self, "made_of", self)
        said = (f if f.caption else replace(f, caption=self.notes.captions.get(f.id, "")) for f in self.figures)
        object.__setattr__(self, "figures", tuple(said))
        if silent := [figure.id for figure in self.figures if not figure.caption]:
            raise InputError(f"the figure {silent[0]!r} has no caption; give it one, or write it into the notes.")
        self._check_names()

    def _check_names(self) -> None:
        """What is misspelt is said before anything is trained, and no name becomes a path."""
        if not NAME.fullmatch(self.name):
            raise InputError(f"a study cannot be called {self.name[:80]!r}; use a-z, 0-9 and '-'.")
        for kind, names in (("claim", [c.id for c in self.claims]), ("figure", [f.id for f in self.figures])):
            if twice := [name for name in names if names.count(name) > 1]:
                raise InputError(f"{self.name}: two {kind}s are called {twice[0]!r}.")
        tables = [*self.tables, *self.derived]
        for what, of in (("claim", {c.id: c.test.tables for c in self.claims}),
                         ("figure", {f.id: {f.table} for f in self.figures})):  # fmt: skip
            for name, reads in of.items():
                for table in reads - set(tables):
                    raise unknown(f"table in {what} {name!r} of {self.name}:", table, tables)
        for name in self.notes.reasons:
            if name not in {claim.id for claim in (*self.claims, *self.original.claims)}:
                raise unknown(f"claim in the notes of {self.name}:", name, [claim.id for claim in self.claims])

    @property
    def original(self) -> Study[Size]:
        """The study that this was made of by `dataclasses.replace`; itself where there is none."""
        return self if self.made_of is None else self.made_of

    @property
    def varies(self) -> Study[Size] | None:
        """The original, where this one changes what is run or kept of it: what holds here says nothing of that."""
        before = self.original
        same = (getattr(self, name) == getattr(before, name) for name in ("scales", "settings", "tables", "derived"))
        return None if all(same) else before

    def planned(self, scale: Scale, members: int | None = None) -> Mapping[str, Setting]:
        """The settings at a scale; one that the study does not have is refused. What is recorded at the end of a
        training, or would be after it, a variation with other steps records at its own end."""
        if scale not in self.scales:
            raise InputError(f"{self.name} has the scales {', '.join(self.scales)}, not {scale!r}.")
        found = self.settings(self.scales[scale], members)
        if (before := self.varies) is not None:
            old = before.runs(scale, members) if scale in before.scales else {}
            found = {name: replace(s, run=to_the_end(s.run, old.get(name))) for name, s in found.items()}
        if self.precision == "float32":
            return found
        rounded = {n: s.run.replace(precision=self.precision) for n, s in found.items() if _unrounded(s.run)}
        return {name: replace(setting, run=rounded.get(name, setting.run)) for name, setting in found.items()}

    def only(self, names: Collection[str]) -> Study[Size]:
        """The study with the settings of these runs alone; its claims are asked of all of them."""

        def chosen(size: Size, members: int | None) -> dict[str, Setting]:
            found = self.settings(size, members)
            if not names:
                raise InputError(f"no run is named; {self.name} has {', '.join(list(found)[:6])} …")
            for name in names:
                if name not in found:
                    raise unknown(f"run of {self.name} at this scale:", name, list(found))
            return {name: setting for name, setting in found.items() if name in names}

        return replace(self, settings=chosen)

    def runs(self, scale: Scale, members: int | None = None) -> dict[str, Run]:
        """The runs at a scale, by name."""
        return {name: setting.run for name, setting in self.planned(scale, members).items()}

    def judge(self, tables: Tables, settings: Mapping[str, Setting]) -> tuple[ClaimResult, ...]:
        """Every claim, from tables alone."""
        shares = shares_of(settings)
        known = self.varies.claims if self.varies else ()
        judged = (_evaluated(claim, tables, shares, any(claim is one for one in known)) for claim in self.claims)
        # Reasons were written under other figures than those of a variation.
        told = (replace(r, absent=self._absent(r.claim)) if r.status == "not run" else r for r in judged)
        notes = Notes() if self.varies and self.notes is self.varies.notes else self.notes
        return tuple(result.explained(*notes.of(result.claim.id)) for result in told)

    def _absent(self, claim: Claim) -> str:
        """Which label that a claim asks for no run has, at any scale, and those that there are, in a sentence."""
        every: dict[str, list[Any]] = {}
        for size in self.scales.values():
            for setting in self.settings(size, None).values():
                for name, value in setting.labels.items():
                    each = [value] if isinstance(value, str) or not isinstance(value, Sequence) else value
                    every.setdefault(name, []).extend(each)
        for name, value in (w for quantity in claim.test.quantities for w in quantity.wanted):
            if name in every and value is not None and value not in every[name]:
                there = ", ".join(repr(found) for found in list(dict.fromkeys(every[name]))[:12])
                return f"No run has the label {name} = {value!r}, at any scale; there are: {there}."
        return ""


def address_of(addresses: Iterable[str]) -> str:
    """One address for several runs: SHA-256 of theirs, sorted, one a line."""
    return hashlib.sha256("".join(f"{address}\n" for address in sorted(set(addresses))).encode()).hexdigest()


def _unrounded(run: Run) -> bool:
    return isinstance(run, TrainingRun) and run.precision == "float32"


def _evaluated(claim: Claim, tables: Tables, shares: Mapping[str, Shares], taken: bool = False) -> ClaimResult:
    """A claim judged; a column that is not there is the study's fault, and said so. A claim that was ``taken`` over
    into a variation is one of runs that are not there."""
    try:
        return claim.evaluate(tables, shares)
    except pl.exceptions.ColumnNotFoundError as error:
        if taken:
            return claim.evaluate({}, shares)
        columns = "; ".join(f"{n} has {', '.join(tables[n].columns)}" for n in sorted(claim.test.tables) if n in tables)
        reason = str(error).splitlines()[0].partition(";")[0]
        raise InputError(f"the claim {claim.id!r} cannot be read from the tables: {reason}; {columns}. What was run is "
                         "stored, so that asking again runs nothing twice.") from error  # fmt: skip
    except (pl.exceptions.PolarsError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"the claim {claim.id!r} cannot be read from the tables: {reason}") from error


def shares_of(settings: Mapping[str, Setting]) -> dict[str, Shares]:
    """How much of the paper's setting each run has, where the paper has it."""
    return {name: s.faithful.shares(s.run) for name, s in settings.items() if s.faithful is not None}


def counted(counts: Mapping[str, int], whose: Whose, varied: bool = False) -> list[str]:
    """How many claims hold, fail and could not be judged, as a sentence; none where there are none. ``varied``: asked
    of other runs than the study's that declares them."""
    total = sum(counts.values())
    if not total:
        return []
    what = WHOSE[whose] if total > 1 else WHOSE[whose].replace("s of", " of")
    what += ", asked of a variation," if varied else ""
    words = [f"{counts['holds']} hold{'s' if counts['holds'] == 1 else ''}"]
    if failed := counts["fails"]:
        words.append(f"{failed} fail{'s' if failed == 1 else ''}")
    if left := counts["open"]:
        words.append(f"{left} {'is' if left == 1 else 'are'} open (the mean would do, its interval is "
                     "too wide)")  # fmt: skip
    if unfitted := counts["not fitted"]:
        words.append(f"{unfitted} could not be judged (too few members fitted or were there)")
    if awaited := counts["not run"]:
        words.append(f"{awaited} {'was' if awaited == 1 else 'were'} not run {'here' if varied else 'at this scale'}")
    joined = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
    return [f"Of {total} {what} {joined}."]


@dataclass(frozen=True)
class StudyResult(Result):
    """A study that was run: its claims with their status, its tables, and where everything came from."""

    kind: ClassVar[str] = "study"

    study: Study[Any]
    scale: Scale
    claims: tuple[ClaimResult, ...]
    tables: Tables
    provenance: Mapping[str, Mapping[str, Any]]
    """For each run by name: address, members, device, strategy, wall seconds, peak memory, versions, commit …"""
    members: int | None = None
    """The number of members asked for, where it was not the scale's own."""

    @property
    def seconds(self) -> float:
        """How long its runs took to compute, whenever that was."""
        return sum(float(run.get("seconds") or 0.0) for run in self.provenance.values())

    @property
    def address(self) -> str:
        """SHA-256 over the addresses of its runs, whatever they are called."""
        return address_of(str(run.get("address")) for run in self.provenance.values())

    @cached_property
    def changes(self) -> tuple[str, ...]:
        """What its study changes of the one that it was made of."""
        return changes(self.study, self.scale, self.members)

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """What the number of members and the precision that were asked for change of its runs."""
        return asked(self.study, self.scale, self.members)

    @property
    def command(self) -> str:
        """How it is made again. A file is named without its folders, which may lie elsewhere on another machine; a
        study that was made in Python, of another, has no command."""
        if (before := self.study.varies) is not None and not self.study.file:
            asked = f"{self.scale!r}, members={self.members}" if self.members else f"{self.scale!r}"
            return f"rc.run_study(STUDY, {asked})  # STUDY: {self.study.name}, made in Python of {before.name}"
        name = f"./{self.study.file}" if self.study.file else self.study.name
        more = f" --members {self.members}" if self.members else ""
        more += f" --precision {self.study.precision}" * (self.study.precision != "float32")
        return f"recombine study run {name} --scale {self.scale}{more}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.sentence()}>"

    def sentence(self) -> str:
        """How many claims hold, in a few words."""
        return f"{self.study.name} at {self.scale} scale. {self.verdict()}"

    def verdict(self) -> str:
        """How many claims of the paper hold, and how many questions of ours, made of nothing but the counts."""
        told = []
        for whose in WHOSE:
            told += counted(self.counts(whose), whose, varied=self.study.varies is not None)
            mine = [claim for claim in self.claims if claim.claim.whose == whose and claim.status == "holds"]
            beside = [claim for claim in mine if claim.claim.published is not None]
            if whose == "paper" and beside:  # ours stand beside a published figure by exception
                matched = sum(claim.how == "value matched" for claim in beside)
                told.append(f"{matched} of the {len(beside)} that hold beside a published figure match its value.")
        return " ".join(told) or "This study declares no claims."

    def counts(self, whose: Whose | None = None) -> dict[str, int]:
        """How many claims hold, fail, are open, were not fitted and not run: the paper's, ours, or all."""
        statuses = [claim.status for claim in self.claims if whose in (None, claim.claim.whose)]
        return {status: statuses.count(status) for status in STATUSES}

    def to_frame(self) -> pl.DataFrame:
        rows = [claim.to_dict() for claim in self.claims]
        flat = [{**row, "everyone": str(row["everyone"]), "shares": str(row["shares"])} for row in rows]
        return pl.DataFrame(flat, infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": 2,
            "study": self.study.name,
            "scale": self.scale,
            "seconds": round(self.seconds, 3),
            **({"changes": list(self.changes)} if self.changes else {}),
            "claims": [claim.to_dict() for claim in self.claims],
        }
