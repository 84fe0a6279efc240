"""Cost of training masks: beside NeuroSurgeon on two networks, and 24 masks at once beside one after another.

    python benchmarks/masks.py [--device cpu|cuda] [--peer FOLDER] [--cells resnet18 bert toy] [--out FILE.md]

The peer is NeuroSurgeon 0.1.0, no dependency of this package; put it into a folder of its own with
``pip install --no-deps --target FOLDER neurosurgeon==0.1.0``. Without it, its rows are left out. All matrices and
kernels but the classifier are masked, by continuous sparsification with the same penalty, Adam and batches on both
sides; norms are in evaluation mode. Each row is measured in a process of its own, on one thread: processor time of a
step (the best of several groups of steps, because other work on the machine only ever adds to it) and the most memory
that the process held.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from recombine.models import OddOneOutNet, Perceptron
from recombine.structure import Choice, MaskSettings, find_masks, grid
from recombine.tasks import Problems, SignProducts, cross_entropy
from recombine.training import Adam

GROUP = 4
GROUPS = 4
PENALTY = 1e-8
EPOCHS = 6
ALONE = "recombine, by autograd"
"""What holds the least memory on a GPU: a step that is neither traced nor captured."""


class Block(nn.Module):
    """A basic block of ResNet18."""

    def __init__(self, fan_in: int, fan_out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(fan_in, fan_out, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(fan_out, fan_out, 3, 1, 1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(fan_out), nn.BatchNorm2d(fan_out)
        same = stride == 1 and fan_in == fan_out
        bend = nn.Sequential(nn.Conv2d(fan_in, fan_out, 1, stride, bias=False), nn.BatchNorm2d(fan_out))
        self.shortcut = nn.Identity() if same else bend

    def forward(self, x: Tensor) -> Tensor:
        inside = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(self.norm2(self.conv2(inside)) + self.shortcut(x))


def resnet18() -> nn.Module:
    """The ImageNet layout: 11.2 million weights in its convolutions."""
    stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    widths = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2),
              (512, 512, 1)]  # fmt: skip
    return nn.Sequential(*stem, *(Block(*w) for w in widths), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


class Reader(nn.Module):
    """BERT with four layers of 512 units, a linear readout of its first token."""

    def __init__(self) -> None:
        super().__init__()
        from transformers import BertConfig, BertModel

        config = BertConfig(hidden_size=512, num_hidden_layers=4, num_attention_heads=8, intermediate_size=2048)
        self.bert, self.classifier = BertModel(config, add_pooling_layer=False), nn.Linear(512, 10)

    def forward(self, words: Tensor) -> Tensor:
        return self.classifier(self.bert(input_ids=words).last_hidden_state[:, 0])  # type: ignore[no-any-return]


NETWORKS: dict[str, tuple[str, Callable[[], nn.Module], Callable[[int], Tensor], Choice]] = {
    "resnet18": ("ResNet18, 16 × 128 px", resnet18, lambda n: torch.randn(n, 3, 128, 128), Choice(types="Conv2d")),
    "bert": ("BERT 4 × 512, 16 × 50 words", Reader, lambda n: torch.randint(1000, (n, 50)), Choice(names="bert")),
}  # fmt: skip


class WithLoss(nn.Module):
    """A model as the peer wants it: called by name, returning an object with a loss."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor, y: Tensor, return_dict: bool = True) -> Any:
        return SimpleNamespace(loss=cross_entropy(self.model(x), y).mean())


def peer_step(model: nn.Module, folder: str, choice: Choice, penalty: float) -> Callable[[Tensor, Tensor], None]:
    """One training step of a mask with NeuroSurgeon."""
    from recombine.structure import chosen

    sys.path.insert(0, folder)
    # Its top package imports a plotting library that masks do not need.
    package = type(sys)("NeuroSurgeon")
    package.__path__ = [str(Path(folder) / "NeuroSurgeon")]
    sys.modules["NeuroSurgeon"] = package
    models = importlib.import_module("NeuroSurgeon.Models")
    layers = [f"model.{name.removesuffix('.weight')}" for name in chosen(model, choice)]
    hyper = {"ablation": "none", "mask_unit": "weight", "mask_bias": False, "mask_init_value": 0.05}
    config = models.CircuitConfig(mask_hparams=hyper, target_layers=layers, l0_lambda=penalty)
    device = next(model.parameters()).device
    circuit = models.CircuitModel(config, WithLoss(model)).to(device)
    for parameter in circuit.parameters():
        parameter.requires_grad_(False)
    masks = [p for name, p in circuit.named_parameters() if "mask_params" in name]
    for parameter in masks:
        parameter.requires_grad_()
    optimizer = torch.optim.Adam(masks, lr=1e-2)

    def step(x: Tensor, y: Tensor) -> None:
        optimizer.zero_grad()
        circuit(x=x, y=y).loss.backward()
        optimizer.step()

    return step


def clock(device: torch.device) -> float:
    """Processor time on a CPU, wall time on a GPU."""
    if device.type == "cuda":
        torch.cuda.synchronize()
        return time.perf_counter()
    return time.process_time()


