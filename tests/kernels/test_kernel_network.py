"""The NNGP recursion against the printed depth tables and quadrature."""

import numpy as np
import pytest
from activations import Erf, Step
from scipy.special import erf

from recombine.errors import InputError
from recombine.kernels import Gaussian, Kernel, LeakyReLU, RectifiedQuadratic, ReLU, nngp

DEPTHS = [0, 1, 2, 3, 5, 10, 20, 50, 100]
HALF = 0.5e-4 + 1e-12

TWO_COMPONENTS = {
    ReLU(): [0.5, 0.4264, 0.3756, 0.3373, 0.2822, 0.2033, 0.1325, 0.0660, 0.0362],
    LeakyReLU(0.1): [0.5, 0.4460, 0.4046, 0.3713, 0.3203, 0.2410, 0.1634, 0.0844, 0.0472],
    Step(): [0.5, 0.3333, 0.1968, 0.1093, 0.0311, 0.0012, 0, 0, 0],
    RectifiedQuadratic(): [0.5, 0.3654, 0.2671, 0.1942, 0.1010, 0.0187, 0.0006, 0, 0],
    Gaussian(): [0.5, 0.1776, 0.1287, 0.1060, 0.0847, 0.0684, 0.0631, 0.0625, 0.0625],
}
FUNCTIONS = {
    ReLU(): lambda u: np.maximum(u, 0),
    LeakyReLU(0.3): lambda u: np.where(u > 0, u, 0.3 * u),
    RectifiedQuadratic(): lambda u: np.maximum(u, 0) ** 2,
    Step(): lambda u: (u > 0).astype(float),
    Erf(): erf,
    Gaussian(0.7): lambda u: np.exp(-0.7 * u**2),
}


@pytest.mark.parametrize("activation", TWO_COMPONENTS, ids=repr)
def test_two_component_depth_table(activation):
    got = nngp(Kernel.one_hot(2), activation, 100).normalized[DEPTHS, 0]
    np.testing.assert_allclose(got, TWO_COMPONENTS[activation], atol=HALF)


def test_three_component_relu_table():
    got = nngp(Kernel.one_hot(3), ReLU(), 100).normalized[DEPTHS, :2]
    first = [1 / 3, 0.2707, 0.2314, 0.2035, 0.1655, 0.1149, 0.0727, 0.0353, 0.0192]
    second = [0, 0.0559, 0.0814, 0.0942, 0.1038, 0.0999, 0.0796, 0.0464, 0.0271]
    np.testing.assert_allclose(got, np.stack([first, second], axis=1), atol=HALF)


def test_representations_marked_in_the_paper():
    relu = nngp(Kernel.one_hot(3), ReLU(), 3)[3].normalized[:2]
    quadratic = nngp(Kernel.one_hot(3), RectifiedQuadratic(), 3)[3].normalized[:2]
    np.testing.assert_allclose(relu, [0.20350064, 0.09423825], atol=0.5e-8)
    np.testing.assert_allclose(quadratic, [0.10100758, 0.13911539], atol=0.5e-8)


def test_the_gaussian_saturates():
    assert nngp(Kernel.one_hot(2), Gaussian(), 60)[-1].normalized[1] == pytest.approx(0.875, abs=0.5e-3)
    assert nngp(Kernel.one_hot(3), Gaussian(), 60)[-1].normalized[2] == pytest.approx(0.659, abs=0.5e-3)


@pytest.mark.parametrize("activation", FUNCTIONS, ids=repr)
@pytest.mark.parametrize(("variance", "correlation"), [(1.0, 0.3), (0.4, -0.6), (2.5, 0.95)])
def test_moments_by_quadrature(activation, variance, correlation):
    # Polar coordinates keep the kinks of the activations on rays; radius by fine midpoints.
    radius = (np.arange(500) + 0.5) * (9.0 / 500)
    angle = (np.arange(1440) + 0.5) * (2 * np.pi / 1440)
    density = radius * np.exp(-(radius**2) / 2) * (9.0 / 500) * (2 * np.pi / 1440) / (2 * np.pi)
    first = np.sqrt(variance) * radius[:, None] * np.cos(angle)
    second = np.sqrt(variance) * radius[:, None] * np.cos(angle - np.arccos(correlation))
    phi = FUNCTIONS[activation]
    expected = (density[:, None] * phi(first) * phi(second)).sum()
    assert activation.moment(variance, np.array(correlation)) == pytest.approx(expected, abs=2e-3 * max(1, variance**2))


def test_plain_and_unit_variance_recursions_agree_for_relu():
    unit = nngp(Kernel.one_hot(3), ReLU(), 4)
    plain = nngp(Kernel.one_hot(3), ReLU(), 4, weight_variance=2.0)
    np.testing.assert_allclose(plain[1:].normalized, unit[1:].normalized, atol=1e-12)


def test_biases_by_hand_for_one_relu_layer():
    w, b = 1.7, 0.3
    x = (w * np.array([0, 0.5, 1]) + b) / (w + b)
    relu = (np.sqrt(1 - x**2) + (np.pi - np.arccos(x)) * x) / (2 * np.pi)
    sigma = w * (w + b) * relu + b
    options = {"weight_variance": w, "bias_variance": b}
    np.testing.assert_allclose(nngp(Kernel.one_hot(2), ReLU(), 1, **options)[1].similarities, sigma, atol=1e-14)


def test_unit_variance_holds_with_biases():
    kernels = nngp(Kernel.one_hot(3), Erf(), 5, bias_variance=0.2)
    np.testing.assert_allclose(kernels.similarities[:, -1], 1.0, atol=1e-14)
    assert (np.diff(kernels.similarities, axis=1) > 0).all()


def test_unequal_components_stay_unequal():
    layers = nngp(Kernel.one_hot([0.1, 0.9]), ReLU(), 2)
    alike = nngp(Kernel.one_hot([0.5, 0.5]), ReLU(), 2)
    assert (layers.subset_saliences[:, 1] < layers.subset_saliences[:, 2]).all()
    np.testing.assert_allclose(alike.subset_saliences[:, 1], alike.subset_saliences[:, 2], atol=1e-15)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nngp(Kernel.one_hot(2), ReLU(), -1), "depth is -1"),
        (lambda: nngp(nngp(Kernel.one_hot(2), ReLU(), 2), ReLU(), 1), "pass one kernel"),
        (lambda: nngp(Kernel.one_hot(2), ReLU(), 1, bias_variance=1.0), "bias_variance is 1.0"),
        (lambda: nngp(Kernel.from_similarities([0.0, 0.0, 0.0]), ReLU(), 1), "kappa_C > 0"),
        (lambda: nngp(Kernel.one_hot(2), Gaussian(), 200).normalized, "fewer layers"),
    ],
)
def test_bad_networks_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
