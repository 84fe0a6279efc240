"""Rows and losses as people have them: arrays, named inputs, a ``Dataset`` or ``DataLoader``, files; torch's losses."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
from torch import Tensor, nn
from torch.utils.data import (
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

from recombine.errors import InputError, unknown
from recombine.space import FactorSpace
from recombine.support import Explicit
from recombine.support.scan import collect, scan
from recombine.support.split import split_of, without_others

LABELS = ("label", "labels", "target", "targets", "y")
"""What the answer is called in a dataset whose items have names."""
OF_NUMBERS = ("mse", "l1", "smoothl1", "huber", "bce", "bcewithlogits", "binarycrossentropy",
              "binarycrossentropywithlogits", "poissonnll", "squarederror")  # fmt: skip
OF_CLASSES = ("crossentropy", "nll", "multimargin")


def tensor(given: Any, what: str) -> Tensor:
    """Numbers of any kind as a tensor; doubles of numpy, which models are not made of, as single precision."""
    if isinstance(given, Tensor):
        return given.detach()
    try:
        array = np.asarray(given)
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        return torch.as_tensor(array.copy())
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{what} cannot be read as numbers: {str(error)[:120]}.") from None


def rows(inputs: Any, targets: Any) -> tuple[tuple[Tensor, ...], tuple[str, ...] | None, Tensor]:
    """Input tensors, their names where they have some, and targets; a dataset holds both."""
    if isinstance(inputs, (Dataset, DataLoader)):
        if targets is not None:
            raise InputError("a dataset holds its targets: give no targets beside it.")
        inputs, targets = _collected(inputs)
    elif targets is None:
        raise InputError("targets are missing; only a Dataset or a DataLoader holds its own.")
    if not isinstance(targets, Tensor) and np.asarray(targets).dtype.kind in "US":
        raise InputError(
            "targets are texts: give the number of each class, as numpy.unique(texts, return_inverse=True)[1] makes "
            "of them; classes are then numbered in the order of their names."
        )
    answer = tensor(targets, "targets")
    if isinstance(inputs, Mapping):
        return tuple(tensor(part, name) for name, part in inputs.items()), tuple(map(str, inputs)), answer
    parts = inputs if isinstance(inputs, tuple) else (inputs,)
    return tuple(tensor(part, "inputs") for part in parts), None, answer


def _collected(data: Any) -> tuple[Any, Any]:
    """All items of a dataset, in its order, or all batches of a loader, one after the other."""
    loaded = isinstance(data, DataLoader)
    items = list(data) if loaded else [data[i] for i in range(len(data))]
    if not items:
        raise InputError("the dataset is empty.")
    first = items[0]

    def together(name: Any) -> Tensor:
        parts = [tensor(item[name], "the dataset") for item in items]
        return torch.cat(parts) if loaded else torch.stack(parts)

    if isinstance(first, Mapping):
        label = next((name for name in LABELS if name in first), None)
        if label is None:
            raise InputError(f"the items of the dataset have none of {', '.join(LABELS)}, but {', '.join(first)}.")
        named = {name: together(name) for name in first if name != label}
        return named, together(label)
    if not isinstance(first, (tuple, list)) or len(first) < 2:
        raise InputError("an item of a dataset is (input, target), several inputs and a target, or a dictionary.")
    inputs = tuple(together(i) for i in range(len(first) - 1))
    return inputs if len(inputs) > 1 else inputs[0], together(-1)


def require_one_order(inputs: Any) -> None:
    """Rows that have something put beside them from elsewhere come in one order."""
    if isinstance(inputs, DataLoader) and not _in_one_order(inputs):
        raise InputError(
            "the DataLoader gives its rows in another order each time (shuffle=True, or a sampler that draws), so that "
            "combinations would stand beside other rows: give loader.dataset, or a loader with shuffle=False."
        )


def coded(space: FactorSpace, combinations: Any) -> Tensor:
    """The codes of combinations, one row each, which may be given by the names of their levels."""
    if isinstance(combinations, Tensor):
        return combinations.detach()
    if isinstance(combinations, (list, tuple)) and combinations and isinstance(combinations[0], Mapping):
        return torch.as_tensor(space.encode(combinations).copy())
    array = np.asarray(combinations)
    if array.dtype.kind not in "USO" or array.ndim != 2 or array.shape[1] != len(space):
        return tensor(combinations, "combinations")
    named = [{str(level): level for level in factor.levels or ()} for factor in space.factors]
    records = [
        {name: of.get(str(value), value) for name, of, value in zip(space.names, named, row, strict=True)}
        for row in array.tolist()
    ]
    return torch.as_tensor(space.encode(records).copy())


def _in_one_order(loader: DataLoader[Any]) -> bool:
    """Whether a loader gives rows in the same order each time, as far as its samplers tell."""
    samplers = [getattr(loader.batch_sampler, "sampler", loader.batch_sampler), loader.sampler]
    if isinstance(loader.dataset, IterableDataset) or all(isinstance(s, SequentialSampler) for s in samplers):
        return True
    if any(isinstance(s, (RandomSampler, SubsetRandomSampler, WeightedRandomSampler)) for s in samplers):
        return False
    order = loader.batch_sampler if loader.batch_sampler is not None else loader.sampler
    with torch.random.fork_rng():
        return list(order) == list(order)


def read_files(files: Iterable[Any], read: Callable[[Path], Any] | None, folder: str | Path = ".") -> Tensor:
    """What ``read`` makes of each file, one row per file; pictures, unless it is given, as (channels × height × width)
    from 0 to 1."""
    made = []
    for name in files:
        path = Path(folder) / str(name)
        try:
            made.append(tensor((read or _picture)(path), repr(str(path))))
        except OSError as error:
            raise InputError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from None
    shapes = {tuple(part.shape) for part in made}
    if len(shapes) != 1:
        raise InputError(f"files must hold arrays of one shape, these have {sorted(shapes)[:3]}; resize them in read=.")
    return torch.stack(made)


def _picture(path: Path) -> Tensor:
    try:
        from PIL import Image
    except ImportError:
        raise InputError("pictures are read with Pillow: install it, or give read=.") from None
    pixels = torch.as_tensor(np.asarray(Image.open(path)).copy()).float() / 255
    return pixels[None] if pixels.dim() == 2 else pixels.movedim(-1, 0)


@dataclass(frozen=True)
class Loss:
    """A loss with one number per example, whoever wrote it."""

    function: Callable[[Tensor, Tensor], Tensor]

    @property
    def __name__(self) -> str:  # what it is known by
        inner = self.function.func if isinstance(self.function, partial) else self.function
        return str(getattr(inner, "__name__", type(inner).__name__))

    @property
    def _kind(self) -> str:
        return self.__name__.lower().replace("_", "").removesuffix("loss")

    @property
    def of_classes(self) -> bool:
        return self._kind in OF_CLASSES

    @property
    def ignored(self) -> int:
        """The label that a loss of classes does not count; −100 is what torch takes."""
        if isinstance(self.function, partial):
            return int(self.function.keywords.get("ignore_index", -100))
        return int(getattr(self.function, "ignore_index", -100))

    def __call__(self, outputs: Tensor, targets: Tensor) -> Tensor:
        if self.of_classes:
            if outputs.dim() < 2 or outputs.shape[1] < 2:
                raise InputError(
                    f"{self.__name__} needs an output per class, and the model gives {tuple(outputs.shape)}: for two "
                    "classes give two outputs, or train one with nn.BCEWithLogitsLoss()."
                )
            # Rows of whole numbers for as many outputs are one-hot, and chances to torch.
            chances = targets.is_floating_point() or targets.shape == outputs.shape
            targets = targets.to(outputs.dtype) if chances else targets.long()
        elif self._kind in OF_NUMBERS:
            targets = targets.to(outputs.dtype)
            if outputs.shape == (*targets.shape, 1):
                targets = targets[..., None]
            elif targets.shape == (*outputs.shape, 1):
                outputs = outputs[..., None]
            if outputs.shape != targets.shape:
                raise InputError(
                    f"outputs have shape {tuple(outputs.shape)} and targets {tuple(targets.shape)}; make them alike."
                )
        losses = self.function(outputs, targets)
        return losses.flatten(1).mean(1) if losses.dim() > 1 else losses


def per_example(loss: Any) -> Loss:
    """A loss of this package, of ``torch.nn`` or its functional, or of one's own, with its reduction checked."""
    loss = loss() if isinstance(loss, type) and issubclass(loss, nn.Module) else loss
    if not callable(loss):
        raise InputError(f"a loss is a function of (outputs, targets) or a loss of torch.nn, got {loss!r:.80}.")
    given = loss.keywords.get("reduction") if isinstance(loss, partial) else getattr(loss, "reduction", None)
    name = Loss(loss).__name__
    if given == "sum":
        raise InputError(f"{name} sums over the batch; give it with reduction='none'.")
    if isinstance(loss, nn.Module) and given == "mean":
        if getattr(loss, "weight", None) is not None:
            raise InputError(f"the mean of {name} weighs examples; give it with reduction='none', which says how.")
        loss = copy.copy(loss)
        loss.reduction = "none"
    elif not isinstance(loss, nn.Module) and given != "none" and _reduces(loss):
        loss = partial(loss, reduction="none")
    return Loss(loss)


