"""What a kernel machine on measured similarities foretells, on features whose kernel is known."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.kernels import problems
from recombine.measures import kernel_leak
from recombine.tasks import SymbolicTask
from recombine.training import Ensemble


class Known(nn.Module):
    """Features of two one-hot codes with κ₀ = 0 and salience S(1;2) = ``s`` of single components."""

    def __init__(self, s: float) -> None:
        super().__init__()
        self.s, self.features, self.readout = s, nn.Identity(), nn.Linear(9 * 2 + 81, 1)

    def forward(self, x: Tensor) -> Tensor:
        pair = x[..., :9, None] * x[..., None, 9:]
        parts = self.s**0.5 * x, (1 - 2 * self.s) ** 0.5 * pair.flatten(-2)
        return self.readout(self.features(torch.cat(parts, -1)))  # type: ignore[no-any-return]


def ensemble(s: float) -> Ensemble:
    module = Known(s)
    weights = {name: torch.stack([tensor.detach()] * 2) for name, tensor in module.named_parameters()}
    return Ensemble.of(weights, (0, 1), lambda: Known(s))


@pytest.mark.parametrize("s", [0.5, 0.4264, 0.2])
@pytest.mark.parametrize("anchors", [(4,), (0, 8), (1, 4, 7)])
def test_where_similarity_counts_shared_components_it_is_the_formula(s: float, anchors: tuple[int, ...]) -> None:
    task = SymbolicTask.of(**vars(problems.addition(list(anchors))))
    table = kernel_leak(ensemble(s), task, "features", count=1)
    p = len(anchors)
    assert table["slope"].to_list() == pytest.approx([p * s / (1 + (p - 2) * s)] * 2, abs=1e-5)
    assert table["seen_slope"].to_list() == pytest.approx([1.0] * 2, abs=1e-5)


def test_a_layer_that_is_not_there_is_said() -> None:
    task = SymbolicTask.of(**vars(problems.transitive_equivalence((2, 2), (1, 1))))
    module = nn.Sequential(nn.Linear(8, 1))
    one = Ensemble.of({"0.weight": torch.zeros(1, 1, 8), "0.bias": torch.zeros(1, 1)}, (0,), lambda: module)
    with pytest.raises(InputError, match="layer"):
        kernel_leak(one, task, "nowhere", count=1)
