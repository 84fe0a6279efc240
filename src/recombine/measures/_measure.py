"""`measure`: where a trained model fails on combinations it has not seen, and by which mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.measures.answering import Asked, answers_of, ask
from recombine.measures.as_ensemble import as_ensemble
from recombine.measures.counted import what_counts
from recombine.measures.probes_of_model import redundant_influence, reentanglement, superposed, taken
from recombine.measures.read_numbers import spreads
from recombine.mechanisms import Answers, Finding, MeasureResult, measure_estimator
from recombine.mechanisms._judge import FITTED, MARGIN, judge
from recombine.mechanisms.answers.names import share
from recombine.mechanisms.causes.evidence import FAILING
from recombine.statistics import Over
from recombine.tasks import Task
from recombine.training import Ensemble


def measure(
    model: Any,
    task: Any = None,
    *,
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
    padding with −100, are left out.

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
        answers, reason, each, compared = answers_of(ensemble, task, asked, batch_size, seed)
        others = _others(against, task, asked, batch_size, seed, answers.kind)
        by_itself = [
            judge(one, no_rules=reason, fitted=fitted, margin=margin, noise=noise, seed=seed, parts=len(each))
            for one in each
        ]
        if noise is not None and answers.classes is None:
            noise *= float(np.sqrt(np.mean(spreads(task, answers.target.shape[1], places) ** -2.0)))
        judged = partial(
            judge, answers, others=others, no_rules=reason, fitted=fitted, margin=margin, noise=noise, seed=seed,
            settings={"count": asked.count or count, "combinations": combinations, "factors": list(task.space.names)},
        )  # fmt: skip
        first, members = judged(), len(ensemble)
        if first.verdict in FAILING:
            usable = ensemble.select(list(first.answers.members))
            _look_inside(usable, task, first.answers, extra, left_out, seed, min(1024, batch_size))
    notes = [*ignored, *asked.notes, *filter(None, [compared]), *_each(by_itself)]
    if members == 1 and not isinstance(model, Ensemble):
        notes.append("One model has no members to vary over: intervals are over combinations or examples.")
    return _in_all_parts(judged(extra=extra, left_out=left_out, notes=notes), by_itself)


def _in_all_parts(whole: MeasureResult, by_itself: Sequence[MeasureResult]) -> MeasureResult:
    """The result of the whole; who composes as a whole, or may, and not in each of several numbers or labels does so in
    part: where its gap is clearly above the margin by itself. What is unclear as a whole, and not for what is to be
    looked at first, is so where one of them fails."""
    margin = whole.settings["margin"]
    told = {"composes": FAILING, "unclear": () if whole.look else ("fails",)}.get(whole.verdict, ())
    bad = [i for i, one in enumerate(by_itself, 1) if one.verdict in told and one.gap.low > margin]
    if not bad:
        return whole
    what = "label" if by_itself[0].answers.kind == "class" else "number"
    which = f"by itself {what} {bad[0]} of {len(by_itself)} does" if len(bad) == 1 else (
        f"by themselves {what}s {' and '.join(map(str, bad))} of {len(by_itself)} do"
    )  # fmt: skip
    start = "as a whole it composes" if whole.verdict == "composes" else "whether it does as a whole is not clear"
    return replace(whole, verdict="partly", why=f"{start}, but {which} not compose")


def _is_table(model: Any) -> bool:
    """Whether a table stands where the model belongs: a file, a dictionary, an array or a frame."""
    if isinstance(model, (str, Path, Mapping, np.ndarray)):
        return True
    return hasattr(model, "columns") and not (callable(model) or hasattr(model, "predict"))


def _others(against: Any, task: Task, asked: Asked, batch_size: int, seed: int, kind: str) -> dict[str, Answers]:
    named = {} if against is None else against if isinstance(against, Mapping) else {"the other model": against}
    found = {}
    for name, model in named.items():
        with as_ensemble(model, task) as ensemble:
            answers, *_ = answers_of(ensemble, task, asked, batch_size, seed)
        if answers.kind != kind:
            own, others = ("numbers", "classes") if answers.kind == "number" else ("classes", "numbers")
            raise InputError(
                f"the outputs of {str(name)!r} are judged as {own} and those of the model as {others}; give models "
                "whose outputs are alike, or the task its loss, which says what they are."
            )
        found[str(name)] = answers
    return found


def _each(numbers: Sequence[MeasureResult]) -> list[str]:
    """What is said of each of several numbers or labels of an answer by itself, in a sentence."""
    told = []
    for i, one in enumerate(numbers, 1):
        sides = [f"{share(error.mean)} on {name} ones" for name, error in (("unseen", one.unseen), ("seen", one.seen))
                 if math.isfinite(error.mean)]  # fmt: skip
        why = f": {one.why}" * bool(one.why and one.verdict in (*FAILING, "not fitted"))
        told.append(f"{i} {one.verdict}" + f" (error {', '.join(sides)})" * bool(sides) + why)
    if not numbers:
        return []
    if numbers[0].answers.kind == "class":
        return [f"Each of the {len(numbers)} labels by itself: {'; '.join(told)}."]
    return [f"Each of the {len(numbers)} numbers of an answer counts by its own spread in training. What shifts and "
            f"other units do is looked for in each number by itself: {'; '.join(told)}."]  # fmt: skip


def _look_inside(
    ensemble: Ensemble,
    task: Task,
    answers: Answers,
    extra: list[Finding],
    left_out: dict[str, str],
    seed: int,
    count: int,
) -> None:
    over = Over(len(ensemble), seed)
    measures: dict[str, Callable[[], object]] = {
        "redundant influence": lambda: redundant_influence(ensemble, task, answers, over, count, seed),
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
