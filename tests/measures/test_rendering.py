"""What is drawn, on pictures made by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.measures import embedding, probes, rendering, superposition, transport
from recombine.measures._embedding import rank_of, stripe_share
from recombine.measures._rendering import inside, located, ssim
from recombine.measures._superposition import predictions, share, signed_share
from recombine.measures._transport import distance
from recombine.models import StripeDecoder
from recombine.tasks import BumpTask, ToyTask
from recombine.training import Ensemble

TASK = BumpTask(side=12, hole=6)


class Drawing(nn.Module):
    """Draws the product of its two half-codes' profiles, times a weight, plus a second thing."""

    def __init__(self) -> None:
        super().__init__()
        self.bump = nn.Parameter(torch.ones(1))
        self.cross = nn.Parameter(torch.zeros(1))

    def forward(self, codes: Tensor) -> Tensor:
        x, y = codes.chunk(2, dim=-1)
        points = torch.stack([x.argmax(-1), y.argmax(-1)], dim=-1)
        arms = BumpTask(side=12, hole=6, compose="sum").pictures(points)
        out: Tensor = self.bump * TASK.pictures(points) + self.cross * arms
        return out


def drawing(*weights: tuple[float, float]) -> Ensemble:
    values = torch.tensor(weights, dtype=torch.float32)
    return Ensemble.of({"bump": values[:, :1], "cross": values[:, 1:]}, tuple(range(len(weights))), Drawing)


def test_located_has_x_as_the_column() -> None:
    picture = TASK.pictures(torch.tensor([[2, 9]]))
    assert located(picture, torch.tensor([[2, 9]])).item()
    assert located(picture, torch.tensor([[3, 8]])).item()
    assert not located(picture, torch.tensor([[9, 2]])).item()
    assert not located(picture, torch.tensor([[4, 9]])).item()


def test_perfect_blank_and_cross() -> None:
    table = rendering(drawing((1, 0), (0, 0), (0, 1)), TASK)
    unseen = table.filter(table["split"] == "unseen").sort("member")
    assert unseen["combinations"].to_list() == [36, 36, 36]
    perfect, blank, cross = unseen.rows(named=True)
    assert perfect["mse"] == 0
    assert perfect["located"] == 1
    assert perfect["ssim"] == pytest.approx(1)
    assert perfect["bump"] > 0.99
    assert blank["over_blank"] == pytest.approx(1, rel=0.02)
    assert (blank["blank"], blank["located"], blank["arms"]) == (1, 0, None)
    assert cross["located"] == 1
    assert cross["over_blank"] > 5
    assert cross["arms"] > 0.4
    assert table.filter(table["split"] == "inside")["combinations"].to_list() == [16] * 3


def test_inside_is_beyond_one_pixel() -> None:
    seen, asked = TASK.train.explicit().codes, TASK.test.explicit().codes
    kept = asked[inside(seen, asked)]
    assert kept.min() == 4
    assert kept.max() == 7


def test_ssim_falls_with_shift() -> None:
    first = TASK.pictures(torch.tensor([[5, 5]]))
    shifted = [TASK.pictures(torch.tensor([[5 + d, 5]])) for d in (0, 1, 2)]
    values = [float(ssim(first, other)) for other in shifted]
    assert values[0] == pytest.approx(1)
    assert values[0] > values[1] > values[2]


def test_only_bumps_of_two_factors() -> None:
    with pytest.raises(InputError, match="two factors"):
        rendering(drawing((1, 0)), ToyTask())


def test_superposition_of_known_pictures() -> None:
    known = np.eye(4)[:3]
    assert share(known, np.array([1.0, 2, 0, 0])) == pytest.approx(1)
    assert share(known, np.array([1.0, -1, 0, 0])) == pytest.approx(0.5)
    assert share(known, np.array([0.0, 0, 0, 2])) == pytest.approx(0)
    assert signed_share(known, np.array([[1.0, -1, 0, 0], [1, 0, 0, 1]])).tolist() == pytest.approx([1, 0.5])


def test_superposition_tells_composing_from_blank() -> None:
    table = superposition(drawing((1, 0), (0, 0)), TASK, most=6)
    assert table["combinations"].to_list() == [6, 0]
    assert table["nonnegative"][1] is None
    assert table["nonnegative"][0] < 0.5


def test_overlap_kernel_regression_locates_no_unseen_bump() -> None:
    task = BumpTask(side=28, hole=(6, 22))
    seen, unseen = task.train.explicit().codes, task.test.explicit().codes
    for depth in (1, 3):
        drawn = torch.as_tensor(predictions(task, seen, unseen, depth)).reshape(-1, 28, 28)
        assert located(drawn, torch.as_tensor(unseen.copy())).double().mean() == 0


def test_tangent_kernel_with_stripes_locates_all_and_draws_worse_than_blank() -> None:
    task = BumpTask(side=28, hole=(6, 22), stripes=56)
    seen, unseen = task.train.explicit().codes, torch.as_tensor(task.test.explicit().codes.copy())
    drawn = torch.as_tensor(predictions(task, seen, unseen.numpy(), 3)).reshape(-1, 28, 28)
    assert located(drawn, unseen).double().mean() == 1
    assert (drawn - task.pictures(unseen)).square().mean() / task.blank_error > 1


def test_the_kernel_composes_sums_of_stripes_but_for_a_leak() -> None:
    task = BumpTask(side=12, hole=6, compose="sum")
    seen, unseen = task.train.explicit().codes, task.test.explicit().codes
    drawn = predictions(task, seen, unseen, 3)
    target = task.pictures(torch.as_tensor(unseen.copy())).flatten(1).numpy()
    assert np.square(drawn - target).mean() < 0.1 * task.blank_error


def test_transport_is_the_distance_of_two_bumps() -> None:
    centre = torch.tensor([[8, 8]])
    big = BumpTask(side=20, hole=6)
    first = big.pictures(centre).double()
    for dx, dy in ((0, 0), (1, 0), (3, 0), (3, 4)):
        other = big.pictures(centre + torch.tensor([[dx, dy]])).double()
        assert float(distance(first, other)) == pytest.approx(np.hypot(dx, dy), abs=0.02)
    table = transport(drawing((1, 0), (0, 0)), TASK, most=4)
    assert table["distance"].to_list()[:2] == [pytest.approx(0, abs=1e-3), None]


def test_embeddings_of_stripes_have_rank_one() -> None:
    model = StripeDecoder(inputs=24, side=12)
    ensemble = Ensemble.of({n: p.detach()[None] for n, p in model().named_parameters()}, (0,), model)
    table = embedding(ensemble, TASK)
    assert table["stripe"].to_list() == pytest.approx([1, 1])
    assert table["rank"].to_list() == [1, 1]
    x, y = np.meshgrid(np.arange(5.0), np.arange(5.0))
    assert stripe_share(x[None], 0) == pytest.approx(1)
    assert stripe_share(y[None], 0) == pytest.approx(0)
    assert stripe_share((x + y)[None], 1) == pytest.approx(0.5)
    assert rank_of(np.eye(4)[None]) == pytest.approx((4, 4))
    with pytest.raises(InputError, match="maps"):
        embedding(drawing((1, 0)), TASK)


def test_probes_read_coordinates_from_codes_on_places_not_fitted() -> None:
    table = probes(drawing((1, 0)), TASK, layers="input")
    row = table.row(0, named=True)
    assert row["seen"] > 0.9
    assert row["unseen"] > 0.9
    assert row["rank"] == 22
