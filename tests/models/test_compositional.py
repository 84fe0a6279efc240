"""Compositional models: the decoder against torch's own operations, the paper's sizes, shifts, and learned
compositions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from recombine.errors import InputError
from recombine.measures import generalization
from recombine.models import CellNetwork, Compositional, CompositionFamily, Perceptron, ShiftedNetwork, SlotAutoencoder
from recombine.models.upsample import DoubleAndConvolve, Upsampler, doubling
from recombine.tasks import SpriteTask, VectorParts
from recombine.tasks.sprites.compose import Addition, HardOcclusion, Over, SoftOcclusion
from recombine.tasks.sprites.latents import Latents
from recombine.training import Adam, Cosine, train


def parameters(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


@pytest.fixture
def double() -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


@pytest.mark.parametrize(("side", "inputs", "outputs"), [(4, 5, 3), (8, 3, 7), (2, 1, 1)])
def test_doubling_and_convolution_are_torchs_own(double: None, side: int, inputs: int, outputs: int) -> None:
    layer = DoubleAndConvolve(side, inputs, outputs)
    cells = torch.randn(6, inputs, side, side)
    up = F.interpolate(cells, scale_factor=2, mode="bilinear", align_corners=True)
    kernel = layer.weight.reshape(inputs, 2, 2, outputs).permute(3, 0, 1, 2)
    # What padding="same" does for a kernel of 2, said so that torch does not warn about it.
    expected = F.conv2d(F.pad(up, (0, 1, 0, 1)), kernel, layer.bias)
    found = layer(cells.permute(2, 3, 0, 1)).permute(2, 3, 0, 1)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore:Using padding='same'")
def test_same_padding_is_at_the_end() -> None:
    cells, kernel = torch.randn(1, 2, 4, 4), torch.randn(3, 2, 2, 2)
    same = F.conv2d(cells, kernel, padding="same")
    torch.testing.assert_close(same, F.conv2d(F.pad(cells, (0, 1, 0, 1)), kernel))


def test_interpolation_goes_from_end_to_end() -> None:
    matrix = doubling(2)
    torch.testing.assert_close(matrix[:, :2], torch.tensor([[1, 0], [2 / 3, 1 / 3], [1 / 3, 2 / 3], [0, 1]]))
    torch.testing.assert_close(matrix[:, 2:], torch.tensor([[2 / 3, 1 / 3], [1 / 3, 2 / 3], [0, 1], [0, 0]]))


def test_the_whole_decoder_is_the_papers(double: None) -> None:
    module = Upsampler(inputs=5, side=16, hidden=7, channels=6)()
    latents = torch.rand(3, 5)
    seed = module.perceptron(latents).reshape(3, 4, 4, 6).permute(0, 3, 1, 2)  # type: ignore[operator]
    cells = seed
    for layer in module.doublings:  # type: ignore[union-attr]
        if isinstance(layer, nn.ELU):
            cells = layer(cells)
            continue
        up = F.interpolate(cells, scale_factor=2, mode="bilinear", align_corners=True)
        kernel = layer.weight.reshape(layer.inputs, 2, 2, layer.outputs).permute(3, 0, 1, 2)
        cells = F.conv2d(F.pad(up, (0, 1, 0, 1)), kernel, layer.bias)
    torch.testing.assert_close(module(latents), cells.permute(0, 2, 3, 1).reshape(3, 256, 3))


def test_the_papers_parameter_counts() -> None:
    block = Upsampler(inputs=5)
    assert parameters(Compositional(component=block, composition=SoftOcclusion())()) == 554_950
    alpha = Compositional(component=Upsampler(inputs=5, outputs=4), composition=Over(), shared=True)
    assert parameters(alpha()) == 277_604
    assert parameters(Upsampler(inputs=10, hidden=320, channels=64)()) == 587_779


def test_initialised_as_torch_does() -> None:
    torch.manual_seed(0)
    layer = DoubleAndConvolve(4, 16, 32)
    bound = 1 / (4 * 16) ** 0.5
    assert 0.98 * bound < layer.weight.abs().max() <= bound
    assert layer.weight.std().item() == pytest.approx(bound / 3**0.5, rel=0.05)
    assert layer.bias.abs().max() <= bound


@pytest.mark.parametrize("side", [8, 16, 32])
def test_any_power_of_two(side: int) -> None:
    assert Upsampler(inputs=3, side=side, hidden=4, channels=2)()(torch.rand(2, 3)).shape == (2, side**2, 3)


def test_other_sides_are_refused() -> None:
    with pytest.raises(InputError, match="8, 16, 32"):
        Upsampler(inputs=3, side=24)()


@pytest.mark.parametrize("shared", [False, True])
def test_components_are_composed(shared: bool) -> None:
    model = Compositional(
        component=Perceptron(widths=(2, 8, 12)), composition=SoftOcclusion(), components=3, shared=shared
    )
    module, latents = model(), torch.rand(5, 6)
    parts = module.components(latents)  # type: ignore[operator]
    assert parts.shape == (5, 3, 4, 3)
    nets = list(module.networks) * (3 if shared else 1)  # type: ignore[arg-type]
    torch.testing.assert_close(parts[:, 2].flatten(1), nets[2](latents[:, 4:]))
    torch.testing.assert_close(module(latents), SoftOcclusion()(parts))


def test_a_component_sees_its_own_latents_only() -> None:
    module = Compositional(component=Upsampler(inputs=5, side=8, hidden=8, channels=4), composition=Addition())()
    first, second = torch.rand(2, 10), torch.rand(2, 10)
    mixed = torch.cat([first[:, :5], second[:, 5:]], 1)
    a, b, c = (module.components(z) for z in (first, second, mixed))  # type: ignore[operator]
    torch.testing.assert_close(c[:, 0], a[:, 0])
    torch.testing.assert_close(c[:, 1], b[:, 1])


def test_a_member_of_a_stack_is_the_member_alone() -> None:
    component = Upsampler(inputs=5, outputs=4, side=8, hidden=8, channels=4)
    model = Compositional(component=component, composition=Over(), shared=True)
    modules, latents = [model() for _ in range(3)], torch.rand(4, 10)
    state = torch.func.stack_module_state(modules)
    together = torch.vmap(lambda p, b: torch.func.functional_call(modules[0], (p, b), latents))(*state)
    torch.testing.assert_close(together, torch.stack([m(latents) for m in modules]))


def test_what_is_drawn_moves_with_the_position() -> None:
    """By a whole number of cells the picture is the same picture, moved: x to the right, y upwards."""
    side = 8
    module = ShiftedNetwork(network=Upsampler(inputs=3, side=side, hidden=8, channels=4), side=side)()
    latents = torch.rand(2, 5)
    latents[:, :2] = 0.5
    torch.testing.assert_close(module(latents), module.network(latents[:, 2:]))  # type: ignore[operator]
    moved = latents.clone()
    moved[:, 0] += 2 / side
    moved[:, 1] += 1 / side
    before, after = (module(z).reshape(2, side, side, 3) for z in (latents, moved))
    torch.testing.assert_close(after[:, :-1, 2:], before[:, 1:, :-2])
    torch.testing.assert_close(after[:, -1, 2:], before[:, -1, :-2])


def test_between_cells_a_drawing_is_interpolated() -> None:
    side = 8
    module = ShiftedNetwork(network=Upsampler(inputs=3, side=side, hidden=8, channels=4), side=side)()
    latents = torch.rand(1, 5)
    latents[:, :2] = 0.5
    half = latents.clone()
    half[:, 0] += 0.5 / side
    before, after = (module(z).reshape(side, side, 3) for z in (latents, half))
    torch.testing.assert_close(after[:, 1:], (before[:, 1:] + before[:, :-1]) / 2)


def test_a_family_begins_as_the_mean_of_its_candidates() -> None:
    parts = torch.randn(2, 2, 4, 3)
    candidates = (Addition(), HardOcclusion())
    family = CompositionFamily(candidates=candidates)()
    torch.testing.assert_close(family(parts), (candidates[0](parts) + candidates[1](parts)) / 2)
    with torch.no_grad():
        family.logits.copy_(torch.tensor([0.0, 50.0]))
    torch.testing.assert_close(family(parts), HardOcclusion()(parts))
    with pytest.raises(InputError, match="as many channels"):
        CompositionFamily(candidates=(Addition(), Over()))()


def test_a_cell_network_works_cell_by_cell() -> None:
    module, parts = CellNetwork()(), torch.randn(2, 2, 4, 3)
    order = torch.tensor([2, 0, 3, 1])
    torch.testing.assert_close(module(parts)[:, order], module(parts[:, :, order]))


def test_slots_are_decoded_apart() -> None:
    module: Any = SlotAutoencoder(inputs=12, slot=2, component=Perceptron(widths=(2, 8, 12)))()
    observed = torch.rand(5, 4, 3)
    slots = module.slots(observed)
    assert slots.shape == (5, 4)
    torch.testing.assert_close(module(observed), module.decoder.components(slots).sum(1))


def test_latents_may_be_centred_by_their_ranges() -> None:
    plain = Upsampler(inputs=2, side=8, hidden=4, channels=2)
    ranges = ((0.0, 2.0), (0.5, 0.5))
    torch.manual_seed(0)
    module = plain()
    torch.manual_seed(0)
    centred = plain.replace(ranges=ranges)()
    latents = torch.tensor([[0.0, 0.5], [2.0, 0.5], [1.0, 0.5]])
    torch.testing.assert_close(centred(latents), module(torch.tensor([[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0]])))
    with pytest.raises(InputError, match="as many ranges"):
        plain.replace(ranges=((0.0, 1.0),))()


def test_a_compositional_model_trains_alike_in_a_stack_and_in_a_loop() -> None:
    task = SpriteTask(side=8, samples=None, latents=Latents(scale=(0.3, 0.4)))
    model = Compositional(component=Upsampler(inputs=5, side=8, hidden=6, channels=3), composition=SoftOcclusion())
    flats = [
        train(model, task, members=2, steps=3, batch_size=4, optimizer=Adam(lr=1e-2), device="cpu", strategy=name).flat
        for name in ("loop", "stacked")
    ]
    torch.testing.assert_close(flats[0], flats[1], rtol=1e-4, atol=1e-5)


def test_known_parts_generalize_where_a_monolith_does_not() -> None:
    """Two planes of a sum of two components: 400 steps fit both models, and only one is right outside the planes."""
    task = VectorParts()
    composed = Compositional(
        component=Perceptron(widths=(2, 32, 32, task.numbers), activation="tanh"), composition=Addition()
    )
    monolithic = Perceptron(widths=(4, 48, 48, task.numbers), activation="tanh")
    unseen = {}
    for name, model in (("composed", composed), ("monolithic", monolithic)):
        optimizer = Adam(lr=1e-2, schedule=Cosine(steps=400))
        ensemble = train(model, task, members=3, steps=400, batch_size=64, optimizer=optimizer, device="cpu")
        table = generalization(ensemble, task, count=500, chunk=500)
        assert min(table.filter(table["split"] == "id")["r2"]) > 0.97
        unseen[name] = table.filter(table["split"] == "ood")["r2"]
    assert min(unseen["composed"]) > 0.8
    assert max(unseen["monolithic"]) < 0.2
