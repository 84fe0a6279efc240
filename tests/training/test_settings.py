"""A training is described once, and whoever asks for it is called with that description."""

from __future__ import annotations

import inspect

import pytest

from recombine.errors import InputError
from recombine.models import Perceptron
from recombine.runs.training import TrainingRun
from recombine.tasks import ToyTask
from recombine.training import Adam, plan_training, train
from recombine.training.settings import Training

MODEL = Perceptron(widths=(2, 3, 2))


def test_a_training_is_called_with_what_describes_it() -> None:
    wanted = inspect.signature(Training).parameters
    for function in (train, plan_training):
        assert inspect.signature(function).parameters == wanted
    assert [name for name, p in wanted.items() if p.kind is not inspect.Parameter.KEYWORD_ONLY] == ["model", "task"]
    with pytest.raises(TypeError, match="unexpected keyword argument 'stepz'"):
        train(MODEL, ToyTask(), stepz=3)  # type: ignore[call-arg]


def test_a_run_hands_over_every_field_that_describes_a_training() -> None:
    run = TrainingRun(task=ToyTask(), model=MODEL, members=(1, 3), steps=4, optimizer=Adam(lr=0.1), fit_below=0.2)
    how = run.how()
    assert set(how) == set(TrainingRun.model_fields) - {"measured", "keep_weights", "keep_history"}
    training = Training(**how)
    assert training.ids == [1, 3]
    assert training.optimizer is run.optimizer
    assert training.batch_size is None


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"steps": -1}, "steps must be a whole number from 0 on"),
        ({"batch_size": 0}, "batch_size must be a whole number from 1 on"),
        ({"members": []}, "members must be"),
        ({"members": [1, 1]}, "members must be"),
        ({"members": 3, "init_scale": (1.0, 2.0)}, "init_scale has 2 entries, member 2 has none"),
        ({"device": "nowhere"}, "there is no device"),
        ({"precision": "float16"}, "unknown precision"),
        ({"precision": "tf32", "device": "cpu"}, "precision='tf32' is for a CUDA device; a cpu computes in full"),
    ],
)
def test_what_cannot_be_trained_is_said_at_once(wrong: dict[str, object], why: str) -> None:
    with pytest.raises(InputError, match=why):
        plan_training(MODEL, ToyTask(), **({"steps": 1} | wrong))  # type: ignore[arg-type]
