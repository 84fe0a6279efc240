"""A run that dissects networks whose structure is known, because it was built in: what the scores are worth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

from pydantic import Field
from torch import nn

from recombine.description import Description
from recombine.runs.run import Context, Outcome, Run
from recombine.structure import Mask, Network, Protocol, carry_out, planted_negative, planted_positive, subroutines_of
from recombine.structure.planted import Glued
from recombine.structure.scoring import examine
from recombine.tasks import OddOneOutTask, SignProducts


class PlantedRun(Run):
    """``bases`` planted networks; ``network`` is one half of a positive, or what reads either half in a negative.

    The table ``truth`` has the scores of the masks that were planted, ``masks`` those of the masks that are found."""

    kind: ClassVar[str] = "planted"

    source: SignProducts = SignProducts()
    planted: Literal["positive", "negative"]
    network: Description
    bases: int = Field(default=3, ge=1)
    steps: int = Field(default=500, ge=0)
    learn: int = Field(default=512, ge=1)
    asked: int = Field(default=300, ge=1)
    protocol: Protocol
    seed: int = 0

    def compute(self, context: Context) -> Outcome:
        import polars as pl

        make: Callable[..., nn.Module] = planted_positive if self.planted == "positive" else planted_negative
        networks = [
            Network(i, "trained", make(self.source, self.network, steps=self.steps, seed=self.seed + 100 * i,
                                       device=context.device))
            for i in range(self.bases)
        ]  # fmt: skip
        parts = subroutines_of(self.source, problems=self.learn, asked=self.asked, seed=self.seed + 1)
        whole = OddOneOutTask(source=self.source, problems=1, held_out=self.asked, seed=self.seed).split("test")
        found = carry_out(self.protocol, networks, parts, whole, progress=context.progress)
        truth: list[dict[str, Any]] = []
        for network in networks:
            for target, part in enumerate(parts):
                if isinstance(network.model, Glued):
                    mask: Mask = network.model.truth(target)
                    row = examine(network.model, mask, parts, target, self.protocol.guessing(parts))[0]
                    truth.append({"base": network.base, "subroutine": part.name, "density": mask.density, **row})
        tables = {"bases": found.bases, "masks": found.masks, "matrix": found.matrix, "overlap": found.overlap}
        tables |= {"truth": pl.DataFrame(truth)} if truth else {}
        notes = {"members": self.bases, "steps": self.steps, "searches": found.notes["searches"],
                 "settings": self.resolved()}  # fmt: skip
        return Outcome({name: table for name, table in tables.items() if table.width}, {}, notes)
