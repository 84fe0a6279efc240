"""Lenses on networks set by hand: one whose parts add up, one that looks everything up, one that mixes its factors."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import polars as pl
import pytest
import torch
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.kernels.closed_forms import GraphFilter
from recombine.measures import lenses
from recombine.measures._lenses import determined_share, foretold_error, redundant_slopes, summed_share
from recombine.tasks import ToyBoth, ToyTask
from recombine.tasks.two_factors import LEVELS, SumsTask, TwoFactors
from recombine.training import Ensemble
from recombine.training.stack import initial

GRID = SumsTask(offsets=(0,)).space.grid()
SHAPE = (LEVELS, LEVELS)
CODES = np.concatenate([np.eye(LEVELS)[GRID[:, 0]], np.eye(LEVELS)[GRID[:, 1]]], axis=1)
"""The representation of a network whose parts add up: one unit per level."""


def network(task: SumsTask, mixing: float = 0.0) -> Ensemble:
    """Hidden units copy the code; the readout of factor k adds ``mixing`` × what it would say of the other factor."""
    vectors = task._vectors.reshape(2 * LEVELS, 2 * LEVELS)
    swapped = vectors.reshape(2, LEVELS, -1).flip(0).reshape(2 * LEVELS, -1)
    weights = {"hidden.weight": torch.eye(2 * LEVELS), "readout.weight": (vectors + mixing * swapped).T}

    def build() -> nn.Module:
        layers = {name: nn.Linear(2 * LEVELS, 2 * LEVELS, bias=False) for name in ("hidden", "readout")}
        return nn.Sequential(OrderedDict(layers))

    return Ensemble.of({name: weight[None] for name, weight in weights.items()}, (0,), build)


def seen(*offsets: int) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return np.isin((GRID[:, 1] - GRID[:, 0]) % LEVELS, offsets)


@pytest.mark.parametrize(
    ("offsets", "share"),
    [((0,), 0.0), ((0, 5), 0.0), ((0, 2, 4, 6, 8), 0.0), ((0, 2), 30 / 80), ((0, 2, 4), 20 / 70), ((0, 1), 1.0)],
)
def test_support_counts_what_connected_levels_determine(offsets: tuple[int, ...], share: float) -> None:
    mask = seen(*offsets)
    assert determined_share(GRID[mask], GRID[~mask], SHAPE) == pytest.approx(share)


def test_a_representation_that_adds_up_foretells_no_error_where_all_is_determined() -> None:
    mask = seen(0, 1, 3)
    assert foretold_error(CODES, GRID, mask, ~mask) < 1e-3
    assert summed_share(CODES, SHAPE) == pytest.approx(1.0)


def test_it_foretells_an_error_where_levels_never_meet() -> None:
    """Even and odd levels: a number added to all even firsts and taken from all even seconds shows in no seen pair."""
    mask = seen(0, 2, 4, 6, 8)
    found = foretold_error(CODES, GRID, mask, ~mask)
    # Of every rule, exactly its share along that direction is lost.
    rules = CODES - CODES[mask].mean(0)
    lost = np.where(np.arange(LEVELS) % 2 == 0, 1.0, -1.0)
    direction = np.concatenate([lost, -lost]) / np.sqrt(2 * LEVELS)
    wanted = np.square(rules[~mask] @ direction).sum() / np.square(rules[~mask]).sum()
    assert found == pytest.approx(wanted, abs=2e-3)
    assert found > 0.1


def test_a_lookup_foretells_the_mean_and_is_a_sum_by_chance_only() -> None:
    mask = seen(0, 1)
    assert foretold_error(np.eye(100), GRID, mask, ~mask) == pytest.approx(1.0)
    assert summed_share(np.eye(100), SHAPE) == pytest.approx(18 / 99)
    assert np.isnan(summed_share(np.ones((100, 3)), SHAPE))


def test_the_foretold_error_shrinks_as_the_kernel_theory_says() -> None:
    """A kernel with salience S passes x'Hx/x'x of a rule: more of the conjunction, less of the rule."""
    mask = seen(0, 1, 2)
    graph = GraphFilter.of(GRID[mask])
    errors, passed = [], []
    for conjunction in (0.2, 1.0, 5.0):
        features = np.concatenate([CODES, np.sqrt(conjunction) * np.eye(100)], axis=1)
        errors.append(foretold_error(features, GRID, mask, ~mask))
        passed.append(float(graph.shrinkage(1 / (2 + conjunction), GRID[~mask]).mean()))
    assert errors == sorted(errors)
    assert passed == sorted(passed, reverse=True)
    assert 0 < errors[0] < errors[-1] < 1


def test_slopes_of_the_other_factor_are_counted() -> None:
    task = SumsTask(offsets=(0, 1))
    assert redundant_slopes(network(task), task, 1) == pytest.approx([0.0], abs=1e-6)
    assert redundant_slopes(network(task, 1.0), task, 1) == pytest.approx([0.5], abs=1e-6)
    some = redundant_slopes(network(task, 0.25), task, 1)
    assert some is not None
    assert 0.1 < some[0] < 0.5


def test_the_table_has_every_lens_and_looks_at_no_unseen_answer() -> None:
    task = SumsTask(offsets=(0, 1))
    table = lenses(network(task), task, "hidden", count=1)
    assert table.columns == ["member", "support", "kernel", "factorization", "influence"]
    row = table.row(0, named=True)
    assert row["support"] == 1.0
    assert row["kernel"] < 2e-3
    assert row["factorization"] == pytest.approx(1.0)

    class Blind(SumsTask):
        """The same task with no answer to what was not seen."""

        kind = "blind sums"

        def examples(self, points: Tensor, draws: object) -> tuple[Tensor, Tensor]:
            inputs, targets = super().examples(points, draws)  # type: ignore[arg-type]
            known = torch.as_tensor(self.train.contains(points.numpy()))
            return inputs, torch.where(known[:, None], targets, torch.nan)

    blind = Blind(offsets=(0, 1))
    assert table.equals(lenses(network(task), blind, "hidden", count=1))


def test_parts_of_answers_and_inputs_are_found_or_influence_is_left_out() -> None:
    module = nn.Sequential(OrderedDict(hidden=nn.Linear(2, 3), readout=nn.Linear(3, 4)))
    tensors = {name: value.detach()[None] for name, value in initial(lambda: module, 0, 0).named_parameters()}
    ensemble = Ensemble.of(tensors, (0,), lambda: module)
    assert lenses(ensemble, ToyBoth(), "hidden", count=4)["influence"].null_count() == 0
    without = lenses(ensemble, ToyTask(), "hidden", count=4)
    assert without["influence"].null_count() == 1
    assert without["kernel"].null_count() == 0


def test_a_task_without_unseen_combinations_is_refused() -> None:
    task = SumsTask(offsets=tuple(range(LEVELS)))
    with pytest.raises(InputError, match="unseen"):
        lenses(network(task), task, "hidden", count=1)


def test_members_stand_for_themselves() -> None:
    task: TwoFactors = SumsTask(offsets=(0, 1))
    one, other = network(task), network(task, 1.0)  # type: ignore[arg-type]
    both = Ensemble.of(
        {name: torch.cat([one.parameters[name], other.parameters[name]]) for name in one.parameters},
        (0, 1),
        lambda: nn.Sequential(
            OrderedDict({n: nn.Linear(2 * LEVELS, 2 * LEVELS, bias=False) for n in ("hidden", "readout")})
        ),
    )
    each = pl.concat([lenses(e, task, "hidden", count=1) for e in (one, other)])
    for column in ("kernel", "factorization", "influence"):
        assert lenses(both, task, "hidden", count=1)[column].to_list() == pytest.approx(
            each[column].to_list(), abs=1e-6
        )
