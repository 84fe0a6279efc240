"""A table of predictions as answers: factor columns, the right answer and the prediction, one row per example."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recombine.errors import InputError, unknown
from recombine.mechanisms.answers.answered import Answers, Trained
from recombine.mechanisms.answers.columns import Columns, Kind, answer_columns, check_roles, labels
from recombine.mechanisms.answers.in_order import in_order
from recombine.mechanisms.answers.misplaced import misplaced
from recombine.mechanisms.answers.probabilities import CONFIDENCE, likely_class
from recombine.mechanisms.causes.literal import among
from recombine.mechanisms.compared.rare import as_chances, happened, judged_by_chances, rare_event
from recombine.mechanisms.tables.besides import MOST_COLUMNS, MOST_ROWS, columns_taken_off
from recombine.mechanisms.tables.blanks import complete
from recombine.mechanisms.tables.lone_row import ROW, lone_rows
from recombine.mechanisms.tables.mixed_where_unseen import Given, mixed_where_unseen
from recombine.mechanisms.tables.remarks import remarks, rows_words
from recombine.mechanisms.tables.spelled import spelled_alike
from recombine.statistics import FloatArray
from recombine.support.missing import missing_words
from recombine.support.one_target import refuse_several
from recombine.support.scan import Said, collect, scan, settled
from recombine.support.split import without_others
from recombine.support.table import TARGET_CLASSES, Coded, Missing, Table, Target, read_factors

JUDGED_AS: dict[Kind, str] = {
    "number": "numbers, as those of one combination lie near each other; if they are classes, say --target-kind class",
    "class": "classes, as nothing else is ever predicted; if they are counts or ratings, say --target-kind number",
}
"""How whole numbers are judged of which nobody said what they are, and what says otherwise."""
SMALLEST_SCALE = 1e-290
"""Squares below this lose their digits."""


@dataclass(frozen=True)
class Reading:
    """What is read: columns, what training saw, and how values are treated."""

    factors: Sequence[str]
    target: str
    predictions: tuple[tuple[str, ...], ...]
    """The learner's prediction, then those it is compared with; each one column, or one per class."""
    train: Any
    split: tuple[str, str] | None
    target_kind: Kind | None
    bins: Mapping[str, int] | None
    missing: Missing
    max_rows: int | None
    max_bytes: int | None
    noise_said: bool = False
    """Whether the noise of the answers was said: of classes it is a share of wrong ones, so that they stay classes."""
    event: str | None = None
    """Of two classes the one whose chances are judged as numbers (`mechanisms/compared/rare.py`)."""


def read_predictions(table: Any, how: Reading) -> tuple[Answers, dict[str, Answers], list[str]]:
    """The answers of a table over one space of levels, those of the other predictions, and what is worth saying."""
    target, split = how.target, how.split
    check_roles(how.factors, target, how.predictions, None if split is None else split[0])
    used = {*how.factors, *(how.bins or {}), target, *(c for cs in how.predictions for c in cs), *(split or ())[:1]}
    limits, files = (how.max_bytes, how.max_rows, used), Said()
    frame = scan(table, "the table of predictions", *limits, files)
    known = None if how.train is None else scan(how.train, "the training table", *limits, files)
    schema = frame.collect_schema()
    refuse_several(target, schema.names())
    for name in (*how.factors, *(split or ())[:1], target, *(c for cs in how.predictions for c in cs)):
        if name not in schema:
            raise unknown("column", name, schema.names())
    told = known is not None and target in known.collect_schema()
    frame, notes = placed(frame.with_row_index(ROW, 1), how)
    both = [frame, *([known] if known is not None else [])]
    notes += missing_words(both, how.factors, how.missing, files.written)
    notes += spelled_alike(both, how.factors)[1]
    if known is not None and not told:
        notes.append(
            f"The training table has no {target!r}: simple rules are fitted to the answers that the table of "
            "predictions itself has of seen combinations."
        )
    alone = [columns[0] for columns in how.predictions if len(columns) == 1]
    open_ = how.target_kind is None and len(alone) == len(how.predictions)
    named = labels(frame, target, alone, known if told else None) if open_ else ""
    if named:
        taught = [known] if known is not None and told else []
        kind: Kind = "number" if in_order([frame, *taught], how.factors, target) else "class"
        how = replace(how, target_kind=kind)
        notes.append(f"The answers in {target!r} ({named}) are judged as {JUDGED_AS[kind]}.")
    read = [_read(frame, known, told, columns, how) for columns in how.predictions]
    may = how.target_kind is None and not how.noise_said
    if may and (event := rare_event([answers for answers, _ in read])) is not None:
        notes.append(judged_by_chances(read[0][0], event))
        how = replace(how, event=event)
        read = [_read(frame, known, told, columns, how) for columns in how.predictions]
    notes += dict.fromkeys(note for _, own in read for note in own)
    names = [columns[0] if len(columns) == 1 else _begin(columns) or ", ".join(columns) for columns in how.predictions]
    coded = bool(named) and how.target_kind == "class"
    first, *rest = (
        _with_bare(replace(answers, coded=coded), table, told, columns, how, used)
        for (answers, _), columns in zip(read, how.predictions, strict=True)
    )
    others = dict(zip(names[1:], rest, strict=True))
    for name, other in others.items():
        if len(other.codes) != len(first.codes) or not np.array_equal(other.counts, first.counts):
            raise InputError(f"{name!r} is missing in other rows than {names[0]!r}; compare them on the same rows.")
    return first, others, notes


