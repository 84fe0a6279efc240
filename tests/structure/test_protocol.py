"""The protocol: its scores by hand, what it keeps apart, and what it finds where the answer is known."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from hypothesis import given, strategies as st
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.models import OddOneOutNet, Perceptron
from recombine.space import FactorSpace, categorical
from recombine.structure import (
    Choice,
    Findings,
    Mask,
    MaskSearch,
    MaskSettings,
    Network,
    Protocol,
    Subroutine,
    carry_out,
    dissect,
    find_masks,
    subroutines_of,
    summarise_masks,
    untrained,
)
from recombine.structure.scoring import difference, scores
from recombine.structure.stability import overlaps
from recombine.structure.summary import ROWS
from recombine.tasks import FactorTable, OddOneOutTask, Problems, SignProducts
from recombine.training import Adam, train

NET = OddOneOutNet(encoder=Perceptron(widths=(24, 128, 128, 32)))
TOY = SignProducts()


def test_differences_by_hand() -> None:
    assert difference([1.0, 0.1], 0, 0.25) == pytest.approx(0.75)
    assert difference([1.0, 0.1], 0, None) == pytest.approx(0.9)
    assert difference([0.2, 0.9, 0.7], 0, 0.25) == pytest.approx(0.25 - 0.8)
    row = scores([1.0, 0.2], [0.3, 1.0], 0, 0.25)
    assert row["d_sub"] == pytest.approx(0.75)
    assert row["d_abl"] == pytest.approx(-0.7)
    assert row["d_sub_raw"] == pytest.approx(0.8)
    assert (row["sub_target"], row["sub_other"], row["abl_target"], row["abl_other"]) == (1.0, 0.2, 0.3, 1.0)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=4), st.floats(0, 0.9))
def test_a_difference_is_within_what_chance_leaves(found: list[float], chance: float) -> None:
    assert abs(difference(found, 0, chance)) <= 1 - chance + 1e-12


def test_one_table_is_parted_without_rows_in_common() -> None:
    problems = Problems(torch.arange(100.0)[:, None], torch.arange(100) % 4)
    part = Subroutine.of("a", problems, seed=3)
    rows = [set(p.parts[0][:, 0].tolist()) for p in (part.train, part.passing, part.test)]
    assert [len(r) for r in rows] == [60, 20, 20]
    assert len(set.union(*rows)) == 100
    both = Subroutine.of("a", problems, learn=(torch.zeros(50, 1), torch.zeros(50, dtype=torch.long)))
    assert (len(both.train), len(both.passing), len(both.validation), len(both.test)) == (40, 10, 50, 50)
    with pytest.raises(InputError, match="has 12 problems"):
        Subroutine.of("a", problems.rows(slice(0, 12)))


def test_overlap_of_masks_by_hand() -> None:
    def mask(*kept: int) -> Mask:
        return Mask({"w": torch.tensor([i in kept for i in range(8)])})

    table = overlaps({(0, "trained", "a"): [mask(0, 1), mask(1, 2)], (0, "trained", "b"): [mask(6, 7)],
                      (1, "trained", "b"): [mask(0)]})  # fmt: skip
    assert table["between"].to_list() == ["seeds", "subroutines"]
    assert table["iou"].to_list() == pytest.approx([1 / 3, 0.0])
    assert table["expected"].to_list() == pytest.approx([(1 / 16) / (7 / 16)] * 2)


class Reader(nn.Module):
    """Answers with the sign of one input for problems of one kind and of another for the other: two known parts."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Linear(1, 2, bias=False), nn.Linear(1, 2, bias=False)
        with torch.no_grad():
            for part in (self.left, self.right):
                part.weight.copy_(torch.tensor([[-1.0], [1.0]]))

    def forward(self, x: Tensor) -> Tensor:
        return self.left(x[:, :1]) + self.right(x[:, 1:])  # type: ignore[no-any-return]


def signs(column: int, both: bool, count: int = 200) -> Problems:
    """Problems answered by the sign of one column; the other is zero, or any number."""
    generator = torch.Generator().manual_seed(column)
    x = torch.randn(count, 2, generator=generator)
    targets = (x[:, column] > 0).long()
    if not both:
        x[:, 1 - column] = 0
    return Problems(x, targets)


