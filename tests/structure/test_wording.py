"""What is said of a chosen mask: each finding by hand, and of networks whose parts were built in."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from recombine.structure import MaskSettings, Protocol, dissect, grid
from recombine.structure._dissect import PENALTIES
from recombine.structure.wording import TAKEN_OUT, Finding, Part
from recombine.training import Adam


def part(own: float, other: float, **given: Any) -> Part:
    """Of a network that answers everything, four hundred problems a rule; the interval is .05 to either side."""
    d_abl = max(own, 0.5) - max(other, 0.5)
    known = Part(
        name="a", layers="", chance=0.5, asked={"a": 400, "b": 400}, whole={"a": 1.0, "b": 1.0},
        alone={"a": 1.0, "b": 0.5}, without={"a": own, "b": other}, d_abl=d_abl, low=d_abl - 0.05, high=d_abl + 0.05,
        random=(), spread=(), random_alone=(), untrained=None, attributed={}, settled=0.0, unmoved=0.0, repeated=0.0,
    )  # fmt: skip
    return replace(known, **given)


@pytest.mark.parametrize(
    ("found", "finding", "words"),
    [
        (part(0.5, 1.0), "removable", "the best part that these masks found can be taken out"),
        (part(0.8, 1.0), "in part", "can be taken out in part: 0.80 of a is still answered"),
        (part(0.5, 0.8), "along with others", "along with some of the rest: 0.50 of a and 0.80 of b"),
        (part(0.5, 1.0, alone={"a": 1.0, "b": 0.8}), "does others too", "is not one for a alone: without it 0.50"),
        (part(0.5, 1.0, random=(0.0, -0.48)), "as random masks", "no more than a random mask of its size"),
        (part(0.5, 1.0, random=(-0.3,), spread=(-0.5,)), "as its layers", "random weights of these layers do too"),
        (part(0.5, 1.0, untrained=-0.5), "as untrained", "in an untrained network"),
        (part(1.0, 1.0), "not needed", "is not needed: without it both are still answered, so the rest does a"),
        (part(0.5, 0.52), "all hurt", "both suffer: 0.50 of a and 0.52 of b are still answered"),
        (part(1.0, 0.5), "others hurt", "the loss falls on b rather than on a"),
        (part(0.9, 0.9), "not alone", "0.90 of a and 0.90 of b are still answered"),
        (part(0.85, 0.95, low=-0.2, high=0.0), "open", "more problems would tell"),
        # What the whole network did not answer is not lost with a part.
        (part(0.8, 1.0, whole={"a": 0.8, "b": 1.0}), "not needed", "the rest does a too"),
    ],
)  # fmt: skip
def test_a_finding_follows_from_what_is_answered_without_the_part(found: Part, finding: Finding, words: str) -> None:
    assert found.finding == finding
    assert words in found.words
    none = "no part that these masks found can be taken out alone" in found.words
    assert none == (finding in ("all hurt", "others hurt", "not alone"))
    assert json.loads(json.dumps(found.to_dict()))["finding"] == finding


def test_a_sentence_says_what_a_part_that_comes_out_is_not() -> None:
    both = part(0.5, 0.8, alone={"a": 1.0, "b": 1.0})
    assert both.words.endswith("still answered; by itself it answers 1.00 of b as well")
    assert "but by itself it answers 0.75 of b as well" in part(0.5, 1.0, alone={"a": 1.0, "b": 0.75}).words
    # Near chance, noise and all, is not an answer.
    assert part(0.5, 1.0, alone={"a": 1.0, "b": 0.63}).finding == "removable"
    assert (
        "inputs of 80 % of these problems, so a network that knows answers by heart"
        in part(0.5, 1.0, repeated=0.8).words
    )
    assert "by heart" not in part(0.5, 1.0, repeated=0.4).words + part(1.0, 1.0, repeated=0.8).words
    easy = part(1.0, 1.0, random_alone=(0.5, 0.95, 1.0))
    assert "2 of 3 random masks of its size do a alone as well, so these problems and masks" in easy.words
    assert "random masks" not in part(1.0, 1.0, random_alone=(0.5, 0.6)).words
    assert "all of its weights take no gradients" in part(0.5, 1.0, settled=1.0).words
    assert "97 % of its weights are those of the untrained network" in part(0.5, 1.0, unmoved=0.979).words
    picked = part(1.0, 1.0, attributed={"a": 0.5, "b": 1.0})
    assert "gradient attribution picks instead leaves 0.50 of a and 1.00 of b when it is removed" in picked.words
    assert "attribution" not in part(0.5, 1.0, attributed={"a": 0.5, "b": 1.0}).words
    assert "2 random masks of its size -0.30 to +0.00" in part(0.5, 1.0, random=(0.0,), spread=(-0.3,)).figures
    assert " (" not in part(0.8, 1.0, layers="all").words, "a page parts words from figures there"
    three = part(1.0, 1.0, asked={"a": 400, "b": 400, "c": 400}, whole={"a": 1.0, "b": 1.0, "c": 1.0},
                 alone={"a": 1.0, "b": 0.5, "c": 0.5}, without={"a": 1.0, "b": 1.0, "c": 1.0})  # fmt: skip
    assert "all are still answered" in three.words


class Sides(nn.Module):
    """Each question has its own input and, unless the trunk is shared, its own detectors: |x| of one number."""

    def __init__(self, copies: int = 8, shared: bool = False) -> None:
        super().__init__()
        self.shared = shared
        self.one, self.two = (nn.Linear(1, 2 * copies, bias=False) for _ in range(2))
        with torch.no_grad():
            for layer in (self.one, self.two):
                layer.weight.copy_(torch.tensor([[3.0], [-3.0]]).repeat(copies, 1) / copies)

    def forward(self, x: Tensor, question: Tensor) -> Tensor:
        two = self.one if self.shared else self.two
        asked = torch.where(question[:, None] == 0, self.one(x[:, :1]).relu(), two(x[:, 1:]).relu()).sum(1)
        return torch.stack([torch.full_like(asked, 1.5), asked], 1)


def questions(count: int = 300) -> list[Any]:
    generator = torch.Generator().manual_seed(0)
    found = []
    for i in range(2):
        x = torch.randn(count, 2, generator=generator)
        found.append(((x, torch.full((count,), i)), (x[:, i].abs() > 0.5).long()))
    return found


PROTOCOL = Protocol(
    settings=(MaskSettings(epochs=15, batch_size=30, penalty=0.02, optimizer=Adam(lr=0.05)),), seeds=1, shuffled=False
)


def said(model: nn.Module, protocol: Protocol = PROTOCOL, **given: Any) -> dict[str, Any]:
    result = dissect(model, *questions(), names=("a", "b"), protocol=protocol, progress=lambda *told: None, **given)
    parts: dict[str, Any] = result.to_dict()["parts"]
    return parts


def test_planted_sides_come_out_and_a_shared_one_does_not() -> None:
    for found in said(Sides()).values():
        assert found["finding"] in TAKEN_OUT
        assert found["states"][next(name for name in "ab" if found["without"][name] > 0.9)] == "kept"
    assert {found["finding"] for found in said(Sides(shared=True)).values()} <= {"all hurt", "not needed"}


class Composer(nn.Module):
    """A bit of the verb by a head of its own, a bit of the adverb by another: four classes, 2·a + b."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.a, self.b = nn.Embedding(10, 16), nn.Linear(16, 2), nn.Linear(16, 2)

    def forward(self, x: Tensor) -> Tensor:
        verb, adverb = self.words(x[:, 0]), self.words(x[:, 1] + 6)
        scores: Tensor = (self.a(verb)[:, :, None] + self.b(adverb)[:, None]).flatten(1)
        return scores


