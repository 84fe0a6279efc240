"""How products are rounded is part of a run, and torch is set as before afterwards. What it does to a training is tried
on a GPU (``gpu_fused.py``)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from recombine.cli.study import run
from recombine.errors import InputError
from recombine.models import Perceptron
from recombine.models.rounding import products_in_tf32
from recombine.runs.training import TrainingRun
from recombine.studies import STUDIES
from recombine.studies.committed import study_of
from recombine.studies.study import StudyResult
from recombine.studies.verification import study_record
from recombine.tasks import ToyTask
from recombine.training import SGD
from recombine.training.precision import check_precision, rounding

CUDA = torch.device("cuda")


def settings() -> tuple[bool, bool, bool]:
    return products_in_tf32(), torch.backends.cudnn.allow_tf32, torch.is_autocast_enabled("cuda")


def test_torch_is_set_as_before_afterwards() -> None:
    before = settings()
    for precision, wanted in (("float32", (False, True, False)), ("tf32", (True, True, False))):
        with suppress(ZeroDivisionError), rounding(precision):  # type: ignore[arg-type]
            assert settings() == wanted
            raise ZeroDivisionError
        assert settings() == before


def test_what_torch_is_set_to_outside_does_not_show_inside() -> None:
    """Of products; convolutions in float32 are as torch is set. Both of its settings are understood."""
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    try:
        cudnn.allow_tf32 = False
        for setting, value in (("allow_tf32", True), ("fp32_precision", "tf32")):
            if hasattr(matmul, setting):
                setattr(matmul, setting, value)
                for precision, wanted in (("float32", (False, False, False)), ("tf32", (True, True, False))):
                    with rounding(precision):  # type: ignore[arg-type]
                        assert settings() == wanted
                    assert settings() == (True, False, False)
    finally:
        matmul.allow_tf32, cudnn.allow_tf32 = False, True


def test_only_models_of_single_precision_are_rounded() -> None:
    for precision in ("float32", "tf32", "bfloat16"):
        check_precision(precision, CUDA, torch.float32)
    check_precision("float32", CUDA, torch.float64)
    with pytest.raises(InputError, match="precision='bfloat16' is for models of float32, not of float64"):
        check_precision("bfloat16", CUDA, torch.float64)


def test_a_study_is_run_at_a_precision_as_other_runs() -> None:
    study = STUDIES["kernel-theory"]
    plain, rounded = (replace(study, precision=p).planned("smoke", 2) for p in ("float32", "tf32"))
    assert {n: s.run.address for n, s in plain.items()} == {n: r.address for n, r in study.runs("smoke", 2).items()}
    for name, setting in rounded.items():
        trains = isinstance(setting.run, TrainingRun)
        assert (setting.run.address != plain[name].run.address) is trains
        assert setting.labels == plain[name].labels
    result = StudyResult(replace(study, precision="tf32"), "smoke", (), {}, {})
    assert result.command.endswith("--scale smoke --precision tf32")
    assert study_of(study_record(result)).precision == "tf32"
    assert "precision" not in study_record(replace(result, study=study))


def test_the_command_line_says_at_once_that_a_cpu_has_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is for a CUDA device"):
        run("gradient-toy", scale="smoke", precision="tf32", device="cpu", store=str(tmp_path))


def test_it_is_part_of_the_address_and_float32_leaves_addresses_as_they_are() -> None:
    one = TrainingRun(task=ToyTask(), model=Perceptron(widths=(2, 3, 2)), members=2, steps=4, optimizer=SGD(lr=0.1))
    assert one.replace(precision="float32").address == one.address
    assert "precision" not in one.describe()
    assert len({one.replace(precision=p).address for p in ("float32", "tf32", "bfloat16")}) == 3
