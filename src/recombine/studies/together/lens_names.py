"""The lenses by name: what each is in one sentence, and which way it should point."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lens:
    """``sign``: +1 where a larger value should go with a larger error on unseen combinations, −1 with a smaller one."""

    label: str
    sign: int
    sentence: str


LENSES = {
    "support": Lens("support", -1, "share of unseen combinations whose answer the seen ones determine, if factors add"),
    "kernel": Lens("kernel", 1, "error that regression on the network's representation foretells, if factors add"),
    "factorization": Lens("factorization", -1, "share of the representation that is a sum of one part a factor"),
    "influence": Lens("influence", 1, "share of each answer part's slopes that belong to the other factor"),
    "structure": Lens("structure", 1, "D_abl: own minus other accuracy once the part for a factor is taken out"),
}
"""The five."""

YARDSTICKS = {
    "share_seen": Lens("combinations seen", -1, "share of all combinations that training saw"),
    "kernel_start": Lens("kernel, untrained", 1, "the kernel lens on the same network before training"),
}
"""What a lens should be better than: a count, and what could be said before training."""

ALL = LENSES | YARDSTICKS
