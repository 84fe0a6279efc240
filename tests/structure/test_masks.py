"""Masks by hand: what is chosen, what is kept, what is left, what is written to disk."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, strategies as st
from subjects import SUBJECTS, LastOfLSTM, TiedPair, TiedTurned, Twice, bert, cnn, subject
from torch import nn

from recombine.errors import InputError
from recombine.models import ViT
from recombine.structure import (
    Choice,
    Mask,
    ablated,
    chosen,
    depths,
    overlap,
    respond,
    same_size,
    subnetwork,
    units_of,
    weights_of,
)


def by_hand() -> tuple[nn.Module, Mask]:
    model = nn.Linear(2, 2)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 6.0]]))
        model.bias.copy_(torch.tensor([10.0, 20.0]))
    return model, Mask({"weight": torch.tensor([[True, False], [False, True]])})


def half(model: nn.Module) -> Mask:
    """Every second weight of every matrix."""
    return Mask(
        {
            name: (torch.arange(weight.parameter.numel()) % 2 == 0).reshape(weight.parameter.shape)
            for name, weight in chosen(model, Choice()).items()
        }
    )


def test_the_last_layers_are_counted_from_the_end() -> None:
    model = nn.Sequential(*(nn.Linear(2, 2) for _ in range(5)))
    last = chosen(model, Choice(last=0.5))
    assert list(last) == ["2.weight", "3.weight", "4.weight"], "half of five, rounded up"
    assert list(chosen(model, Choice(names="[012]", last=0.25))) == ["2.weight"], "of what the names find"
    assert [choice.layers for choice in depths(model)] == ["all", "last half", "last quarter"]
    assert [choice.layers for choice in depths(nn.Linear(2, 2))] == ["all"], "one layer has no half"
    assert Choice(names="[012]", last=0.1).layers == "last 0.1 of [012]"
    # A description that says nothing of it is the one it was before it could be said.
    assert "last" not in Choice(last=1.0).describe()


def test_a_subnetwork_and_its_removal_by_hand() -> None:
    model, mask = by_hand()
    x = torch.tensor([[1.0, 1.0]])
    assert subnetwork(model, mask)(x).tolist() == [[11.0, 26.0]]
    assert ablated(model, mask)(x).tolist() == [[12.0, 23.0]]
    # The mean of the four weights is 3: it takes the place of 1 and of 6.
    assert ablated(model, mask, "mean")(x).tolist() == [[10 + 3 + 2, 20 + 3 + 3]]
    assert (mask.kept, mask.count, mask.density) == (2, 4, 0.5)
    assert subnetwork(model, Mask(mask.keep, scale=2.0))(input=x).tolist() == [[12.0, 32.0]]


def test_random_removal_is_drawn_within_kaimings_bound_and_leaves_the_rest() -> None:
    model = nn.Linear(100, 50)
    keep = Mask({"weight": torch.arange(5000).reshape(50, 100) % 2 == 0})
    first, again, other = (ablated(model, keep, "random", seed).replaced()["weight"] for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(first[~keep.keep["weight"]], model.weight[~keep.keep["weight"]])
    drawn = first[keep.keep["weight"]]
    assert drawn.abs().max() <= 0.1
    # 2,500 numbers uniform on ±.1: the mean has a standard error of .0012, the largest is almost surely above .09.
    assert abs(float(drawn.detach().mean())) < 0.006
    assert drawn.abs().max() > 0.09
    with pytest.raises(InputError, match="unknown removal"):
        ablated(model, keep, "mode")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SUBJECTS)
def test_any_module_is_masked_without_being_touched(name: str) -> None:
    model, problems = subject(name)
    model.train()
    before = {key: value.clone() for key, value in model.state_dict().items()}
    whole, mask = respond(model, problems), half(model)
    part, rest = respond(subnetwork(model, mask), problems), respond(ablated(model, mask), problems)
    assert not torch.allclose(part, whole)
    assert not torch.allclose(rest, whole)
    everything = Mask({key: torch.ones_like(keep) for key, keep in mask.keep.items()})
    assert torch.equal(respond(subnetwork(model, everything), problems), whole)
    assert torch.equal(respond(ablated(model, mask.complement()), problems), part)
    assert torch.equal(respond(copy.deepcopy(subnetwork(model, mask)), problems), part)
    assert model.training
    assert model.state_dict().keys() == before.keys()
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())


def test_tied_weights_are_one_and_masked_in_every_place() -> None:
    for model, turned in ((TiedPair(), False), (TiedTurned(), True)):
        weights = weights_of(model)
        assert [alias.turned for alias in weights["inner.weight"].aliases] == [turned]
        assert list(chosen(model, Choice(names="outer"))) == ["inner.weight"]
        keep = torch.rand(weights["inner.weight"].parameter.shape) < 0.5
        by_hand = copy.deepcopy(model)
        with torch.no_grad():
            by_hand.inner.weight.mul_(keep)
            by_hand.outer.weight.copy_(by_hand.inner.weight.t() if turned else by_hand.inner.weight)
        x = torch.randn(5, 6)
        assert torch.equal(subnetwork(model, Mask({"inner.weight": keep}))(x), by_hand(x))


def test_memory_shared_in_another_shape_is_refused() -> None:
    model = nn.Sequential(nn.Linear(4, 2, bias=False), nn.Linear(2, 4, bias=False))
    model[1].weight = nn.Parameter(model[0].weight.data.view(4, 2))
    with pytest.raises(InputError, match="shares the memory"):
        weights_of(model)


def test_matrices_are_chosen_and_biases_norms_and_embeddings_only_when_asked_for() -> None:
    assert list(chosen(cnn(), Choice())) == ["0.weight", "3.weight", "6.weight"]
    assert list(chosen(cnn(), Choice(kinds="norm"))) == ["1.weight"]
    assert list(chosen(cnn(), Choice(kinds=("bias",), names="6"))) == ["6.bias"]
    assert list(chosen(cnn(), Choice(types=nn.Conv2d))) == ["0.weight", "3.weight"]
    assert list(chosen(cnn(), Choice(where=lambda name, p: p.dim() == 2))) == ["6.weight"]
    assert list(chosen(LastOfLSTM(), Choice(types="LSTM"))) == ["recurrent.weight_ih_l0", "recurrent.weight_hh_l0"]
    mixed = nn.Sequential(Twice(2, 2), nn.Linear(2, 2))
    assert list(chosen(mixed, Choice(types=nn.Linear))) == ["0.weight", "1.weight"]
    assert list(chosen(mixed, Choice(types=Twice))) == ["0.weight"]
    names = list(chosen(bert(), Choice()))
    assert len(names) == 2 * 6 + 1
    assert not any("embed" in name or "Norm" in name or "bias" in name for name in names)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (Choice(names="wieght"), "unknown parameter 'wieght'; did you mean '6.weight'"),
        (Choice(names="["), "not a regular expression"),
        (Choice(names=r"1\.weight"), r"finds only norm parameters .* add kinds=\('norm',\)"),
        (Choice(types="Conv3d"), "unknown module type 'Conv3d'; did you mean 'Conv2d'"),
        (Choice(where=lambda name, p: False), "no weight of Sequential is chosen"),
        (Choice(unit="head"), "need heads="),
        (Choice(unit="block"), "does not find the block"),
        (Choice(unit="head", heads=3, blocks="", columns="6"), "does not find the block"),
        (Choice(unit="row", kinds="norm"), "has no rows"),
    ],
)
def test_choices_that_cannot_be_meant_are_refused(choice: Choice, message: str) -> None:
    with pytest.raises(InputError, match=message):
        units_of(cnn(), choice)


def test_a_choice_by_a_function_cannot_be_hashed() -> None:
    assert Choice(names="a").address == Choice(names=("a",)).address != Choice(names="b").address
    with pytest.raises(InputError, match="cannot be part of a description"):
        Choice(where=lambda name, p: True).describe()


def spread_of(model: nn.Module, **choice: Any) -> dict[str, Any]:
    """For each masked parameter, the number of the unit that each weight belongs to."""
    units = units_of(model, Choice(**choice))
    numbers = {name: torch.arange(float(torch.Size(shape).numel())) for name, shape in units.shapes.items()}
    return {part.parameter: part.spread(numbers[part.units]) for part in units.parts}


def test_units_by_hand() -> None:
    matrix = nn.Linear(3, 2, bias=False)
    assert spread_of(matrix)["weight"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert spread_of(matrix, unit="row")["weight"].tolist() == [[0, 0, 0], [1, 1, 1]]
    assert spread_of(matrix, unit="column")["weight"].tolist() == [[0, 1, 2], [0, 1, 2]]
    kernel = spread_of(nn.Conv2d(3, 2, 2, bias=False), unit="channel")["weight"]
    assert kernel.shape == (2, 3, 2, 2)
    assert [kernel[i].unique().tolist() for i in range(2)] == [[0.0], [1.0]]
    assert spread_of(nn.LayerNorm(3), unit="gain")["weight"].tolist() == [0, 1, 2]
    assert spread_of(nn.Embedding(3, 2), unit="embedding row")["weight"].tolist() == [[0, 0], [1, 1], [2, 2]]
    blocks = units_of(nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 3)), Choice(unit="block", blocks=r"^\d"))
    assert dict(blocks.shapes) == {"0": (), "1": ()}
    assert dict(blocks.covers) == {"0": 6, "1": 9}


def test_heads_share_a_unit_between_queries_and_output() -> None:
    model = ViT(shape=(1, 8, 8), patch=4, dim=8, depth=2, heads=2, head_dim=3, mlp=8)()
    head = {"names": ("queries", r"mix\.0"), "unit": "head", "heads": 2, "blocks": r"blocks\.\d", "columns": r"mix\.0"}
    spread = spread_of(model, **head)
    assert list(spread) == [f"blocks.{i}.{name}.weight" for i in (0, 1) for name in ("queries", "mix.0")]
    # Queries, keys and values lie one below the other, each with the three numbers of both heads.
    assert spread["blocks.0.queries.weight"][:, 0].tolist() == [0, 0, 0, 1, 1, 1] * 3
    assert spread["blocks.0.mix.0.weight"][0].tolist() == [0, 0, 0, 1, 1, 1]
    units = units_of(model, Choice(**head))  # type: ignore[arg-type]
    assert dict(units.shapes) == {"blocks.0": (2,), "blocks.1": (2,)}
    assert units.covers["blocks.0"] == (18 * 8 + 8 * 6) // 2
    with pytest.raises(InputError, match="does not divide into 4 heads"):
        units_of(model, Choice(**head | {"heads": 4}))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="finds no output projection"):
        units_of(model, Choice(**head | {"columns": "nothing"}))  # type: ignore[arg-type]


@given(
    st.sampled_from(["weight", "row", "column", "channel"]),
    st.lists(st.integers(1, 4), min_size=2, max_size=4),
    st.integers(0, 99),
)
def test_times_is_the_weight_times_its_spread_mask(unit: Any, shape: list[int], seed: int) -> None:
    model = nn.Module()
    model.weight = nn.Parameter(torch.randn(shape, generator=torch.Generator().manual_seed(seed)))
    units = units_of(model, Choice(unit=unit))
    (part,) = units.parts
    numbers = torch.rand(units.shapes["weight"], generator=torch.Generator().manual_seed(seed + 1))
    assert torch.equal(part.times(model.weight, numbers), model.weight * part.spread(numbers))
    assert units.covers["weight"] * numbers.numel() == model.weight.numel() == units.weights


def test_a_mask_goes_to_disk_and_back(tmp_path: Path) -> None:
    model, mask = by_hand()
    file = Mask(mask.keep, 1.5, {"seed": 3}).save(tmp_path / "masks" / "one.safetensors", model)
    back = Mask.load(file, model)
    assert torch.equal(back.keep["weight"], mask.keep["weight"])
    assert (back.scale, back.notes) == (1.5, {"seed": 3})


def test_a_mask_file_for_another_model_is_refused(tmp_path: Path) -> None:
    model, mask = by_hand()
    file = mask.save(tmp_path / "one.safetensors", model)
    with pytest.raises(InputError, match="has no parameter 'weight'"):
        Mask.load(file, nn.Sequential(nn.Linear(2, 2)))
    with pytest.raises(InputError, match=r"'weight' has shape \(3, 2\) there and \(2, 2\) here"):
        Mask.load(file, nn.Linear(2, 3))
    other = copy.deepcopy(model)
    with torch.no_grad():
        other.weight[0, 0] += 1
    with pytest.raises(InputError, match="found on other weights"):
        Mask.load(file, other)
    assert Mask.load(file, other, other_weights=True).kept == 2
    for content in (b"", b"no mask at all"):
        (tmp_path / "broken.safetensors").write_bytes(content)
        with pytest.raises(InputError, match="does not hold a mask"):
            Mask.load(tmp_path / "broken.safetensors", model)
    from safetensors.torch import save_file

    save_file({"weight": torch.ones(2, 2)}, tmp_path / "weights.safetensors")
    with pytest.raises(InputError, match="is not a mask"):
        Mask.load(tmp_path / "weights.safetensors", model)
    with pytest.raises(InputError, match="has no parameter"):
        subnetwork(nn.Sequential(model), mask)


def test_overlap_and_its_chance_by_hand() -> None:
    first = Mask({"a": torch.tensor([1, 1, 0, 0]).bool(), "b": torch.tensor([1, 0]).bool()})
    second = Mask({"a": torch.tensor([0, 1, 1, 0]).bool(), "b": torch.tensor([1, 0]).bool()})
    true, chance = overlap([first, second])
    assert true == 2 / 4
    assert chance == pytest.approx((4 * 0.25 + 2 * 0.25) / (4 * 0.75 + 2 * 0.75))
    # Three masks: what all keep over what any keeps, not over what the last keeps.
    third = Mask({"a": torch.tensor([0, 1, 0, 0]).bool(), "b": torch.tensor([0, 0]).bool()})
    assert overlap([first, second, third])[0] == 1 / 4
    with pytest.raises(InputError, match="same parameters"):
        overlap([first, Mask({"a": first.keep["a"]})])


def test_random_masks_of_the_same_size() -> None:
    mask = Mask({"a": torch.arange(1000) < 300, "b": torch.arange(50).reshape(5, 10) < 20})
    inside, outside = same_size(mask, 0), same_size(mask, 0, outside=True)
    for other in (inside, outside):
        assert {name: int(part.sum()) for name, part in other.keep.items()} == {"a": 300, "b": 20}
    assert not any((outside.keep[name] & part).any() for name, part in mask.keep.items())
    assert not torch.equal(inside.keep["a"], same_size(mask, 1).keep["a"])
    # Kept by both: hypergeometric with mean 90 and standard deviation 6.6.
    assert 60 < int((inside.keep["a"] & mask.keep["a"]).sum()) < 120
    with pytest.raises(InputError, match="no disjoint mask"):
        same_size(Mask({"a": torch.arange(10) < 6}), 0, outside=True)
