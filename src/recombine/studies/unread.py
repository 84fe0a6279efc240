"""Which changed fields of a training nothing reads, so that it would come to the same numbers under another address.

A training reads of its model nothing but the module that it builds. Two models that build the same one from the same
seed, weights and all, are the same: the number of filters where there are no convolutions, or one that stands for what
is meant anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal, get_args, get_origin

from recombine.description import Description
from recombine.errors import InputError
from recombine.identity import identity
from recombine.runs import Run
from recombine.runs.training import TrainingRun
from recombine.training.stack import initial

_BUILT: dict[str, str | None] = {}
"""What models build, by address."""


def same(one: Run, other: Run) -> bool:
    """Whether two runs are known to compute the same, whatever their descriptions say."""
    if one.address == other.address:
        return True
    if not (isinstance(one, TrainingRun) and isinstance(other, TrainingRun)) or type(one) is not type(other):
        return False
    first, second = _as_read(one), _as_read(other)
    # By address: what a task has worked out and kept, such as its tensors, cannot be compared.
    alike = first.replace(model=second.model).address == second.address
    return alike and bool(_agree(lambda: one.model, lambda: other.model))


def keeps_otherwise(one: Run, other: Run) -> bool:
    """Whether weights are kept of one of them alone: what a training comes to does not depend on it, but a table may
    read them."""
    return getattr(one, "keep_weights", None) != getattr(other, "keep_weights", None)


def _as_read(run: TrainingRun) -> TrainingRun:
    """The run with every field that nothing reads at its default."""
    plain: TrainingRun = run.replace(keep_weights=False)
    for path in run.unread():
        inner, _, name = path.rpartition(".")
        owner = getattr(run, inner) if inner else run
        default = {name: type(owner).model_fields[name].default}
        plain = plain.replace(**({inner: getattr(plain, inner).replace(**default)} if inner else default))
    return plain


def unread(old: Run, new: Run) -> dict[str, str]:
    """The fields, by path, in which ``new`` differs from ``old`` and that nothing reads in it, each with where it would
    be read; empty where that is not known."""
    if not (isinstance(old, TrainingRun) and isinstance(new, TrainingRun)):
        return {}
    found = {path: where for path, where in new.unread().items() if _at(new, path) != _at(old, path)}
    return found | dict(_of_model(old.model, new.model, lambda model: model, "model."))


def _at(run: Run, path: str) -> Any:
    """The field at a path; None where there is none, as with another optimizer."""
    found: Any = run
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


def _of_model(old: Any, new: Any, put: Callable[[Any], Any], path: str) -> Iterator[tuple[str, str]]:
    """``put`` makes the whole model of what may be a part of it."""
    if type(old) is not type(new):
        return
    for name in type(new).model_fields:
        before, after = getattr(old, name), getattr(new, name)
        if isinstance(before, Description) and isinstance(after, Description):
            yield from _of_model(before, after, partial(_with, put, new, name), f"{path}{name}.")
        elif before != after and _agree(partial(put, new), partial(_with, put, new, name, before)):
            yield f"{path}{name}", " or ".join(_readers(new, name, before, path))


def _with(put: Callable[[Any], Any], of: Description, name: str, value: Any) -> Any:
    return put(of.replace(**{name: value}))


def _readers(owner: Description, name: str, before: Any, path: str) -> Iterator[str]:
    """Other fields that take one of a few values, and with which of them ``name`` makes a difference."""
    for other, field in type(owner).model_fields.items():
        makes = [
            str(value)
            for value in _choices(field.annotation)
            if other != name
            and _agree(partial(owner.replace, **{other: value}), partial(owner.replace, **{other: value, name: before}))
            is False
        ]
        if makes:
            yield f"{path}{other} is {' or '.join(makes)}"


def _choices(annotation: Any) -> tuple[Any, ...]:
    if annotation is bool:
        return False, True
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def _agree(*models: Callable[[], Any]) -> bool | None:
    """Whether two models build the same module; None where one of them builds none."""
    try:
        one, other = (_built(make()) for make in models)
    except InputError:  # no such model can be described
        return None
    return None if one is None or other is None else one == other


def _built(model: Any) -> str | None:
    if model.address not in _BUILT:
        try:
            _BUILT[model.address] = identity(initial(model, 0, 0))
        except Exception:  # what is wrong with it is said when it is trained
            _BUILT[model.address] = None
    return _BUILT[model.address]
