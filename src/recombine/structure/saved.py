"""A saved model: a folder with ``architecture.json`` (a description of `recombine.models`) and ``model.safetensors``.

Weights are read as safetensors only. A pickle runs whatever program its author put into it, so none is ever opened.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from recombine import models
from recombine.description import Description
from recombine.errors import InputError, refuse_pickle, unknown
from recombine.training.failures import in_short

ARCHITECTURE, WEIGHTS = "architecture.json", "model.safetensors"
PICKLES = (".pt", ".pth", ".bin", ".pkl", ".pickle", ".ckpt", ".joblib")


def save_model(folder: str | Path, model: nn.Module, architecture: Description) -> Path:
    """Write a model that ``architecture`` builds, so that `load_model` can read it."""
    from safetensors.torch import save_file

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ARCHITECTURE).write_text(json.dumps(architecture.describe(), indent=1), encoding="utf-8")
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    save_file(tensors, folder / WEIGHTS)
    return folder


def load_model(path: str | Path) -> tuple[nn.Module, Description]:
    """The model of a folder, or of a safetensors file that has its ``architecture.json`` beside it."""
    path = Path(path)
    if path.suffix.lower() in PICKLES:
        raise InputError(
            f"{str(path)!r} is a pickle, which can run any program when it is opened, and is not read: save the "
            "weights with safetensors (recombine.structure.save_model)."
        )
    weights = path / WEIGHTS if path.is_dir() else path
    refuse_pickle(weights)
    description = weights.parent / ARCHITECTURE
    for file, what in ((weights, "are no weights"), (description, "is no architecture")):
        if not file.is_file():
            raise InputError(
                f"there {what} at {str(file)!r}; a saved model is a folder with {WEIGHTS} and {ARCHITECTURE} "
                "(recombine.structure.save_model writes it)."
            )
    try:
        architecture = described(json.loads(description.read_text(encoding="utf-8")))
    except InputError:
        raise
    except (ValueError, RecursionError, OSError) as error:
        raise InputError(f"{str(description)!r} does not hold a description: {error}.") from None
    if not callable(architecture):
        raise InputError(f"{str(description)!r} describes a {architecture.kind!r}, which builds no network.")
    _rehearse(architecture, weights)
    model: nn.Module = architecture()
    _fill(model, weights)
    return model.eval(), architecture


def _rehearse(architecture: Callable[[], nn.Module], weights: Path) -> None:
    """Build the network without memory and compare its shapes with those the weights say they have: a few bytes may
    describe more than any machine holds."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(weights, framework="pt") as file:
            there = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise InputError(f"{str(weights)!r} does not hold safetensors: {error}.") from None
    try:
        with torch.device("meta"):
            here = {name: tuple(tensor.shape) for name, tensor in architecture().state_dict().items()}
    except (InputError, NotImplementedError):
        return  # Building it in earnest says what is wrong, or works.
    except (RuntimeError, TypeError, ValueError, ArithmeticError) as error:
        raise InputError(f"the architecture beside {str(weights)!r} cannot be built: {in_short(error)}.") from None
    if here != there:
        odd = min(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))
        raise InputError(f"the weights in {str(weights)!r} do not fit the architecture: see {odd[:80]!r}.")


def described(given: Any) -> Description:
    """The description of `recombine.models` that ``describe`` wrote."""
    if not isinstance(given, dict) or not isinstance(given.get("kind"), str):
        raise InputError('a description is a JSON object with a kind, such as {"kind": "perceptron", …}.')
    classes = {made.kind: made for made in vars(models).values() if isinstance(made, type)
               and issubclass(made, Description) and hasattr(made, "kind")}  # fmt: skip
    if given["kind"] not in classes:
        raise unknown("kind of model", given["kind"], classes)
    made = classes[given["kind"]]
    if given.get("version", 1) != made.version:
        raise InputError(
            f"a {made.kind!r} of version {given['version']} is not the version {made.version} of this one."
        )
    fields = {name: _value(value) for name, value in given.items() if name not in ("kind", "version")}
    return made(**fields)


def _value(value: Any) -> Any:
    if isinstance(value, dict) and "kind" in value:
        return described(value)
    return tuple(_value(inner) for inner in value) if isinstance(value, list) else value


def _fill(model: nn.Module, weights: Path) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        tensors = load_file(weights)
    except (SafetensorError, OSError) as error:
        raise InputError(f"{str(weights)!r} does not hold safetensors: {error}.") from None
    kinds = {tensor.dtype for tensor in tensors.values() if tensor.is_floating_point()}
    model.to(kinds.pop() if len(kinds) == 1 else torch.float32).load_state_dict(tensors)
