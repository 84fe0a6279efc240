"""The problems of one subroutine: what its masks are trained on, chosen on and measured on, kept apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from recombine.errors import InputError
from recombine.structure.calling import as_problems
from recombine.tasks import Draws, Family, Problems
from recombine.tasks.odd_one_out import Source, build

SHARES = (0.6, 0.2, 0.2)
"""How one table of problems is parted: to train masks on, to choose settings on, to measure on."""
FEWEST = 10


@dataclass(frozen=True, eq=False)
class Subroutine:
    """Masks are trained on ``train`` and pass on ``passing``, other problems of the same kind. ``validation``, on which
    a setting is chosen, and ``test``, on which it is measured, are problems that need this subroutine and hold the
    others still: a model without the others still answers them, a model without this one does not."""

    name: str
    train: Problems
    passing: Problems
    validation: Problems
    test: Problems

    @cached_property
    def answers(self) -> tuple[int, ...]:
        """The answers that its problems have."""
        parts = (self.train, self.passing, self.validation, self.test)
        return tuple(torch.cat([part.targets.reshape(-1).cpu() for part in parts]).unique().tolist())

    @classmethod
    def of(cls, name: str, asked: Any, learn: Any = None, seed: int = 0) -> Subroutine:
        """A subroutine from one or two tables of problems, parted at random by rows.

        ``asked`` is what is measured. Masks are trained on ``learn`` where it is given; otherwise on a part of
        ``asked`` that nothing is measured on."""
        if isinstance(asked, Subroutine):
            return asked
        problems = as_problems(asked)
        if learn is None:
            train, passing, test = parted(problems, SHARES, seed, name)
            return cls(name, train, passing, passing, test)
        validation, test = parted(problems, (0.5, 0.5), seed, name)
        train, passing = parted(as_problems(learn), (0.8, 0.2), seed, f"{name} to learn")
        return cls(name, train, passing, validation, test)


def parted(problems: Problems, shares: tuple[float, ...], seed: int, name: str) -> list[Problems]:
    """The problems in parts, every row in one of them."""
    count = len(problems)
    if count < FEWEST * len(shares):
        raise InputError(
            f"{name!r} has {count} problems; {FEWEST * len(shares)} or more are needed to train, choose and measure "
            "on different ones."
        )
    order = Draws.single(seed, f"parts {name}").uniform((count,), torch.float64).argsort()
    ends = [round(count * sum(shares[: i + 1])) for i in range(len(shares))]
    return [problems.rows(order[first:last]) for first, last in zip([0, *ends], ends, strict=False)]


def seen(shown: Problems, asked: Problems) -> float:
    """The share of problems ``asked`` whose inputs are, number for number, among those of the problems ``shown``."""
    known = set(_rows(shown))
    return sum(row in known for row in _rows(asked)) / len(asked)


def _rows(problems: Problems) -> Iterator[int]:
    """Inputs by their hash: as numbers, those of a picture would fill the memory."""
    parts = [part.detach().cpu() for part in problems.parts]
    for i in range(len(problems)):
        yield hash(tuple(part[i].double().numpy().tobytes() for part in parts))


def subroutines_of(
    source: Source, *, problems: int = 2000, asked: int = 300, free: bool = True, seed: int = 0, device: str = "cpu"
) -> tuple[Subroutine, ...]:
    """The subroutines of an odd-one-out source, one per rule (Lepori et al. 2023).

    Masks are trained on problems in which the other rules are kept or broken at random; what they do is measured on
    partitions, in which the odd item breaks one rule and nothing else. No item of a finite source is in two splits."""
    found = []
    for rule in source.rules:
        learn = Family(asks="subroutine", of=rule, free=free)
        partition = Family(asks="partition", of=rule)
        found.append(
            Subroutine(
                rule,
                train=build(source, learn, problems, split="train", seed=seed, device=device),
                passing=build(source, learn, asked, split="validation", seed=seed, device=device),
                validation=build(source, partition, asked, split="validation", seed=seed, device=device),
                test=build(source, partition, asked, split="test", seed=seed, device=device),
            )
        )
    return tuple(found)