def test_a_model_with_two_known_parts_is_taken_apart() -> None:
    settings = MaskSettings(epochs=20, batch_size=20, penalty=0.0, optimizer=Adam(lr=0.05))
    result = dissect(
        Reader(), signs(0, both=False), signs(1, both=False), names=("left", "right"),
        learn=[signs(0, both=True), signs(1, both=True)], protocol=Protocol(settings=(settings,), chance=0.5),
    )  # fmt: skip
    left = result.mask("left")
    assert left is not None
    assert left.keep["left.weight"].all()
    assert not left.keep["right.weight"].any()
    assert result.score("left") == pytest.approx(-0.5, abs=0.1)
    assert result.score("left", score="d_sub") == pytest.approx(0.5, abs=0.1)
    assert "the best part that these masks found" in result.verdict
    low, high = (result.score("left", score=f"d_abl_{end}") for end in ("low", "high"))
    assert low <= result.score("left") < high < -0.2
    assert f"[{low:+.2f}, {high:+.2f}]" in result.verdict
    best = result.to_frame().filter(pl.col("row") == ROWS["best"])
    assert best["d_abl_low"].is_null().all(), "it was chosen by looking at these problems"
    matrix = result.matrix.filter((pl.col("role") == "search") & (pl.col("network") == "trained"))
    assert matrix.select("subroutine", "asked").rows() == [(a, b) for a in ("left", "right") for b in ("left", "right")]
    assert result.to_dict()["subroutines"] == ["left", "right"]
    assert result.to_frame().height == summarise_masks(result.masks).height > 8


def test_few_problems_leave_it_open_whether_a_part_can_be_taken_out() -> None:
    settings = MaskSettings(epochs=20, batch_size=20, penalty=0.0, optimizer=Adam(lr=0.05))
    few = [signs(i, both=False, count=6) for i in range(2)]
    many = [signs(i, both=True) for i in range(2)]
    parts = [Subroutine(name, many[i], many[i], few[i], few[i]) for i, name in enumerate(("left", "right"))]
    result = dissect(Reader(), *parts, protocol=Protocol(settings=(settings,), chance=0.5, gate=0.0), controls=False)
    assert result.score("left") < -0.1
    assert "left: the best part that these masks found may or may not be one that can be taken out" in result.verdict


def test_without_a_protocol_several_depths_are_searched() -> None:
    result = dissect(Reader(), signs(0, both=False), signs(1, both=False), names=("left", "right"), controls=False)
    searched = result.masks.filter((pl.col("role") == "search") & (pl.col("subroutine") == "left"))
    # Half of two matrices is one, and so is a quarter.
    assert searched.group_by("layers", "maskable", maintain_order=True).len().rows() == [
        ("all", 4, 8),
        ("last half", 2, 8),
    ]
    assert ", in all layers," in result.verdict or ", in the last half of the layers," in result.verdict


def test_errors_say_what_to_do() -> None:
    model, left, right = Reader(), signs(0, both=True), signs(1, both=True)
    swapped = Problems(left.inputs, 1 - left.targets)
    with pytest.raises(InputError, match="not dissected at 90%"):
        dissect(model, swapped, right, controls=False)
    only = Protocol(settings=(MaskSettings(choice=Choice(names="attention"), epochs=1),), chance=0.5, gate=0.0)
    with pytest.raises(InputError, match="unknown parameter 'attention'"):
        dissect(model, left, right, protocol=only, controls=False)
    with pytest.raises(InputError, match="two or more subroutines, each with its own name"):
        dissect(model, left, right, names=("a", "a"), controls=False)


def test_a_mask_of_another_model_is_refused(tmp_path: object) -> None:
    mask = Mask({"left.weight": torch.ones(2, 1, dtype=torch.bool)})
    path = mask.save(f"{tmp_path}/mask.safetensors", Reader())
    with pytest.raises(InputError, match="this mask is for another model"):
        Mask.load(path, nn.Linear(2, 2))


def three_rules() -> FactorTable:
    """Items of six signs; three rules, each the product of two."""
    space = FactorSpace((*(categorical(f"s{i}", 2) for i in range(6)), categorical("copy", 40)))
    rules = {f"pair {i}": (lambda codes, i=i: codes[:, 2 * i] == codes[:, 2 * i + 1]) for i in range(3)}
    return FactorTable(space, rules, lambda codes: 2.0 * codes[..., :6].float() - 1)  # type: ignore[arg-type]


def test_three_subroutines_have_a_full_matrix() -> None:
    parts = subroutines_of(three_rules(), problems=64, asked=40)
    torch.manual_seed(0)
    model = OddOneOutNet(encoder=Perceptron(widths=(6, 16, 8)))()
    protocol = Protocol(settings=(MaskSettings(epochs=1),), gate=0.0, passing=0.0, seeds=2, random=1)
    found = carry_out(protocol, [Network(0, "trained", model)], parts)
    search = found.matrix.filter(pl.col("role") == "search")
    assert search.select("subroutine", "asked").n_unique() == search.height == 9
    mine = search.filter(pl.col("subroutine") == "pair 1").sort("asked")["ablated"].to_list()
    row = found.masks.filter((pl.col("role") == "search") & (pl.col("subroutine") == "pair 1")).row(0, named=True)
    assert row["abl_other"] == pytest.approx((mine[0] + mine[2]) / 2)
    assert row["d_abl"] == pytest.approx(difference([mine[1], mine[0], mine[2]], 0, 0.25))
    assert set(found.masks["role"]) >= {"search", "other seed", "shuffled answers", "same size"}
    assert found.overlap.filter(pl.col("between") == "subroutines").height == 3


