"""`measure`: where a trained model fails on combinations it has not seen, and by which mechanism."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from torch import Tensor, nn

from recombine.errors import InputError
from recombine.measures.answering import answers_of, ask
from recombine.measures.as_ensemble import as_ensemble
from recombine.measures.probes_of_model import over_members, redundant_influence, reentanglement, superposed, taken
from recombine.mechanisms import Answers, Finding, MeasureResult
from recombine.mechanisms._judge import FITTED, MARGIN, fitted_members, judge
from recombine.statistics import over_combinations
from recombine.tasks import Task
from recombine.training import Ensemble

EXAMPLES = 4096
FEWEST_EXAMPLES, MOST_EXAMPLES = 16, 512


def measure(
    model: Ensemble | nn.Module | Callable[..., Tensor],
    task: Task,
    *,
    count: int | None = None,
    combinations: int = 1000,
    batch_size: int = 2048,
    fitted: float = FITTED,
    margin: float = MARGIN,
    seed: int = 0,
) -> MeasureResult:
    """Everything that can be said of how a trained model answers combinations it has not seen.

    ``model`` is any trained ``nn.Module`` (or function of inputs), called as it is on the device where it lives, or an
    `Ensemble`; ``task`` any `Task`, for tensors of your own a `FixedTask`. The model is asked ``count`` examples (by
    default 16, or more where combinations are few) of each of up to ``combinations`` seen and as many unseen
    combinations, ``batch_size`` examples at a time. ``fitted`` is the error on seen combinations up to which a member
    counts as fitted (members above it are set aside and counted), ``margin`` the gap up to which a learner counts as
    composing. Intervals are over members where there are several that fitted, over combinations otherwise. Measures
    that do not apply are listed in ``left_out`` with the reason."""
    if (count is not None and count < 1) or combinations < 1 or batch_size < 1:
        raise InputError("count, combinations and batch_size are whole numbers from 1 on.")
    asked = ask(task, combinations, seed)
    count = count or min(MOST_EXAMPLES, max(FEWEST_EXAMPLES, EXAMPLES // len(asked.points)))
    with as_ensemble(model) as ensemble:
        answers, reason = answers_of(ensemble, task, asked, count, batch_size, seed)
        keep = fitted_members(answers, fitted)
        extra: list[Finding] = []
        left_out: dict[str, str] = {}
        if keep.any():
            usable = ensemble.select([m for m, k in zip(ensemble.members, keep, strict=True) if k])
            _look_inside(usable, task, answers.only(keep), extra, left_out, seed, min(1024, batch_size))
    if isinstance(model, Ensemble):
        notes = list(asked.notes)
    else:
        notes = [*asked.notes, "One model has no members to vary over: intervals are over combinations or examples."]
    settings = {"count": count, "combinations": combinations, "factors": list(task.space.names)}
    return judge(
        answers, over_members=over_members, extra=extra, left_out=left_out, no_rules=reason, fitted=fitted,
        margin=margin, notes=notes, settings=settings, seed=seed,
    )  # fmt: skip


def _look_inside(
    ensemble: Ensemble,
    task: Task,
    answers: Answers,
    extra: list[Finding],
    left_out: dict[str, str],
    seed: int,
    count: int,
) -> None:
    over = over_members if len(ensemble) > 1 else partial(over_combinations, seed=seed)
    measures: dict[str, Callable[[], object]] = {
        "redundant influence": lambda: redundant_influence(ensemble, task, answers, count, seed),
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
