"""The plane from rich to lazy as a map: every start at every σ, learning rate and width, a million networks.

The paper has six seeds at seven σ, one rate and one width. Whether the border between what lazy and what rich networks
do is sharp, whether the rate moves it, and how often a rich network fails are questions about shares of networks, some
of them of one in ten thousand. Each start (a draw of the weights) is trained at all places of the plane, so that places
are compared start by start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
import torch
from pydantic import Field
from torch import Tensor

from recombine.models import Dense
from recombine.runs import StoredRun
from recombine.runs.run import Context, Outcome, Run
from recombine.studies._cells import Cells, cells, rising
from recombine.studies.charts import chart, drawn
from recombine.studies.claims import Claim
from recombine.studies.kernel_theory import sets
from recombine.studies.kernel_theory.sets import rounded
from recombine.studies.study import Setting
from recombine.tasks import Draws, SymbolicTask
from recombine.training import SGD, Ensemble, pick_device
from recombine.training.stack import Objective, positional, stack_members
from recombine.training.strategies import can_fuse, strategy_for

FIT, STOP = 1e-3, 1e-4
BLOCK = 256
"""Steps between two looks at whether all have stopped."""
RICH, SLOW = 0.0625, 0.17
"""Up to this σ and rate networks are called rich and steadily trained; set from 24 starts at width 64."""
KEPT = (0.02, 0.04, 0.08, 0.16, 0.32, 0.64)
"""The rates of which the results of single starts are kept."""


class MapRun(Run):
    """Train networks of one hidden layer on all of ``task`` at every width, σ and rate, ``starts`` of each width.

    The table ``map`` has one row per place; ``starts`` one per start, width and rate: at how many σ it fits, and solves
    the task (every asked combination on its right side), the largest σ from which on downwards it does, and at how many
    σ that it fits at this and at the slowest rate it has gained and lost the solution."""

    kind: ClassVar[str] = "map"

    task: SymbolicTask
    widths: tuple[int, ...]
    sigmas: tuple[float, ...]
    """From lazy to rich."""
    rates: tuple[float, ...]
    """The slowest first."""
    starts: int = Field(ge=1)
    steps: int = Field(ge=1)
    seed: int = 0

    def compute(self, context: Context) -> Outcome:
        places: list[pl.DataFrame] = []
        starts: list[pl.DataFrame] = []
        for width in self.widths:
            slowest: tuple[np.ndarray, np.ndarray] | None = None
            for rate, answers, losses in self._trained(width, context):
                right = answers * np.array(self.task.asked_answers)
                fits = losses <= FIT  # false where it is no number
                solved = fits & (right > 0).all(-1)
                slowest = slowest or (fits, solved)
                places.append(self._places(width, rate, losses, fits, solved, right))
                starts.append(self._starts(width, rate, fits, solved, *slowest))
                done = len(places), len(self.widths) * len(self.rates)
                context.progress(*done, "rates and widths")
        members = len(self.widths) * len(self.sigmas) * len(self.rates) * self.starts
        notes = {"members": members, "steps": self.steps, "strategy": strategy_on(pick_device(context.device)),
                 "settings": self.resolved()}  # fmt: skip
        return Outcome({"map": pl.concat(places), "starts": pl.concat(starts)}, {}, notes)

    def _trained(self, width: int, context: Context) -> Iterator[tuple[float, np.ndarray, np.ndarray]]:
        """For each rate: the answers (σ × starts × asked) and the final losses (σ × starts)."""
        device = pick_device(context.device)
        whole, targets = self.task.whole(device)
        (inputs,) = positional(whole)
        asked, _ = self.task.examples(torch.tensor(self.task.asked, device=device), Draws.single(0, "asked"))
        drawn = stack_members(Dense(inputs=sum(self.task.levels), width=width), range(self.starts), seed=self.seed,
                              optimizer=SGD(lr=1.0), device=device, dtype=None, stop_below=STOP)  # fmt: skip
        scales = torch.tensor(self.sigmas, device=device)[:, None, None]
        shape = len(self.sigmas), self.starts
        for rate in self.rates:
            flat = (drawn.flat * scales).flatten(0, 1).contiguous()
            stack = replace(
                drawn, members=tuple(range(len(flat))), flat=flat, lr=torch.full_like(flat[:, :1], rate),
                weight=torch.zeros_like(flat[:, 0]), held=torch.full_like(flat[:, 0], torch.nan),
            )  # fmt: skip
            strategy = strategy_for(strategy_on(device), stack, Objective(self.task), shared=True)
            for start in range(0, self.steps, BLOCK):
                block = range(start, min(start + BLOCK, self.steps))
                strategy.advance((inputs,), targets, stack.optimizer.hyper(block).to(flat), start)
                if stack.stopped:
                    break
            networks = Ensemble(stack.module.eval(), stack.layout, flat, {}, stack.members)
            losses = (networks(inputs) - targets).square().mean((1, 2))
            yield rate, _numbers(networks(asked)[..., 0], shape), _numbers(losses, shape)

    def _places(
        self, width: int, rate: float, losses: np.ndarray, fits: np.ndarray, solved: np.ndarray, right: np.ndarray
    ) -> pl.DataFrame:
        margins = np.where(fits, right.mean(-1), 0.0).sum(1) / np.maximum(fits.sum(1), 1)
        return pl.DataFrame({
            "width": width, "rate": rate, "sigma": self.sigmas, "networks": self.starts, "fit": fits.sum(1),
            "solved": solved.sum(1), "diverged": (~np.isfinite(losses)).sum(1),
            "margin": np.where(fits.any(1), margins, np.nan),
        }, schema_overrides=dict.fromkeys(("width", "networks", "fit", "solved", "diverged"), pl.Int32))  # fmt: skip

    def _starts(
        self, width: int, rate: float, fits: np.ndarray, solved: np.ndarray, fit_slowly: np.ndarray,
        solved_slowly: np.ndarray,
    ) -> pl.DataFrame:  # fmt: skip
        both = fits & fit_slowly
        rich = np.array(self.sigmas)[:, None] <= RICH
        # How many of the richest σ in a row are solved, or were not fitted and tell nothing.
        run = np.logical_and.accumulate((solved | ~fits)[::-1]).sum(0)
        border = np.append(np.log10(self.sigmas)[::-1], np.nan)[np.maximum(run, 1) - 1]
        counts = {
            "fit": fits.sum(0), "solved": solved.sum(0), "both": both.sum(0),
            "gained": (both & solved & ~solved_slowly).sum(0), "lost": (both & ~solved & solved_slowly).sum(0),
            "rich": (rich & fits).sum(0), "rich_failed": (rich & fits & ~solved).sum(0),
        }  # fmt: skip
        table = pl.DataFrame({"member": np.arange(self.starts), "width": width, "rate": rate, **counts})
        border = np.where((run > 0) & solved.any(0), border, np.nan)
        integers = pl.col("member", "width", *counts).cast(pl.Int32)
        return table.with_columns(integers, pl.Series("border", border).fill_nan(None))


def strategy_on(device: torch.device) -> str:
    return "stacked" if device.type == "cpu" else "fused" if can_fuse(device) else "captured"


def _numbers(values: Tensor, shape: tuple[int, int]) -> np.ndarray:
    return values.reshape(*shape, *values.shape[1:]).double().cpu().numpy()


def settings(size: str, starts: int | None) -> dict[str, Setting]:
    """The map at a scale: transitive equivalence, which only rich networks solve."""
    widths, each, rates, steps, usual = {
        "smoke": ((8, 16), 3, (0.02, 0.32), 128, 3),
        "quick": ((16, 64, 256), 6, (0.02, 0.32, 0.64), 1536, 8),
        "paper": ((16, 64, 256), 24, tuple(rounded(0.02 * 2 ** (k / 4)) for k in range(24)), 2048, 640),
    }[size]
    sigmas = tuple(rounded(2 ** (1 - 6.9 * k / (each - 1))) for k in range(each))
    run = MapRun(task=sets.equivalence((2, 2), (1, 1)), widths=widths, sigmas=sigmas, rates=rates, steps=steps,
                 starts=starts or usual)  # fmt: skip
    return {"map-equivalence": Setting(run, {})}


def starts(run: StoredRun, _: Setting) -> pl.DataFrame:
    """Single starts at some of the rates."""
    return run.table("starts").filter(pl.col("rate").is_in(KEPT))


def _of(value: str | pl.Expr, width: int, *where: pl.Expr, **more: Any) -> Cells:
    return cells(value, "starts", *where, width=width, **more)


BORDER = pl.col("border")
OFF = (BORDER - BORDER.median().over("width", "rate")).abs()
NET = (pl.col("gained") - pl.col("lost")) / pl.col("both").replace(0, None)
FAILED = pl.col("rich_failed") / pl.col("rich").replace(0, None)
WIDTHS = {256: "256 units", 64: "64 units", 16: "16 units"}
CLAIMS = (
    Claim("map-sharp", "At a rate of .02 wider networks have a sharper border between lazy and rich, from 64 to 256 "
          "units by less than a step of the grid.",
          rising(*(_of(OFF, width, rate=0.02) for width in WIDTHS), names=tuple(WIDTHS.values())), whose="ours",
          unit="decades of σ", source="how far the σ below which a start solves equivalence lies from the median "
          "start; up to .16 it is so too, at .32 not shown (figure). Rival: starts that solve none or all σ have no "
          "border, or that of the grid"),
    Claim("map-rate", "A high rate makes networks a little richer: at .32 starts solve more σ than at .02.",
          _of(NET, 64, rate=0.32).above(0), whose="ours", unit="of σ, gained less lost",
          source="width 64, the same start and σ at both rates, where both fit: half a σ of twenty. Rival: those "
          "that fit at .32 are others, which pairs rule out; seen at 24 starts before"),
    Claim("map-edge", "At the edge of stability networks lose what they solved: at .64 starts do not solve what they "
          "do at .02.",
          _of(NET, 64, rate=0.64).below(0), whose="ours", unit="of σ, gained less lost",
          source="width 64, as above; seen at 24 starts before"),
    Claim("map-rare", "That a rich network fails is rare, and rarer the wider it is.",
          rising(*(_of(FAILED, width, pl.col("rate") < SLOW) for width in WIDTHS), names=tuple(WIDTHS.values())),
          whose="ours", unit="of networks", source="σ ≤ .0625 and rates up to .16, of those that fit. Rival: steps run "
          "out, which those that do not fit would show"),
)  # fmt: skip


def _shares(table: pl.DataFrame) -> pl.DataFrame:
    """Of those that fit the share that solves; none where fewer than one in twenty fits."""
    share = pl.when(pl.col("fit") * 20 >= pl.col("networks")).then(pl.col("solved") / pl.col("fit"))
    return table.select(
        (pl.col("rate") / 0.02).log(2).round(6), pl.col("sigma").log(2).round(6), share.alias("share"),
        pl.format("{} units", "width").alias("network"), "networks", "fit",
    )  # fmt: skip


def _map_shows(rows: pl.DataFrame) -> str:
    if rows.is_empty():
        return ""
    starts, places, networks = rows["networks"][0], rows["rate", "sigma"].n_unique(), int(rows["networks"].sum())
    return (f"From rich to lazy: {starts} starts per width at {places} places, {networks:,} networks of which "
            f"{int(rows['fit'].sum()) / networks:.0%} fit")  # fmt: skip


FIGURES = (
    drawn("map", "From rich to lazy", table="map", prepare=_shares, finding=_map_shows,
          draw=lambda rows: chart("maps", "rate", "sigma", "share", "network", x_title="doublings of the rate .02",
                                  y_title="log₂ σ", value_title="share of fitted networks that solve equivalence")(
              rows.drop_nulls("share"))),
)  # fmt: skip