def _with_bare(
    answers: Answers, table: Any, told: bool, columns: tuple[str, ...], how: Reading, used: set[str]
) -> Answers:
    """The answers, and what they are without what columns besides the factors add, where these tell it."""
    rows = answers.counts.sum() + (0.0 if answers.trained is None else answers.trained.weights.sum())
    if answers.kind == "class" or how.event is not None or how.bins or rows > MOST_ROWS or not answers.varies:
        return answers
    tables = [table, how.train] if told else [table]
    scanned = [placed(scan(t, "the table", how.max_bytes, how.max_rows), how)[0] for t in tables]
    names = scanned[0].collect_schema().names()
    kept = {*used, *[n for n in names if n not in used][:MOST_COLUMNS]}
    frames = [collect(f.select(n for n in f.collect_schema() if n in kept)) for f in scanned]
    if (
        how.split is not None
        and frames[0].filter(pl.col(how.split[0]).cast(pl.String) != how.split[1])[columns[0]].null_count()
    ):
        return answers  # How columns are read of these training rows is not known.
    frames = [f.drop_nulls([n for n in (how.target, columns[0]) if n in f.columns]) for f in frames]
    texts = pl.col(how.factors).cast(pl.String)
    trained = scan(how.train).select(texts) if how.split is None else (
        frames[0].lazy().filter(pl.col(how.split[0]).cast(pl.String) != how.split[1]).select(texts)
    )  # fmt: skip
    shown = {*collect(trained).rows()}
    unseen = np.array([row not in shown for row in frames[0].select(texts).rows()], dtype=bool)
    (first, *rest), besides, doubt = columns_taken_off(frames, how.factors, how.target, columns[0], used, unseen)
    if not besides:
        return answers
    known = rest[0].lazy() if told else None if how.train is None else scan(how.train)
    bare = _read(first.lazy(), known, told, columns, how)[0]
    return replace(answers, bare=replace(bare, doubt=doubt), besides=besides)


Parts = list[tuple[int, NDArray[np.bool_]]]
"""Which combinations of which table are asked about."""


