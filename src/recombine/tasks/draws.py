"""Random numbers by address: the n-th number of a stream is a function of (seed, member, step, purpose, n) alone.

A generator with state would tie a member's data to how many others are trained beside it and to where a run was
interrupted. Hashing an address instead (SplitMix64, Steele, Lea and Flood 2014) gives member 3 the same numbers in a
stack of 4, in a stack of 64, in a loop, on a CPU or a GPU, and a resumed run needs no random state at all.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from shutil import which

import torch
from torch import Tensor

_MASK = (1 << 64) - 1
_GAMMA = 0x9E3779B97F4A7C15
_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB
_PRECISION = {torch.float64: 53, torch.float32: 24, torch.float16: 11, torch.bfloat16: 8}


@cache
def can_compile() -> bool:
    """Whether what compiles for a GPU is installed: Triton, and the C compiler that it calls."""
    return find_spec("triton") is not None and any(which(name) for name in ("cc", "gcc", "clang"))


def _signed(value: int) -> int:
    value &= _MASK
    return value - (1 << 64) if value >> 63 else value


def _mix_number(z: int) -> int:
    z = ((z ^ (z >> 30)) * _MIX_1) & _MASK
    z = ((z ^ (z >> 27)) * _MIX_2) & _MASK
    return z ^ (z >> 31)


def _shift(z: Tensor, bits: int) -> Tensor:
    # torch shifts signed numbers arithmetically; the mask makes the shift logical.
    return (z >> bits) & ((1 << (64 - bits)) - 1)


def _mix(z: Tensor) -> Tensor:
    z = (z ^ _shift(z, 30)) * _signed(_MIX_1)
    z = (z ^ _shift(z, 27)) * _signed(_MIX_2)
    return z ^ _shift(z, 31)


def _word(text: str) -> int:
    return zlib.crc32(text.encode()) | (1 << 40)


def key(*parts: int | str) -> int:
    """A 64-bit key for an address such as ``key(seed, member, "init")``."""
    state = 0
    for part in parts:
        number = _word(part) if isinstance(part, str) else part
        state = _mix_number((state + _GAMMA + (number & _MASK)) & _MASK)
    return state


@dataclass(frozen=True)
class Draws:
    """Random tensors for a block of streams: ``keys`` has the shape that every draw starts with (steps × members)."""

    keys: Tensor
    member_keys: Tensor
    """The members' keys before the step was mixed in: for what must stay the same over an epoch."""
    steps: Tensor
    members: Sequence[int] | Tensor = ()
    """Whose streams they are; none where all members share one. On a GPU they stay there."""

    @classmethod
    def of(cls, members: Sequence[int] | Tensor, steps: range, seed: int, device: torch.device | str = "cpu") -> Draws:
        """The training draws of ``members`` at ``steps``: leading shape (len(steps), len(members))."""
        # key(seed, member, "data") of all members at once
        keys = torch.as_tensor(members, dtype=torch.int64, device=device)
        for before, after in ((key(seed), 0), (0, _word("data"))):
            keys = _mix(keys + _signed(_GAMMA + before + after))
        at = torch.arange(steps.start, steps.stop, dtype=torch.int64, device=device)
        return cls(_mix(keys + _signed(_GAMMA) * (at[:, None] + 1)), keys, at, members)

    @classmethod
    def single(cls, seed: int, purpose: str = "evaluation", device: torch.device | str = "cpu") -> Draws:
        """One stream with no leading shape: for evaluation data that all members share."""
        one = torch.tensor(_signed(key(seed, purpose)), dtype=torch.int64, device=device)
        return cls(one, one[None], torch.zeros(1, dtype=torch.int64, device=device))

    @property
    def lead(self) -> tuple[int, ...]:
        return tuple(self.keys.shape)

    def __call__(self, purpose: str) -> Draws:
        """The independent streams of one purpose: ``draws("noise").uniform(...)``."""
        word = _signed(key(purpose))
        return Draws(_mix(self.keys ^ word), _mix(self.member_keys ^ word), self.steps, self.members)

    def one(self, i: int) -> Draws:
        """The streams of the i-th member alone."""
        return Draws(self.keys[:, i : i + 1], self.member_keys[i : i + 1], self.steps, self.members[i : i + 1])

    def bits(self, shape: Sequence[int]) -> Tensor:
        """Uniform 64-bit integers; ``shape`` begins with the leading shape of these draws."""
        return self._inner(tuple(shape), torch.int64, 64)

    def uniform(self, shape: Sequence[int], dtype: torch.dtype = torch.float32) -> Tensor:
        """Uniform on [0, 1), with as many random bits as the type holds."""
        if self._in_one_pass():
            return self._inner(tuple(shape), dtype, _PRECISION[dtype])
        return _uniform(self.bits(shape), dtype)

    def _in_one_pass(self) -> bool:
        return self.keys.is_cuda and can_compile()

    def _inner(self, shape: tuple[int, ...], dtype: torch.dtype, bits: int) -> Tensor:
        if shape[: len(self.lead)] != self.lead:
            raise ValueError(f"a draw of shape {shape} must begin with {self.lead}")
        count = math.prod(shape[len(self.lead) :])
        if self._in_one_pass():
            from recombine.tasks.hashing import hashed

            return hashed(self.keys, count, dtype, bits).reshape(shape)
        return _hash_counters(self.keys, count).reshape(shape)

    def integers(self, high: int, shape: Sequence[int]) -> Tensor:
        """Uniform on 0 … high − 1."""
        return (self.uniform(shape, torch.float64) * high).long()

    def normal(self, shape: Sequence[int], dtype: torch.dtype = torch.float32) -> Tensor:
        """Standard normal, by Box and Muller's transform."""
        radius = self("radius").uniform(shape, torch.float64)
        angle = self("angle").uniform(shape, torch.float64)
        return (torch.sqrt(-2 * torch.log1p(-radius)) * torch.cos(2 * math.pi * angle)).to(dtype)

    def shuffled(self, count: int, size: int) -> Tensor:
        """Positions 0 … count − 1 in an order reshuffled each epoch: (steps, members, size), no step skipping any.

        The order of epoch e is the argsort of ``count`` numbers addressed by (member, e)."""
        place = self.steps[:, None] * size + torch.arange(size, device=self.steps.device)
        epoch = place // count
        first, last = int(epoch.min()), int(epoch.max())
        epochs = torch.arange(first, last + 1, device=self.steps.device)
        keys = _mix(self.member_keys[:, None] + _signed(_GAMMA) * (epochs + 1))
        orders = _hash_counters(keys, count).argsort(dim=-1)
        flat = (epoch - first) * count + place % count
        return orders.reshape(len(self.member_keys), -1)[:, flat].transpose(0, 1)


def _hash_counters(keys: Tensor, count: int) -> Tensor:
    counters = torch.arange(1, count + 1, dtype=torch.int64, device=keys.device) * _signed(_GAMMA)
    return _mix(keys[..., None] + counters)


def _uniform(bits: Tensor, dtype: torch.dtype) -> Tensor:
    held = _PRECISION[dtype]
    return _shift(bits, 64 - held).to(dtype) * 2.0**-held
