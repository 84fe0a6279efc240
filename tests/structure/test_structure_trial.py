"""What a dissection is told before it begins: problems in their usual forms are taken, the others refused in a
sentence."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import TensorDataset

from recombine.errors import InputError
from recombine.structure import Choice, Dissection, MaskSettings, Protocol, as_problems, dissect, grid, untrained
from recombine.structure.subroutines import seen
from recombine.training import Adam

QUICK = Protocol(
    settings=grid(starts=(0.0,), choices=(Choice(),), lrs=(0.03,), base=MaskSettings(epochs=1, batch_size=32)),
    gate=0.0, seeds=1, random=0, shuffled=False,
)  # fmt: skip
X = torch.randn(60, 4, generator=torch.Generator().manual_seed(0))
FIRST, SECOND = ((X[:, i] > 0).long() for i in (0, 1))


class Placed(nn.Module):
    """With a table of its own, which no layer draws."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(3 + 0.1 * torch.randn(4))
        self.scale = nn.Parameter(torch.tensor(2.0))
        self.readout = nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Any:
        return self.scale * self.readout(x + self.table)


class Halves(Placed):
    def forward(self, left: Tensor, right: Tensor) -> Any:
        return super().forward(torch.cat([left, right], 1))


class Changed(Placed):
    """Whose scores are handed on in another form."""

    def __init__(self, change: Callable[[Tensor], Any]) -> None:
        super().__init__()
        self.change = change

    def forward(self, x: Tensor) -> Any:
        return self.change(super().forward(x))


def taken_apart(model: Any = None, first: Any = None, **more: Any) -> Dissection:
    torch.manual_seed(0)
    model = Placed() if model is None else model
    more = {"controls": False, "protocol": QUICK} | more
    return dissect(model, (X, FIRST) if first is None else first, more.pop("second", (X, SECOND)), **more)


def parts_alike(one: Dissection, other: Dissection) -> bool:
    return one.masks.equals(other.masks)


def test_problems_in_every_usual_form_are_the_same_problems() -> None:
    plain = taken_apart()
    rows = torch.nn.functional.one_hot(FIRST, 2)
    for first in (
        [X, FIRST], TensorDataset(X, FIRST), (X.numpy(), FIRST.numpy()), (X, FIRST.float()), (X, FIRST.bool()),
        (X, FIRST[:, None]), (X, rows), (X, rows.float()), (X, 0.9 * rows + 0.05),
    ):  # fmt: skip
        assert parts_alike(plain, taken_apart(first=first))


def test_named_inputs_go_by_keyword_and_several_one_after_the_other() -> None:
    left, right = X[:, :2], X[:, 2:]
    torch.manual_seed(0)
    model = Halves()
    named = {"right": right, "left": left}
    by_name = taken_apart(model, (named, FIRST), second=(named, SECOND))
    in_order = taken_apart(model, ((left, right), FIRST), second=([left, right], SECOND))
    assert parts_alike(by_name, in_order)
    with pytest.raises(InputError, match=r"right \(2, 2\) of float32.*'right'; inputs of a dictionary .* by keyword"):
        taken_apart(first=(named, FIRST))