def _read(
    frame: pl.LazyFrame, known: pl.LazyFrame | None, told: bool, prediction: tuple[str, ...], how: Reading
) -> tuple[Answers, list[str]]:
    names = frame.collect_schema().names()
    label, loss, sure, error, off = (
        _unused(name, names) for name in ("prediction", "log loss", CONFIDENCE, "error", "off")
    )
    kind = how.target_kind
    likely = None if kind == "number" else likely_class(
        frame, how.target, prediction, label, loss, sure, kind == "class"
    )  # fmt: skip
    scores = {"log loss": loss, CONFIDENCE: sure} if likely is not None else {}
    frame, column = (frame, prediction[0]) if likely is None else (likely, label)
    columns = answer_columns(frame, how.target, column, kind if likely is None else "class", known if told else None)
    if how.event is not None:
        known = happened(known, columns, how.event) if known is not None and told else known
        frame, columns = as_chances(frame, columns, sure, how.event)
    frame, left, unanswered = complete(frame, known, columns, how, prediction)
    frame = _with_answers(frame, columns, error)
    if how.event is not None:
        scores = {"log loss": loss}
    elif columns.kind == "number":
        frame = frame.with_columns((pl.col(column) - pl.col(how.target)).abs().alias(off))
        scores = {"mae": off}
    taught = known if told else None
    if how.split is not None:
        taught = frame.filter((pl.col(how.split[0]).cast(pl.String) != how.split[1]).fill_null(True))
    copies = [_unused(name, names) for name in ("copied", "due")]
    flags = None if columns.kind == "class" or taught is None else among(frame, taught, how.target, column)
    if flags is not None:
        frame = frame.with_columns(flag.alias(name) for flag, name in zip(flags, copies, strict=True))
    frame = settled(frame)
    frames = [frame]
    if known is not None:
        frames.append(known.with_columns(columns.answer(how.target).alias(how.target)) if told else known)
    classes = columns.kind == "class" and len(columns.names) < TARGET_CLASSES
    hit, miss = _unused("hit", frame.collect_schema().names()), _unused("none", columns.names)
    tables = _reader(_with_hits(frames, told, columns, how, hit, miss) if classes else frames, how)
    right, said = (tables(name, columns.kind) for name in (how.target, column))
    holds = known is not None and _holds_training(right, taught, frame, columns)
    answered = np.asarray([]) if said[0].target is None else said[0].target.count
    parts, seen, fresh = _asked(right, how.split is not None, holds, answered > 0)
    trained, scale = _trained(columns, right, how.split is not None, told, parts)
    if trained is not None and how.split is not None:
        trained = _with_predictions(trained, right[0], said[0], columns, scale)
    wrong = tables(error, "number")
    fit = None
    if how.split is not None and answered.any():
        learnt = _mean(wrong[0]) / scale
        fit = np.array([float(np.average(learnt, weights=answered))])
        if trained is not None and right[0].target is not None:
            by_combination = np.where(answered > 0, learnt, np.nan)[right[0].target.count > 0]
            trained = replace(trained, error=by_combination[None])

    answered_by = {ROW, how.target, *(name for said in how.predictions for name in said)}

    def means(name: str) -> FloatArray:
        return _gather(tables(name, "number"), parts, _mean)

    def hits() -> FloatArray:
        """Combinations × classes: the share of rows that have a class and get it."""
        both = replace(columns, names=(*columns.names, miss))
        return _gather(tables(hit, "class"), parts, lambda t: _shares(both, t.target)[:, :-1])

    answers = Answers(
        right[0].space,
        _gather(right, parts, lambda t: t.codes.astype(np.int64)),
        seen,
        _gather(right, parts, lambda t: t.counts),
        _gather(wrong, parts, _mean)[None] / scale,
        _gather(said, parts, lambda t: _shares(columns, t.target))[None],
        _gather(right, parts, lambda t: _shares(columns, t.target)),
        trained,
        columns.names if columns.kind == "class" else None,
        fit,
        fresh=fresh,
        within=_gather(right, parts, _inside) / scale if columns.kind == "number" else None,
        shown=_shown(right[0 if how.split is not None else 1], how.split is not None or told),
        varies=any(_varies(t) for t in said if t.target is not None),
        scale=scale,
        scores={name: means(of)[None] for name, of in scores.items()},
        hits=hits() if classes else None,
        copied=None if flags is None else np.stack([means(name) for name in copies]),
        misplaced=misplaced(frame, columns, how.factors, how.split, [n for n in names if n not in answered_by]),
        mixed=mixed_where_unseen(_given(right, said, columns, right[how.split is None])),
        lone_rows=lone_rows(frame, columns, how.factors, how.split),
        unanswered=unanswered,
    )
    notes, dropped = left, sum(t.dropped for t in right)
    notes += [f"{rows_words(dropped, 'was', 'were')} left out: factors are missing."] if dropped else []
    if known is not None and (holds or not told):
        notes.append(
            f"Rows of seen combinations in the table of predictions are taken {'' if holds else 'not '}to be training "
            "rows. To say which are, put all into one table with a column for it (--split)."
        )
    return answers, notes + remarks(
        frame, columns, how.factors, how.split, how.target_kind, prediction, likely is not None
    )


def _given(right: list[Table], said: list[Table], columns: Columns, train: Table) -> list[Given]:
    """What combinations got in each part that has answers and predictions."""
    return [
        Given(t.target.count, _shares(columns, t.target), _shares(columns, r.target), t.target.ends, ~_within(train, t))
        for r, t in zip(right, said, strict=True)
        if t.target is not None and r.target is not None and t.target.count.any()
    ]


def _reader(frames: list[pl.LazyFrame], how: Reading) -> Callable[[str, Kind], list[Table]]:
    """What reads one column of the rows by combination: training and test, or the two tables."""

    def coded(name: str) -> Coded:
        return read_factors(
            frames, how.factors, target=name, split=how.split, bins=how.bins, missing=how.missing,
            max_rows=how.max_rows,
        )  # fmt: skip

    if how.bins:  # those of the rows that have this very column
        return lambda name, kind: coded(name).tables(name, kind)
    once = coded(how.target)
    return once.tables


