"""A mask: for each masked parameter of a model, which of its weights are kept. Applied without touching the model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.models.called import call_with
from recombine.structure.choose import weights_of

FORMAT = "recombine mask 1"


@dataclass(frozen=True, eq=False)
class Mask:
    """``keep`` is true where a weight is kept, by parameter name; a weight with several names has one entry.

    ``scale`` multiplies what is kept in the subnetwork: 1 unless the mask was found with rescaled weights."""

    keep: Mapping[str, Tensor]
    scale: float = 1.0
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many weights could be kept."""
        return sum(part.numel() for part in self.keep.values())

    @property
    def kept(self) -> int:
        return sum(int(part.sum()) for part in self.keep.values())

    @property
    def density(self) -> float:
        """The share of maskable weights that is kept."""
        return self.kept / self.count

    def complement(self) -> Mask:
        """What this mask removes."""
        return Mask({name: ~part for name, part in self.keep.items()}, 1.0, self.notes)

    def to(self, device: torch.device | str) -> Mask:
        return Mask({name: part.to(device) for name, part in self.keep.items()}, self.scale, self.notes)

    def check(self, model: nn.Module) -> None:
        """Raise unless every entry is a parameter of ``model`` with the same shape."""
        weights = weights_of(model)
        for name, part in self.keep.items():
            if name not in weights:
                raise InputError(f"this mask is for another model: {type(model).__name__} has no parameter {name!r}.")
            shape = tuple(weights[name].parameter.shape)
            if tuple(part.shape) != shape:
                raise InputError(
                    f"this mask is for another model: {name!r} has shape {shape} there and {tuple(part.shape)} here."
                )

    def save(self, path: str | Path, model: nn.Module) -> Path:
        """Write the mask as safetensors, with a hash of the weights it was found on."""
        from safetensors.torch import save_file

        self.check(model)
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        about = {"format": FORMAT, "scale": json.dumps(self.scale), "weights": weights_hash(model, self.keep),
                 "notes": json.dumps(dict(self.notes), default=str)}  # fmt: skip
        save_file({name: part.cpu().contiguous() for name, part in self.keep.items()}, path, metadata=about)
        return path

    @classmethod
    def load(cls, path: str | Path, model: nn.Module, other_weights: bool = False) -> Mask:
        """Read a mask for ``model``; one that was found on other weights is refused unless ``other_weights``."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, framework="pt") as file:
                keep = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                about = file.metadata() or {}
            if about.get("format") != FORMAT or any(part.dtype != torch.bool for part in keep.values()):
                raise InputError(f"{str(path)!r} is not a mask.")
            mask = cls(keep, float(json.loads(about["scale"])), json.loads(about["notes"]))
        except (OSError, SafetensorError, KeyError, TypeError, RecursionError, json.JSONDecodeError) as error:
            raise InputError(f"{str(path)!r} does not hold a mask: {error}.") from None
        mask.check(model)
        if not other_weights and about["weights"] != weights_hash(model, keep):
            raise InputError(
                f"the mask in {str(path)!r} was found on other weights; load the model it belongs to, "
                "or say other_weights=True."
            )
        order = [name for name in weights_of(model) if name in keep]
        return cls({name: keep[name] for name in order}, mask.scale, mask.notes)


def weights_hash(model: nn.Module, names: Mapping[str, Any]) -> str:
    """SHA-256 of some parameters: names, types, shapes and numbers."""
    weights = weights_of(model)
    digest = hashlib.sha256()
    for name in sorted(names):
        tensor = weights[name].parameter.detach().cpu().contiguous()
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


class Masked(nn.Module):
    """A model some of whose weights are replaced while it is called: kept ones are scaled, the others take ``fill``.

    The model itself is not changed; it is called as before, by position or by name."""

    def __init__(self, model: nn.Module, mask: Mask, fill: Mapping[str, Tensor] | None = None) -> None:
        super().__init__()
        mask.check(model)
        self.model, self.scale = model, mask.scale
        weights = weights_of(model)
        self.masked = tuple((name, weights[name].aliases) for name in mask.keep)
        for i, (name, keep) in enumerate(mask.keep.items()):
            like = weights[name].parameter
            self.register_buffer(f"keep_{i}", keep.to(like.device), persistent=False)
            other = fill[name].to(like) if fill is not None else None
            self.register_buffer(f"fill_{i}", other, persistent=False)

    def replaced(self) -> dict[str, Tensor]:
        """The weights that the model is called with, by every name they have."""
        mine = dict(self.model.named_parameters(remove_duplicate=False))
        tensors: dict[str, Tensor] = {}
        for i, (name, aliases) in enumerate(self.masked):
            weight = mine[name] if self.scale == 1 else mine[name] * self.scale
            fill = getattr(self, f"fill_{i}")
            tensors[name] = torch.where(getattr(self, f"keep_{i}"), weight, 0 if fill is None else fill)
            tensors |= {alias.name: tensors[name].t() if alias.turned else tensors[name] for alias in aliases}
        return tensors

    def forward(self, *inputs: Any, **named: Any) -> Any:
        return call_with(self.model, self.replaced(), inputs, named)