def _reduces(function: Callable[..., Any]) -> bool:
    try:
        return "reduction" in signature(function).parameters
    except (TypeError, ValueError):
        return False


def whole_labels(targets: Tensor) -> Tensor:
    """Labels of classes as whole numbers; shares of classes (rows × classes) as they are."""
    if targets.is_floating_point() and targets.dim() == 1:
        if not bool((targets == targets.round()).all()):
            raise InputError("labels of classes are whole numbers, and these are not; use nn.MSELoss() for numbers.")
        return targets.long()
    return targets


def of_table(
    table: Any,
    factors: Sequence[str],
    target: str,
    inputs: Sequence[str] | str,
    split: str | tuple[str, str],
    read: Any,
    folder: Any,
) -> dict[str, Any]:
    """What `FixedTask` is made with, from a table: one row per example. ``inputs`` are columns of numbers, or one of
    file names; ``split`` ("part=test") marks the rows that are asked about, and others as in `support/split.py`."""
    column, value = split_of(split) or ("", "")
    files, numbers = (inputs, []) if isinstance(inputs, str) else (None, list(inputs))
    names = list(dict.fromkeys([*factors, target, *numbers, *([files] if files else []), column]))
    lazy = scan(table, columns=set(names))
    for name in names:
        if name not in lazy.collect_schema():
            raise unknown("column", name, lazy.collect_schema().names())
    frame = collect(without_others(lazy.select(names), column, value)[0])
    if missing := [name for name in names if frame[name].null_count()]:
        raise InputError(f"the column {missing[0]!r} has missing values; drop those rows first.")
    levels = {name: sorted(frame[name].unique().to_list()) for name in factors}
    space = FactorSpace.of(**levels)
    codes = space.encode(frame.select(factors).to_dicts())
    asked = (frame[column].cast(str) == value).to_numpy()
    if asked.all() or not asked.any():
        raise InputError(f"the column {column!r} must be {value!r} in some rows and not in others.")
    train = Explicit(space, codes[~asked])
    answers = _numbers(frame[target])
    if answers is None:
        classes = {name: i for i, name in enumerate(sorted(frame[target].unique().to_list()))}
        answers = np.asarray([classes[name] for name in frame[target]])
    made = read_files(frame[files], read, folder) if files else np.stack([_needed(frame[name]) for name in numbers], 1)
    return {"space": space, "train": train, "test": Explicit(space, codes[asked]) - train, "inputs": made,
            "targets": answers, "combinations": codes, "test_rows": asked}  # fmt: skip


def _numbers(column: pl.Series) -> Any:
    """A column as numbers, whole ones as such; None where it holds something else. Files hold texts."""
    cast = column.cast(pl.Float64, strict=False) if column.dtype == pl.String else column
    if not cast.dtype.is_numeric() or cast.null_count():
        return None
    found = cast.to_numpy()
    return found.astype(np.int64) if column.dtype.is_integer() or (found == np.round(found)).all() else found


def _needed(column: pl.Series) -> Any:
    found = _numbers(column)
    if found is None:
        raise InputError(f"the column {column.name!r} holds no numbers; give the name alone if it holds file names.")
    return found.astype(np.float32)
