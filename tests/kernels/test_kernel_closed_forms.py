"""Every closed form to 1e-9 against the solver, and the numbers printed in the notes on the paper."""

import numpy as np
import pytest
from activations import Step
from closed_form_oracles import (
    invariance_margin,
    margins_by_distance,
    partial_exposure_margin,
    transitive_equivalence_outputs,
    transitive_ordering_margins,
)

from recombine.errors import InputError
from recombine.kernels import (
    Gaussian,
    Kernel,
    RectifiedQuadratic,
    ReLU,
    expected_shrinkage,
    fit_hard_margin,
    fit_least_squares,
    full_grid,
    nngp,
    problems,
)
from recombine.kernels.closed_forms import (
    GraphFilter,
    context_margin_hard,
    context_margin_least_squares,
    memorization_leak,
)

S = np.array([0.0, 0.05, 0.1, 0.25, 0.4, 0.4264, 0.49, 0.5])
TWO = Kernel.from_normalized(S[:, None])
VALUES = np.arange(-4.0, 5.0)
EXACT = 1e-9


def margin(fit, kernel, task):
    return (fit(kernel, task.train, task.targets).predict(task.test) * task.test_targets).min(axis=-1)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("constant", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("anchors", [[4], [0], [0, 8], [2, 6], [1, 2, 5], [0, 1, 2, 3, 4, 5, 6, 7]])
@pytest.mark.parametrize("values", [VALUES, VALUES**2, np.array([3.0, 1, 4, 1, 5, 9, 2, 6, 5])])
def test_leak_slope_and_intercept(values, anchors, constant, bias):
    task = problems.addition(anchors, values)
    kernel = Kernel.from_normalized(S[:, None], constant=constant)
    got = fit_least_squares(kernel, task.train, task.targets, bias=bias).predict(task.test)
    leak = memorization_leak(S, values, anchors, constant=constant, bias=bias)
    np.testing.assert_allclose(got, leak.slope[:, None] * task.test_targets + leak.intercept[:, None], atol=EXACT)


def test_leak_is_the_papers_equation():
    for p in (1, 2, 3, 4):
        expected = p * S / (1 + (p - 2) * S)
        np.testing.assert_allclose(memorization_leak(S, VALUES, list(range(p))).slope, expected, atol=1e-15)
    np.testing.assert_allclose(memorization_leak(S, VALUES, [4]).slope, S / (1 - S), atol=1e-15)
    np.testing.assert_allclose(memorization_leak(S, VALUES, [0, 8]).slope, 2 * S, atol=1e-15)
    np.testing.assert_allclose(memorization_leak(S, VALUES, [0, 8]).intercept, 0, atol=1e-14)


def test_leak_numbers_in_the_notes():
    free, plain = memorization_leak(0.4, VALUES, [0], bias=True), memorization_leak(0.4, VALUES, [0])
    assert plain.slope == pytest.approx(0.6667, abs=0.5e-4)
    assert plain.intercept == pytest.approx(-0.860, abs=0.5e-3)
    assert free.intercept == pytest.approx(-1.981, abs=0.5e-3)
    relu = [float(memorization_leak(0.4264, VALUES, anchors).slope) for anchors in ([4], [0, 8], [2, 6])]
    np.testing.assert_allclose(relu, [0.743, 0.853, 0.853], atol=0.5e-3)


@pytest.mark.parametrize(
    ("anchors", "seen", "unseen"), [([4], 17, 64), ([0], 17, 64), ([0, 8], 32, 49), ([2, 6], 32, 49)]
)
def test_addition_sets_have_the_stated_sizes(anchors, seen, unseen):
    task = problems.addition(anchors)
    assert (len(task.train), len(task.test)) == (seen, unseen)


@pytest.mark.parametrize("seed", range(6))
def test_graph_filter_on_random_graphs(seed):
    rng = np.random.default_rng(seed)
    levels = (int(rng.integers(3, 8)), int(rng.integers(3, 8)))
    grid = full_grid(levels)
    # A random set that shows every level: a covering path, then a few more pairs.
    path = np.arange(max(levels))[:, None] % np.array(levels)
    train = np.unique(np.concatenate([path, grid[rng.random(len(grid)) < 0.3]]), axis=0)
    test = grid[~(grid[:, None] == train).all(-1).any(1)]
    u, v = rng.normal(size=levels[0]), rng.normal(size=levels[1])
    got = fit_least_squares(TWO, train, u[train[:, 0]] + v[train[:, 1]]).predict(test)
    graph = GraphFilter.of(train, levels)
    np.testing.assert_allclose(graph.predict(S, u, v, test), got, atol=EXACT)
    inner = S[3] * graph.laplacian
    dense = inner @ np.linalg.inv(inner + (1 - 2 * S[3]) * np.eye(sum(levels)))
    np.testing.assert_allclose(graph.matrix(S)[3], dense, atol=1e-12)
    np.testing.assert_allclose(expected_shrinkage(TWO, train, test), graph.shrinkage(S, test), atol=EXACT)


def test_graph_filter_of_the_dispersed_cycle():
    task = problems.dispersed_addition(1)
    assert (len(task.train), len(task.test)) == (18, 63)
    graph = GraphFilter.of(task.train, task.levels)
    wave = 2 - 2 * np.cos(2 * np.pi * np.arange(10) / 18)
    np.testing.assert_allclose(graph.eigenvalues, np.sort(np.concatenate([wave, wave[1:9]])), atol=1e-12)
    distinct = np.unique(np.round(graph.factors(0.4), 9))[1:]
    np.testing.assert_allclose(distinct[:3], [0.194, 0.483, 0.667], atol=0.5e-3)
    assert distinct[-1] == pytest.approx(0.889, abs=0.5e-3)
    anchored = GraphFilter.of(problems.addition([0, 8]).train).factors(0.4)
    assert np.isclose(anchored, 0.80, atol=1e-12).sum() == 2 * (9 - 2 - 1)


@pytest.mark.parametrize(("anchors", "expected"), [([4], 0.700), ([0, 8], 0.829), ([2, 6], 0.829)])
def test_expected_shrinkage_of_anchors(anchors, expected):
    task = problems.addition(anchors)
    graph = GraphFilter.of(task.train).shrinkage(0.4264, task.test)
    np.testing.assert_allclose(graph, expected, atol=0.5e-3)
    kernel = Kernel.from_normalized([0.4264])
    np.testing.assert_allclose(expected_shrinkage(kernel, task.train, task.test), graph, atol=EXACT)


def test_expected_shrinkage_is_the_mean_of_random_rules():
    """The expectation is linear in the covariance, so unit effects of one conjunction at a time give it exactly."""
    rng = np.random.default_rng(0)
    grid = full_grid((3, 3, 3))
    train = grid[rng.permutation(27)[:18]]
    kernel = Kernel.from_normalized([0.15, 0.1], constant=0.2)
    query = grid[-3:]
    total = np.zeros(3)
    for columns in ([0], [1], [2], [0, 1], [0, 2], [1, 2]):
        for effect in full_grid((3,) * len(columns)):
            target = (train[:, columns] == effect).all(1).astype(float)
            truth = (query[:, columns] == effect).all(1)
            total += truth * fit_least_squares(kernel, train, target, bias=True).predict(query)
    got = expected_shrinkage(kernel, train, query, order=2, bias=True)
    np.testing.assert_allclose(got, total / 6, atol=EXACT)


def test_dispersed_error_table():
    tasks = [problems.dispersed_addition(seed) for seed in range(1, 51)]
    train, targets, test, truth = (
        np.stack([getattr(task, name) for task in tasks])[:, None]
        for name in ("train", "targets", "test", "test_targets")
    )
    kernel = Kernel.from_normalized([[0], [0.1], [0.2], [0.3], [0.4], [0.45], [0.49], [0.5]])
    outputs = fit_least_squares(kernel, train, targets).predict(test)
    error = ((outputs - truth) ** 2).mean(axis=(0, 2))
    np.testing.assert_allclose(error[:6], [13.23, 9.56, 7.05, 5.06, 3.08, 1.76], atol=0.5e-2)
    np.testing.assert_allclose(error[6:], [0.243, 0.000], atol=0.5e-3)


SIMPLEX = np.array([(i, j) for i in range(1, 31) for j in range(31 - i)]) / 90


@pytest.mark.parametrize("features", [1, 2, 3, 4])
def test_context_margins(features):
    task = problems.context_dependence(features, features)
    kernel = Kernel.from_normalized(SIMPLEX)
    squares = context_margin_least_squares(*SIMPLEX.T, features)
    hard = context_margin_hard(*SIMPLEX.T, features)
    np.testing.assert_allclose(margin(fit_least_squares, kernel, task), squares, atol=EXACT)
    np.testing.assert_allclose(margin(fit_hard_margin, kernel, task), hard, atol=EXACT)
    outputs = fit_hard_margin(kernel, task.train, task.targets).predict(task.test) * task.test_targets
    assert np.ptp(outputs, axis=1).max() < EXACT
    s1, s2 = SIMPLEX.T
    rule = 2 * s2 * (features * s1 + s2) - s1 * (1 - 3 * s1 - 3 * s2)
    clear = np.abs(rule) > 1e-12
    assert ((squares > 0) == (rule > 0))[clear].all()
    assert 0 < (hard != squares).sum() < len(SIMPLEX)


def test_context_sets_have_the_stated_sizes_and_shortcut():
    for left_out, seen, unseen, agree in ((3, 54, 18, 2 / 3), (2, 64, 8, 18 / 32), (1, 70, 2, 18 / 35)):
        task = problems.context_dependence(left_out)
        assert (len(task.train), len(task.test)) == (seen, unseen)
        shortcut = np.where(task.train[:, 0] == 0, 1, -1)
        assert (shortcut == task.targets).mean() == pytest.approx(agree)
        assert (np.where(task.test[:, 0] == 0, 1, -1) == -task.test_targets).all()


@pytest.mark.parametrize(
    ("fit", "counts"), [(fit_hard_margin, [211, 167, 28, 29]), (fit_least_squares, [301, 81, 24, 29])]
)
def test_regions_of_the_exact_sweep(fit, counts):
    """435 pairs: S(1;3) = i/90 with i >= 1 and S(2;3) = j/90 with j >= 0, where S(3;3) > 0."""
    pairs = np.array([(i, j) for i in range(1, 30) for j in range(30 - i)]) / 90
    assert len(pairs) == 435
    kernel = Kernel.from_normalized(pairs)
    solved = np.stack([margin(fit, kernel, problems.context_dependence(n)) > EXACT for n in (3, 2, 1)])
    everything, two_and_one, only_one, nothing = (
        (solved == np.array(row)[:, None]).all(axis=0)
        for row in ((True, True, True), (False, True, True), (False, False, True), (False, False, False))
    )
    assert [int(region.sum()) for region in (everything, two_and_one, only_one, nothing)] == counts
    assert (nothing == (pairs[:, 1] == 0)).all()


@pytest.mark.parametrize(
    ("activation", "depth", "printed"),
    [
        (ReLU(), 1, [-0.559, 0.674, 0.906]),
        (ReLU(), 2, [-0.343, 0.638, 0.842]),
        (ReLU(), 3, [-0.217, 0.596, 0.785]),
        (ReLU(), 5, [-0.077, 0.532, 0.690]),
        (ReLU(), 10, [0.048, 0.396, 0.534]),
        (ReLU(), 20, [0.031, 0.235, 0.371]),
        (RectifiedQuadratic(), 3, [0.188, 0.553, 0.672]),
        (Gaussian(), 1, [0.374, 0.707, 0.795]),
        (Step(), 1, [-0.457, 0.144, 0.331]),
    ],
    ids=str,
)
def test_context_margins_by_architecture(activation, depth, printed):
    """The notes print margins for the saliences they print: four decimals, eight for the two marked representations."""
    exact = nngp(Kernel.one_hot(3), activation, depth)[depth].normalized[:2]
    both = Kernel.from_normalized([np.round(exact, 8 if depth == 3 else 4), exact])
    got = np.stack([margin(fit_hard_margin, both, problems.context_dependence(n)) for n in (3, 2, 1)])
    np.testing.assert_allclose(got[:, 0], printed, atol=0.5e-3)
    np.testing.assert_allclose(got[:, 1], printed, atol=1e-3)


def test_the_loss_matters_at_relu_depth_three():
    assert context_margin_hard(0.2035, 0.0942) == pytest.approx(-0.217, abs=0.5e-3)
    assert context_margin_least_squares(0.2035, 0.0942) == pytest.approx(0.522, abs=0.5e-3)


@pytest.mark.parametrize(("steps", "hard", "squares"), [(100, 0.51, 0.72), (1500, 0.518, 0.730)])
def test_area_of_the_simplex_where_the_full_block_generalises(steps, hard, squares):
    """The notes print 51 % and 72 %, the share of a grid in steps of 1/300; the area itself is 51.8 % and 73.0 %."""
    s1, s2 = np.array([(i, j) for i in range(1, steps + 1) for j in range(steps + 1 - i)]).T / (3 * steps)
    accuracy = 0.5e-2 if steps == 100 else 1e-3
    assert (context_margin_hard(s1, s2) > EXACT).mean() == pytest.approx(hard, abs=accuracy)
    assert (context_margin_least_squares(s1, s2) > EXACT).mean() == pytest.approx(squares, abs=accuracy)


@pytest.mark.parametrize("fit", [fit_least_squares, fit_hard_margin])
@pytest.mark.parametrize(
    ("task", "form"),
    [(problems.invariance(), invariance_margin), (problems.partial_exposure(), partial_exposure_margin)],
)
def test_exposure_margins(task, form, fit):
    got = fit(TWO, task.train, task.targets).predict(task.test, allow_unseen=True) * task.test_targets
    np.testing.assert_allclose(got, np.broadcast_to(form(S)[:, None], got.shape), atol=EXACT)


@pytest.mark.parametrize("fit", [fit_least_squares, fit_hard_margin])
@pytest.mark.parametrize(
    ("classes", "anchors", "sizes"), [((2, 2), 1, (12, 4)), ((5, 5), 1, (36, 64)), ((5, 5), 4, (96, 4))]
)
def test_equivalence_is_out_of_reach(classes, anchors, sizes, fit):
    task = problems.transitive_equivalence(classes, (anchors, anchors))
    assert (len(task.train), len(task.test)) == sizes
    kernel = TWO if fit is fit_least_squares else Kernel.from_normalized(S[:-1, None])
    assert np.abs(fit(kernel, task.train, task.targets).predict(task.test)).max() < EXACT
    closed = transitive_equivalence_outputs(S, classes, (anchors, anchors))
    assert not np.any([closed.both_first, closed.both_second, closed.different])


@pytest.mark.parametrize(
    ("classes", "anchors"), [((5, 5), (2, 1)), ((4, 3), (1, 2)), ((3, 4), (0, 1)), ((6, 2), (3, 1)), ((5, 3), (2, 2))]
)
def test_equivalence_with_unequal_anchors(classes, anchors):
    task = problems.transitive_equivalence(classes, anchors)
    got = fit_least_squares(TWO, task.train, task.targets).predict(task.test)
    closed = transitive_equivalence_outputs(S, classes, anchors)
    side = np.repeat([1, -1], classes)[task.test].sum(axis=1)
    table = np.stack([closed.both_second, closed.different, closed.both_first], axis=-1)
    np.testing.assert_allclose(got, table[:, side // 2 + 1], atol=EXACT)
    wrong = (got * task.test_targets <= EXACT).any(axis=-1)
    assert wrong.all()
    if anchors[0] != anchors[1]:
        assert np.abs(got[3]).max() > 0.01


@pytest.mark.parametrize("items", [3, 4, 7, 8])
def test_ordering_margins(items):
    task = problems.transitive_ordering(items)
    got = fit_least_squares(TWO, task.train, task.targets).predict(task.test)
    i, j = task.test.T
    np.testing.assert_allclose(got, transitive_ordering_margins(S, items)[:, i, j], atol=EXACT)
    assert (got[1:] * task.test_targets > 0).all()


def test_ordering_margins_in_the_notes():
    relu, additive, weak = margins_by_distance(transitive_ordering_margins([0.4264, 0.5, 0.1]))
    np.testing.assert_allclose(relu, [0.738, 1.058, 1.410, 1.846, 2.427], atol=0.5e-3)
    np.testing.assert_allclose(additive, [2, 3, 4, 5, 6], atol=EXACT)
    np.testing.assert_allclose(weak[[0, -1]], [0.049, 0.225], atol=0.5e-3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: memorization_leak(0.6, VALUES, [4]), "between 0 and 0.5"),
        (lambda: memorization_leak(0.4, VALUES, [4, 4]), "distinct item indices"),
        (lambda: memorization_leak(0.4, VALUES, [4], constant=-0.1), "constant is negative"),
        (lambda: GraphFilter.of([[0, 0], [1, 1]], (2, 3)), "level 2 of component 1 occurs in no training"),
        (lambda: GraphFilter.of([[0, 0], [2, 1]]), "shows level 2 but has 2 levels"),
        (lambda: GraphFilter.of([[0, 0], [0, 0]]), "repeats a pair"),
        (lambda: GraphFilter.of(np.zeros((0, 2), dtype=int)), "at least one pair"),
        (lambda: GraphFilter.of([[0, 0]]).shrinkage(0.4, [[0, 1]]), "level 1 of component 1"),
        (lambda: GraphFilter.of([[0, 0]]).values(0.4, [1.0], [1.0, 2.0]), "3 values were given"),
        (lambda: context_margin_hard(0.3, 0.2), "must not be negative"),
        (lambda: context_margin_hard(0.1, 0.1, 0), "features is 0"),
        (lambda: expected_shrinkage(Kernel.one_hot(2), [[0, 0]], [[0, 0]], order=3), "order is 3"),
        (lambda: expected_shrinkage(Kernel.one_hot(2), [[[0, 0]]], [[0, 0]]), "without leading axes"),
    ],
)
def test_bad_questions_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
