from __future__ import annotations

import numpy as np
import pytest
import torch

from recombine.errors import InputError
from recombine.kernels import Kernel, problems
from recombine.tasks import Draws, SymbolicTask


def of(problem: problems.Problem, **more: str) -> SymbolicTask:
    task: SymbolicTask = SymbolicTask.of(**vars(problem), **more)
    return task


def test_a_combination_becomes_its_one_hot_codes_side_by_side() -> None:
    task = of(problems.addition([1], values=[-1, 0, 1]))
    inputs, targets = task.examples(torch.tensor([[0, 2], [1, 1]]), Draws.single(0))
    assert inputs.tolist() == [[1, 0, 0, 0, 0, 1], [0, 1, 0, 0, 1, 0]]
    assert targets.tolist() == [[0.0], [0.0]]


def test_training_holds_each_seen_combination_once_with_its_answer() -> None:
    task = of(problems.addition([4]))
    inputs, targets = task.whole()
    assert inputs.shape == (17, 18)
    values = torch.arange(-4.0, 5)
    expected = inputs[:, :9] @ values + inputs[:, 9:] @ values
    assert torch.equal(targets[:, 0], expected)
    assert (len(task.train), len(task.test)) == (17, 64)


@pytest.mark.parametrize(("left_out", "seen", "asked"), [(3, 54, 18), (2, 64, 8), (1, 70, 2)])
def test_context_dependence_has_the_sizes_of_the_paper(left_out: int, seen: int, asked: int) -> None:
    task = of(problems.context_dependence(left_out), loss="logistic")
    assert (len(task.train), len(task.test)) == (seen, asked)


def test_inputs_have_the_one_hot_kernel() -> None:
    task = of(problems.context_dependence(3))
    codes = task.train.codes
    inputs, _ = task.examples(torch.as_tensor(codes.copy()), Draws.single(0))
    gram = (inputs @ inputs.T / 3).double().numpy()
    assert np.allclose(gram, Kernel.one_hot(3).gram(codes), atol=1e-6)


def test_losses_and_scores_by_hand() -> None:
    squared, logistic = (of(problems.context_dependence(1), loss=loss) for loss in ("squared error", "logistic"))
    outputs, targets = torch.tensor([[2.0], [-1.0], [0.0]]), torch.tensor([[1.0], [1.0], [1.0]])
    assert squared.losses(outputs, targets).tolist() == [1.0, 4.0, 1.0]
    expected = torch.log1p(torch.exp(torch.tensor([-2.0, 1.0, 0.0])))
    assert torch.allclose(logistic.losses(outputs, targets), expected)
    assert logistic.scores(outputs, targets)["accuracy"].tolist() == [1.0, 0.0, 0.0]


def test_equal_sets_have_one_address_and_the_loss_changes_it() -> None:
    one, again = of(problems.context_dependence(2)), of(problems.context_dependence(2))
    assert one == again
    assert one.address == again.address
    assert one.address != of(problems.context_dependence(2), loss="logistic").address


def test_targets_and_component_counts_are_free() -> None:
    task = SymbolicTask(
        levels=(2, 2, 2, 2), seen=((0, 0, 0, 0), (1, 1, 1, 1)), answers=(0.5, -3.0), asked=((0, 1, 0, 1),),
        asked_answers=(7.0,),
    )  # fmt: skip
    inputs, targets = task.whole()
    assert inputs.shape == (2, 8)
    assert targets.flatten().tolist() == [0.5, -3.0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"answers": (1.0,)}, "one answer per combination"),
        ({"loss": "logistic", "answers": (1.0, 2.0)}, "+1 and"),
        ({"asked": ((0, 0),), "asked_answers": (1.0,)}, "both seen and asked"),
    ],
)
def test_bad_sets_say_what_is_wrong(change: dict[str, object], words: str) -> None:
    fields = {
        "levels": (2, 2), "seen": ((0, 0), (1, 1)), "answers": (1.0, -1.0), "asked": ((0, 1),), "asked_answers": (1.0,),
    }  # fmt: skip
    with pytest.raises(InputError, match=words.replace("+", r"\+")):
        SymbolicTask(**(fields | change))
