"""The perceptron: its layers, its starting points, its description."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from recombine.errors import InputError
from recombine.models import PairCNN, Perceptron


def test_layers_alternate_and_the_last_is_linear() -> None:
    module = Perceptron(widths=(2, 8, 3), activation="tanh")()
    assert [type(part) for part in module] == [nn.Linear, nn.Tanh, nn.Linear]  # type: ignore[arg-type]
    assert sum(p.numel() for p in module.parameters()) == 2 * 8 + 8 + 8 * 3 + 3
    assert [type(part) for part in Perceptron(widths=(4, 1))()] == [nn.Linear]  # type: ignore[arg-type]


def test_the_forward_pass_by_hand() -> None:
    module = Perceptron(widths=(2, 2, 1))()
    state = {"0.weight": [[1, -1], [2, 0]], "0.bias": [0, -1], "2.weight": [[1, 3]], "2.bias": [0.5]}
    module.load_state_dict({name: torch.tensor(value, dtype=torch.float32) for name, value in state.items()})
    assert module(torch.tensor([[1.0, 2.0], [3.0, 1.0]])).tolist() == [
        [3.5],
        [17.5],
    ]  # relu(−1), relu(1); relu(2), relu(5)


def test_the_playground_start() -> None:
    torch.manual_seed(0)
    layers = [part for part in Perceptron(widths=(50, 50, 50), start="playground")() if isinstance(part, nn.Linear)]  # type: ignore[attr-defined]
    weights = torch.cat([layer.weight.detach().flatten() for layer in layers])
    assert all((layer.bias == 0.1).all() for layer in layers)
    assert weights.abs().max() <= 0.5
    assert abs(float(weights.std()) - 12**-0.5) < 0.01
    torch.manual_seed(0)
    assert float(next(Perceptron(widths=(50, 50))().parameters()).detach().abs().max()) <= 50**-0.5


def test_bad_descriptions() -> None:
    with pytest.raises(InputError, match="Perceptron: activation"):
        Perceptron(widths=(2, 2), activation="rellu")
    with pytest.raises(InputError, match="unknown setting of Perceptron 'width'; did you mean 'widths'"):
        Perceptron(width=(2, 2))
    for widths in ((2,), (), (2, 0, 1)):
        with pytest.raises(InputError, match="Perceptron: widths"):
            Perceptron(widths=widths)


def test_the_start_of_tensorflow() -> None:
    """Keras: U(±√(6 / (fan_in + fan_out))), where a filter's fans count its pixels; biases are zero."""
    torch.manual_seed(0)
    convolved = PairCNN(shape=(4, 20, 20), filters=48, start="tensorflow")()
    for layer, fans in (("conv_1", 9 * (4 + 48)), ("conv_2", 9 * (48 + 96)), ("readout", 64 + 10)):
        bound = (6 / fans) ** 0.5
        weight, bias = (tensor.detach() for tensor in convolved.get_submodule(layer).parameters())
        assert not bias.any()
        assert 0.98 * bound < float(weight.abs().max()) <= bound
        assert abs(float(weight.std()) - bound / 3**0.5) < 0.05 * bound


def test_the_start_of_torch_is_the_layers_own() -> None:
    torch.manual_seed(0)
    own = nn.Linear(8 * 16, 64)
    torch.manual_seed(0)
    model = PairCNN(shape=(1, 8, 16), convolutions=0)
    assert torch.equal(model().get_submodule("hidden").weight, own.weight)  # type: ignore[arg-type]
    assert model.describe() == {"kind": "pair-cnn", "version": 1, "shape": [1, 8, 16], "convolutions": 0}
