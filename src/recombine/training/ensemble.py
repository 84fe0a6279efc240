"""Many trained members of one architecture, with stacked parameters."""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.func import vmap
from torch.utils import _pytree as pytree

from recombine.errors import InputError, refuse_pickle
from recombine.models.called import call_with
from recombine.training.layout import Layout
from recombine.training.stack import Buffers, Model, batched_attention, initial, positional, rules_missing, undisturbed

if TYPE_CHECKING:
    import polars as pl

HISTORY, RECORD = "recombine/history/", "recombine/record/"
"""How what is no weight is called in a saved file; a parameter's name has no slash."""
PREDICT_BYTES = {"cpu": 256 * 2**20, "cuda": 8 * 2**30}


@dataclass(repr=False)
class Ensemble:
    """``len(ensemble)`` members; ``ensemble[7]`` or ``ensemble.member(7)`` is member 7 as a plain ``nn.Module``, and
    ``ensemble(inputs)`` are the outputs of all.

    Examples:
        >>> import recombine as rc
        >>> import torch
        >>> space = rc.FactorSpace.of(shape=2, colour=3)
        >>> seen = rc.Explicit(space, [(0, 0), (0, 1), (1, 1), (1, 2)])
        >>> codes = torch.as_tensor(space.sample(120, seed=0))
        >>> pictures = torch.nn.functional.one_hot(codes[:, 0], 2).float()
        >>> task = rc.FixedTask(space, seen, ~seen, pictures, codes[:, 0], codes, loss=torch.nn.CrossEntropyLoss())
        >>> ensemble = rc.train(rc.Perceptron(widths=(2, 8, 2)), task, members=4, steps=40, optimizer=rc.Adam(0.03))
        >>> len(ensemble), ensemble[2](pictures[:5]).shape
        (4, torch.Size([5, 2]))
    """

    module: nn.Module
    layout: Layout
    flat: Tensor
    buffers: Buffers
    members: tuple[int, ...]
    looped: bool = False
    diverged_at: tuple[int | None, ...] = ()
    """For each member, the first step at which its loss was not finite."""
    fitted: tuple[bool | None, ...] = ()
    """For each member, whether its final training loss is low enough; None where no threshold was given."""
    history: dict[str, Tensor] = field(default_factory=dict)
    records: dict[str, pl.DataFrame] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, member: int) -> nn.Module:
        return self.member(member)

    def __iter__(self) -> Iterator[nn.Module]:
        return (self.member(member) for member in self.members)

    def __call__(self, *inputs: Tensor) -> Tensor:
        """Outputs (members × examples × …), as `predict` gives them."""
        return self.predict(inputs)

    def __repr__(self) -> str:
        how = ", ".join(str(self.notes[name]) for name in ("strategy", "device") if name in self.notes)
        diverged = sum(at is not None for at in self.diverged_at)
        fitted = sum(bool(f) for f in self.fitted) if None not in self.fitted and self.fitted else None
        size = sum(parameter.numel() for parameter in self.module.parameters())
        told = [
            f"{len(self)} × {type(self.module).__name__} of {size:,} numbers",
            self._span(),
            *([f"steps {int(self.history['step'][-1])}"] if len(self.history.get("step", ())) else []),
            *([f"fitted {fitted}"] if fitted is not None else []),
            *([f"diverged {diverged}"] if diverged else []),
            *([how] if how else []),
        ]
        return f"Ensemble({'; '.join(told)})"

    def _repr_html_(self) -> str:
        rows = self.status_frame().head(12)._repr_html_() if len(self.fitted) == len(self) else ""
        return f"<p>{escape(repr(self))}</p>{rows}"

    @property
    def device(self) -> torch.device:
        return self.flat.device

    @property
    def parameters(self) -> dict[str, Tensor]:
        """Stacked parameters by name, each (members × …); views of one matrix."""
        return self.layout.split(self.flat)

    def position(self, member: int) -> int:
        if member not in self.members:
            raise InputError(f"there is no member {member}; this ensemble has {self._span()}.")
        return self.members.index(member)

    def _span(self) -> str:
        first, last = self.members[0], self.members[-1]
        return f"members {first} to {last}" if len(self) > 1 else f"member {first} only"

    def member(self, member: int) -> nn.Module:
        """One member as a plain module that shares nothing with the ensemble."""
        i = self.position(member)
        module = copy.deepcopy(self.module).eval()
        mine = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        with torch.no_grad():
            for name, stacked in {**self.parameters, **self.buffers}.items():
                mine[name].copy_(stacked[i])
        for parameter in module.parameters():
            parameter.grad = None
        return module

    def select(self, members: list[int] | tuple[int, ...]) -> Ensemble:
        """An ensemble of some of the members."""
        rows = [self.position(m) for m in members]
        at = torch.tensor(rows, device=self.device)
        return Ensemble(
            self.module,
            self.layout,
            self.flat[at],
            {name: buffer[at] for name, buffer in self.buffers.items()},
            tuple(members),
            self.looped,
            tuple(self.diverged_at[r] for r in rows) if self.diverged_at else (),
            tuple(self.fitted[r] for r in rows) if self.fitted else (),
        )

    def map(self, function: Callable[..., Any], *inputs: Tensor, chunk_size: int | str = "auto") -> Any:
        """``function(model, *inputs)`` for every member, results stacked along a new first dimension.

        ``model`` is the member as a function; it may be differentiated. Inputs are shared by all members."""
        module = self.module.eval()
        inputs = tuple(part.to(self.device) for part in inputs)

        def one(parameters: dict[str, Tensor], buffers: Buffers) -> Any:
            with undisturbed(module):
                return function(lambda *x: call_with(module, (parameters, buffers), x), *inputs)

        if self.looped or len(self) == 1:
            with rules_missing():
                rows = [
                    one({k: v[i] for k, v in self.parameters.items()}, {k: v[i] for k, v in self.buffers.items()})
                    for i in range(len(self))
                ]
            return pytree.tree_map(lambda *parts: torch.stack(parts), *rows)
        size = self._chunk(inputs) if chunk_size == "auto" else int(chunk_size)
        with batched_attention(self.flat), rules_missing():
            return vmap(one, chunk_size=min(size, len(self)))(self.parameters, self.buffers)

    def predict(self, inputs: Tensor | tuple[Tensor, ...], chunk_size: int | str = "auto") -> Tensor:
        """Outputs (members × examples × …) on inputs that all members share."""
        with torch.no_grad():
            return self.map(lambda model, *x: model(*x), *positional(inputs), chunk_size=chunk_size)  # type: ignore[no-any-return]

    def _chunk(self, inputs: tuple[Tensor, ...]) -> int:
        """Members at a time, so that what one member computes, times that many, stays within bounds."""
        total = 0

        def count(_module: nn.Module, _args: Any, output: Any) -> None:
            nonlocal total
            if isinstance(output, Tensor):
                total += output.numel() * output.element_size()

        probe = tuple(part[:2] for part in inputs)  # some layers refuse a single example
        hooks = [part.register_forward_hook(count) for part in self.module.modules()]
        try:
            with torch.no_grad(), undisturbed(self.module):
                call_with(
                    self.module,
                    ({k: v[0] for k, v in self.parameters.items()}, {k: v[0] for k, v in self.buffers.items()}),
                    probe,
                )
        finally:
            for hook in hooks:
                hook.remove()
        each = max(1, 4 * total * len(inputs[0]) // max(1, len(probe[0])))
        return max(1, PREDICT_BYTES.get(self.device.type, PREDICT_BYTES["cpu"]) // each)

    def history_frame(self) -> pl.DataFrame:
        """Training loss along training: member, step (last of the bin), loss (mean over the bin)."""
        import polars as pl

        steps, losses = self.history["step"], self.history["loss"]
        return pl.DataFrame(
            {
                "member": [m for m in self.members for _ in range(len(steps))],
                "step": steps.tolist() * len(self),
                "loss": losses.flatten().tolist(),
            },
            schema={"member": pl.Int32, "step": pl.Int64, "loss": pl.Float64},
        )

    def status_frame(self) -> pl.DataFrame:
        """One row per member: whether it diverged, whether it fitted, its final training loss, and when it stopped or
        was first found fitted where members are judged apart from their batches."""
        import polars as pl

        final = self.notes.get("final_loss", [None] * len(self))
        table = pl.DataFrame(
            {
                "member": self.members,
                "diverged_at": self.diverged_at,
                "fitted": self.fitted,
                "final_loss": final,
            },
            schema={"member": pl.Int32, "diverged_at": pl.Int64, "fitted": pl.Boolean, "final_loss": pl.Float64},
        )
        told = [name for name in ("stopped_at", "fitted_at") if name in self.notes]
        return table.with_columns(pl.Series(name, self.notes[name], pl.Int64) for name in told)

    def state_dict(self) -> dict[str, Tensor]:
        """Stacked parameters and buffers by name, each (members × …), where they are."""
        return {**self.parameters, **self.buffers}

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> Ensemble:
        """The same members elsewhere, or in another precision."""
        if isinstance(device, torch.dtype):
            device, dtype = None, device
        module = copy.deepcopy(self.module).to(device=device, dtype=dtype)
        buffers = {
            name: buffer.to(device=device, dtype=dtype if buffer.is_floating_point() else None)
            for name, buffer in self.buffers.items()
        }
        return replace(self, module=module, flat=self.flat.to(device=device, dtype=dtype), buffers=buffers)

    def tensors(self) -> dict[str, Tensor]:
        """What is stored of the weights: stacked parameters and buffers by name."""
        named: Mapping[str, Tensor] = {**self.parameters, **self.buffers}
        return {name: tensor.detach().cpu().contiguous() for name, tensor in named.items()}

    def save(self, path: str | Path) -> Path:
        """Write all members as one safetensors file: weights, and what is known of their training."""
        from safetensors.torch import save_file

        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        known = {name: getattr(self, name) for name in ("members", "looped", "diverged_at", "fitted", "notes")}
        metadata = {name: json.dumps(value) for name, value in known.items()}
        more = {f"{HISTORY}{name}": part.contiguous() for name, part in self.history.items()}
        for name, table in self.records.items():
            file = io.BytesIO()
            table.write_parquet(file)
            more[f"{RECORD}{name}"] = torch.frombuffer(bytearray(file.getvalue()), dtype=torch.uint8)
        save_file(self.tensors() | more, path, metadata=metadata)
        return path

    @classmethod
    def load(cls, path: str | Path, model: Model) -> Ensemble:
        """Read what ``save`` wrote into the architecture of ``model``."""
        import polars as pl
        from safetensors import SafetensorError, safe_open

        refuse_pickle(Path(path))
        try:
            with safe_open(path, framework="pt") as file:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                known = {name: json.loads(text) for name, text in (file.metadata() or {}).items()}
            members = tuple(int(m) for m in known["members"])
            tables = {name.removeprefix(RECORD): tensors.pop(name) for name in list(tensors) if name.startswith(RECORD)}
            records = {name: pl.read_parquet(io.BytesIO(part.numpy().tobytes())) for name, part in tables.items()}
            history = {n.removeprefix(HISTORY): tensors.pop(n) for n in list(tensors) if n.startswith(HISTORY)}
            if any(len(known.get(name, ())) not in (0, len(members)) for name in ("diverged_at", "fitted")):
                raise ValueError("it says of other members than it holds how they were trained")
            told: dict[str, Any] = {
                "diverged_at": tuple(known.get("diverged_at", ())),
                "fitted": tuple(known.get("fitted", ())),
            }
            told |= {"looped": bool(known.get("looped", False)), "notes": dict(known.get("notes", {}))}
        except (OSError, SafetensorError, pl.exceptions.PolarsError, KeyError, ValueError, TypeError, ArithmeticError,
                RecursionError) as error:  # fmt: skip
            raise InputError(f"{str(path)!r} does not hold the weights of an ensemble: {error}.") from None
        return replace(cls.of(tensors, members, model), history=history, records=records, **told)

    @classmethod
    def of(cls, tensors: Mapping[str, Tensor], members: tuple[int, ...], model: Model) -> Ensemble:
        """An ensemble from stacked weights by name."""
        module = initial(model, 0, 0, fresh=False)
        layout = Layout.of(module)
        buffers = dict(module.named_buffers())
        if lacking := [name for name in buffers if name not in tensors and name not in module.state_dict()]:
            # What is not saved with a module and is the same in every one of them is known without a file.
            other = dict(initial(model, 1, 0, fresh=False).named_buffers())
            constant = [name for name in lacking if torch.equal(buffers[name], other[name])]
            tensors = {**tensors, **{name: torch.stack([buffers[name]] * len(members)) for name in constant}}
        for name, shape in [(s.name, s.shape) for s in layout.slots] + [
            (n, tuple(b.shape)) for n, b in buffers.items()
        ]:
            if name not in tensors or tuple(tensors[name].shape) != (len(members), *shape):
                raise InputError(f"these weights do not fit this model: {name!r} is missing or has another shape.")
        flat = layout.join({s.name: tensors[s.name] for s in layout.slots}, (len(members),))
        module = module.to(dtype=flat.dtype).eval()
        return cls(module, layout, flat, {name: tensors[name] for name in buffers}, members)
