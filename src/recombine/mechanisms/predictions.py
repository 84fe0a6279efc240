"""`measure_predictions`: where a learner fails and by which rule, from a table of its predictions alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any, Literal

from recombine.checks.one_thread import one_thread
from recombine.errors import InputError
from recombine.mechanisms._judge import FITTED, MARGIN, judge
from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.names import brief
from recombine.mechanisms.tables.alike import groups_unnamed
from recombine.mechanisms.tables.grouped import check_group, one_row_each
from recombine.mechanisms.tables.reading import Reading, read_predictions
from recombine.mechanisms.tables.spelled import spelled_alike
from recombine.mechanisms.verdicts.result import MeasureResult
from recombine.support.one_target import target_name
from recombine.support.pasted import single
from recombine.support.scan import collect, scan
from recombine.support.split import split_of
from recombine.support.table import Missing


@one_thread
def measure_predictions(
    table: Any,
    factors: Sequence[str],
    *,
    target: str,
    prediction: str | Sequence[str],
    against: str | Sequence[str | Sequence[str]] = (),
    train: Any = None,
    split: str | tuple[str, str] | None = None,
    group: str | None = None,
    target_kind: Literal["number", "class"] | None = None,
    bins: Mapping[str, int] | None = None,
    missing: Missing = "error",
    merge_alike: bool = False,
    fitted: float = FITTED,
    margin: float = MARGIN,
    noise: float | None = None,
    factors_alone: bool = False,
    max_rows: int | None = None,
    max_bytes: int | None = None,
    seed: int = 0,
) -> MeasureResult:
    """Where these predictions fail on unseen combinations, and which rule the wrong ones follow.

    ``table`` is a file (CSV, Parquet), a polars or pandas frame, an array or a dictionary with one row per example:
    factor columns, the right answer ``target`` and the ``prediction``: a number, a class, or a probability (of two
    classes that of the second in order, as 1, true or yes; else a list of columns, one per class, named after it).
    ``against`` names the predictions of other models for the same rows, one column each, or a list of columns, one per
    class. What training saw is said by ``train``, another table with the factor columns (and the target, if you have
    it), or by ``split="column=value"``: rows with this value are test rows, the others were trained on; where
    some are called train, those alone were, and a validation set is left out. Test rows of seen combinations are what
    unseen ones are compared with; a tenth of the rows of each, held out, will do.
    ``group`` names a column, of patients or batches, whose rows in one combination are no repeats of each other: they
    count as one, numbers by their mean, classes by one row of them that is drawn. ``merge_alike`` takes texts that
    differ only in spaces or capitals for one level.

    ``fitted``: how far above the noise a training error may be to count as fitted. ``margin``: the gap up to which a
    learner counts as composing. ``noise``: that of the answers where you know it, a standard deviation or a share of
    wrong classes; 0 says that answers follow from the factors exactly. Of a learner that is told the factors alone,
    training rows are then as good as new ones. ``factors_alone`` says that it is told no more than these.
    Every learner stands beside rules fitted to the same training answers: always the same answer, adding up the effects
    of levels, pairs of them. Intervals are over combinations.

    Examples:
        >>> table = {"a": ["x", "x", "y", "y"] * 3, "b": ["u", "v", "u", "v"] * 3}
        >>> table |= {"part": ["old", "old", "old", "new"] * 3}
        >>> table |= {"y": ["no", "no", "no", "yes"] * 3, "p": ["no", "no", "no", "no"] * 3}
        >>> result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=new")
        >>> result.unseen.mean
        1.0
    """
    _check(train, split, fitted, margin, noise)
    names = each_factor(factors)
    target = target_name(target)
    pair = split_of(split)
    own = (prediction,) if isinstance(prediction, str) else tuple(prediction)
    if not own:
        raise InputError("name the column with the predictions (prediction=…, --prediction).")
    said = (against,) if isinstance(against, str) else against
    beside = tuple(dict.fromkeys((one,) if isinstance(one, str) else tuple(one) for one in said))
    how = Reading(
        names, target, (own, *beside), train, pair, target_kind, bins, missing, max_rows,
        max_bytes, noise is not None,
    )  # fmt: skip
    answers, others, notes = _read(table, how, group, merge_alike, seed)
    answers, *beside_it = (replace(a, factors_alone=factors_alone) for a in (answers, *others.values()))
    whole = 1.0 if answers.classes is not None else answers.scale**0.5
    if noise is not None and noise > whole:
        raise InputError(f"noise is {noise:g}, but answers vary by no more than {whole:.3g} in all; give less.")
    if pair is not None and re.match("train|fit|learn|seen", pair[1], re.IGNORECASE):
        notes.append(
            f"{single('split', f'{brief(pair[0])}={brief(pair[1])}')} says that rows with this value were not trained "
            "on, and that all others were; if it is the other way round, name the value of the test rows."
        )
    settings = {
        "factors": list(answers.space.names),
        "target": target,
        "prediction": prediction if isinstance(prediction, str) else list(own),
        "against": [one[0] if len(one) == 1 else list(one) for one in beside],
        "train": str(train) if isinstance(train, (str, Path)) else None,
        "split": None if pair is None else f"{pair[0]}={pair[1]}",
        "group": group,
        "bins": dict(bins or {}),
        "missing": missing,
        "merge_alike": merge_alike,
    }
    return judge(
        answers, others=dict(zip(others, beside_it, strict=True)), fitted=fitted, margin=margin, noise=noise,
        notes=notes, settings=settings, seed=seed,
    )  # fmt: skip


def each_factor(factors: str | Sequence[str]) -> list[str]:
    """The names of factors, which may stand in one text with commas between them."""
    said = factors.split(",") if isinstance(factors, str) else [str(f) for f in factors]
    return [name.strip() for name in said if name.strip()]


def _read(
    table: Any, how: Reading, group: str | None, merge_alike: bool, seed: int
) -> tuple[Answers, dict[str, Answers], list[str]]:
    """The answers, those of other predictions and what is worth saying; of groups of rows, where they are named."""
    said = list[str]()
    if merge_alike:
        each = [scan(t, "the table", how.max_bytes, how.max_rows) for t in (table, how.train) if t is not None]
        (table, *train), said = spelled_alike([collect(t).lazy() for t in each], how.factors, merge=True)
        how = replace(how, train=train[0] if train else None)
    if group is not None:
        check_group(group, how)
        # What answers are is told by all rows; where the noise is said, rare events are still classes.
        rows, _, _ = read_predictions(table, replace(how, noise_said=True))
        if rows.kind == "number" or len(rows.classes or ()) > 2:
            how = replace(how, target_kind=rows.kind)
        table, how, note = one_row_each(table, how, group, rows.kind == "number", seed)
        said.append(note)
    answers, others, notes = read_predictions(table, how)
    alike, *hint = groups_unnamed(table, how, group) or ("",)
    return replace(answers, alike=alike), others, list(dict.fromkeys([*said, *notes, *hint]))


def _check(train: Any, split: Any, fitted: float, margin: float, noise: float | None) -> None:
    if (train is None) == (split is None):
        raise InputError(
            "say what training saw: either a training table (train=…, --train TABLE) or a split (split='column=value', "
            "--split column=value), and not both."
        )
    if noise is not None and not isinstance(noise, Real):
        raise InputError(f"noise is {noise!r}; give a number from 0 on.")
    for name, value in (("fitted", fitted), ("margin", margin)):
        if not isinstance(value, Real):
            raise InputError(f"{name} is {value!r}; give a number from 0 to 1.")
        if not 0 <= value <= 1:
            raise InputError(f"{name} is {value}; give a share from 0 to 1, which is all that there is to lose.")
