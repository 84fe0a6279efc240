"""Does the theorem of First Principles promise generalization here? Its assumptions, computed, and the verdict.

The theorem is sufficient only: where it promises nothing a model may still generalize. What each assumption says is in
`assumptions`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from recombine.checks.theorem.assumptions import Assumption, compositional, connected, differentiable, known, sufficient
from recombine.checks.theorem.compositional_support import Marginal
from recombine.checks.theorem.connected_support import Connectedness
from recombine.checks.theorem.sufficient_support import ComponentSupport
from recombine.result import Result

if TYPE_CHECKING:
    import polars as pl

SCHEMA = 1
ALL = ("A0", "A1", "A2", "A3", "A4")
OF_THE_SUPPORT = ("A2", "A3", "A4")


@dataclass(frozen=True, eq=False)
class TheoremResult(Result):
    """What `check_theorem` found."""

    kind: ClassVar[str] = "theorem"

    composition: str
    differentiable: bool | None
    """Whether the composition says that it can be differentiated."""
    smooth: bool | None
    """Whether the components can."""
    same: bool | None
    """Whether it is the composition that made the data; None where that was not asked."""
    blocks: tuple[Marginal, ...]
    factors: tuple[Marginal, ...]
    components: tuple[ComponentSupport, ...] = field(repr=False)
    connected: Connectedness
    layout: tuple[int, int] | None = None
    """Rows and columns of cells, where they form a picture."""
    initial_error: float | None = None
    """How far the learned components are from the true ones at the initial point, relative; None before training."""
    settings: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def promises(self) -> bool:
        """Whether no assumption fails."""
        return all(a.holds is not False for a in self.assumptions)

    @cached_property
    def assumptions(self) -> tuple[Assumption, ...]:
        """A0 to A4, with A3 once for each component."""
        c, cell = self.composition.replace("_", " "), "cell" if self.layout is None else "pixel"
        return (
            *([] if self.same is None else [known(c, self.same)]),
            differentiable(c, self.differentiable, self.smooth),
            compositional(self.blocks, self.factors),
            *(sufficient(component, c, cell) for component in self.components),
            connected(self.connected, [m.name for m in self.blocks], self.initial_error),
        )

    @property
    def verdict(self) -> str:
        """The answer in plain words: the promise, or every assumption that fails and where."""
        failed = [a for a in self.assumptions if a.holds is False]
        if not failed:
            given = [a.words for a in self.assumptions if a.holds is None]
            condition = f", given that {' and that '.join(given)}" if given else ""
            return f"The theorem promises generalization under {self.composition.replace('_', ' ')}{condition}."
        words = "The theorem promises nothing here: " + "; ".join(f"{a.id} fails {a.words}" for a in failed) + "."
        if any(a.id in OF_THE_SUPPORT for a in failed):
            return words
        return words + " What it asks of the support, A2 to A4, holds."

    def row(self, **labels: Any) -> dict[str, Any]:
        """One row of a table of verdicts: labels such as the support's name, each assumption, ranks and strength."""
        found: dict[str, Any] = {**labels, "composition": self.composition, "promises": self.promises}
        for name in ALL:
            holds = [a.holds for a in self.assumptions if a.id == name]
            found[name] = False if False in holds else None if None in holds or not holds else True
        for component in self.components:
            found |= {
                f"{component.name} rank low": int(component.summed.min()),
                f"{component.name} rank high": int(component.summed.max()),
                f"{component.name} full": component.full,
                f"{component.name} stacked": component.solvable,
                f"{component.name} weakest": float(component.weakest.min()),
            }
        return found | {"verdict": self.verdict}

    def to_frame(self) -> pl.DataFrame:
        """One row a component and sampled value: conditioning points, ranks and smallest singular values."""
        import polars as pl

        parts = [
            pl.DataFrame(
                {
                    "component": [c.name] * len(c.summed),
                    "value": np.arange(len(c.summed)),
                    "points": c.points,
                    "full": [c.full] * len(c.summed),
                    "summed": c.summed,
                    "stacked": c.stacked,
                    "weakest": c.weakest,
                    "weakest_stacked": c.weakest_stacked,
                }
            )
            for c in self.components
        ]
        return pl.concat(parts)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the maps, as plain JSON values."""
        return {
            "schema": SCHEMA,
            "verdict": self.verdict,
            "promises": self.promises,
            "composition": self.composition,
            "assumptions": [vars(a) for a in self.assumptions],
            "blocks": [_plain(vars(m)) for m in self.blocks],
            "factors": [_plain(vars(m)) for m in self.factors],
            "components": [_component(c) for c in self.components],
            "connected": _plain(vars(self.connected)),
            "initial_error": self.initial_error,
            "layout": None if self.layout is None else list(self.layout),
            "settings": self.settings,
        }


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {k: _lists(v) for k, v in values.items()}


def _lists(value: Any) -> Any:
    return [_lists(v) for v in value] if isinstance(value, tuple) else value


def _component(component: ComponentSupport) -> dict[str, Any]:
    return {
        "name": component.name,
        "full": component.full,
        "holds": component.holds,
        "solvable": component.solvable,
        "summed": component.summed.tolist(),
        "stacked": component.stacked.tolist(),
        "weakest": component.weakest.tolist(),
        "weakest_stacked": component.weakest_stacked.tolist(),
        "points": component.points.tolist(),
        "cells_always_missing": int((component.share_missing == 1).sum()),
    }


__all__ = ["Assumption", "TheoremResult"]
