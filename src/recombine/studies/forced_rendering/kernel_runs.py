"""What is exact: regression with the tangent kernel of a wide network, with and without stripes, and the data it
needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field

from recombine.measures.rendering import inside, located
from recombine.measures.superposition import predictions, regress
from recombine.measures.tangent import wide_tangent_kernel
from recombine.runs import Context, Outcome, Run
from recombine.tasks import BumpTask, Draws, Population

if TYPE_CHECKING:
    import polars as pl


class OverlapRun(Run):
    """Each task by exact regression at each depth: where the unseen bumps are put, and at which error."""

    kind: ClassVar[str] = "overlap kernel"

    tasks: dict[str, BumpTask] = Field(min_length=1)
    depths: tuple[int, ...] = (1, 2, 3, 4)

    def compute(self, context: Context) -> Outcome:
        import polars as pl

        rows = []
        for done, (name, task) in enumerate(self.tasks.items()):
            seen, unseen = task.train.explicit().codes, task.test.explicit().codes
            points = torch.as_tensor(unseen.copy())
            target = task.signal(task.pictures(points)).double()
            kept = torch.as_tensor(inside(seen, unseen))
            for depth in self.depths:
                drawn = torch.as_tensor(predictions(task, seen, unseen, depth)).reshape(target.shape)
                hit = located(drawn, points).double()
                rows.append({
                    "problem": name, "side": task.side, "depth": depth, "located": float(hit.mean()),
                    "located_inside": float(hit[kept].mean()) if kept.any() else None,
                    "over_blank": float((drawn - target).square().mean()) / task.blank_error,
                })  # fmt: skip
            context.progress(done + 1, len(self.tasks), "problems")
        return Outcome({"kernels": pl.DataFrame(rows)}, {}, {"members": len(self.depths)})


class NeedRun(Run):
    """Location and error on unseen combinations against the number of bumps, drawn anew ``samples`` times from the
    whole square; with and without every stripe. The tangent kernel of ``depth`` layers on the paper's bump code."""

    kind: ClassVar[str] = "data need"

    sides: tuple[int, ...] = (8, 12, 16)
    samples: int = Field(default=8, ge=1)
    depth: int = Field(default=3, ge=1)

    def compute(self, context: Context) -> Outcome:
        import polars as pl

        parts: list[pl.DataFrame] = []
        for done, side in enumerate(self.sides):
            parts += [self._one(side, stripes, sample) for stripes in (0, 2 * side) for sample in range(self.samples)]
            context.progress(done + 1, len(self.sides), "sides")
        return Outcome({"need": pl.concat(parts)}, {}, {"members": self.samples})

    def _one(self, side: int, stripes: int, sample: int) -> pl.DataFrame:
        import polars as pl

        task = BumpTask(side=side, holdout="none", hole=0, encoding=Population(), stripes=stripes)
        grid = torch.as_tensor(task.space.grid()).double()
        lines = task.stripe_points().double()
        points = torch.cat([grid, lines])
        kernel = wide_tangent_kernel(task.codes(points).numpy(), self.depth)
        pictures = task.pictures(points).flatten(1).numpy()
        order = Draws.single(sample, f"need {side}").uniform((len(grid),), torch.float64).argsort().numpy()
        extra = np.arange(len(grid), len(points))
        rows = []
        for bumps in counts(side):
            train = np.concatenate([order[:bumps], extra])
            asked = order[bumps:]
            rows.append({"side": side, "stripes": stripes, "member": sample, "bumps": bumps, "examples": len(train)}
                        | _drawn(kernel, pictures, train, asked, grid, side, task.blank_error))  # fmt: skip
        return pl.DataFrame(rows, schema_overrides={"member": pl.Int32})


def counts(side: int) -> list[int]:
    """Numbers of bumps, √2 apart, from 4 up to four fifths of the square."""
    last = 0.8 * side**2
    values = {round(4 * 2 ** (k / 2)) for k in range(40)}
    return [*sorted(v for v in values if v < int(last)), int(last)]


def _drawn(
    kernel: NDArray[np.float64], pictures: NDArray[np.float64], train: NDArray[np.int64], asked: NDArray[np.int64],
    grid: torch.Tensor, side: int, blank: float,
) -> dict[str, float]:  # fmt: skip
    both = np.concatenate([train, asked])
    drawn = torch.as_tensor(regress(kernel[np.ix_(both, both)], pictures[train])).reshape(-1, side, side)
    target = torch.as_tensor(pictures[asked]).reshape(-1, side, side)
    return {
        "located": float(located(drawn, grid[asked]).double().mean()),
        "over_blank": float((drawn - target).square().mean()) / blank,
    }
