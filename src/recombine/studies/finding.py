"""Find a study by its name, in an installed package, or in a file of one's own."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module, util
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from recombine.errors import InputError, unknown
from recombine.studies.study import Study

GROUP = "recombine.studies"
"""The entry points by which an installed package offers studies of its own."""

_OURS = {name.replace("_", "-"): name for name in (
    "gradient_toy", "gradient_descent", "kernel_theory", "forced_rendering", "first_principles", "break_it_down",
    "together", "real_tables",
)}  # fmt: skip


class _Studies(Mapping[str, "Study[Any]"]):
    """The studies of this package by name, each imported when it is looked up."""

    def __getitem__(self, name: str) -> Study[Any]:
        return _study_in(import_module(f"recombine.studies.{_OURS[name]}"), name)

    def __iter__(self) -> Iterator[str]:
        return iter(_OURS)

    def __len__(self) -> int:
        return len(_OURS)


STUDIES: Mapping[str, Study[Any]] = _Studies()


def ships(study: Study[Any]) -> bool:
    """Whether it is a study of this package, as it stands there: then the package's code says all of how it is drawn.
    One that was made of it by changing something is another, whatever it is called."""
    return STUDIES.get(study.name) is study


def find_study(name: str) -> Study[Any]:
    """The study of that name; a name that ends in .py is a file, whose ``STUDY`` it is. Only a file that a person names
    is ever run.

    Examples:
        >>> find_study("gradient-toy").name
        'gradient-toy'
    """
    if name in _OURS:
        return STUDIES[name]
    if name.endswith(".py"):
        return replace(_from_file(Path(name)), file=Path(name).name)
    installed = {point.name: point for point in entry_points(group=GROUP)}
    if name in installed:
        found = installed[name].load()
        return found if isinstance(found, Study) else _study_in(found, name)
    raise unknown("study", name, [*_OURS, *installed])


def _from_file(path: Path) -> Study[Any]:
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r} to read a study from.")
    # Its classes must be found again under their module's name when runs are handed to other processes.
    name, path = path.stem, path.resolve()
    spec = util.spec_from_file_location(name, path)
    taken = name in sys.modules and getattr(sys.modules[name], "__file__", None) != str(path)
    if not name.isidentifier() or taken or spec is None or spec.loader is None:
        raise InputError(f"a file of a study needs a name of its own that Python can import, not {path.name!r}.")
    module = util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        return _study_in(module, str(path))
    except Exception as error:
        del sys.modules[name]
        if isinstance(error, InputError):
            raise
        hint = ""
        if isinstance(error, ModuleNotFoundError) and (path.parent / f"{error.name}.py").is_file():
            hint = (
                f" Its folder is not searched for modules: set PYTHONPATH={str(path.parent)!r}, or put all in one file."
            )
        raise InputError(f"{str(path)!r} cannot be read as a study: {type(error).__name__}: {error}.{hint}") from error


def _study_in(module: Any, where: str) -> Study[Any]:
    found = getattr(module, "STUDY", None)
    if not isinstance(found, Study):
        raise InputError(f"{where!r} declares no study; it needs STUDY = Study(…).")
    return found
