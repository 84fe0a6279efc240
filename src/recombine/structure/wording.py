"""What the chosen mask of one subroutine shows, in words: decided by what is answered without it, beside the controls.

A rule is *kept* where its accuracy without the part is, interval over problems and all, within .1 of the whole
network's, *hurt* where it is farther below, and otherwise *open*. A part can be taken out where its rule is hurt and by
over .1 the others are not as much, where no control does the same, and where it does not do the others alone as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from recombine.statistics import wilson

CLEAR = 0.1
"""Accuracies are told apart where the interval of their difference lies beyond this."""

Finding = Literal[
    "removable", "in part", "as its layers", "along with others", "does others too", "as random masks", "as untrained",
    "not needed", "all hurt", "others hurt", "not alone", "open",
]  # fmt: skip
"""In the first four a rule is taken out and the others are not as much, in the fifth by what does the others too; in
none of the rest is that shown."""
TAKEN_OUT = ("removable", "in part", "as its layers", "along with others")
LAYERS = {
    "all": "all layers",
    "last half": "the last half of the layers",
    "last quarter": "the last quarter of the layers",
}


@dataclass(frozen=True)
class Part:
    """What was measured of a chosen mask. Accuracies are by subroutine, on as many problems as were ``asked``."""

    name: str
    layers: str
    """Where masks looked; empty where all looked in the same place."""
    chance: float
    asked: Mapping[str, int]
    whole: Mapping[str, float]
    alone: Mapping[str, float]
    without: Mapping[str, float]
    d_abl: float
    low: float
    high: float
    random: tuple[float, ...]
    """D_abl of every random mask of its size, drawn from all layers in which masks looked."""
    spread: tuple[float, ...]
    """D_abl of every one that keeps, drawn anew, as many weights of each layer as it does."""
    random_alone: tuple[float, ...]
    """What every random mask of its size, of either kind, answers of its rule alone."""
    untrained: float | None
    """D_abl of what the same search finds in an untrained network; None where no mask passes there."""
    attributed: Mapping[str, float]
    """What is answered without the weights that gradient attribution finds, where these can be removed."""
    settled: float
    """The share of its weights that take no gradients."""
    unmoved: float
    """The share of its weights that are, to the bit, those of the untrained network."""
    repeated: float
    """The share of its problems whose inputs masks were trained on as well."""

    @property
    def others(self) -> list[str]:
        return [name for name in self.asked if name != self.name]

    def state(self, name: str) -> Literal["kept", "hurt", "open"]:
        """What has become of a rule without the part."""
        low, high = wilson(self.without[name], self.asked[name])
        least = self.whole[name] - CLEAR
        return "kept" if low > least else "hurt" if high < least else "open"

    @property
    def finding(self) -> Finding:
        """What is decided, in a few words for a program."""
        states = {name: self.state(name) for name in self.asked}
        others = {states[name] for name in self.others}
        if states[self.name] == "hurt" and self.high < -CLEAR:
            if any(drawn <= self.high for drawn in self.random):
                return "as random masks"
            if self.untrained is not None and self.untrained <= self.high:
                return "as untrained"
            if "hurt" in others:
                return "along with others"
            if self._others_alone():
                return "does others too"
            if any(drawn <= self.high for drawn in self.spread):
                return "as its layers"
            return "in part" if self._above_chance(self.without, self.name) else "removable"
        if "hurt" in others and self.low > CLEAR:
            return "others hurt"
        if {*states.values()} == {"kept"}:
            return "not needed"
        if {*states.values()} == {"hurt"}:
            return "all hurt"
        return "not alone" if self.low > -CLEAR else "open"

    def _above_chance(self, accuracies: Mapping[str, float], name: str) -> bool:
        return wilson(accuracies[name], self.asked[name])[0] > self.chance + CLEAR

    @property
    def words(self) -> str:
        """The finding as a sentence, without the figures behind it."""
        where = f", in {LAYERS.get(self.layers, f'the layers {self.layers!r}')}," if self.layers else ""
        best = f"the best part that these masks found{where}"
        none = f"no part that these masks found can be taken out alone: without the best one{where}"
        both = "both" if len(self.asked) == 2 else "all"
        others = " and ".join(self.others)
        left = {name: f"{share:.2f} of {name}" for name, share in self.without.items()}
        answered = " and ".join(left.values())
        said = {
            "removable": f"{best} can be taken out",
            "in part": f"{best} can be taken out in part: {left[self.name]} is still answered",
            "as its layers": f"{best} takes out {self.name} alone, and as many random weights of these layers do too: "
            "the layers are its own, of these weights that is not shown",
            "along with others": f"{best} comes out along with some of the rest: {answered} are still answered",
            "does others too": f"{best} is not one for {self.name} alone: without it {answered} are still answered, "
            f"but by itself it answers {self._others_alone()} as well",
            "as random masks": f"{best} takes out no more than a random mask of its size",
            "as untrained": f"{best} takes out no more than what the same search finds in an untrained network",
            "not needed": f"{best} is not needed: without it {both} are still answered, so the rest does {self.name} "
            "too",
            "all hurt": f"{none} {both} suffer: {answered} are still answered",
            "others hurt": f"{none} the loss falls on {others} rather than on {self.name}",
            "not alone": f"{none} {answered} are still answered",
            "open": f"{best} may or may not be one that can be taken out: more problems would tell",
        }[self.finding]
        return said + self._alone() + self._learnt() + self._by_heart() + self._drawn() + self._attributed()

    def _others_alone(self) -> str:
        """What it answers of the other rules by itself, where that is above chance."""
        does = [name for name in self.others if self._above_chance(self.alone, name)]
        return " and ".join(f"{self.alone[name]:.2f} of {name}" for name in does)

    def _alone(self) -> str:
        does = self._others_alone()
        return f"; by itself it answers {does} as well" if self.finding == "along with others" and does else ""

    def _by_heart(self) -> str:
        if self.finding not in TAKEN_OUT or self.repeated <= 0.5:
            return ""
        return (
            f"; masks were trained on the inputs of {_share(self.repeated)} of these problems, so a network that knows "
            "answers by heart may show such a part too"
        )

    def _drawn(self) -> str:
        """That random masks do its rule alone as well, so that there was nothing to find."""
        does = [share for share in self.random_alone if share >= self.alone[self.name] - CLEAR]
        if self.finding != "not needed" or not does:
            return ""
        do = "does" if len(does) == 1 else "do"
        return (
            f"; {len(does)} of {len(self.random_alone)} random masks of its size {do} {self.name} alone as well, so "
            f"these problems and masks of this size cannot tell where {self.name} is"
        )

    def _learnt(self) -> str:
        """That its weights were never trained, or may not have been; what reads them may have learnt to."""
        if self.unmoved > 0.5:
            return f"; {_share(self.unmoved)} of its weights are those of the untrained network: they were not trained"
        if self.settled > 0.5:
            return f"; {_share(self.settled)} of its weights take no gradients: they may never have been trained"
        return ""

    def _attributed(self) -> str:
        if self.finding in (*TAKEN_OUT, "does others too") or not self.attributed:
            return ""
        left = " and ".join(f"{share:.2f} of {name}" for name, share in self.attributed.items())
        return (
            f"; what gradient attribution picks instead leaves {left} when it is removed, which was not compared with "
            "random weights"
        )

    @property
    def figures(self) -> str:
        """The figures behind the words, the first ones first."""
        without, alone = (
            ", ".join(f"{name} {share:.2f}" for name, share in found.items()) for found in (self.without, self.alone)
        )
        draws = (*self.random, *self.spread)
        drawn = f"; {len(draws)} random masks of its size {_range(draws)}" if draws else ""
        return (
            f"D_abl {self.d_abl:+.2f} [{self.low:+.2f}, {self.high:+.2f}]: without it {without}; alone {alone}{drawn}"
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        plain = {name: value for name, value in asdict(self).items() if name != "name"}
        return {"finding": self.finding, "states": {name: self.state(name) for name in self.asked}, **plain}


def _share(share: float) -> str:
    return "all" if share == 1 else f"{math.floor(100 * share)} %"


def _range(values: tuple[float, ...]) -> str:
    low, high = f"{min(values):+.2f}", f"{max(values):+.2f}"
    return low if low == high else f"{low} to {high}"
