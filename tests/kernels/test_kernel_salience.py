"""Möbius inversion, Gram matrices and the closed-form spectrum."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from recombine.errors import InputError
from recombine.kernels import (
    Kernel,
    count_saliences,
    count_similarities,
    full_grid,
    subset_saliences,
    subset_similarities,
    subsets,
)

numbers = st.floats(-10, 10, allow_subnormal=False)
tables = st.integers(1, 5).flatmap(lambda c: hnp.arrays(float, (2, 2**c), elements=numbers))
counts = st.integers(1, 8).flatmap(lambda c: hnp.arrays(float, (3, c + 1), elements=numbers))
grids = st.integers(1, 3).flatmap(
    lambda c: st.tuples(
        hnp.arrays(float, 2**c, elements=st.floats(-1, 1, allow_subnormal=False)),
        st.lists(st.integers(1, 4), min_size=c, max_size=c),
    )
)


@given(tables)
def test_subset_inversion_round_trip(kappa):
    np.testing.assert_allclose(subset_similarities(subset_saliences(kappa)), kappa, atol=1e-10)
    np.testing.assert_allclose(subset_saliences(subset_similarities(kappa)), kappa, atol=1e-10)


@given(counts)
def test_count_inversion_round_trip(kappa):
    np.testing.assert_allclose(count_similarities(count_saliences(kappa)), kappa, atol=1e-9)
    np.testing.assert_allclose(count_saliences(count_similarities(kappa)), kappa, atol=1e-9)


@given(counts)
def test_counting_and_subsets_tell_the_same_story(kappa):
    kernel = Kernel.from_similarities(kappa)
    by_subset = kappa[:, [len(subset) for subset in subsets(kernel.components)]]
    np.testing.assert_allclose(kernel.subset_similarities, by_subset, atol=1e-8)


def test_saliences_by_hand():
    k0, k1, k2, k3 = 0.1, 0.25, 0.45, 1.0
    two = Kernel.from_similarities([k0, k1, k3]).normalized
    np.testing.assert_allclose(two, [(k1 - k0) / (k3 - k0), 1 - 2 * (k1 - k0) / (k3 - k0)], atol=1e-15)
    s1, s2 = (k1 - k0) / (k3 - k0), (k2 - 2 * k1 + k0) / (k3 - k0)
    three = Kernel.from_similarities([k0, k1, k2, k3]).normalized
    np.testing.assert_allclose(three, [s1, s2, 1 - 3 * s1 - 3 * s2], atol=1e-15)


@pytest.mark.parametrize("components", [1, 2, 3, 4, 6])
def test_normalized_saliences_weighted_by_their_number_sum_to_one(components):
    kappa = np.sort(np.random.default_rng(components).random((5, components + 1)), axis=1)
    weights = count_similarities(np.eye(components + 1))[:, -1][1:]
    np.testing.assert_allclose(Kernel.from_similarities(kappa).normalized @ weights, 1.0, atol=1e-12)


def test_from_normalized_is_the_inverse_of_normalized():
    kernel = Kernel.from_normalized([[0.2, 0.1], [0.3, 0.01]], constant=0.4)
    np.testing.assert_allclose(kernel.normalized[:, :2], [[0.2, 0.1], [0.3, 0.01]], atol=1e-15)
    np.testing.assert_allclose(kernel.similarities[:, [0, -1]], [[0.4, 1.4], [0.4, 1.4]], atol=1e-15)


def test_gram_counts_what_is_shared():
    a, b = np.array([[0, 1, 2], [3, 1, 0]]), np.array([[0, 1, 0], [5, 5, 5], [3, 1, 0]])
    kernel = Kernel.from_similarities([10.0, 11.0, 12.0, 13.0])
    assert kernel.gram(a, b).tolist() == [[12, 10, 11], [12, 10, 13]]


def test_gram_with_a_similarity_per_subset():
    kernel = Kernel(subset_saliences([0.0, 0.3, 0.1, 1.0]))
    np.testing.assert_allclose(kernel.gram([[0, 0]], [[0, 0], [0, 1], [1, 0], [1, 1]]), [[1, 0.3, 0.1, 0]], atol=1e-15)
    np.testing.assert_allclose(kernel.subset_saliences, [0, 0.3, 0.1, 0.6], atol=1e-15)
    with pytest.raises(InputError, match="unequally"):
        _ = kernel.saliences


def test_gram_broadcasts_kernels_against_sets():
    rng = np.random.default_rng(0)
    kernels = Kernel(rng.random((3, 8)))
    sets = rng.integers(0, 3, (4, 1, 5, 3))
    together = kernels.gram(sets)
    assert together.shape == (4, 3, 5, 5)
    for i in range(4):
        for j in range(3):
            np.testing.assert_array_equal(together[i, j], kernels[j].gram(sets[i, 0]))


def test_one_hot_with_unequal_shares():
    kernel = Kernel.one_hot([0.1, 0.9])
    np.testing.assert_allclose(kernel.subset_similarities, [0, 0.1, 0.9, 1.0], atol=1e-15)
    np.testing.assert_allclose(Kernel.one_hot(4).similarities, [0, 0.25, 0.5, 0.75, 1], atol=1e-15)


@settings(max_examples=80, deadline=None)
@given(grids)
def test_closed_form_spectrum_is_that_of_the_grid(case):
    saliences, levels = case
    kernel = Kernel(saliences)
    spectrum = kernel.spectrum(levels)
    expected = np.linalg.eigvalsh(kernel.gram(full_grid(levels)))
    got = np.sort(np.repeat(spectrum.eigenvalues, spectrum.multiplicities))
    np.testing.assert_allclose(got, expected, atol=1e-10)
    lowest, largest = expected[0], np.abs(expected).max()
    if abs(lowest) > 1e-9 * max(largest, 1e-300):
        assert bool(kernel.is_psd(levels)) == (lowest > 0)


def test_count_spectrum_by_hand():
    spectrum = Kernel.from_saliences([0.5, 0.2, 0.1]).spectrum((3, 4))
    assert spectrum.multiplicities.tolist() == [1, 2, 3, 6]
    np.testing.assert_allclose(spectrum.eigenvalues, [0.5 * 12 + 0.2 * 7 + 0.1, 0.2 * 4 + 0.1, 0.2 * 3 + 0.1, 0.1])


def test_the_authors_grid_keeps_1728_of_2500_kernels():
    k2 = np.linspace(0, 2 / 3, 50)[:, None]
    k1 = k2 * np.linspace(0, 1 / 2, 50)
    table = np.stack([np.zeros_like(k1), k1, np.broadcast_to(k2, k1.shape), np.ones_like(k1)], axis=-1)
    assert Kernel.from_similarities(table).is_psd((2, 6, 6)).sum() == 1728


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Kernel.from_similarities([0.0, np.nan]), "not finite"),
        (lambda: Kernel.from_similarities([0.3]), "at least two"),
        (lambda: Kernel(np.zeros(6)), "6 entries"),
        (lambda: Kernel(np.array(1.0)), "table of finite numbers"),
        (lambda: Kernel.from_saliences(0.5), "single number"),
        (lambda: Kernel.from_subset_saliences({(1, 0): 0.3}, 2), r"names the subset \(1, 0\)"),
        (lambda: Kernel.from_saliences(np.zeros(40)), "39 components"),
        (lambda: Kernel.from_similarities([1.0, 1.0, 1.0]).normalized, "no scale"),
        (lambda: Kernel.one_hot(2).gram([[0, 1, 2]]), r"shape \(1, 3\)"),
        (lambda: Kernel.one_hot(2).gram([[0.0, 1.0]]), "float64 values"),
        (lambda: Kernel.one_hot(2).gram([[0, -1]]), "negative level -1"),
        (lambda: Kernel.one_hot(2).spectrum((3,)), "give 2 positive numbers"),
        (
            lambda: Kernel.from_similarities([0, 0.9, 1.0]).require_psd((3, 3)),
            r"components \(0, 1\) have eigenvalue -0.8",
        ),
        (lambda: Kernel.from_normalized([[0.2], [0.7]]).require_psd((3, 3)), r"kernel \(1,\) of the batch"),
    ],
)
def test_bad_tables_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
