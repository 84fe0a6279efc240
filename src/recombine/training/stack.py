"""The members that are stepped together: parameters, buffers and optimiser state, one row per member."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from recombine.description import Description
from recombine.errors import InputError
from recombine.identity import PLAIN, identity, is_library
from recombine.tasks import Inputs
from recombine.tasks.draws import key
from recombine.training.layout import Layout
from recombine.training.optim import Optimizer, PerMember, State, column
from recombine.training.redraw import FEW, redrawn

Model = nn.Module | Callable[[], nn.Module]
Penalty = Callable[[Mapping[str, Tensor]], Tensor]
Buffers = dict[str, Tensor]
Left = Callable[[str, nn.Parameter], None]


class Judged(Protocol):
    """As much of a task as is minimised."""

    def losses(self, outputs: Tensor, targets: Tensor, /) -> Tensor: ...


@dataclass
class Objective:
    """What is minimised: the task's mean loss, plus a weighted penalty on the parameters where one is given."""

    task: Judged
    penalty: Penalty | None = None

    def total(
        self, outputs: Tensor, targets: Tensor, parameters: Mapping[str, Tensor], weight: Tensor
    ) -> tuple[Tensor, Tensor]:
        """(what is differentiated, the task's loss alone)."""
        loss = self.task.losses(outputs, targets).mean()
        if self.penalty is None:
            return loss, loss
        return loss + weight * self.penalty(parameters), loss


@dataclass
class Stack:
    """State of some members in the middle of training. Changed in place by a strategy, step by step."""

    members: tuple[int, ...]
    module: nn.Module
    layout: Layout
    flat: Tensor
    buffers: Buffers
    state: State
    optimizer: Optimizer
    lr: Tensor
    decay: Tensor | None
    weight: Tensor
    seed: int
    stop_below: float | None = None
    held: Tensor = field(default_factory=lambda: torch.empty(0))
    """Each member's last loss, kept where members may stop: one that has stopped keeps the loss it stopped with."""

    def __len__(self) -> int:
        return len(self.members)

    @property
    def stopped(self) -> bool:
        """Whether every member has reached the loss at which it stops."""
        return self.stop_below is not None and not bool(self.lr.any())

    def frozen(self) -> Tensor:
        """Which members have stopped (members)."""
        return (self.lr[:, 0] == 0) & ~self.held.isnan()

    def tensors(self) -> dict[str, Tensor]:
        """Everything that changes during training, by name: what a checkpoint holds."""
        return {
            "flat": self.flat,
            "lr": self.lr,
            "held": self.held,
            **{f"buffer.{name}": tensor for name, tensor in self.buffers.items()},
            **{f"state.{name}": tensor for name, tensor in self.state.items()},
        }


def sow(seed: int) -> None:
    """Seed what modules draw from. Where there is no other device, asking each kind to seed itself takes longer than
    drawing the weights of a small model, or than its step: each writes down who asked."""
    (torch.manual_seed if torch.accelerator.is_available() else torch.default_generator.manual_seed)(seed)


def initial(
    model: Model, member: int, seed: int, dtype: torch.dtype | None = None, fresh: bool = True,
    left: Left | None = None,
) -> nn.Module:  # fmt: skip
    """Member ``member`` as initialised by its own seed, whatever was drawn before or beside it; of a module that is
    given, a copy: drawn anew if ``fresh``, else with its weights. ``left`` is handed the parameters that no layer
    draws."""
    with torch.random.fork_rng(devices=[]):
        sow(_seed(seed, member))
        if isinstance(model, nn.Module):
            module = _fresh(model, left or _refuse) if fresh else copy.deepcopy(model).cpu()
        else:
            module = model()
            if not isinstance(module, nn.Module):
                raise InputError(f"calling the model must give an nn.Module, got {type(module).__name__}.")
    _tensors_as_buffers(module)
    return module.to(dtype=dtype) if dtype is not None else module


def _seed(seed: int, member: int) -> int:
    return key(seed, member, "init") >> 1


def _tensors_as_buffers(module: nn.Module) -> None:
    """Tensors that are plain attributes belong to each member, as buffers do: they become buffers."""
    weights = {p.untyped_storage().data_ptr() for p in module.parameters()}
    for prefix, part in module.named_modules():
        for name, value in list(vars(part).items()):
            if isinstance(value, Tensor):
                if value.grad_fn is not None or value.untyped_storage().data_ptr() in weights:
                    full = f"{prefix}.{name}".lstrip(".")
                    raise InputError(f"the attribute {full!r} is computed from parameters once; compute it in forward.")
                delattr(part, name)
                part.register_buffer(name, value.detach(), persistent=False)


@contextmanager
def undisturbed(module: nn.Module) -> Iterator[None]:
    """Attributes that a call of the module sets, such as attention to be looked at, are as before it afterwards: what
    is left there by a traced or batched call is no tensor of anybody's."""
    before = [(part, dict(vars(part))) for part in module.modules()]
    try:
        yield
    finally:
        for part, attributes in before:
            vars(part).clear()
            vars(part).update(attributes)


@contextmanager
def rules_missing() -> Iterator[None]:
    """Without torch's warnings that it has no rule for batching an operation: it then computes one by one, which nobody
    who reads them can change, and where that matters another way is taken."""
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "There is a performance drop because we have not yet implemented the batching"
        )
        yield


