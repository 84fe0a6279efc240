"""What some tasks can do and others cannot. A measure asks for what it needs: ``isinstance(task, SaysLevels)``."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from torch import Tensor

from recombine.tasks.sprites.compose import Composition


@runtime_checkable
class SaysLevels(Protocol):
    """Its answers hold scores for the levels of every factor."""

    def says(self, outputs: Tensor) -> tuple[Tensor, ...]:
        """From outputs to the scores (… × levels) of each factor."""


@runtime_checkable
class AnswersInParts(Protocol):
    """Its answers have a part for every component, side by side."""

    def answer_part(self, component: int) -> slice:
        """The places of an output's last dimension that answer a component."""


@runtime_checkable
class HasComponents(Protocol):
    """What it shows is made of components that can be told."""

    def components(self, points: Tensor) -> Tensor:
        """The true components (… × K × cells × channels) of points."""


@runtime_checkable
class Composed(HasComponents, Protocol):
    """What it shows is its components, put together by a function that it names."""

    @property
    def composition(self) -> Composition: ...


@runtime_checkable
class OnBackground(Protocol):
    """Its pictures show things before a background of one brightness."""

    @property
    def background(self) -> float: ...


@runtime_checkable
class Pictures(Protocol):
    """It shows square pictures."""

    @property
    def side(self) -> int:
        """Cells along an edge."""
