"""Odd-one-out problems: what the items keep, where the odd one stands, and that nothing leaks between splits."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from recombine.errors import InputError
from recombine.space import FactorSpace
from recombine.tasks import Draws
from recombine.tasks.odd_one_out import FactorTable, Family, OddOneOutTask, build
from recombine.tasks.odd_one_out.problems import streams

RULES = ("red", "large", "round")


def table(count: int = 12) -> FactorTable:
    """Rows of three binary properties and a number; an item is its codes."""
    space = FactorSpace.of(colour=2, size=2, shape=2, number=count)
    rules = {rule: (lambda codes, i=i: codes[:, i] == 1) for i, rule in enumerate(RULES)}
    return FactorTable(space, rules, lambda codes: codes, alike=("number",))


def test_what_the_odd_item_may_keep_is_known() -> None:
    def kinds(family: Family, rules: tuple[str, ...]) -> set[tuple[bool, ...]]:
        return {tuple(row) for row in family.odd_kinds(rules).tolist()}

    two = RULES[:2]
    assert kinds(Family(), two) == {(False, True), (True, False), (False, False)}
    assert kinds(Family(both_broken=False), two) == {(False, True), (True, False)}
    assert len(kinds(Family(), RULES)) == 7
    assert len(kinds(Family(both_broken=False), RULES)) == 3
    subroutine = Family(asks="subroutine", of="large")
    assert kinds(subroutine, two) == {(False, False), (True, False)}
    assert kinds(subroutine.replace(free=False), two) == {(True, False)}
    assert kinds(Family(asks="partition", of="large"), RULES) == {(True, False, True)}


def test_compositions_and_partitions_have_three_items_that_keep_everything() -> None:
    draws = streams(0, "test", 3000)
    for family in (Family(), Family(asks="partition", of="red")):
        kept = family.kept(RULES, draws)
        assert kept.shape == (3000, 4, 3)
        assert kept[:, :3].all()
        assert not kept[:, 3].all(-1).any()
    kinds, counts = Family().kept(RULES, draws)[:, 3].unique(dim=0, return_counts=True)
    assert len(kinds) == 7
    assert counts.min() > 3000 / 7 - 6 * (3000 / 7) ** 0.5


def test_a_subroutine_says_nothing_of_the_other_rules() -> None:
    kept = Family(asks="subroutine", of="large").kept(RULES, streams(0, "test", 4000)).float()
    assert kept[:, :3, 1].all()
    assert not kept[:, 3, 1].any()
    others = kept[:, :, [0, 2]].mean(0)
    assert (others - 0.5).abs().max() < 5 * 0.5 / 4000**0.5


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), asks=st.sampled_from(["composition", "subroutine", "partition"]))
def test_items_keep_what_their_codes_say_and_the_target_is_the_odd_one(seed: int, asks: str) -> None:
    family = Family(asks=asks, of=None if asks == "composition" else "red")  # type: ignore[arg-type]
    problems = build(table(), family, 50, seed=seed)
    assert torch.equal(problems.codes[..., :3], problems.inputs[..., :3])
    assert torch.equal(problems.codes[..., 3:], problems.inputs)
    asked = problems.codes[..., :3] if asks != "subroutine" else problems.codes[..., :1]
    follows = asked.bool().all(-1)
    assert (follows.sum(1) == 3).all()
    assert torch.equal((~follows).long().argmax(1), problems.targets)
    assert torch.equal(problems.odd, problems.codes[torch.arange(50), problems.targets, :3])


def test_no_problem_holds_an_item_twice_and_no_item_is_in_two_splits() -> None:
    source = table(40)
    sets = {
        split: [build(source, f, 200, split=split) for f in (Family(), Family(asks="subroutine", of="round"))]
        for split in ("train", "validation", "test")
    }
    for problems in (one for some in sets.values() for one in some):
        rows = problems.inputs @ torch.tensor([4, 2, 1, 8])
        assert all(len(set(row)) == 4 for row in rows.tolist())
    numbers = {split: set(some[0].inputs[..., 3].flatten().tolist()) for split, some in sets.items()}
    assert all(numbers.values())
    for one, other in (("train", "validation"), ("train", "test"), ("validation", "test")):
        assert not numbers[one] & numbers[other]
        assert all(not a.distinct & b.distinct for a in sets[one] for b in sets[other])


def test_shared_items_are_counted() -> None:
    """The check that finds no leak elsewhere does find one here."""
    source = table(4)
    one, other = build(source, Family(), 100, seed=0), build(source, Family(), 100, seed=1)
    rows = [set(map(tuple, problems.inputs.flatten(0, 1).tolist())) for problems in (one, other)]
    assert len(one.distinct & other.distinct) == len(rows[0] & rows[1]) > 0


def test_a_problem_depends_on_its_address_alone() -> None:
    few, many = build(table(), Family(), 10), build(table(), Family(), 200)
    assert torch.equal(few.inputs, many.inputs[:10])
    assert torch.equal(few.targets, many.targets[:10])
    assert not torch.equal(few.inputs, build(table(), Family(), 10, seed=1).inputs)
    counts = build(table(), Family(), 4000).targets.bincount(minlength=4)
    assert (counts - 1000).abs().max() < 5 * (4000 * 3 / 16) ** 0.5


def test_levels_of_an_uneven_factor_can_be_drawn_evenly() -> None:
    space = FactorSpace.of(sign=2, kind=2, number=100)
    codes = space.grid()
    codes = codes[(codes[:, 1] == 1) | (codes[:, 2] < 10)]
    for even, low, high in (("kind", 0.46, 0.54), (None, 0.05, 0.14)):
        source = FactorTable(space, {"plus": lambda c: c[:, 0] == 1}, lambda c: c, codes=codes, even=even)
        rare = (build(source, Family(), 2000).codes[..., 2] == 0).double().mean()
        assert low < float(rare) < high


def test_the_task_trains_on_one_split_and_asks_another() -> None:
    task = OddOneOutTask(source=table(60), problems=300, held_out=400)
    inputs, targets = task.batch(Draws.of([0, 1], range(3), seed=0), 16)
    assert inputs.shape == (3, 2, 16, 4, 4)
    assert targets.shape == (3, 2, 16)
    seen = {tuple(row) for row in task.split("train").inputs.flatten(0, 1).tolist()}
    assert {tuple(row) for row in inputs.flatten(0, 3).tolist()} <= seen
    points = torch.as_tensor(task.train.codes.copy()).repeat_interleave(20, 0)
    asked, answers = task.examples(points, Draws.single(0))
    odd = asked[torch.arange(len(asked)), answers, :3]
    assert torch.equal(odd, points)
    assert not {tuple(row) for row in asked.flatten(0, 1).tolist()} & seen
    assert task.scores(torch.eye(4), torch.tensor([0, 1, 2, 0]))["accuracy"].tolist() == [1, 1, 1, 0]


def test_what_cannot_be_built_is_said() -> None:
    with pytest.raises(InputError, match="of one rule"):
        Family(asks="subroutine")
    with pytest.raises(InputError, match="unknown rule 'blue'"):
        build(table(), Family(asks="partition", of="blue"), 5)
    with pytest.raises(InputError, match="at least one"):
        build(table(), Family(), 0)
    with pytest.raises(InputError, match="Contours, Sentences or a FactorTable"):
        OddOneOutTask(source=3)
    space = FactorSpace.of(sign=2, number=30)
    always = FactorTable(space, {"any": lambda c: np.ones(len(c), dtype=bool)}, lambda c: c)
    with pytest.raises(InputError, match="no row for train"):
        build(always, Family(), 5)
    with pytest.raises(InputError, match="both called 'sign'"):
        FactorTable(space, {"sign": lambda c: c[:, 0] == 1}, lambda c: c)
