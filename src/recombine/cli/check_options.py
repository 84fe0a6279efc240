"""Options of `recombine check` alone; those that it shares with other verbs are in `options`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from recombine.cli.options import OUTPUT, READ

ASKED = Group("What is asked about", sort_key=1)
ASSUMED = Group("What is assumed and tried", sort_key=3)
COLLECT = Group("What to collect", sort_key=4)

TrainingTable = Annotated[Path | None, Parameter(help="Training table: CSV, Parquet, Excel; may be gzipped.")]
Factors = Annotated[str | None, Parameter(help="Columns that are recombined: a,b,c.")]
Target = Annotated[str | None, Parameter(help="Column with the answer.")]
Split = Annotated[
    str | None,
    Parameter(
        group=ASKED,
        help="column=value: ask about these rows of the table, train on the others; where some are called train, on "
        "those alone, and the rest (val) is left out.",
    ),
]
Test = Annotated[Path | None, Parameter(group=ASKED, help="Ask about the rows of this table.")]
Grid = Annotated[
    bool,
    Parameter(group=ASKED, help="Ask about the grid of levels as well as about rows.", negative=(), show_default=False),
]
Order = Annotated[
    int,
    Parameter(
        group=ASSUMED, help="1: each factor adds an effect. 2: each pair of factors may act together in any way."
    ),
]
MinSupport = Annotated[int, Parameter(group=READ, help="A combination counts as seen from this many rows on.")]
Block = Annotated[
    str | None,
    Parameter(
        group=READ,
        help="Columns that shift the answer and are not recombined (day,plate): their shifts are taken off; "
        "site:block where blocks are numbered anew in each level of the factor site.",
    ),
]
Weights = Annotated[
    str | None,
    Parameter(
        group=READ,
        help="Column that says how many cases each row stands for, or how precise it is (visits beside a rate): rows "
        "of many cases count for more.",
    ),
]
Forbid = Annotated[
    list[str] | None, Parameter(group=COLLECT, help="a=x,b=y: cells that cannot be collected.", negative=())
]
Exclude = Annotated[
    list[str] | None,
    Parameter(group=ASKED, help="a=x,b=y: cells that cannot exist (a=Total: rows of it are left out).", negative=()),
]
Cost = Annotated[
    list[str] | None,
    Parameter(group=COLLECT, help="a=x:5: what a level adds to the price; rows without one cost 1.", negative=()),
]
Budget = Annotated[
    float | None, Parameter(group=COLLECT, help="The best rows to collect for this many (or this price).")
]
UntilError = Annotated[
    float | None,
    Parameter(
        group=COLLECT,
        help="Rows until every asked standard error (inside the seen range) is below this, in its units.",
    ),
]
Noise = Annotated[float | None, Parameter(group=COLLECT, help="Standard deviation of one row; estimated if not given.")]
Change = Annotated[
    str | None, Parameter(group=COLLECT, help="a=10,b=1: cost of changing a factor, for a visiting order.")
]
Criterion = Annotated[Literal["A", "D"], Parameter(group=COLLECT, help="A: precise answers; D: precise effects.")]
Levels = Annotated[str | None, Parameter(group=COLLECT, help="a=3,b=red:green: a plan from nothing; needs --budget.")]
Salience = Annotated[
    float | None,
    Parameter(
        group=ASSUMED,
        help="What a kernel over two factors with this salience S(1;2) would answer (docs/concepts/salience.md).",
    ),
]
Depth = Annotated[
    int, Parameter(group=ASSUMED, help="What a wide ReLU network with so many hidden layers would answer.")
]
PlanFile = Annotated[
    Path | None,
    Parameter(
        group=COLLECT,
        help="Write the rows to collect here, a run sheet with an empty column for the answers of --target (.csv).",
    ),
]
Rules = Annotated[
    str | None,
    Parameter(
        group=ASSUMED,
        help="Learners that join the forecast's contest: forest (100 trees), networks (the mean of five with two "
        "layers of 64 units), both scikit-learn's, untuned; they take seconds to minutes.",
    ),
]
Best = Annotated[
    Literal["max", "min"] | None,
    Parameter(
        group=ASKED,
        help="Which asked combinations have the largest or smallest answers; of two classes the largest or "
        "smallest chance of “yes”, 1 or “true”, else of the rarer one.",
    ),
]
FailOn = Annotated[
    list[str] | None,
    Parameter(
        group=OUTPUT,
        help="Exit with 1 if anything asked is undetermined, extrapolated or has an unseen level (undetermined), "
        "if effects are not shown to add up (assumption), if a note names answers that may be slips "
        "(slip), if the forecast error, or that of a level far "
        "harder than the others, is above X (error=X), or the upper end of its interval (high=X); several are "
        "a,b or repeated.",
        negative=(),
    ),
]