class Memo(nn.Module):
    """A row of its own for every combination of verb, adverb and direction."""

    def __init__(self) -> None:
        super().__init__()
        self.rows, self.out = nn.Embedding(72, 16), nn.Linear(16, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.rows(x[:, 0] * 12 + x[:, 1] * 3 + x[:, 2]))  # type: ignore[no-any-return]


VERBS, ADVERBS = torch.tensor([0, 1, 0, 1, 1, 0]), torch.tensor([0, 0, 1, 1])


def said_of_words(build: Callable[[], nn.Module], penalties: tuple[float, ...], seed: int = 0) -> list[Part]:
    """Of a network of two words that answers all; each rule asked where the other's bit is 0."""
    torch.manual_seed(seed)
    x = torch.stack([torch.randint(0, n, (3000,)) for n in (6, 4, 3)], 1)
    a, b = VERBS[x[:, 0]], ADVERBS[x[:, 1]]
    model = build()
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    for _ in range(400):
        rows = torch.randint(0, 3000, (128,))
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[rows]), (2 * a + b)[rows]).backward()
        optimizer.step()
    held = [(x[other == 0][:900], (2 * a + b)[other == 0][:900]) for other in (b, a)]
    base = MaskSettings(epochs=30, batch_size=64)
    settings = grid(starts=(0.0,), lrs=(0.01,), penalties=penalties, base=base)
    protocol = Protocol(settings=settings, seeds=1, shuffled=False)
    result = dissect(model, *held, names=("verb", "adverb"), whole=(x, 2 * a + b), fresh=build, protocol=protocol,
                     progress=lambda *told: None)  # fmt: skip
    parts = [result.part(name) for name in result.subroutines]
    assert result.to_frame()["subroutine"].unique(maintain_order=True).to_list() == ["verb", "adverb"]
    return [part for part in parts if part is not None]


def test_heads_for_each_word_come_out_and_a_row_for_each_combination_is_no_part_for_one_rule() -> None:
    heads, rows = said_of_words(Composer, PENALTIES), said_of_words(Memo, PENALTIES)
    assert len(heads) == len(rows) == 2
    for found in heads:
        assert found.finding in TAKEN_OUT
        assert "all of these problems, so a network that knows answers by heart" in found.words
    for found in rows:
        assert found.finding not in TAKEN_OUT


def test_the_fewest_weights_that_do_a_rule_are_not_needed_and_random_ones_do_as_well() -> None:
    for found in said_of_words(Composer, (0.2,)):
        assert found.finding == "not needed"
        assert "random masks of its size do" in found.words
        assert f"cannot tell where {found.name} is" in found.words


def test_weights_that_were_never_trained_are_said_to_be() -> None:
    model = Sides().requires_grad_(False)
    result = dissect(model, *questions(), names=("a", "b"), protocol=PROTOCOL, controls=False,
                     progress=lambda *told: None)  # fmt: skip
    assert "all of its weights take no gradients: they may never have been trained" in result.verdict_of("a")
    found = said(Sides(), fresh=Sides)
    assert found["a"]["unmoved"] == 1.0
    assert found["a"]["settled"] == 0.0


def test_where_no_mask_passes_nothing_is_said() -> None:
    never = PROTOCOL.replace(settings=(MaskSettings(epochs=1, penalty=50.0, optimizer=Adam(lr=5.0)),), passing=1.0)
    assert said(Sides(), never) == {"a": None, "b": None}
