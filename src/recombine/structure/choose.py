"""Which weights of a model are masked, and what is masked as one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field
from torch import Tensor, nn

from recombine.description import Description
from recombine.errors import InputError, unknown

Kind = Literal["weight", "bias", "norm", "embedding", "other"]
Unit = Literal["weight", "row", "column", "channel", "head", "gain", "embedding row", "block"]


def _type_names(value: Any) -> Any:
    values = value if isinstance(value, (tuple, list)) else (value,)
    return tuple(v.__name__ if isinstance(v, type) else v for v in values)


def _patterns(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


class Choice(Description):
    """The weights that a mask covers: all matrices and kernels, or those that pass every test that is given.

    ``names`` are regular expressions, one of which must be found in the parameter's name; ``types`` are module classes
    or their names, subclasses included; ``where(name, parameter)`` is any test (it cannot be hashed, so not part of a
    stored run). Biases, norms and embeddings are left out unless ``kinds`` asks for them. ``last`` keeps that share of
    what passes, counted in tensors from the end of the model's order: a half, a quarter.

    ``unit`` is what is kept or removed as one: a single weight, a row (all that one output reads), a column, a channel
    of a convolution, an attention head, a norm's gain, an embedding's row, a block. For heads say how many there are
    (``heads``), which text of a parameter's name tells attention layers apart (``blocks``, for example
    ``r"layers\\.\\d+"``), and which parameters carry heads in their columns (``columns``, the output projections);
    ``blocks`` also says what a block is."""

    kind: ClassVar[str] = "mask choice"

    names: Annotated[tuple[str, ...], BeforeValidator(_patterns)] = ()
    types: Annotated[tuple[str, ...], BeforeValidator(_type_names)] = ()
    where: Callable[[str, Tensor], bool] | None = None
    kinds: Annotated[tuple[Kind, ...], BeforeValidator(_patterns)] = ()
    last: float = Field(default=1.0, gt=0, le=1)
    unit: Unit = "weight"
    heads: int | None = Field(default=None, ge=1)
    blocks: str | None = None
    columns: str | None = None

    @property
    def allowed(self) -> tuple[Kind, ...]:
        """The kinds of parameters that may be chosen."""
        if self.kinds:
            return self.kinds
        return {"gain": ("norm",), "embedding row": ("embedding",)}.get(self.unit, ("weight",))  # type: ignore[return-value]

    @property
    def layers(self) -> str:
        """The chosen layers in words, for tables."""
        named = " | ".join(self.names)
        if self.last == 1:
            return named or "all"
        share = {0.5: "last half", 0.25: "last quarter"}.get(self.last, f"last {self.last:g}")
        return f"{share} of {named}" if named else share


@dataclass(frozen=True)
class Tied:
    """A parameter under another name; ``turned`` where that name sees it transposed."""

    name: str
    turned: bool


@dataclass(frozen=True)
class Weight:
    """One stored parameter of a model, with all names it goes by."""

    name: str
    parameter: nn.Parameter
    kinds: tuple[Kind, ...]
    types: tuple[type[nn.Module], ...]
    aliases: tuple[Tied, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *(alias.name for alias in self.aliases))


def weights_of(model: nn.Module) -> dict[str, Weight]:
    """Every parameter once, by its first name: parameters that share their memory are one."""
    found: dict[tuple[int, int], Weight] = {}
    for prefix, module in model.named_modules(remove_duplicate=False):
        for local, parameter in module.named_parameters(prefix, recurse=False, remove_duplicate=False):
            key = (parameter.data_ptr() or id(parameter), parameter.numel())
            kind, first = _kind(module, local.rpartition(".")[2], parameter), found.get(key)
            if first is None:
                found[key] = Weight(local, parameter, (kind,), (type(module),), ())
                continue
            alias = Tied(local, _turned(first, local, parameter))
            found[key] = Weight(
                first.name, first.parameter, (*first.kinds, kind), (*first.types, type(module)), (*first.aliases, alias)
            )
    return {weight.name: weight for weight in found.values()}


def chosen(model: nn.Module, choice: Choice) -> dict[str, Weight]:
    """The weights that ``choice`` picks, in the model's order; a pattern that finds nothing is an error."""
    weights = weights_of(model)
    for pattern in choice.names:
        _check_pattern(pattern, weights, choice)
    known = {base.__name__ for module in model.modules() for base in type(module).__mro__}
    for name in choice.types:
        if name not in known:
            raise unknown("module type", name, sorted({type(module).__name__ for module in model.modules()}))
    picked = {name: weight for name, weight in weights.items() if _passes(weight, choice)}
    if not picked:
        raise InputError(
            f"no weight of {type(model).__name__} is chosen; its parameters are of the kinds "
            f"{sorted({k for w in weights.values() for k in w.kinds})}, and {', '.join(choice.allowed)} are asked for."
        )
    return dict(list(picked.items())[-math.ceil(choice.last * len(picked)) :])


DEPTHS = (Choice(), Choice(last=0.5), Choice(last=0.25))
"""Where a part may lie: anywhere, in the later half of the layers, in the last quarter. Masks over all layers find
parts that can be removed in some networks and none in others, in which those of the last layers do."""


def depths(model: nn.Module) -> tuple[Choice, ...]:
    """`DEPTHS`, less those that choose the same weights of a small model."""
    found = {tuple(chosen(model, choice)): choice for choice in reversed(DEPTHS)}
    return tuple(reversed(found.values()))


def _passes(weight: Weight, choice: Choice) -> bool:
    if not all(kind in choice.allowed for kind in weight.kinds):
        return False
    if choice.names and not any(re.search(p, name) for p in choice.names for name in weight.names):
        return False
    if choice.types and not any(base.__name__ in choice.types for t in weight.types for base in t.__mro__):
        return False
    return choice.where is None or bool(choice.where(weight.name, weight.parameter))


def _check_pattern(pattern: str, weights: dict[str, Weight], choice: Choice) -> None:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise InputError(f"{pattern!r} is not a regular expression: {error}.") from None
    found = [weight for weight in weights.values() if any(compiled.search(name) for name in weight.names)]
    if not found:
        raise unknown("parameter", pattern, weights)
    if not any(kind in choice.allowed for weight in found for kind in weight.kinds):
        kinds = sorted({kind for weight in found for kind in weight.kinds})
        raise InputError(
            f"{pattern!r} finds only {', '.join(kinds)} parameters ({found[0].name} …), left out unless asked for; "
            f"add kinds={tuple(kinds)!r}."
        )


def _kind(module: nn.Module, local: str, parameter: Tensor) -> Kind:
    if "bias" in local:
        return "bias"
    if any("Norm" in base.__name__ for base in type(module).__mro__):
        return "norm"
    if isinstance(module, (nn.Embedding, nn.EmbeddingBag)):
        return "embedding"
    return "weight" if "weight" in local and parameter.dim() >= 2 else "other"


def _turned(first: Weight, name: str, parameter: Tensor) -> bool:
    kept = first.parameter
    if parameter.shape == kept.shape and parameter.stride() == kept.stride():
        return False
    if parameter.dim() == 2 and parameter.t().shape == kept.shape and parameter.t().stride() == kept.stride():
        return True
    raise InputError(f"{name!r} shares the memory of {first.name!r} in another shape; such a model cannot be masked.")
