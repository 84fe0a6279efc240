"""What is measured along a training, described: a measure of this package, or any function that can be imported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, cast

from pydantic import Field

from recombine import measures, structure
from recombine.description import Description
from recombine.errors import InputError, unknown
from recombine.identity import identity, is_library
from recombine.runs.run import check_name
from recombine.training import Record

MEASURES: dict[str, Callable[..., Any]] = {
    **{measure.__name__: measure for measure in (
        measures.additivity, measures.boundary, measures.component_influence, measures.composition_shares,
        measures.decision_map, measures.decoded, measures.drawing, measures.effects, measures.embedding,
        measures.factorization, measures.generalization, measures.geometry, measures.hard_answer,
        measures.influence, measures.information, measures.kernel_leak, measures.latent_map, measures.leak,
        measures.lenses, structure.modularity, measures.one_step, measures.per_combination, measures.probes,
        measures.r_squared, measures.recombination, measures.reconstruction, measures.recovery, measures.rendering,
        measures.salience, measures.step_matrix, measures.superposition, measures.swap, measures.transport,
        measures.variance, measures.views,
    )},
    "snap": measures.nearest_seen,
}  # fmt: skip


Argument = float | int | str


class Measured(Description):
    """One measure with its arguments, taken at some steps.

    ``measure`` is one of `MEASURES`, or "package.module:function", which is imported when the run is computed. Such a
    name is only ever taken from a description that a program makes: what a store holds is read as text. The code of a
    function outside of this package is part of the address."""

    kind: ClassVar[str] = "measured"

    measure: str
    at: tuple[int, ...] = (-1,)
    arguments: dict[str, Argument | tuple[Argument, ...]] = Field(default_factory=dict)
    name: str | None = None
    """What its table is called; unless given, as the function is."""

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        at: tuple[int, ...] = (-1,),
        name: str | None = None,
        **arguments: Argument | Sequence[Argument],
    ) -> Measured:
        """A function of (ensemble, task), with more arguments where it takes them."""
        known = next((known for known, of in MEASURES.items() if of is function), None)
        return cls(measure=known or _whereabouts(function), at=at, arguments=arguments, name=name)

    @property
    def table(self) -> str:
        return check_name(self.name or self.measure.rpartition(":")[2])

    def function(self) -> Callable[..., Any]:
        """What measures: called with (ensemble, task), it returns a table."""
        return partial(_imported(self.measure) if ":" in self.measure else _registered(self.measure), **self.arguments)

    def _code(self) -> dict[str, str]:
        if ":" not in self.measure or is_library(self.measure.partition(":")[0]):
            return {}
        try:
            return {"its code": identity(_imported(self.measure))}
        except InputError:
            return {}  # What cannot be imported is said when it is to measure.

    def record(self) -> Record:
        return Record(self.table, self.function(), self.at)


def _registered(name: str) -> Callable[..., Any]:
    if name not in MEASURES:
        raise unknown("measure", name, MEASURES)
    return MEASURES[name]


def _imported(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    try:
        found = getattr(import_module(module), function, None)
    except (ImportError, ValueError) as error:
        raise InputError(f"the measure {name[:80]!r} cannot be imported: {str(error)[:200]}.") from None
    if not callable(found):
        raise InputError(f"the module {module[:80]!r} has no function {function[:80]!r} to measure with.")
    return cast("Callable[..., Any]", found)


def _whereabouts(function: Callable[..., Any]) -> str:
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    # Two programs may each have a function of that name, and a worker has neither.
    if module in (None, "__main__") or not name.isidentifier():
        raise InputError(f"{name or function!r} cannot be found again: write it as a function of a module with a name.")
    return f"{module}:{name}"