def _gather(found: list[Table], parts: Parts, values: Callable[[Table], NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate([values(found[i])[rows] for i, rows in parts])


def _with_hits(
    frames: list[pl.LazyFrame], told: bool, columns: Columns, how: Reading, hit: str, miss: str
) -> list[pl.LazyFrame]:
    """The tables with a column ``hit`` of the classes of rows that get theirs, and ``miss`` where they do not."""
    y = pl.col(how.target)
    given = pl.when(pl.col(columns.prediction) == y).then(y).otherwise(pl.lit(miss))
    first, *others = frames
    return [first.with_columns(given.alias(hit)), *(f.with_columns(y.alias(hit)) if told else f for f in others)]


def _asked(
    right: list[Table], cut: bool, holds: bool, answered: NDArray[np.bool_]
) -> tuple[Parts, NDArray[np.bool_], NDArray[np.bool_]]:
    """Which combinations of which table are asked about, which of them were seen, and which on rows not trained on.

    Of a table that is cut in two these are the test rows, and training rows of combinations without any, where these
    are ``answered``. Of two tables it is the first, all of it new rows unless it ``holds`` those of training."""
    if cut:
        train, test = right
        rest = ~_within(test, train) & answered
        seen = np.concatenate([_within(train, test), np.ones(int(rest.sum()), dtype=bool)])
        fresh = np.concatenate([np.ones(len(test.codes), dtype=bool), np.zeros(int(rest.sum()), dtype=bool)])
        return [(1, np.ones(len(test.codes), dtype=bool)), (0, rest)], seen, fresh
    table, train = right
    seen = _within(train, table)
    return [(0, np.ones(len(seen), dtype=bool))], seen, ~seen if holds else np.ones(len(seen), dtype=bool)


def _holds_training(right: list[Table], taught: pl.LazyFrame | None, frame: pl.LazyFrame, columns: Columns) -> bool:
    """Whether, for all that is known, the first of two tables holds the training rows of the second: it has as many
    rows of each seen combination, or more, with each of training's answers among them. A list of combinations without
    answers, each once, is none of rows."""
    table, train = right
    seen, back = _within(train, table), _within(table, train)
    own, theirs = table.counts[seen], train.counts[back]
    if (own < theirs).any() or taught is None:
        return bool((own >= theirs).all() and (theirs.max(initial=0) > 1 or own.max(initial=0) <= 1))
    if columns.kind == "class":
        each, their = (_shares(columns, t.target) * t.counts[:, None] for t in right)
        return bool((each[seen] >= their[back] - 1e-6).all())
    name = columns.target
    rows, answered = (
        f.select(pl.col(name).cast(pl.Float64, strict=False).drop_nulls()).group_by(name).len() for f in (taught, frame)
    )
    both = rows.join(answered, on=name, how="left", suffix="_own")
    return bool(collect(both.select((pl.col("len") <= pl.col("len_own").fill_null(0)).all().alias("all")))[0, 0])


def _trained(columns: Columns, right: list[Table], cut: bool, told: bool, parts: Parts) -> tuple[Trained | None, float]:
    """What training showed and, for numbers, what always answering its mean costs: the unit of errors."""
    source = right[0] if cut else right[1] if told else None
    if source is None:
        table, train = right
        rows = _within(train, table)
        codes, counts = table.codes[rows], table.counts[rows]
        answers, inside = _shares(columns, table.target)[rows], _inside(table)[rows]
    else:
        rows = np.asarray(source.target.count > 0) if source.target is not None else np.ones(0, dtype=bool)
        codes, counts = source.codes[rows], source.counts[rows]
        answers, inside = _shares(columns, source.target)[rows], _inside(source)[rows]
    known = len(codes) > 0
    if columns.kind == "class":
        given = np.concatenate([_shares(columns, t.target) for t in right if t.target is not None]).sum(axis=0) > 0
        if source is not None and given.sum() == 1:
            only = columns.names[int(given.argmax())]
            raise InputError(f"every answer in {columns.target!r} is {only!r}: there is nothing to tell apart.")
        return (
            Trained(codes.astype(np.int64), answers, counts.astype(np.float64), source is None) if known else None
        ), 1.0
    within = float(np.average(inside, weights=counts)) if known else 0.0
    values = answers if known else _gather(right, parts, lambda t: _shares(columns, t.target))
    scale = float(np.square(values - values.mean(axis=0)).mean()) + within
    if scale < SMALLEST_SCALE and np.ptp(values) > 0:
        small = f"answers in {columns.target!r} differ by {np.ptp(values):.2g} at most, too little to calculate with"
        raise InputError(f"{small}; give them in another unit.")
    if scale <= 0:
        raise InputError(f"every training answer in {columns.target!r} is the same, so errors have no scale.")
    trained = Trained(codes.astype(np.int64), answers, counts.astype(np.float64), source is None, within / scale)
    return (trained if known else None), scale


def _with_predictions(trained: Trained, right: Table, said: Table, columns: Columns, scale: float) -> Trained:
    """The same with what is predicted for training rows, where all of them have a prediction."""
    if right.target is None or said.target is None or not np.array_equal(right.target.count, said.target.count):
        return trained
    rows = np.asarray(right.target.count > 0)
    return replace(trained, inside=_inside(right)[rows] / scale, said=_shares(columns, said.target)[rows])


def placed(frame: pl.LazyFrame, how: Reading) -> tuple[pl.LazyFrame, list[str]]:
    """The rows of which the split says that they were trained on or are asked about; a blank does not say it."""
    if how.split is None or how.split[0] not in frame.collect_schema():
        return frame, []
    blank = pl.col(how.split[0]).cast(pl.String).str.strip_chars().fill_null("") == ""
    lost = int(collect(frame.select(blank.sum()))[0, 0] or 0) if how.split[1].strip() else 0
    if lost and how.missing == "error":
        raise InputError(
            f"{rows_words(lost, 'has', 'have')} no {how.split[0]!r}, so that it is not known whether they were trained "
            "on; fill it in, or leave these rows out with missing='drop' (--missing drop)."
        )
    left = f"{rows_words(lost, 'was', 'were')} left out: no {how.split[0]!r} says whether they were trained on."
    frame, notes = without_others(frame.filter(~blank) if lost else frame, *how.split)
    return frame, [left, *notes] if lost else notes


def _with_answers(frame: pl.LazyFrame, columns: Columns, error: str) -> pl.LazyFrame:
    y, p = columns.answer(columns.target), columns.answer(columns.prediction)
    frame = frame.with_columns(y.alias(columns.target), p.alias(columns.prediction))
    y, p = pl.col(columns.target), pl.col(columns.prediction)
    wrong = (p - y) ** 2 if columns.kind == "number" else (p != y).cast(pl.Float64)
    return frame.with_columns(wrong.alias(error))


def _shares(columns: Columns, target: Target | None) -> FloatArray:
    """Numbers (combinations × 1), or shares over all classes (combinations × classes)."""
    if target is None:
        raise InputError("the target is missing from the table.")
    if target.classes is None:
        return np.asarray(target.mean, dtype=np.float64)[:, None]
    shares = np.zeros((len(target.mean), len(columns.names)))
    shares[:, [columns.names.index(c) for c in target.classes]] = target.mean
    return shares


def _mean(table: Table) -> FloatArray:
    if table.target is None:
        raise InputError("the error of the predictions is missing from the table.")
    return np.asarray(table.target.mean, dtype=np.float64)


def _inside(table: Table) -> FloatArray:
    """The mean square within each combination."""
    if table.target is None or table.target.classes is not None:
        return np.zeros(len(table.codes))
    inside = table.target.spread / np.maximum(table.target.count, 1)
    # Rounding is no variation: deviations are wrong by some 1e-16 of the answers, which may be dates.
    return np.where(inside > 1e-26 * np.square(table.target.mean).mean(), inside, 0.0)


def _varies(table: Table) -> bool:
    """Whether rows of one combination were answered differently."""
    return table.target is not None and table.target.conflicts > 0


def _shown(table: Table, told: bool) -> NDArray[np.int64]:
    """The combinations that training showed: those with an answer, where it is known which have one."""
    codes = table.codes.astype(np.int64)
    return codes[np.asarray(table.target.count > 0)] if told and table.target is not None else codes


def _within(table: Table, other: Table) -> NDArray[np.bool_]:
    """Which combinations of ``other`` are in ``table``."""
    return np.asarray(table.support().contains(other.codes.astype(np.int64)))


def _begin(names: Sequence[str]) -> str:
    """What all of these names begin with, up to a sign that parts words."""
    return next((found[0].rstrip(" _.-") for at in range(min(map(len, names)), 0, -1)
                 if len(found := list({name[:at] for name in names})) == 1), "")  # fmt: skip


def _unused(name: str, names: Sequence[str]) -> str:
    while name in names:
        name += "_"
    return name
