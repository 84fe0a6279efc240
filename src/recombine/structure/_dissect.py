"""Does a network hold a part that computes one subroutine, and can it be taken out? One call, with its controls."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import nn

from recombine.errors import InputError
from recombine.result import Result
from recombine.statistics import shares_apart
from recombine.structure.attribution import attribution_masks
from recombine.structure.calling import Loss, as_problems, device_of, placed, precision as weights_type
from recombine.structure.choose import depths, weights_of
from recombine.structure.controls import untrained
from recombine.structure.evaluate import ablated, anywhere, subnetwork
from recombine.structure.masks import Mask
from recombine.structure.protocol import Findings, Network, Progress, Protocol, carry_out, gated
from recombine.structure.scoring import accuracies, examine, scores
from recombine.structure.settings import grid
from recombine.structure.subroutines import Subroutine, seen
from recombine.structure.summary import ROWS, summarise_masks
from recombine.structure.trial import as_classes, check_network, subroutine_of_classes, try_network
from recombine.structure.wording import CLEAR, Part
from recombine.tasks import cross_entropy
from recombine.training.progress import by_three, told

if TYPE_CHECKING:
    import polars as pl

SCHEMA = 1
ENDS = ("low", "high")
SPREAD = ("same size", "same size, outside")
"""Random masks that keep as many weights of each layer."""
STARTS = (0.0, 0.1)
PENALTIES = (0.2, 0.002)


@dataclass(frozen=True, eq=False)
class Dissection(Result):
    """What `dissect` found."""

    kind: ClassVar[str] = "dissection"

    subroutines: tuple[str, ...]
    protocol: Protocol
    findings: Findings = field(repr=False)

    @property
    def chance(self) -> float:
        """What guessing reaches."""
        assert self.protocol.chance is not None
        return self.protocol.chance

    @property
    def masks(self) -> pl.DataFrame:
        """Every mask that was trained or drawn, with all that was measured of it."""
        return self.findings.masks

    @property
    def matrix(self) -> pl.DataFrame:
        """Accuracy on every subroutine with the part of every subroutine alone, and without it."""
        return self.findings.matrix

    @property
    def overlap(self) -> pl.DataFrame:
        """How alike masks are, against chance."""
        return self.findings.overlap

    def mask(self, subroutine: str) -> Mask | None:
        """The mask chosen on validation; None where no setting passed."""
        if subroutine not in self.subroutines:
            raise InputError(f"there is no subroutine {subroutine!r}; there are {', '.join(self.subroutines)}.")
        return self.findings.chosen.get((0, "trained", subroutine))

    def score(self, subroutine: str, row: str = "chosen", network: str = "trained", score: str = "d_abl") -> float:
        """One number of the table; nan where there is no such row."""
        import polars as pl

        table = self.to_frame()
        at = (pl.col("network") == network) & (pl.col("subroutine") == subroutine) & (pl.col("row") == ROWS[row])
        found: list[float] = table.filter(at)[score].to_list() if table.height else []
        return found[0] if found else math.nan

    @property
    def verdict(self) -> str:
        """What was found, in plain words; the chosen mask never stands alone."""
        return " ".join(map(self.verdict_of, self.subroutines))

    def verdict_of(self, name: str) -> str:
        """What was found of one subroutine."""
        search, part = self._searched(name), self.part(name)
        if part is None:
            return f"{name}: no mask of {search.height} does it, so nothing is said of where it is."
        typical = f"mean of the {int(search['passed'].sum())} of {search.height} settings that pass "
        typical += f"{self.score(name, 'passing'):+.2f}"
        beside = "; ".join(filter(None, (part.figures, typical, self._untrained(name), self._attributed(name))))
        return f"{name}: {part.words} ({beside})."

    def part(self, name: str) -> Part | None:
        """What was measured of the mask chosen for a subroutine, and what it amounts to; None where none passes."""
        import polars as pl

        search = self._searched(name)
        chosen = search.filter("chosen")
        if not chosen.height:
            return None
        (row,) = chosen.rows(named=True)
        mine = (pl.col("network") == "trained") & (pl.col("subroutine") == name)
        of_mask = (pl.col("role") == "search") & (pl.col("setting") == row["setting"]) & (pl.col("seed") == row["seed"])
        matrix = self.matrix.filter(mine & of_mask)
        (base,) = self.findings.bases.filter(pl.col("network") == "trained").rows(named=True)
        low, high = (self.score(name, score=f"d_abl_{end}") for end in ENDS)

        def asked(of: str) -> dict[str, float]:
            """By subroutine, its own first."""
            found = dict(matrix.select("asked", of).iter_rows())
            return {name: found.pop(name), **found}

        def drawn(*roles: str, score: str = "d_abl") -> tuple[float, ...]:
            return tuple(self.masks.filter(mine & pl.col("role").is_in(roles))[score].to_list())

        untrained = self.score(name, network="untrained")
        weights: dict[str, float] = self.findings.notes.get("untrained weights", {}).get(name, {})
        return Part(
            name=name,
            layers=row["layers"] if search["layers"].n_unique() > 1 else "",
            chance=self.chance,
            asked=self.findings.notes["asked"],
            whole={one: base[f"on {one}"] for one in self.subroutines},
            alone=asked("subnetwork"),
            without=asked("ablated"),
            d_abl=row["d_abl"],
            low=low,
            high=high,
            random=drawn("anywhere"),
            spread=drawn(*SPREAD),
            random_alone=drawn("anywhere", *SPREAD, score="sub_target"),
            untrained=None if math.isnan(untrained) else untrained,
            attributed=self._without_attributed(name),
            settled=weights.get("settled", 0.0),
            unmoved=weights.get("unmoved", 0.0),
            repeated=self.findings.notes["repeated"][name],
        )

    def _searched(self, name: str) -> pl.DataFrame:
        import polars as pl

        mine = (pl.col("role") == "search") & (pl.col("network") == "trained") & (pl.col("subroutine") == name)
        return self.masks.filter(mine)

    def _untrained(self, name: str) -> str:
        if "untrained" not in self.masks["network"]:
            return "without controls"
        control = self.score(name, network="untrained")
        return "no mask of an untrained network passes" if math.isnan(control) else f"untrained network {control:+.2f}"

    def _attributed(self, name: str) -> str:
        found = self.score(name, "attribution")
        return "" if math.isnan(found) else f"gradient attribution {found:+.2f}"

    def _without_attributed(self, name: str) -> dict[str, float]:
        """Accuracies without what gradient attribution finds, on the rule and on the others, where they lie apart."""
        if not self.score(name, "attribution", score="d_abl_high") < -CLEAR:
            return {}
        own, others = (self.score(name, "attribution", score=f"abl_{of}") for of in ("target", "other"))
        return {name: own, " and ".join(one for one in self.subroutines if one != name): others}

    def to_frame(self) -> pl.DataFrame:
        """Sub, ablated and controls in one table; ``masks`` has every mask.

        ``d_abl_low`` and ``d_abl_high`` are the interval of D_abl over problems, for this network and these masks: of
        another network it says nothing. A setting that was chosen by looking at them has none."""
        import polars as pl

        table = summarise_masks(self.masks)
        if table.height:
            order = pl.col("subroutine").replace_strict({name: i for i, name in enumerate(self.subroutines)})
            table = table.sort("network", order, maintain_order=True)
        ends = [self._interval(row) for row in table.iter_rows(named=True)]
        named = [pl.Series(f"d_abl_{end}", [both[i] for both in ends], pl.Float64) for i, end in enumerate(ENDS)]
        return table.with_columns(named) if ends else table

    def _interval(self, row: Mapping[str, Any]) -> tuple[float | None, float | None]:
        if row["row"] == ROWS["best"]:
            return None, None
        asked: dict[str, int] = self.findings.notes["asked"]
        own = asked[row["subroutine"]]
        low, high = shares_apart(row["abl_target"], own, row["abl_other"], sum(asked.values()) - own, least=self.chance)
        # Of three subroutines or more, each of the others is held to chance by itself.
        apart = max(row["abl_target"], self.chance) - max(row["abl_other"], self.chance)
        return low + row["d_abl"] - apart, high + row["d_abl"] - apart

    def to_dict(self) -> dict[str, Any]:
        """The table, the masks and how alike they are, as plain JSON values."""
        return {
            "schema": SCHEMA,
            "verdict": self.verdict,
            "parts": {name: None if (part := self.part(name)) is None else part.to_dict() for name in self.subroutines},
            "subroutines": list(self.subroutines),
            "networks": _plain(self.findings.bases),
            "table": _plain(self.to_frame()),
            "masks": _plain(self.masks),
            "matrix": _plain(self.matrix),
            "overlap": _plain(self.overlap),
            "protocol": self.protocol.resolved(),
        }


def dissect(
    model: nn.Module,
    target: Any,
    other: Any,
    *others: Any,
    names: Sequence[str] | None = None,
    learn: Sequence[Any] | None = None,
    whole: Any = None,
    protocol: Protocol | None = None,
    fresh: nn.Module | Callable[[], nn.Module] | None = None,
    controls: bool = True,
    loss: Loss = cross_entropy,
    device: str | torch.device = "auto",
    seed: int = 0,
    progress: Progress | Callable[[int, int], None] | None = None,
) -> Dissection:
    """Find, test and remove the part of ``model`` that computes each of two or more subroutines.

    ``target``, ``other`` … are problems, one set per subroutine: pairs of inputs and targets, datasets, objects with
    ``inputs`` and ``targets``, or `Subroutine`s. The model, called on the inputs, gives one score per class. Each set
    is parted by rows into problems to train masks on, to choose settings on and to measure on. Where the problems that
    are measured are ones the whole model answers anyway (a mask has nothing to learn on them), give others in
    ``learn``, one set per subroutine, that only a model of that subroutine alone can answer. ``whole`` are problems of
    the model's own task; a model that does them, or else the subroutines, no better than the gate is refused.

    Where subroutines have different answers, masks are trained and everything is measured among each one's own. A
    ``loss`` of your own gets outputs and targets as they are.

    Without a ``protocol``, masks over all layers, over the later half and over the last quarter are searched, each from
    two starts at two rates under two penalties: a large one finds the fewest weights that do a rule, which the rest may
    not need, a small one all that serve it. ``controls`` adds an untrained network with its own search, masks for
    shuffled answers, and random masks of the same size; ``controls=False`` leaves them out. ``fresh`` is a function
    that builds the untrained network, such as the model's class. Without it the layers of a copy are reset, and
    parameters of the model's own, such as a table of positions, are drawn with the mean and spread that they have
    (``result.findings.notes["drawn_by_spread"]`` names them).

    Inputs in a dictionary are handed over by keyword, those in a tuple one after the other. Targets are class numbers,
    of any type, or rows with a one at the class, smoothed or not. ``progress(done, total, words)`` counts masks; one
    that takes ``(done, total)``, as for `train`, does as well. Without it a bar is shown on a terminal and in a
    notebook.

        result = rc.dissect(network, problems_of_one_rule, problems_of_the_other)
        result.verdict                                     # examples/dissect_model.py is a whole one
    """
    parts = _asked((target, other, *others), names, learn, seed)
    check_network(model)
    parts = [subroutine_of_classes(part) for part in parts]
    protocol = protocol or Protocol(settings=grid(starts=STARTS, choices=depths(model), penalties=PENALTIES))
    protocol = protocol.replace(chance=protocol.guessing(parts))
    if not controls:
        protocol = protocol.replace(random=0, shuffled=False)
    problems = as_classes(as_problems(whole), "whole=") if whole is not None else None
    here = placed(model, device)
    try_network(here, parts, problems)
    trained = Network(0, "trained", here)
    _refuse_below(protocol.gate, gated(trained, parts, problems, protocol.gate), whole is not None)
    networks, drawn = [trained], list[str]()
    if controls:
        other_one = untrained(fresh if fresh is not None else here, seed, drawn)
        networks.append(Network(0, "untrained", other_one.to(device_of(here), weights_type(here))))
    with told(progress, "dissecting") as report:
        findings = carry_out(protocol, networks, parts, problems, loss=loss, progress=by_three(report))
        masks = _with_references(findings, trained, parts, protocol)
    weights = {
        name: _untrained_weights(mask, networks)
        for (_, kind, name), mask in findings.chosen.items()
        if kind == "trained"
    }
    repeated = {part.name: seen(part.train, part.test) for part in parts}
    notes = {"drawn_by_spread": drawn, "untrained weights": weights, "repeated": repeated}
    findings = replace(findings, masks=masks, notes=findings.notes | notes)
    return Dissection(tuple(part.name for part in parts), protocol, findings)


def _asked(
    given: Sequence[Any], names: Sequence[str] | None, learn: Sequence[Any] | None, seed: int
) -> list[Subroutine]:
    """The subroutines, each with its name and what masks learn on."""
    labels = tuple(names) if names is not None else _names(given)
    if len(labels) != len(given) or (learn is not None and len(learn) != len(given)):
        raise InputError(f"give one name and one set of problems to learn for each of {len(given)} subroutines.")
    if len(set(labels)) != len(labels):
        raise InputError("a dissection needs two or more subroutines, each with its own name.")
    return [
        Subroutine.of(name, asked, None if learn is None else learn[i], seed)
        for i, (name, asked) in enumerate(zip(labels, given, strict=True))
    ]


def _refuse_below(gate: float, row: Mapping[str, Any], own: bool) -> None:
    """A model that does its task no better than the gate has nothing to be taken apart. ``own``: its task was given."""
    if not row["gated"]:
        raise InputError(
            f"the model answers {row['accuracy']:.1%} of {'its own' if own else 'the'} problems and is "
            f"not dissected at {gate:.0%} or below: train it further, or lower the protocol's gate."
        )


def _names(given: Sequence[Any]) -> tuple[str, ...]:
    plain = ("target", "other") if len(given) == 2 else tuple(f"subroutine {i + 1}" for i in range(len(given)))
    return tuple(g.name if isinstance(g, Subroutine) else name for g, name in zip(given, plain, strict=True))


def _untrained_weights(mask: Mask, networks: Sequence[Network]) -> dict[str, float]:
    """Of what a mask keeps, the share that takes no gradients (*settled*) and the share that is in the trained network
    what it is in the untrained one, to the bit (*unmoved*)."""
    trained, *fresh = (weights_of(network.model) for network in networks)
    counts = {"settled": 0, "unmoved": 0}
    for name, keep in mask.keep.items():
        weight = trained[name].parameter
        counts["settled"] += 0 if weight.requires_grad else int(keep.sum())
        for drawn in fresh:
            same = drawn[name].parameter.to(weight) == weight if name in drawn else torch.zeros_like(keep)
            counts["unmoved"] += int((same.cpu() & keep).sum())
    return {name: count / max(1, mask.kept) for name, count in counts.items()}


def _with_references(
    findings: Findings, network: Network, parts: Sequence[Subroutine], protocol: Protocol
) -> pl.DataFrame:
    """All masks, and two kinds to compare them with: by gradient attribution, and at random over all layers."""
    import polars as pl

    chance, rows = protocol.guessing(parts), []
    for target, mask in enumerate(attribution_masks(network.model, parts)):
        name = parts[target].name
        label = {"base": network.base, "network": network.kind, "subroutine": name}
        row, _ = examine(network.model, mask, parts, target, chance, protocol.passing)
        size = {"kept": mask.kept, "maskable": mask.count, "density": mask.density}
        rows.append({**label, "role": "attribution", "chosen": False, **size, **row})
        best = findings.chosen.get((network.base, network.kind, name))
        for draw in range(protocol.random if best is not None else 0):
            assert best is not None
            other = anywhere(best, draw)
            alone, without = (accuracies(m(network.model, other), parts) for m in (subnetwork, ablated))
            rows.append({**label, "role": "anywhere", "seed": draw, **scores(alone, without, target, chance)})
    added = pl.DataFrame(rows, infer_schema_length=None)
    return pl.concat([findings.masks, added], how="diagonal_relaxed") if findings.masks.height else findings.masks


def _plain(table: pl.DataFrame) -> list[Mapping[str, Any]]:
    rows: list[Mapping[str, Any]] = [
        {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}
        for row in table.to_dicts()
    ]
    return rows
