"""Residual networks (He et al. 2016): by default a quarter as wide as ResNet-18 in its CIFAR layout."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, ClassVar, Literal

from pydantic import Field
from torch import Tensor, nn

from recombine.description import Description
from recombine.errors import InputError

Norm = Literal["batch", "instance"]


class ResNet(Description):
    """A convolution, stages of blocks (each stage but the first halves the image), average, ``outputs`` numbers.

    The defaults are those of Lippl & Stachenfeld (2025) for CIFAR: .70 million parameters. Layers are called ``stem``,
    ``stage_1``, …, ``mean``, ``readout``; with ``hidden`` layers the readout is a perceptron. ``norm="instance"`` has
    neither weights nor running statistics, so what a panel gives does not depend on the panels beside it (Lepori et al.
    2023). See `resnet_50` and `wide_resnet_50` for the networks of that name."""

    kind: ClassVar[str] = "resnet"

    shape: tuple[int, int, int]
    channels: tuple[int, ...] = (16, 32, 64, 128)
    blocks: int | tuple[int, ...] = 2
    """Blocks of every stage, or of each."""
    norm: Norm = "batch"
    block: Literal["basic", "bottleneck"] = "basic"
    widen: int = Field(default=1, ge=1)
    """How much wider the middle of a bottleneck is."""
    stem: Literal["cifar", "imagenet"] = "cifar"
    """A 3×3 convolution, or one of 7×7 at every second pixel and a maximum over 3×3 at every second."""
    halve_first: bool = False
    """Whether the first stage halves the image too: less than half the work where the first convolution suffices at
    full resolution."""
    hidden: tuple[int, ...] = ()
    outputs: int = Field(default=1, ge=1)

    def model_post_init(self, _context: Any) -> None:
        counts = self.blocks if isinstance(self.blocks, tuple) else (self.blocks,)
        if min(counts, default=0) < 1 or (isinstance(self.blocks, tuple) and len(counts) != len(self.channels)):
            raise InputError(f"give at least one block for each of {len(self.channels)} stages, got {self.blocks}.")
        if self.norm == "instance" and min(self._last_size) < 2:
            raise InputError(
                f"images of {self.shape[1]} × {self.shape[2]} are one pixel after {len(self.channels)} stages, and "
                "one pixel cannot be normalised; take fewer stages or stem='cifar'."
            )

    @property
    def _last_size(self) -> tuple[int, int]:
        halvings = len(self.channels) - 1 + self.halve_first + (2 if self.stem == "imagenet" else 0)
        return tuple(-(-size // 2**halvings) for size in self.shape[1:])

    def __call__(self) -> nn.Module:
        width = self.channels[0]
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        layers["stem"] = self._stem(width)
        counts = self.blocks if isinstance(self.blocks, tuple) else (self.blocks,) * len(self.channels)
        for i, (channels, count) in enumerate(zip(self.channels, counts, strict=True), 1):
            stage: list[nn.Module] = []
            for number in range(count):
                made = self._block(width, channels, 2 if number == 0 and (i > 1 or self.halve_first) else 1)
                stage.append(made)
                width = made.width
            layers[f"stage_{i}"] = nn.Sequential(*stage)
        # What is left is 4 × 4 at 32 pixels, which the paper's pool of 4 averages whole.
        layers["mean"] = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
        layers["readout"] = self._readout(width)
        return nn.Sequential(layers)

    def _stem(self, width: int) -> nn.Module:
        if self.stem == "cifar":
            return nn.Sequential(_conv(self.shape[0], width, 1), _norm(width, self.norm), nn.ReLU())
        wide = nn.Conv2d(self.shape[0], width, 7, 2, padding=3, bias=False)
        return nn.Sequential(wide, _norm(width, self.norm), nn.ReLU(), nn.MaxPool2d(3, 2, padding=1))

    def _block(self, fan_in: int, channels: int, stride: int) -> _Block | _Bottleneck:
        if self.block == "basic":
            return _Block(fan_in, channels, stride, self.norm)
        return _Bottleneck(fan_in, channels, stride, self.norm, self.widen)

    def _readout(self, width: int) -> nn.Module:
        if not self.hidden:
            return nn.Linear(width, self.outputs)
        layers: list[nn.Module] = []
        for fan_out in self.hidden:
            layers += [nn.Linear(width, fan_out), nn.ReLU()]
            width = fan_out
        return nn.Sequential(*layers, nn.Linear(width, self.outputs))


def resnet_50(side: int, **changes: Any) -> ResNet:
    """ResNet-50 as Lepori et al. (2023) use it: instance norm, bottlenecks, and a perceptron 2048 → 2048 → 128."""
    given: dict[str, Any] = {
        "channels": (64, 128, 256, 512), "blocks": (3, 4, 6, 3), "block": "bottleneck", "hidden": (2048,), **_ENCODING,
    }  # fmt: skip
    return ResNet(shape=(3, side, side), **(given | changes))


def wide_resnet_50(side: int, **changes: Any) -> ResNet:
    """Their Wide-ResNet-50-2: bottlenecks twice as wide in the middle."""
    return resnet_50(side, **({"widen": 2} | changes))


_ENCODING: dict[str, Any] = {"norm": "instance", "stem": "imagenet", "outputs": 128}


class _Block(nn.Module):
    """relu(norm(conv(relu(norm(conv x)))) + shortcut x)."""

    def __init__(self, fan_in: int, fan_out: int, stride: int, norm: Norm) -> None:
        super().__init__()
        self.width = fan_out
        self.first = nn.Sequential(_conv(fan_in, fan_out, stride), _norm(fan_out, norm), nn.ReLU())
        self.second = nn.Sequential(_conv(fan_out, fan_out, 1), _norm(fan_out, norm))
        self.shortcut = _shortcut(fan_in, fan_out, stride, norm)

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.relu(self.second(self.first(x)) + self.shortcut(x))


class _Bottleneck(nn.Module):
    """1×1 down, 3×3, 1×1 up to four times the channels, plus the shortcut."""

    def __init__(self, fan_in: int, channels: int, stride: int, norm: Norm, widen: int) -> None:
        super().__init__()
        self.width, inner = 4 * channels, widen * channels
        self.first = nn.Sequential(nn.Conv2d(fan_in, inner, 1, bias=False), _norm(inner, norm), nn.ReLU())
        self.second = nn.Sequential(_conv(inner, inner, stride), _norm(inner, norm), nn.ReLU())
        self.third = nn.Sequential(nn.Conv2d(inner, self.width, 1, bias=False), _norm(self.width, norm))
        self.shortcut = _shortcut(fan_in, self.width, stride, norm)

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.relu(self.third(self.second(self.first(x))) + self.shortcut(x))


def _shortcut(fan_in: int, fan_out: int, stride: int, norm: Norm) -> nn.Module:
    if stride == 1 and fan_in == fan_out:
        return nn.Identity()
    return nn.Sequential(nn.Conv2d(fan_in, fan_out, 1, stride, bias=False), _norm(fan_out, norm))


def _norm(channels: int, norm: Norm) -> nn.Module:
    return nn.BatchNorm2d(channels) if norm == "batch" else _InstanceNorm()


class _InstanceNorm(nn.Module):
    """Every channel of every picture over its own pixels, with nothing learnt.

    ``nn.InstanceNorm2d`` computes the same as a batch norm of as many channels as there are planes, which took 70 % of
    a ResNet-50's step on an H200; as a layer norm of the planes it does not."""

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.layer_norm(x, x.shape[-2:])


def _conv(fan_in: int, fan_out: int, stride: int) -> nn.Conv2d:
    return nn.Conv2d(fan_in, fan_out, 3, stride, padding=1, bias=False)
