"""`measure`: where a trained model fails on combinations it has not seen, and by which mechanism."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.measures.answering import Answered, Asked, answers_of, ask
from recombine.measures.as_ensemble import as_ensemble
from recombine.measures.counted import what_counts
from recombine.measures.probes_of_model import redundant_influence, reentanglement, superposed, taken
from recombine.measures.read_numbers import spreads
from recombine.mechanisms import Answers, Finding, MeasureResult, measure_estimator
from recombine.mechanisms._judge import FITTED, MARGIN, judge
from recombine.mechanisms.causes.evidence import FAILING
from recombine.mechanisms.verdicts.outputs import (
    Output,
    decided_by_one,
    outputs_note,
    unused_by_one,
    with_outputs,
    worst,
)
from recombine.statistics import FloatArray, Over
from recombine.tasks import Task
from recombine.training import Ensemble


def measure(
    model: Any,
    task: Any = None,
    *more: Any,
    against: Any = None,
    count: int | None = None,
    combinations: int = 1000,
    batch_size: int = 2048,
    fitted: float = FITTED,
    margin: float = MARGIN,
    noise: float | None = None,
    seed: int = 0,
    **columns: Any,
) -> MeasureResult:
    """Everything that can be said of how a trained model answers combinations it has not seen.

    ``model`` is any trained ``nn.Module`` (or function of inputs), called as it is on the device where it lives; a list
    of modules of one architecture that you trained apart, which are its members; an `Ensemble`; or anything with
    ``predict`` or ``predict_proba``. ``task`` is any `Task`, for tensors of your own a `FixedTask`. Inputs that the
    task has by name are handed over by keyword, several in a tuple one after the other. Each row of a `FixedTask` is
    asked once (at most ``count`` of a combination): of seen combinations the rows that were held out of training, where
    there are some. Other tasks make ``count`` new examples (by default 16, or more where combinations are few) of each
    of up to ``combinations`` seen and as many unseen ones. ``against`` is another model, or several by name, asked the
    same.

    Targets that are one-hot rows, chances of classes or labels of yes and no are judged as such; the loss of the task
    says what outputs are, and a note how they were compared. Rows and places of sequences that it ignores, such as
    padding with −100, are left out. Of several numbers or labels in an answer some may be missing (NaN); each output is
    judged by itself, too (`MeasureResult.outputs_frame`).

    A member counts as fitted if its training error is at most ``fitted`` above the noise and below what always giving
    the same answer costs; others are set aside and counted. ``margin`` is the gap up to which a learner counts as
    composing. ``noise`` is that of the answers where you know it (0: they follow from the factors exactly), as for
    `measure_predictions`. Intervals are over combinations, and over members where several fitted. Measures that do not
    apply are listed in ``left_out`` with the reason.

    An estimator may be asked about a table instead of a task: ``rc.measure(forest, table, factors=["a", "b"],
    target="y", split="part=test")``, with the arguments of `measure_predictions`; ``inputs`` names the columns it is
    called with, by default those it was fitted on.

    Examples:
        >>> import recombine as rc
        >>> import torch
        >>> space = rc.FactorSpace.of(shape=2, colour=3)
        >>> seen = rc.Explicit(space, [(0, 0), (0, 1), (1, 1), (1, 2)])
        >>> codes = torch.as_tensor(space.sample(120, seed=0))
        >>> pictures = torch.nn.functional.one_hot(codes[:, 0], 2).float()
        >>> task = rc.FixedTask(space, seen, ~seen, pictures, codes[:, 0], codes, loss=torch.nn.CrossEntropyLoss())
        >>> ensemble = rc.train(rc.Perceptron(widths=(2, 8, 2)), task, members=4, steps=40, optimizer=rc.Adam(0.03))
        >>> rc.measure(ensemble, task).verdict
        'composes'
    """
    if more:
        raise InputError(
            f"measure takes a model and a task, and was given {2 + len(more)} things; inputs and targets with their "
            "combinations are a task: rc.FixedTask(space, train, test, inputs, targets, combinations, loss=…)."
        )
    if _is_table(model):
        raise InputError(
            f"measure asks a trained model, and was given a {type(model).__name__}; of predictions that are at hand "
            "ask measure_predictions(table, ['a', 'b'], target='y', prediction='p', split='part=test')."
        )
    if task is None:
        raise InputError(
            "say what the model is asked: a task, as measure(model, task), or a table with its factors and target, as "
            "measure(model, table, factors=['a', 'b'], target='y', split='part=test')."
        )
    if not isinstance(task, Task):
        columns |= {"fitted": fitted, "margin": margin, "noise": noise, "seed": seed}
        return measure_estimator(model, task, against=against, **columns)
    if columns:
        raise InputError(f"{next(iter(columns))!r} is said of a table; a task knows what varies and what is asked.")
    if (count is not None and count < 1) or combinations < 1 or batch_size < 1:
        raise InputError("count, combinations and batch_size are whole numbers from 1 on.")
    extra: list[Finding] = []
    left_out: dict[str, str] = {}
    with as_ensemble(model, task) as ensemble:
        task, places, ignored = what_counts(ensemble, task)
        asked = ask(task, combinations, count, seed, places)
        found = answers_of(ensemble, task, asked, batch_size, seed)
        others = _others(against, task, asked, batch_size, seed, found.kind)
        alike: dict[str, Any] = {"no_rules": found.no_rules, "fitted": fitted, "margin": margin, "seed": seed}
        each = [
            one if isinstance(one, str) else judge(one, noise=noise, parts=len(found.each), **alike)
            for one in found.each
        ]
        outputs = [Output.of(i, one) for i, one in enumerate(each, 1)]
        unused = unused_by_one(outputs, each)
        settings = {"count": asked.count or count, "combinations": combinations, "factors": list(task.space.names)}
        units = partial(spreads, task, places=places)
        judged = partial(_judged, found, others, unused, noise=noise, units=units, settings=settings, **alike)
        of = worst(outputs) if found.whole is None else None
        first = judged(of=of)
        if of is None and decided_by_one(first, outputs):
            of = worst(outputs)
            first = judged(of=of)
        members = len(ensemble)
        if first.verdict in FAILING:
            usable = ensemble.select(list(first.answers.members))
            _look_inside(usable, task, first.answers, extra, left_out, seed, min(1024, batch_size), of)
    notes = [*ignored, *asked.notes, *found.notes, *outputs_note(outputs, found.kind == "number")]
    if members == 1 and not isinstance(model, Ensemble):
        notes.append("One model has no members to vary over: intervals are over combinations or examples.")
    return with_outputs(judged(of=of, extra=extra, left_out=left_out), outputs, of, notes)


def _judged(
    found: Answered, others: Mapping[str, Answered], unused: set[str], *, of: int | None,
    noise: float | None, units: Callable[[int], FloatArray], **more: Any,
) -> MeasureResult:  # fmt: skip
    """What is judged of the whole, beside others, or of one of several outputs (``of``: its place). ``unused``: the
    factors that one of them ignores; ``units``: the spread of each of so many numbers of an answer."""
    answers = found.of(of)
    if of is None and noise is not None and answers.classes is None:
        noise *= float(np.sqrt(np.mean(units(answers.target.shape[1]) ** -2.0)))
    beside = {name: other.of(of) for name, other in others.items()}
    own: dict[str, Any] = {"unused": unused} if of is None else {"parts": len(found.each)}
    return judge(answers, others=beside, noise=noise, **own, **more)


def _is_table(model: Any) -> bool:
    """Whether a table stands where the model belongs: a file, a dictionary, an array or a frame."""
    if isinstance(model, (str, Path, Mapping, np.ndarray)):
        return True
    return hasattr(model, "columns") and not (callable(model) or hasattr(model, "predict"))


def _others(against: Any, task: Task, asked: Asked, batch_size: int, seed: int, kind: str) -> dict[str, Answered]:
    named = {} if against is None else against if isinstance(against, Mapping) else {"the other model": against}
    found = {}
    for name, model in named.items():
        with as_ensemble(model, task) as ensemble:
            answers = answers_of(ensemble, task, asked, batch_size, seed)
        if answers.kind != kind:
            own, others = ("numbers", "classes") if answers.kind == "number" else ("classes", "numbers")
            raise InputError(
                f"the outputs of {str(name)!r} are judged as {own} and those of the model as {others}; give models "
                "whose outputs are alike, or the task its loss, which says what they are."
            )
        found[str(name)] = answers
    return found


def _look_inside(
    ensemble: Ensemble,
    task: Task,
    answers: Answers,
    extra: list[Finding],
    left_out: dict[str, str],
    seed: int,
    count: int,
    of: int | None,
) -> None:
    over = Over(len(ensemble), seed)
    measures: dict[str, Callable[[], object]] = {
        "redundant influence": lambda: redundant_influence(ensemble, task, answers, over, count, seed, of),
        "superposition": lambda: superposed(ensemble, task, answers, over, seed),
        "re-entanglement": lambda: reentanglement(ensemble, task, seed),
    }
    for name, take in measures.items():
        try:
            found = take()
        except InputError as error:
            # A task that cannot make the examples a measure asks for says so itself.
            found = str(error).rstrip(".")
        taken(name, found, extra, left_out)
