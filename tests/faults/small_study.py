"""A study of three small trainings through the command line, and what two of its outcomes are compared by."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recombine.runs import Store
    from recombine.runs.training import TrainingRun
    from recombine.studies import Study

RATES = {"small": {"slow": 0.1, "middle": 0.2, "fast": 0.4}, "other": {"middle": 0.2, "faster": 0.8},
         "diverging": {"slow": 0.1, "wild": 1e30}}  # fmt: skip
"""Learning rates of the runs of each study; ``small`` and ``other`` share a run."""
DECLARED = Path(__file__).parent / "declared"
"""A file per study."""
Injection = tuple[Callable[..., None], tuple[Any, ...]]


def make_study(name: str) -> Study[str]:
    from recombine.studies import Paper, Setting, Study

    return Study(
        name=name,
        title="A small study",
        question="Does it survive?",
        paper=Paper("A small paper", "Nobody", 2020, "Nowhere"),
        scales={"smoke": name},
        settings=lambda name, members: {run: Setting(planned) for run, planned in runs(name, members).items()},
        tables={"members": "members"},
        claims=(),
    )


def runs(name: str, members: int | None = None) -> Mapping[str, TrainingRun]:
    """The runs of a study: four members each, 24 steps in blocks of 8, weights kept."""
    from recombine.models import Perceptron
    from recombine.runs.training import Measured, TrainingRun
    from recombine.tasks import ToyTask
    from recombine.training import SGD

    return {
        run: TrainingRun(
            task=ToyTask(), model=Perceptron(widths=(2, 4, 2)), members=members or 4, steps=24, batch_size=4,
            optimizer=SGD(lr=rate), measured=(Measured(measure="influence", at=(0, 20, -1)),), keep_weights=True,
        )
        for run, rate in RATES[name].items()
    }  # fmt: skip


def save_after_every_block() -> None:
    """A checkpoint after every block of steps, however short the time since the last."""
    from recombine.training.settings import Training

    defaults = Training.__init__.__kwdefaults__
    assert "checkpoint_seconds" in defaults, "it is given elsewhere now"
    defaults["checkpoint_seconds"] = 0.0


def run_study(folder: Path, name: str = "small", injection: Injection | None = None, *more: str) -> None:
    """`recombine study run` with a checkpoint after every 8 steps; ends the process with the command's exit code."""
    import recombine.training.engine as engine
    from recombine.cli import main

    save_after_every_block()
    engine.BLOCK_STEPS = 8
    if injection is not None:
        injection[0](*injection[1])
    study, folders = DECLARED / f"{name}.py", ("--store", str(folder / "store"), "--out", str(folder / "page"))
    main(["study", "run", str(study), "--scale", "smoke", "--device", "cpu", "--json", *folders, *more])


def code_of(function: Callable[..., None], *arguments: Any) -> int:
    """The exit code a command ends with, in this process."""
    try:
        function(*arguments)
    except SystemExit as end:
        sys.stdout.flush()
        return int(end.code or 0)
    return 0


def hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of every table and tensor of the store and of the page, by path."""
    found = {}
    for part in ("store/runs", "page"):
        for path in sorted((folder / part).rglob("*")):
            if path.suffix in (".parquet", ".safetensors") and path.parent.name != "index":
                found[str(path.relative_to(folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def finished(folder: Path) -> dict[str, dict[str, str]]:
    """The runs that are visible in the store now, each with the hashes of its files."""
    root = folder / "store" / "runs"
    return {
        path.parent.name: {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest()
            for file in path.parent.iterdir()
            if file.suffix in (".parquet", ".safetensors")
        }
        for path in sorted(root.glob("*/*/run.json"))
    }


def assert_intact(folder: Path, expected: Mapping[str, str]) -> Store:
    """Whatever is visible after a fault is a whole run with the tables it has undisturbed."""
    from recombine.runs import Store

    store = Store(folder / "store")
    for address, files in finished(folder).items():
        assert store.get(address) is not None, address
        for name, digest in files.items():
            assert expected[f"store/runs/{address[:2]}/{address}/{name}"] == digest, name
    assert not (folder / "store" / "aside").exists()
    return store


def assert_completes(folder: Path, expected: Mapping[str, str], name: str = "small") -> None:
    """The same command, undisturbed now, ends well with the tables it always has, and leaves nothing over."""
    from children import call

    before = finished(folder)
    call(run_study, folder, name)
    assert before.items() <= finished(folder).items()
    assert hashes(folder) == expected
    work = folder / "store" / "work"
    assert not work.exists() or not any(work.iterdir())
