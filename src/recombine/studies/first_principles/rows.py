"""The published table, row by row: what is trained, and what the authors measured.

Figures are means over seeds of the authors' table (`notebooks/table_data.csv` of their repository), recomputed; n is
how many seeds it has. Two further seeds of the alpha row collapsed to black and are missing from the committed table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SupportName = Literal["random", "orthogonal", "orthogonal+", "orthogonal*", "gap", "normal", "diagonal"]


@dataclass(frozen=True)
class Row:
    """One row: a support, a model, and the published R² and error on the whole cube."""

    label: str
    support: SupportName
    r2: float
    mse: float
    monolithic: bool = False
    alpha: bool = False
    width: float = 0.1
    seeds: int = 5


ROWS = {
    "orthogonal": Row("orthogonal", "orthogonal", 0.951, 1.24e-3),
    "orthogonal-monolithic": Row("orthogonal, monolithic", "orthogonal", -0.500, 4.06e-2, monolithic=True),
    "random": Row("random", "random", 0.957, 1.07e-3),
    "random-monolithic": Row("random, monolithic", "random", 0.931, 1.73e-3, monolithic=True),
    "star": Row("orthogonal *", "orthogonal*", 0.869, 3.29e-3),
    "gap": Row("orthogonal, gap in x", "gap", 0.895, 2.64e-3),
    "diagonal-05": Row("diagonal, .05", "diagonal", 0.589, 1.04e-2, width=0.05),
    "diagonal-10": Row("diagonal, .1", "diagonal", 0.945, 1.39e-3, width=0.1),
    "diagonal-20": Row("diagonal, .2", "diagonal", 0.955, 1.13e-3, width=0.2),
    "alpha": Row("orthogonal, alpha", "orthogonal", 0.979, 5.24e-4, alpha=True, seeds=3),
    "plus": Row("orthogonal +", "orthogonal+", 0.954, 1.16e-3),
    "normal": Row("orthogonal, normal", "normal", 0.951, 1.24e-3),
}
"""In the order in which a short budget should be spent."""
