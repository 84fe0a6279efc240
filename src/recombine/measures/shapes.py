"""Outputs and targets in one form: numbers beside numbers, or a score for each class beside a class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from recombine.errors import InputError
from recombine.measures.asked_by_loss import class_axis, of_directions, of_logs, output_of
from recombine.tasks import FixedTask, Task
from recombine.tasks.coded import coded

PICTURE = 8
"""Numbers an answer needs before it is looked at as a picture. …"""
SEVERAL = range(2, PICTURE)
"""… Fewer, but more than one, are several answers, each with a unit of its own."""
KEPT = 64
"""Longer answers are kept as this many random projections, which keep sums and, nearly, distances."""
FEW = 8
"""Examples that a loss is tried on."""
OFF, BEYOND, BELOW = 0.5, 0.25, 0.05
"""Outputs look like scores where more than ``BEYOND`` of them lie further than ``OFF`` from 0 to 1, and more than
``BELOW`` of them below it."""
CENTS, ROUNDING = 2e-2, 1e-3
"""How far the sums of targets, which people write with two digits, and of outputs may be from 1."""
SAY = (
    "say what they are by the loss of the task: loss=nn.BCEWithLogitsLoss() of labels that are yes or no, "
    "nn.CrossEntropyLoss() of classes, nn.MSELoss() of numbers"
)
DIRECTIONS = "The loss looks at directions alone: rows of outputs and of targets are compared at a length of 1."
WHOLE = "an answer counts as right only as a whole, and “right one by one” is the share of them that are right"


@dataclass(frozen=True)
class Form:
    """How outputs (members × examples …) and targets are brought into one form."""

    both: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] = lambda outputs, targets: (outputs, targets)
    said: str = ""
    """What a person is told of it, in a sentence."""
    labels: bool = False
    """Whether an answer is several labels of yes and no, each of which is looked at by itself, too."""
    chances: bool = True
    """Whether scores of classes are logits, so that they tell how probable each class is."""

    def __call__(self, outputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        return self.both(outputs, targets)


def alike(outputs: Tensor, targets: Tensor, task: Task) -> Form:
    """How outputs and targets of this task are brought into one form. What numbers are is told by the loss; where it
    is silent, by what targets are; and where outputs then look like scores, it is asked for."""
    every = task._targets.to(outputs.device) if isinstance(task, FixedTask) else targets
    if outputs[0, 0].numel() == targets[0].numel() == 1:
        return _one_number(outputs, targets, every, task)
    if outputs.shape[2:] == targets.shape[1:]:
        return _several(outputs, targets, every, task)
    if targets.is_floating_point() or outputs.dim() != targets.dim() + 2:
        return Form()
    if targets.dim() == 1:
        return _one_class(outputs)
    last, first = outputs.shape[2:-1] == targets.shape[1:], outputs.shape[3:] == targets.shape[1:]
    if last and first:
        first = class_axis(task, outputs[0, :FEW], every[: len(targets[:FEW])]) == 1
    if not (last or first):
        return Form()
    said = f"Answers are sequences of {targets[0].numel():,} classes: {WHOLE}."
    return Form(lambda o, t: (o.movedim(2, -1), t), said) if first else Form(said=said)


def _one_class(outputs: Tensor) -> Form:
    """Scores of each class beside its number; chances become logits."""
    return Form(lambda o, t: (_logs(o), t), chances=not _flags(outputs)) if _are_chances(outputs) else Form()


def _one_number(outputs: Tensor, targets: Tensor, every: Tensor, task: Task) -> Form:
    """One output for targets of 0 and 1 (or −1 and 1) is the score of 1 where the loss is one of scores, or where
    targets are whole and no loss speaks: a probability where the loss or all outputs say so; else a logit. Other
    targets are numbers, whole ones too, and (n, 1) is (n)."""
    if _are_rates(outputs, targets, every, task):
        return _rates(_as_numbers)
    low = _low(every)
    of = output_of(task, outputs[0, :1], targets[:1], low)
    if not _two(every, low):
        return _chances(_as_numbers) if of == "logit" and _within_one(every) else Form(_as_numbers)
    if of is None and low == 0 and not targets.is_floating_point():
        of = "probability" if _within_one(outputs) else "logit"
    if of == "logit" or (of == "probability" and low == 0):
        probable = of == "probability"
        return Form(lambda o, t: (_yes_or_no(o.flatten(1), probable), (t.flatten() == 1).long()))
    return Form(_as_numbers, _unsaid(outputs, "0 and 1") if of is None and low == 0 else "")


def _several(outputs: Tensor, targets: Tensor, every: Tensor, task: Task) -> Form:
    """Several numbers for as many. Rows with a one are classes, and so are others where the loss is one of classes;
    of numbers from 0 to 1 a binary cross-entropy makes labels or probabilities, of −1 and 1 a loss of scores labels;
    else they are numbers, or by the loss logarithms of these or directions."""
    asked = outputs[0, :FEW], targets[:FEW]
    axis = class_axis(task, *asked)
    if axis is None and outputs.dim() == 3 and _are_logs(outputs):
        axis = 1
    if axis is not None:
        return _of_classes(outputs, every.movedim(axis, -1), axis)
    if _are_rates(outputs, targets, every, task):
        return _rates(_floats)
    low = _low(every)
    rows, flags = outputs.dim() == 3, _two(every, low)
    of = output_of(task, outputs[0, :1], targets[:1], low if flags else 0)
    # Of a task that draws its answers not all are known, so that its loss alone can say that they are classes.
    if rows and isinstance(task, FixedTask) and (flags or of != "number") and coded(every) and _differ(every):
        return _by_class(outputs, every, 1, chances=False)
    if of_directions(task, *asked):
        return Form(lambda o, t: (F.normalize(o, dim=-1), F.normalize(t.to(o.dtype), dim=-1)), DIRECTIONS)
    if of is None and flags and low == 0 and not every.is_floating_point():
        of = "probability" if _within_one(outputs) else "logit"
    if of == "number" or not (_within_one(every) or (flags and of == "logit")):
        return Form(_floats)
    if of is not None:
        if flags and rows and targets.shape[1] in SEVERAL:
            return _labels(targets.shape[1], of == "probability")
        return _chances(lambda o, t: _floats(o, t.clamp(min=0))) if of == "logit" else Form(_floats)
    shares = rows and _sum_to_one(every, CENTS)
    if not (shares or flags):
        return Form(_floats)
    return Form(_floats, _unsaid(outputs, "shares that sum to 1" if shares else "0 and 1"))


def _of_classes(outputs: Tensor, rows: Tensor, axis: int) -> Form:
    """Targets (… × classes) beside scores of classes."""
    if coded(rows):
        return _by_class(outputs, rows, axis)
    if _flags(rows):
        raise InputError(
            "targets have several ones in a row, or none, and by the loss outputs are scores of classes, of which one "
            "is right; give labels that are yes or no with loss=nn.BCEWithLogitsLoss(), or the number of the class."
        )
    if not (_within_one(rows) and _sum_to_one(rows, CENTS)):
        return Form(_floats, "Targets are no chances of classes, though the loss is one of these: judged as numbers.")
    chances = "Targets are chances of classes"
    if bool((rows.amax(-1) > 0.5).all()) and _differ(rows):
        return _by_class(outputs, rows, axis, f"{chances}, one above a half in each row")
    given = _are_chances(outputs.movedim(axis + 1, -1))
    return Form(
        lambda o, t: _floats(o if given else o.softmax(axis + 1), t),
        f"{chances}, not one above a half in each row: those of the model are compared with them as numbers. To judge "
        f"by class, give targets.argmax({axis}).",
    )


def _by_class(outputs: Tensor, rows: Tensor, axis: int, what: str = "", chances: bool = True) -> Form:
    """The largest output against the class that is the largest of the targets."""
    given = _are_chances(outputs.movedim(axis + 1, -1))
    low, high = float(rows.min()), float(rows.max())
    what = what or ("Targets are one-hot" if (low, high) == (0, 1) else f"Targets are one-hot ({low:.3g}, {high:.3g})")
    places = rows[0].numel() // rows.shape[-1]
    more = f" Answers are sequences of {places:,}: {WHOLE}." * (places > 1)

    def both(outputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        return (_logs(outputs) if given else outputs).movedim(axis + 1, -1), _largest(targets.movedim(axis, -1))

    return Form(both, f"{what}: judged by their class.{more}", chances=(chances or given) and not _flags(outputs))


def _largest(targets: Tensor) -> Tensor:
    numbers = targets.double()
    two = numbers.topk(2).values
    if bool((two[..., 0] == two[..., 1]).any()):
        raise InputError("some targets have two classes that are the largest alike; give the number of the class.")
    return numbers.argmax(-1)


def _labels(count: int, probable: bool) -> Form:
    above = "probabilities above .5" if probable else "logits above 0"
    said = f"Targets are {count} labels, yes where outputs are {above}: {WHOLE}."
    return Form(lambda o, t: (_yes_or_no(o, probable), (t == 1).long()), said, labels=True)


def _chances(numbers: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]) -> Form:
    return Form(
        lambda o, t: numbers(o.sigmoid(), t),
        "Outputs are taken as logits: the probabilities that they stand for are compared with targets as numbers.",
    )


def _are_rates(outputs: Tensor, targets: Tensor, every: Tensor, task: Task) -> bool:
    return bool((every >= 0).all()) and of_logs(task, outputs[0, :1], targets[:1])


def _rates(numbers: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]) -> Form:
    return Form(
        lambda o, t: numbers(o.exp(), t),
        "By the loss outputs are logarithms: the numbers that they stand for are compared with targets.",
    )


def _yes_or_no(outputs: Tensor, probable: bool) -> Tensor:
    """Two scores for each output."""
    score = torch.logit(outputs, eps=1e-12) if probable else outputs
    return torch.stack([torch.zeros_like(score), score], -1)


def _as_numbers(outputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    return outputs.flatten(1)[..., None], targets.flatten().to(outputs.dtype)[..., None]


def _floats(outputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    return outputs, targets.to(outputs.dtype)


def _flags(numbers: Tensor) -> bool:
    return _two(numbers, 0)


def _low(numbers: Tensor) -> int:
    return -1 if bool((numbers == -1).any()) else 0


def _two(numbers: Tensor, low: int) -> bool:
    """Whether all are ``low`` or 1."""
    return bool(((numbers == low) | (numbers == 1)).all())


def _within_one(numbers: Tensor) -> bool:
    return bool(((numbers >= 0) & (numbers <= 1)).all())


def _sum_to_one(rows: Tensor, within: float = ROUNDING) -> bool:
    return bool(((rows.double().sum(-1) - 1).abs() < within).all())


def _differ(rows: Tensor) -> bool:
    """Whether the largest number is not always in the same place."""
    return len(rows.double().argmax(-1).unique()) > 1


def _are_chances(outputs: Tensor) -> bool:
    """Whether outputs (members × … × classes) are the chances of classes, but for members that diverged."""
    kept = outputs[~outputs.flatten(1).isnan().any(1)]
    return len(kept) > 0 and _within_one(kept) and _sum_to_one(kept)


def _logs(chances: Tensor) -> Tensor:
    return chances.double().clamp(min=1e-12).log()


def _are_logs(outputs: Tensor) -> bool:
    """Whether outputs are logarithms of the chances of classes."""
    return bool((outputs <= 0).all()) and bool((outputs.double().logsumexp(-1).abs() < ROUNDING).all())


def _unsaid(outputs: Tensor, targets: str) -> str:
    """What is told of targets that are taken as numbers, as no loss says what they are; refused where outputs lie far
    beyond 0 and 1 on either side, as scores do."""
    o = outputs[0].double()
    below, above = (float(far.double().mean()) for far in (o < -OFF, o > 1 + OFF))
    if below > BELOW and below + above > BEYOND:
        raise InputError(
            f"targets are {targets}, and outputs, from {float(o.min()):.3g} to {float(o.max()):.3g}, look like scores "
            f"(logits) and not like these; {SAY}. Or have the model end in a sigmoid or softmax."
        )
    return f"Targets are {targets}, and judged as numbers, as no loss says what they are. If they are not, {SAY}."