def batched_attention(like: Tensor) -> AbstractContextManager[None]:
    """On a CPU, attention as matrix products: vmap has no rule for the fused one and would call it member by member."""
    return nullcontext() if like.is_cuda else sdpa_kernel(SDPBackend.MATH)


def is_ours(model: Model) -> bool:
    """Whether a model is one of this package, which are known to keep to the rules."""
    return isinstance(model, Description) and is_library(type(model).__module__)


def python_state(module: nn.Module) -> dict[str, str]:
    """A hash of every attribute that is neither parameter nor buffer; of a library's modules, of the plain ones."""
    found = {}
    for prefix, part in module.named_modules():
        for name, value in vars(part).items():
            if name not in _OF_EVERY_MODULE and (not is_library(type(part).__module__) or type(value) in PLAIN):
                try:
                    found[f"{prefix}.{name}".lstrip(".")] = identity(value)
                except InputError:
                    continue  # a lock, a socket: nothing that is computed with
    return found


_OF_EVERY_MODULE = frozenset(vars(nn.Module()))


def _fresh(model: nn.Module, left: Left) -> nn.Module:
    """A copy of a given module with every parameter drawn anew."""
    module = copy.deepcopy(model).cpu()
    covered: set[int] = set()
    for part in module.modules():
        reset = getattr(part, "reset_parameters", None) or getattr(part, "_reset_parameters", None)
        if callable(reset):
            reset()
            covered.update(id(p) for p in part.parameters())
    for name, parameter in module.named_parameters():
        if id(parameter) not in covered:
            left(name, parameter)
    return module


def _refuse(name: str, _: nn.Parameter) -> None:
    raise InputError(
        f"parameter {name!r} cannot be drawn anew for each member; give the model as a function that builds it."
    )


def stack_members(
    model: Model,
    members: Sequence[int],
    *,
    optimizer: Optimizer,
    seed: int,
    device: torch.device,
    dtype: torch.dtype | None,
    init_scale: PerMember = 1.0,
    penalty_weight: PerMember = 0.0,
    stop_below: float | None = None,
    fresh: bool = True,
) -> Stack:
    """Initialise ``members`` and lay them out as one stack on ``device``."""
    rows: list[Tensor] = []
    buffers: dict[str, list[Tensor]] = {}
    known = is_ours(model)
    drawn = None
    if known and len(members) > FEW:
        drawn = redrawn(lambda m: initial(model, m, seed, None, fresh), members, lambda m: _seed(seed, m))
    for member in members if drawn is None else members[:1]:
        module = initial(model, member, seed, dtype, fresh)
        if not rows:
            template, layout = module, Layout.of(module)
            state = {} if known else python_state(module)
        elif not known:
            _same_kind(module, template, state, member)
        rows.append(layout.row(dict(module.named_parameters()), next(module.parameters()).dtype))
        for name, buffer in module.named_buffers():
            buffers.setdefault(name, []).append(buffer)
    flat = torch.stack(rows).to(device) if drawn is None else drawn.to(device, rows[0].dtype)
    scale = column(init_scale, members, flat)
    if not (scale == 1).all():
        flat *= scale
    no_decay = optimizer.weight_decay == 0 or (
        isinstance(optimizer.weight_decay, tuple) and not any(optimizer.weight_decay)
    )
    decay = None if no_decay else column(optimizer.weight_decay, members, flat)
    frozen = {name: torch.zeros_like(p) for name, p in template.named_parameters() if not p.requires_grad}
    if decay is not None and frozen:
        ones = {name: torch.ones_like(p) for name, p in template.named_parameters()}
        decay = decay * layout.row(ones | frozen, flat.dtype).to(device)
    return Stack(
        members=tuple(members),
        module=template.to(device).train(),
        layout=layout,
        flat=flat,
        buffers={name: torch.stack(parts).to(device) for name, parts in buffers.items()},
        state=optimizer.start(flat),
        optimizer=optimizer,
        lr=column(optimizer.lr, members, flat),
        decay=decay,
        weight=column(penalty_weight, members, flat)[:, 0],
        seed=seed,
        stop_below=stop_below,
        held=torch.full((len(members),), torch.nan, dtype=flat.dtype, device=device),
    )


def _same_kind(module: nn.Module, template: nn.Module, state: dict[str, str], member: int) -> None:
    """Members differ in the numbers of parameters and buffers, and in nothing else."""
    mine, theirs = ({n: t.shape for n, t in (*m.named_parameters(), *m.named_buffers())} for m in (module, template))
    mine_too = python_state(module)
    odd = [name for name in mine | theirs if mine.get(name) != theirs.get(name)]
    odd += [name for name in mine_too | state if mine_too.get(name) != state.get(name)]
    if odd:
        raise InputError(
            f"member {member} is built with another {odd[0]!r} than the first: members may differ in parameters and "
            "buffers only, so draw nothing else where the model is built, or make it a buffer."
        )


def positional(inputs: Inputs) -> tuple[Tensor, ...]:
    """What a module is called with."""
    return inputs if isinstance(inputs, tuple) else (inputs,)


def cast(part: Tensor, dtype: torch.dtype) -> Tensor:
    """Real numbers in the precision of the model; whole numbers as they are."""
    return part.to(dtype) if part.is_floating_point() else part