@pytest.mark.parametrize(
    ("model", "first", "words"),
    [
        (Placed, None, "got <class .*goes into fresh="),
        (lambda x: x, None, "goes into fresh="),
        (nn.ReLU(), None, "without parameters"),
        (Changed(lambda scores: {"logits": scores}), None, r"gives a dict, and one tensor.*model\(x\)\['logits'\]"),
        (Changed(lambda scores: (scores, 1)), None, r"gives a tuple, .*model\(x\)\[0\]"),
        (Changed(lambda scores: scores[:, :1]), None, r"one number per problem.*stack\(\[0 \* z, z\], -1\)"),
        (Changed(lambda scores: scores[:, 0]), None, "one number per problem"),
        (Changed(lambda scores: scores[:, None]), None, r"scores of shape \(2, 1, 2\) for 2 problems of 'target'"),
        (None, (X, FIRST + 5), "targets of 'target' go from 5 to 6, .* 0 to 1"),
        (None, (X, FIRST - 1), "targets of 'target' go from -1 to 0"),
        (None, (X, FIRST + 0.5), "no class numbers, such as"),
        (None, (X, 0 * FIRST), "all problems of 'target' have the answer 0, "),
        (None, (X, X), r"shape \(36, 4\)"),
        (None, (X, X.softmax(1)), r"Of chances of classes give targets.argmax\(1\); of labels"),
        (None, (X[:, :3], FIRST), r"problems of 'target', inputs \(2, 3\) of float32: The size"),
        (None, (X, [f"class {i}" for i in range(60)]), "targets are texts; .* whole number per class"),
        (None, (np.array(["red"] * 60), FIRST), "inputs are texts; "),
        (None, "a file", "a pair .*; a str is none of these"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_said_in_a_sentence(model: Any, first: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        taken_apart(model, first)


def test_own_parameters_of_the_control_are_drawn_with_their_spread() -> None:
    torch.manual_seed(0)
    model, names = Placed(), list[str]()
    control = untrained(model, 0, names)
    assert names == ["table", "scale"]
    assert not torch.equal(control.table, model.table)  # type: ignore[arg-type]
    assert abs(control.table.mean() - 3) < 0.5  # type: ignore[operator, arg-type]
    assert control.scale == 2
    assert torch.equal(control.table, untrained(model, 0).table)  # type: ignore[arg-type]
    assert taken_apart(controls=True).findings.notes["drawn_by_spread"] == names
    assert taken_apart(controls=True, fresh=Placed).findings.notes["drawn_by_spread"] == []
    with pytest.raises(InputError, match="cannot be called without arguments"):
        taken_apart(controls=True, fresh=nn.Linear)


def test_progress_takes_two_arguments_or_three() -> None:
    two: list[tuple[int, int]] = []
    three: list[tuple[int, int, str]] = []
    taken_apart(progress=lambda done, total: two.append((done, total)))
    taken_apart(progress=lambda done, total, words: three.append((done, total, words)))
    assert [(done, total) for done, total, _ in three] == two
    assert two[-1] == (2, 2)


def test_a_bar_is_shown_where_somebody_can_see_it(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    taken_apart()
    assert not capsys.readouterr().err
    monkeypatch.setattr("recombine.training.progress.WAIT", 0.0)
    monkeypatch.setattr("recombine.training.progress.LEFT", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    taken_apart()
    assert "dissecting" in capsys.readouterr().err


def test_a_search_says_nothing_of_rules_that_torch_lacks() -> None:
    class Encoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
            self.encoder, self.readout = nn.TransformerEncoder(layer, 1), nn.Linear(4, 2)

        def forward(self, x: Tensor) -> Any:
            return self.readout(self.encoder(x[:, None])[:, 0])

    torch.manual_seed(0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        taken_apart(Encoder(), protocol=QUICK.replace(settings=(MaskSettings(epochs=1, optimizer=Adam(lr=0.03)),) * 2))
    assert not [warning for warning in told if "performance drop" in str(warning.message)]


def test_a_dataset_of_named_items_is_problems() -> None:
    class Named(torch.utils.data.Dataset[dict[str, Tensor]]):
        def __len__(self) -> int:
            return 5

        def __getitem__(self, i: int) -> dict[str, Tensor]:
            return {"left": X[i, :2], "right": X[i, 2:], "label": FIRST[i]}

    problems = as_problems(Named())
    assert isinstance(problems.inputs, dict)
    assert torch.equal(problems.inputs["left"], X[:5, :2])
    assert torch.equal(problems.targets, FIRST[:5])


def test_problems_seen_before_are_counted_by_their_inputs() -> None:
    shown, asked = as_problems((X[:10], FIRST[:10])), as_problems((X[8:12], FIRST[8:12]))
    assert seen(shown, asked) == 0.5
    pair = as_problems(((X, X[:, 0].long()), FIRST))
    assert seen(pair, pair) == 1.0
    assert seen(pair, as_problems(((X, X[:, 0].long() + 1), FIRST))) == 0.0
