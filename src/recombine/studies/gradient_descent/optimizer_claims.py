"""At equal training loss: optimisers, and a search without gradients."""

from __future__ import annotations

import polars as pl

from recombine.studies.claims import Claim, Evidence, Order, Tables
from recombine.studies.gradient_descent.evidence import OURS, count, fitted, paired
from recombine.studies.gradient_descent.tables import OPTIMIZERS


def _equal(tables: Tables, task: str, optimizer: str) -> Evidence:
    mine = tables["optimizers"].filter((pl.col("task") == task) & (pl.col("optimizer") == OPTIMIZERS[optimizer]))
    a, b = (fitted(mine.filter(pl.col("setting") == setting)).select("member", "unseen") for setting in ("A", "B"))
    return paired(a, b, "unseen", count(mine))


def _special(tables: Tables) -> Evidence:
    rows = tables["optimizers"].filter((pl.col("task") == "toy") & (pl.col("setting") == "A"))
    sides = [rows.filter(pl.col("optimizer") == OPTIMIZERS[name]) for name in ("sgd", "evolution")]
    groups = [fitted(side)["unseen"] for side in sides]
    return Evidence.of(*groups, members=[count(side) for side in sides])


OPTIMIZER_CLAIMS = (
    *(
        Claim(
            id=f"optimizer-{name}",
            sentence=f"At equal training loss, digit pairs trained with {OPTIMIZERS[name]} resist.",
            criterion=Order(("unseen in A", "unseen in B")),
            evidence=lambda t, name=name: _equal(t, "digit pairs", name),  # type: ignore[misc]
            source=f"section 4 argues for gradient descent in general; {OURS}",
            unit="accuracy",
        )
        for name in ("sgd", "momentum", "adam", "sign")
    ),
    Claim(
        id="optimizer-evolution",
        sentence="At equal training loss, a search that never takes a gradient resists too.",
        criterion=Order(("unseen in A", "unseen in B")),
        evidence=lambda t: _equal(t, "toy", "evolution"),
        source=f"the control that the paper's title asks for, on the toy; {OURS}",
        unit="accuracy",
    ),
    Claim(
        id="optimizer-special",
        sentence="Gradient descent resists more than that search does.",
        criterion=Order(("gradient descent", "evolution")),
        evidence=_special,
        source="the title and the conclusion: the bias “is caused by gradient descent”",
        unit="accuracy on the unseen quarter, in A",
        explanation=(
            "At the same training loss a search without gradients cannot be told from gradient descent on the unseen "
            "quarter: what resists is any way to lower this loss on these data, not the gradient. Its networks "
            "differ from each other more than those of gradient descent do."
        ),
    ),
)
