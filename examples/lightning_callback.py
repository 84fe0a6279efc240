"""Measuring inside a Lightning trainer: one callback, the gap logged at every validation.

Needs Lightning (`pip install lightning`); without it this example says so and stops.
"""

from __future__ import annotations

import sys

import torch
from torch import nn

import recombine as rc
from recombine.support import leave_out
from recombine.tasks import correct, cross_entropy


def marks() -> rc.FixedTask:
    """A mark in a strip, left, middle or right, dim or bright; a dim mark on the right is never trained on."""
    space = rc.FactorSpace.of(position=["left", "middle", "right"], brightness=["dim", "bright"])
    train = leave_out(space, {"position": "right", "brightness": "dim"})
    codes = torch.as_tensor(space.sample(1200, seed=0))
    strips = 0.3 * torch.randn(1200, 9, generator=torch.Generator().manual_seed(0))
    for row, (position, brightness) in enumerate(codes.tolist()):
        strips[row, 3 * position : 3 * position + 3] += 1.0 + 2.0 * brightness
    scores = {"loss": cross_entropy, "scores": lambda o, t: {"accuracy": correct(o, t)}}
    return rc.FixedTask(space, train, ~train, strips, codes[:, 1], codes, **scores)


def main() -> None:
    try:
        import lightning.pytorch as lightning
    except ImportError:
        try:
            import pytorch_lightning as lightning
        except ImportError:
            print("skipped: Lightning is not installed (pip install lightning).")
            sys.exit(0)

    torch.manual_seed(0)
    task = marks()

    class Reader(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.network = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 2))

        def forward(self, strips: torch.Tensor) -> torch.Tensor:
            return self.network(strips)

        def training_step(self, batch: list[torch.Tensor], _: int) -> torch.Tensor:
            return cross_entropy(self(batch[0]), batch[1]).mean()

        def validation_step(self, batch: list[torch.Tensor], _: int) -> None:
            self.log("loss", cross_entropy(self(batch[0]), batch[1]).mean())

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.Adam(self.parameters(), lr=0.003)

    inputs, targets = task.whole()
    data = torch.utils.data.TensorDataset(inputs, targets)
    loader = torch.utils.data.DataLoader(data, batch_size=64)
    callback = rc.measures.lightning_callback(task, every=2)
    trainer = lightning.Trainer(
        max_epochs=6, callbacks=[callback], accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(Reader(), loader, loader)
    for step, result in callback.results:
        print(f"step {step:>4}  {result.verdict:<10} seen {result.seen.mean:.2f}  unseen {result.unseen.mean:.2f}")
    print(f"Decision: {callback.last.sentence()}")


if __name__ == "__main__":
    main()
