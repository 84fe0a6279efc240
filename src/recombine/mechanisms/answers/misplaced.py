"""Were predictions of test rows put beside the wrong rows, are all of them one and the same, or the answers themselves?

A learner that answers training rows right, and new rows of the same combinations as if it had never seen them, is said
to overfit. Rows that were sorted in between, or a test set whose columns were not found, look the same in errors. They
are told apart by the rows themselves: predictions that are spread as the answers are and have nothing to do with them,
where training rows of one combination are answered alike though their answers differ, are nobody's who knows rows by
heart. Whoever knows combinations by heart gives new rows what training rows of the same combination get; rows that were
put elsewhere have nothing to do with that either. Levels that were numbered anew are told first (`answered_anew.py`),
and before all whether training rows are in another order, too (`out_of_order.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recombine.mechanisms.answers.answered_anew import answered_anew
from recombine.mechanisms.answers.columns import Columns
from recombine.mechanisms.answers.names import brief, score
from recombine.mechanisms.answers.out_of_order import SORTED, goes_with, out_of_order, spread_alike
from recombine.mechanisms.answers.shuffled import may_be_of_others, of_other_combinations
from recombine.support.scan import collect

FEWEST_ROWS = 20
MOST_ROWS = 1_000_000
"""Rows beyond which it is not looked at."""
GOES_WITH = 0.7
"""How well predictions have to go with answers that were trained on, …"""
NOT_WITH, HALF_AS_WELL = 3.0, 2.0
"""… by how many standard errors at most they may with those of test rows, and by how many it has to be less than half
as well."""
ALIKE, HALF, QUARTER = 0.1, 0.5, 0.25
RARELY = 0.001
FIRST = "Look first at how "
WRONG_ROWS = f"{FIRST}predictions were put beside test rows (their order; join by a key): "
EVERY_ROW = f"{FIRST}predictions were put beside rows{{}} (their order; join by a key): "
IN_SIZE = "predictions stand in order of size, and answers do not"
OF_OTHERS = "predictions are those of other combinations"
MOST_COLUMNS = 20
"""Columns whose order is tried."""
ALL_ALIKE = (
    "every test row, of seen combinations too, gets one and the same answer, where training rows are answered right"
)
LOAD = (
    f"{FIRST}test rows were predicted: one answer for all is what a column that was not found, a model that was not "
    "loaded or filled-in blanks give, or a learner that knows training rows by what test rows lack (an id)."
)
ANEW = "the same combination is answered one way on training rows and another on test rows"
ENCODE = (
    f"{FIRST}test rows were encoded: {{two:,}} of {{of:,}} seen combinations get one answer on all their training rows "
    "and another on all their test rows, where training's would be better. Their levels may be numbered anew there, or "
    "the predictions are of two models, or of a column that differs between the parts: encode both parts by one "
    "encoder."
)
COPIED = "predictions are the answers themselves"
FEWEST_COPIES, MOSTLY = 3, 0.5
Rows = NDArray[np.bool_]


@dataclass(frozen=True)
class Misplaced:
    """What predictions of test rows look like, in a clause, and what to look at first; nothing where they are right, or
    that may be overfitting."""

    why: str = ""
    look: str = ""
    by_heart: bool = False
    """Whether a learner that knows training rows by heart may give the same, so that it overfits in any case."""
    everywhere: bool = False
    """Whether training rows, too, have predictions of other rows, so that it does not count as fitted."""
    dealt: bool = False
    """Whether predictions may be of other rows, or drawn: nothing to look at first, but before it is trained on."""

    @property
    def anew(self) -> bool:
        """Whether combinations are answered in two ways."""
        return self.why == ANEW

    @property
    def copied(self) -> bool:
        """Whether predictions are the answers themselves, of which errors say nothing."""
        return self.why == COPIED


def misplaced(
    frame: pl.LazyFrame, columns: Columns, factors: Sequence[str], split: tuple[str, str] | None,
    also: Sequence[str] = (),
) -> Misplaced:  # fmt: skip
    """What predictions of test rows look like. Training rows need predictions, and seen combinations test rows, but
    where they are the answers, or all in another order. ``also``: further columns by which rows may have been sorted.
    """
    if copies := _copies(frame, columns, factors, split):
        return Misplaced(COPIED, copies)
    if collect(frame.select(pl.len()))[0, 0] > MOST_ROWS:
        return Misplaced()
    y, p = pl.col(columns.target), pl.col(columns.prediction)
    test_row = pl.lit(True) if split is None else pl.col(split[0]).cast(pl.String) == split[1]
    frame = frame.drop_nulls([columns.target, columns.prediction, *factors, *([] if split is None else split[:1])])
    ranks = [pl.col(name).rank("dense").alias(f"level {i}") for i, name in enumerate(factors)]
    rows = collect(frame.select(*ranks, y=y, p=p, test=test_row))
    codes = rows.select(f"level {i}" for i in range(len(factors)))
    # Ranks of ranks are those of texts, and are sorted in a fraction of the time.
    cell = codes.select(pl.struct(pl.all()).rank("dense")).to_series().to_numpy()
    test, classes = rows["test"].to_numpy(), columns.kind == "class"
    values = [rows[name].to_numpy() for name in "yp"]
    if classes:
        names = pl.concat([rows["y"], rows["p"]]).unique(maintain_order=True)
        numbers = pl.Series(range(len(names)), dtype=pl.Int64)
        values = [rows[name].replace_strict(names, numbers).to_numpy() for name in "yp"]
    if not len(rows) or not all(np.isfinite(v).all() for v in values):
        return Misplaced()
    also = [*dict.fromkeys([*([] if split is None else split[:1]), *factors, *also])]
    how, well = out_of_order(values[0], values[1], cell, lambda: _ranks(frame, also), classes)
    if how:
        look = EVERY_ROW.format(", training rows too" * (not test.all()))
        why = IN_SIZE if how == SORTED else f"predictions go with the answers once they are {how}"
        return Misplaced(why, f"{look}{well}.", everywhere=True)
    if others := of_other_combinations(values[0], values[1], cell, classes):
        return Misplaced(OF_OTHERS, f"{EVERY_ROW.format('')}{others}.", everywhere=True)
    if may_be_of_others(values[0], values[1], cell, classes):
        return Misplaced(dealt=True)
    seen = np.isin(cell, cell[~test])
    if split is None or min((test & seen).sum(), (~test).sum()) < FEWEST_ROWS:
        return Misplaced()
    return _looked_at(values[0], values[1], test, test & seen, cell, codes.cast(pl.Int64).to_numpy(), classes)


def _ranks(frame: pl.LazyFrame, names: Sequence[str]) -> dict[str, Any]:
    """Columns by which rows may have been sorted, each as ranks."""
    schema = frame.collect_schema()
    plain = [name for name in names if not (schema[name].is_nested() or schema[name] == pl.Object)][:MOST_COLUMNS]
    ranks = collect(frame.select(pl.col(name).rank("dense").fill_null(0) for name in plain))
    return {brief(name, 20): ranks[name].to_numpy() for name in plain}


def _copies(frame: pl.LazyFrame, columns: Columns, factors: Sequence[str], split: tuple[str, str] | None) -> str:
    """That predictions are the answers, to all decimals, where answers of one combination differ."""
    if columns.kind == "class":
        return ""
    y, p = pl.col(columns.target), pl.col(columns.prediction)
    rows = frame if split is None else frame.filter(pl.col(split[0]).cast(pl.String) == split[1])
    rows = rows.filter((y * 1000 - (y * 1000).round()).abs() > 1e-6).select(*factors, y, same=p == y)
    if not (collect(rows.select(pl.col("same").mean()))[0, 0] or 0) > MOSTLY:
        return ""
    several = rows.filter(y.n_unique().over(factors) > 1)
    count, of = collect(several.select(pl.col("same").sum().alias("count"), pl.len().alias("of"))).row(0)
    if count < FEWEST_COPIES or count < MOSTLY * of:
        return ""
    return (
        f"{count:,} of {of:,} test rows are answered rightly to all decimals, where answers of one combination differ: "
        f"{columns.prediction!r} may have been made from {columns.target!r}, and errors then say nothing."
    )


def _looked_at(y: Any, p: Any, test: Rows, again: Rows, cell: Any, levels: Any, classes: bool) -> Misplaced:
    """``again``: test rows of seen combinations; ``levels``: of each row, one column per factor."""
    known = goes_with(y[~test], p[~test], classes)[0]
    two, of = answered_anew(y, p, test, cell, levels, classes) if np.ptp(p[test]) else (0, 0)
    anew = Misplaced(ANEW, ENCODE.format(two=two, of=of)) if two else Misplaced()
    if not known >= GOES_WITH or not np.ptp(y[again]):
        return anew
    heart = not _answered_alike(y[~test], p[~test], cell[~test], classes)
    if not np.ptp(p[test]):
        usual = float((p[~test] == p[test][0]).mean())
        by_chance = classes and usual ** int(test.sum()) > RARELY
        return Misplaced() if by_chance else Misplaced(ALL_ALIKE, LOAD, heart)
    r = "kappa" if classes else "r"
    there, said = y[test], p[test]
    tried = (("moved by one row", slice(1, None), slice(-1)), ("moved by one row", slice(-1), slice(1, None)),
             ("turned round", slice(None, None, -1), slice(None)))  # fmt: skip
    for how, moved, at in tried:
        then, beside = (goes_with(there[to], said[at], classes)[0] for to in (moved, at))
        # Where neighbouring rows share a combination, most of them are right where they stand.
        far = 1 - then < QUARTER * (1 - beside) or max(1 - then, 1 - known) < HALF * (1 - beside)
        if then >= GOES_WITH and far:
            return Misplaced(
                f"predictions of test rows are right once they are {how}",
                f"{WRONG_ROWS}{how} they would go with the answers at {r} = {score('', then)}, not "
                f"{score('', beside)}.",
            )
    if two:
        return anew
    told = _trained_alike(p, test, again, cell, classes)
    (own, doubt), (like, blur) = (goes_with(of, p[again], classes) for of in (y[again], told))
    with_them = abs(own) > NOT_WITH * doubt or own + HALF_AS_WELL * doubt > HALF * known
    as_trained = like > NOT_WITH * blur or like + HALF_AS_WELL * blur > GOES_WITH
    if heart or with_them or as_trained or not spread_alike(y[again], p[again]):
        return Misplaced()
    return Misplaced(
        "predictions of test rows have nothing to do with their answers, of seen combinations either, nor with what "
        "training rows of the same combinations get, which are answered right",
        f"{WRONG_ROWS}they are spread as the answers are and go with those of seen combinations at {r} = "
        f"{score('', own)}, in training rows at {score('', known)}.",
    )


def _trained_alike(p: Any, test: Rows, again: Rows, cell: Any, classes: bool) -> Any:
    """Of each row of ``again``, what training rows of its combination get, on average or most often."""
    known = pl.col("p").filter(~pl.col("test"))
    usual = (known.mode().min() if classes else known.mean()).over("cell")
    rows = pl.DataFrame({"p": p, "test": test, "cell": cell})
    return rows.select(usual).to_series().filter(pl.Series(again)).to_numpy()


def _answered_alike(y: Any, p: Any, cell: Any, classes: bool) -> bool:
    """Whether rows of one combination are answered alike where their answers differ."""
    each = pl.DataFrame({"y": y, "p": p, "cell": cell}).group_by("cell")
    names = [pl.col(name) for name in "yp"]
    if classes:
        found = each.agg((pl.len() - c.unique_counts().max()).alias(n) for n, c in zip("yp", names, strict=True))
    else:
        found = each.agg((c.var(ddof=0) * pl.len()).alias(n) for n, c in zip("yp", names, strict=True))
    differ, own = (float(found[name].sum()) for name in "yp")
    return differ > 0 and own <= ALIKE * differ