def test_a_base_below_the_gate_is_listed_and_not_dissected() -> None:
    parts = subroutines_of(TOY, problems=32, asked=20)
    found = carry_out(Protocol(), [Network(0, "trained", untrained(NET, 0))], parts)
    assert found.bases["gated"].to_list() == [False]
    assert found.masks.is_empty()
    assert summarise_masks(found.masks).is_empty()


def test_a_dissection_goes_on_from_the_masks_that_were_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed while masks of the second set of layers are trained; those of the first are not trained again."""
    base = MaskSettings(epochs=2, batch_size=32, penalty=0.2)
    settings = tuple(base.replace(choice=choice) for choice in (Choice(), Choice(names=r"encoder\.4")))
    protocol = Protocol(settings=settings, seeds=1, random=0, shuffled=False)
    parts = subroutines_of(TOY, problems=64, asked=20)
    net = OddOneOutNet(encoder=Perceptron(widths=(24, 16, 16, 8)))
    network = Network(3, "untrained", untrained(net, 0))
    whole = carry_out(protocol, [network], parts)

    def killed(done: int, total: int, text: str) -> None:
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        carry_out(protocol, [network], parts, progress=killed, checkpoint=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"untrained-3-search-{target}-0-0.safetensors" for target in (0, 1)
    ]
    searched: list[int] = []

    def counted(models: list[nn.Module], *given: Any, **named: Any) -> MaskSearch:
        searched.append(len(models))
        return find_masks(models, *given, **named)

    monkeypatch.setattr("recombine.structure.protocol.find_masks", counted)
    again = carry_out(protocol, [network], parts, checkpoint=tmp_path)
    assert searched == [2]
    assert again.masks.equals(whole.masks)
    assert again.matrix.equals(whole.matrix)
    (tmp_path / "untrained-3-search-0-1-0.safetensors").write_bytes(b"damaged")
    carry_out(protocol, [network], parts, checkpoint=tmp_path)
    assert searched == [2, 1]
    carry_out(protocol, [Network(3, "untrained", untrained(net, 1))], parts, checkpoint=tmp_path)
    assert searched == [2, 1, 4], "other weights"


@functools.cache
def toy() -> Findings:
    """Two seeds of the toy, and an untrained network with the same search."""
    task = OddOneOutTask(source=TOY, problems=2048, held_out=300)
    bases = train(NET, task, members=2, steps=600, batch_size=32, optimizer=Adam(lr=2e-3), device="cpu",
                  progress=lambda done, total: None)  # fmt: skip
    networks = [Network(i, "trained", bases.member(i)) for i in range(2)]
    networks.append(Network(0, "untrained", untrained(NET, 5)))
    settings = MaskSettings(epochs=12, batch_size=32, penalty=0.235, optimizer=Adam(lr=0.03))
    protocol = Protocol(settings=(settings,), seeds=1, random=2, shuffled=False)
    return carry_out(protocol, networks, subroutines_of(TOY, problems=768, asked=250), task.split("test"))


def test_toy_the_part_does_its_own_and_can_be_removed() -> None:
    rows = toy().masks.filter((pl.col("network") == "trained") & (pl.col("role") == "search"))
    means = rows.group_by("base").agg(pl.col("sub_target", "sub_other", "abl_target", "abl_other").mean())
    assert means.height == 2
    assert rows["sub_target"].min() >= 0.95
    assert means["sub_other"].max() <= 0.35
    assert means["abl_target"].max() <= 0.5
    assert means["abl_other"].min() >= 0.75


def test_toy_controls() -> None:
    masks = toy().masks
    fresh = masks.filter((pl.col("network") == "untrained") & (pl.col("role") == "search"))
    assert fresh["sub_target"].min() >= 0.95, "masking is training"
    assert fresh.select(pl.max_horizontal("abl_target", "abl_other").mean()).item() <= 0.35
    random = masks.filter((pl.col("network") == "trained") & (pl.col("role") == "same size"))
    assert random.select(pl.min_horizontal("abl_target", "abl_other").min()).item() >= 0.9