def peak(device: torch.device) -> float:
    """The most memory held, in MB."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def network_cell(name: str, who: str, device: torch.device, folder: str) -> dict[str, float]:
    _, build, draw, choice = NETWORKS[name]
    torch.manual_seed(0)
    model, x = build().to(device).eval(), draw(16 * GROUP).to(device)
    y = torch.randint(10, (len(x),), device=device)
    marks = [clock(device)]
    if who == "NeuroSurgeon":
        step = peer_step(model, folder, choice, PENALTY)
        for _ in range(GROUPS + 1):
            for at in range(0, len(x), 16):
                step(x[at : at + 16], y[at : at + 16])
            marks.append(clock(device))
    else:
        own = MaskSettings(choice=choice, penalty=PENALTY, penalty_on="sum", epochs=GROUPS + 1, batch_size=16)

        def note(done: int, total: int) -> None:
            if done % GROUP == 0:
                marks.append(clock(device))

        find_masks(model, Problems(x, y), own, progress=note, strategy="loop" if who == ALONE else "auto")
    spans = [after - before for before, after in itertools.pairwise(marks[1:])]
    return {"ms": 1e3 * min(spans) / GROUP, "mb": peak(device)}


def toy_cell(how: str, device: torch.device, folder: str) -> dict[str, float]:
    """Milliseconds a mask and step, for the 24 settings of the paper's search."""
    torch.manual_seed(0)
    model = OddOneOutNet(encoder=Perceptron(widths=(24, 128, 128, 32)))().to(device).eval()
    data = SignProducts().problems("subroutine", 2048, 1)
    if how == "NeuroSurgeon, one after another":
        x, y = data.inputs.to(device), data.targets.to(device)
        step, spans = peer_step(model, folder, Choice(), 1e-5), []
        for _ in range(GROUPS):
            before = clock(device)
            for at in range(0, 2048, 64):
                step(x[at : at + 64], y[at : at + 64])
            spans.append(clock(device) - before)
        return {"ms": 1e3 * min(spans) / 32, "mb": peak(device)}
    layers = (Choice(), Choice(names=r"encoder\.[24]"), Choice(names=r"encoder\.4"))
    base = MaskSettings(penalty=1e-5, penalty_on="sum", optimizer=Adam(lr=1e-2))
    settings = list(grid(choices=layers, base=base))

    def seconds(epochs: int) -> float:
        own = [setting.replace(epochs=epochs) for setting in settings]
        before = clock(device)
        find_masks(model, data, own, strategy="loop" if how == "one after another" else "auto")
        return clock(device) - before

    # A long search less a short one: what each mask or stack pays once, such as tracing, drops out.
    more = min(seconds(EPOCHS) for _ in range(2)) - min(seconds(2) for _ in range(2))
    return {"ms": 1e3 * more / (32 * len(settings) * (EPOCHS - 2)), "mb": peak(device)}


def measured(cell: list[str], arguments: argparse.Namespace) -> dict[str, float]:
    """One cell in a process of its own."""
    command = [sys.executable, __file__, "--device", arguments.device, "--peer", arguments.peer or "", "--cell", *cell]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(out.splitlines()[-1])  # type: ignore[no-any-return]


def tables(arguments: argparse.Namespace) -> list[str]:
    device, peer = torch.device(arguments.device), ["NeuroSurgeon"] if arguments.peer else []
    where = torch.cuda.get_device_name() if device.type == "cuda" else f"{platform.machine()} CPU, 1 thread"
    kind = "wall" if device.type == "cuda" else "CPU"
    lines = [f"Training masks on {where}, torch {torch.__version__}; {kind} milliseconds.", ""]
    lines += ["| network | by | ms per step | peak MB |", "|---|---|---:|---:|"]
    ways = ["recombine", ALONE] if device.type == "cuda" else ["recombine"]
    for name in [n for n in arguments.cells if n in NETWORKS]:
        for who in [*peer, *ways]:
            cell = measured([name, who], arguments)
            lines.append(f"| {NETWORKS[name][0]} | {who} | {cell['ms']:,.0f} | {cell['mb']:,.0f} |")
            print(lines[-1], file=sys.stderr, flush=True)
    if "toy" in arguments.cells:
        hows = [f"{p}, one after another" for p in peer] + ["one after another", "24 at once"]
        cells = {how: measured(["toy", how], arguments) for how in hows}
        slow = cells["one after another"]["ms"]
        lines += ["", "| 24 masks of 24-128-128-32, 64 problems | ms per mask and step | ratio |", "|---|---:|---:|"]
        lines += [f"| {how} | {cell['ms']:.3f} | {slow / cell['ms']:.2f}× |" for how, cell in cells.items()]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--peer", help="the folder that NeuroSurgeon was installed into")
    parser.add_argument("--cells", nargs="+", default=[*NETWORKS, "toy"])
    parser.add_argument("--out", type=Path, help="also write the tables here")
    parser.add_argument("--cell", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        torch.set_num_threads(1)
        name, who = arguments.cell
        device = torch.device(arguments.device)
        cell = (
            toy_cell(who, device, arguments.peer) if name == "toy" else network_cell(name, who, device, arguments.peer)
        )
        print(json.dumps(cell))
        return
    lines = tables(arguments)
    print("\n".join(lines))
    if arguments.out:
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
