"""The solvers against scikit-learn, optimality conditions and conjunction-wise additivity."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC

from recombine.errors import InputError
from recombine.kernels import Kernel, fit_hard_margin, fit_least_squares, full_grid, problems, subsets
from recombine.kernels.boxes import _descend, solve_boxes
from recombine.kernels.margin import solve_margin
from recombine.kernels.solution import Solution
from recombine.kernels.structured import solve_many
from recombine.kernels.symmetry import fold_training_set

BIAS = pytest.mark.parametrize("bias", [False, True])


def random_case(seed, *, components=None):
    rng = np.random.default_rng(seed)
    count = components or int(rng.integers(2, 5))
    grid = full_grid(tuple(int(n) for n in rng.integers(2, 5, count)))
    train = grid[rng.permutation(len(grid))[: int(rng.integers(4, min(len(grid), 60) + 1))]]
    saliences = rng.random(2**count) * (rng.random(2**count) < 0.8)
    saliences[-1] = rng.uniform(0.05, 0.5)
    labels = rng.choice([-1.0, 1.0], len(train))
    labels[:2] = [1.0, -1.0]
    return Kernel(saliences), grid, train, rng.normal(size=len(train)), labels


@pytest.mark.parametrize("seed", range(12))
def test_ridge_agrees_with_kernel_ridge(seed):
    kernel, grid, train, targets, _ = random_case(seed)
    ours = fit_least_squares(kernel, train, targets, ridge=0.3)
    theirs = KernelRidge(alpha=0.3, kernel="precomputed").fit(kernel.gram(train), targets)
    np.testing.assert_allclose(ours.dual, theirs.dual_coef_, atol=1e-9)
    np.testing.assert_allclose(
        ours.predict(grid, allow_unseen=True), theirs.predict(kernel.gram(grid, train)), atol=1e-10
    )


@pytest.mark.parametrize("seed", range(8))
def test_ridge_with_bias_is_the_limit_of_a_huge_constant(seed):
    kernel, grid, train, targets, _ = random_case(seed)
    ours = fit_least_squares(kernel, train, targets, ridge=0.2, bias=True)
    table = kernel.subset_saliences.copy()
    table[0] += 1e7
    limit = fit_least_squares(Kernel(table), train, targets, ridge=0.2)
    assert abs(ours.dual.sum()) < 1e-10
    np.testing.assert_allclose(ours.predict(grid, allow_unseen=True), limit.predict(grid, allow_unseen=True), atol=1e-5)


@BIAS
@pytest.mark.parametrize("seed", range(8))
def test_ridgeless_interpolates_with_the_smallest_norm(seed, bias):
    kernel, _, train, targets, _ = random_case(seed)
    solution = fit_least_squares(kernel, train, targets, bias=bias)
    np.testing.assert_allclose(solution.predict(train), targets, atol=1e-10)
    slightly = fit_least_squares(kernel, train, targets, ridge=1e-9, bias=bias)
    np.testing.assert_allclose(slightly.dual, solution.dual, atol=1e-5)


@BIAS
def test_ridgeless_on_an_additive_kernel_is_the_least_squares_fit(bias):
    rng = np.random.default_rng(3)
    grid = full_grid((4, 5, 3))
    train, targets = grid[rng.permutation(60)[:40]], rng.normal(size=40)
    rows = np.concatenate([np.eye(n)[train[:, c]] for c, n in enumerate((4, 5, 3))], axis=1)
    weights = np.linalg.lstsq(rows, targets, rcond=None)[0]
    solution = fit_least_squares(Kernel.one_hot(3), train, targets, bias=bias)
    np.testing.assert_allclose(solution.predict(train), rows @ weights, atol=1e-10)


def soft_margin(kernel, train, labels, cost, bias):
    """min ½ |f|^2 + cost * sum_i max(0, 1 - y_i (f(z^i) + b)): the box of the dual ends at the cost."""
    ones = np.ones((1, len(labels)))
    hessian = labels[:, None] * kernel.gram(train) * labels
    dual = solve_margin(hessian[None], ones, cost * ones, labels[None] if bias else None)
    assert dual.solved.all()
    return Solution(kernel, train, labels * dual.alpha[0], dual.bias[0])


def check_optimal(solution, train, labels, cost):
    """The Karush-Kuhn-Tucker conditions of the margin, to 1e-9."""
    alpha = solution.dual * labels
    margin = labels * solution.predict(train)
    scale = 1e-9 * max(1.0, alpha.max())
    assert alpha.min() >= 0
    assert alpha.max() <= cost
    assert margin[alpha <= scale].min(initial=1.0) >= 1 - 1e-9
    assert margin[alpha >= cost - scale].max(initial=1.0) <= 1 + 1e-9
    free = (alpha > scale) & (alpha < cost - scale)
    np.testing.assert_allclose(margin[free], 1.0, atol=1e-9)


@BIAS
@pytest.mark.parametrize("cost", [0.1, 1.0, 30.0, np.inf])
@pytest.mark.parametrize("seed", range(6))
def test_margins_meet_their_optimality_conditions(seed, cost, bias):
    kernel, _, train, _, labels = random_case(seed)
    if cost == np.inf:
        solution = fit_hard_margin(kernel, train, labels, bias=bias)
    else:
        solution = soft_margin(kernel, train, labels, cost, bias)
    check_optimal(solution, train, labels, cost)
    if bias:
        assert abs(solution.dual.sum()) < 1e-9


@pytest.mark.parametrize("cost", [0.1, 1.0, 30.0, 1e8])
@pytest.mark.parametrize("seed", range(8))
def test_margins_agree_with_svc(seed, cost):
    kernel, grid, train, _, labels = random_case(seed)
    theirs = SVC(C=cost, kernel="precomputed", tol=1e-10).fit(kernel.gram(train), labels)
    if cost == 1e8:
        ours = fit_hard_margin(kernel, train, labels, bias=True)
    else:
        ours = soft_margin(kernel, train, labels, cost, bias=True)
    expected = theirs.decision_function(kernel.gram(grid, train))
    np.testing.assert_allclose(ours.predict(grid, allow_unseen=True), expected, atol=2e-5)


@BIAS
def test_a_near_additive_kernel_needs_the_monotone_method(bias):
    """Block pivoting cycles here, so this is what the fallback is for."""
    rng = np.random.default_rng(0)
    train = full_grid((10, 10, 10))[rng.permutation(1000)[:150]]
    labels = rng.choice([-1.0, 1.0], 150)
    kernel = Kernel.from_normalized([0.33, 0.003])
    check_optimal(soft_margin(kernel, train, labels, 2.0, bias), train, labels, 2.0)


def test_both_box_methods_reach_the_same_minimum():
    rng = np.random.default_rng(5)
    factors = rng.normal(size=(30, 12, 12))
    hessian = factors @ factors.swapaxes(1, 2) + 0.05 * np.eye(12)
    linear, upper = rng.normal(size=(30, 12)), np.where(rng.random((30, 12)) < 0.5, 0.3, np.inf)
    block, _ = solve_boxes(hessian, linear, upper, np.ones((30, 12), dtype=np.int8))
    monotone, _ = _descend(hessian, linear, upper, np.zeros((30, 12)))
    np.testing.assert_allclose(block, monotone, atol=1e-10)
    gradient = np.einsum("bij,bj->bi", hessian, block) - linear
    stationary = np.clip(block - gradient, 0, upper)
    np.testing.assert_allclose(stationary, block, atol=1e-10)


@pytest.mark.parametrize("fit", [fit_least_squares, fit_hard_margin])
@BIAS
def test_batches_are_the_same_fits(fit, bias):
    rng = np.random.default_rng(1)
    kernels = Kernel.from_normalized([[0.2, 0.05], [0.1, 0.1], [0.05, 0.2]])
    grid = full_grid((3, 4, 3))
    sets = np.stack([grid[rng.permutation(36)[:20]] for _ in range(2)])[:, None]
    labels = rng.choice([-1.0, 1.0], (2, 1, 20))
    together = fit(kernels, sets, labels, bias=bias)
    outputs, parts = together.predict(grid, allow_unseen=True), together.parts(grid)
    assert outputs.shape == (2, 3, 36)
    assert parts.shape == (2, 3, 8, 36)
    for i in range(2):
        for j in range(3):
            alone = fit(kernels[j], sets[i, 0], labels[i, 0], bias=bias)
            np.testing.assert_allclose(outputs[i, j], alone.predict(grid, allow_unseen=True), atol=1e-9)
            np.testing.assert_allclose(parts[i, j], alone.parts(grid), atol=1e-9)


def test_many_targets_and_many_ridges_at_once():
    kernel, grid, train, _, _ = random_case(4)
    targets = np.random.default_rng(0).normal(size=(3, 1, len(train)))
    ridges = np.array([0.0, 0.1])
    outputs = fit_least_squares(kernel, train, targets, ridge=ridges).predict(grid, allow_unseen=True)
    assert outputs.shape == (3, 2, len(grid))
    alone = fit_least_squares(kernel, train, targets[2, 0], ridge=0.1).predict(grid, allow_unseen=True)
    np.testing.assert_allclose(outputs[2, 1], alone, atol=1e-11)


@pytest.mark.parametrize("components", [2, 3, 4])
@pytest.mark.parametrize("fit", [fit_least_squares, fit_hard_margin])
@pytest.mark.parametrize("seed", range(4))
def test_conjunctions_add_up_and_unseen_ones_are_zero(seed, fit, components):
    kernel, grid, train, targets, labels = random_case(seed, components=components)
    solution = fit(kernel, train, targets if fit is fit_least_squares else labels, bias=True)
    direct = kernel.gram(grid, train) @ solution.dual + solution.bias
    parts = solution.parts(grid)
    assert np.abs(parts.sum(axis=0) - direct).max() <= 1e-10
    assert np.abs(solution.orders(grid).sum(axis=0) - direct).max() <= 1e-10
    np.testing.assert_allclose(solution.predict(grid, allow_unseen=True), direct, atol=1e-10)
    for mask, subset in enumerate(subsets(components)):
        columns = list(subset)
        seen = (grid[:, None, columns] == train[None][:, :, columns]).all(axis=-1)
        never = ~seen.any(axis=1)
        assert (parts[mask, never] == 0).all()
        by_hand = kernel.subset_saliences[mask] * (seen @ solution.dual) + (0 if subset else solution.bias)
        np.testing.assert_allclose(parts[mask], by_hand, atol=1e-12)
        np.testing.assert_array_equal(solution.part(subset, grid), parts[mask])


def test_symmetric_sets_fold_to_the_same_answer():
    task = problems.context_dependence(2)
    kernel = Kernel.from_normalized([0.15, 0.1])
    shared = np.asarray(sum((task.train[:, None, c] == task.train[None, :, c]) * 2**c for c in range(3)))
    fold = fold_training_set(shared, task.targets)
    assert fold is not None
    assert len(fold.roots) < 20
    folded = fit_hard_margin(kernel, task.train, task.targets)
    # A second copy of the labels makes a batch, which is solved point by point.
    plain = fit_hard_margin(kernel, task.train, np.stack([task.targets] * 2))
    np.testing.assert_allclose(plain.dual[0], folded.dual, atol=1e-9)


def test_targets_that_are_all_different_do_not_fold():
    train = full_grid((3, 3))
    shared = np.asarray(sum((train[:, None, c] == train[None, :, c]) * 2**c for c in range(2)))
    assert fold_training_set(shared, np.arange(9.0)) is None


@BIAS
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_the_structured_route_is_the_dense_one(ridge, bias):
    rng = np.random.default_rng(2)
    train = full_grid((6, 6, 6, 6))[rng.permutation(1296)[:400]]
    kernel = Kernel.from_similarities([0.2, 0.3, 0.45, 0.65, 1.0])
    targets = rng.normal(size=400)
    dense = fit_least_squares(kernel, train, targets, ridge=ridge, bias=bias)
    dual, b = solve_many(kernel, train, targets[None], ridge, bias=bias)
    np.testing.assert_allclose(dual[0], dense.dual, atol=1e-9)
    np.testing.assert_allclose(b[0], dense.bias, atol=1e-10)


def test_the_structured_route_with_repeats_and_negative_salience():
    rng = np.random.default_rng(2)
    train = rng.integers(0, 4, (300, 3))
    kernel = Kernel.from_saliences([0.0, 0.3, -0.01, 0.5])
    targets = rng.normal(size=300)
    dual, _ = solve_many(kernel, train, targets[None], 0.5, bias=False)
    np.testing.assert_allclose(kernel.gram(train) @ dual[0] + 0.5 * dual[0], targets, atol=1e-10)


def test_a_large_problem_is_solved_and_predicted_without_its_gram_matrix():
    rng = np.random.default_rng(0)
    train = full_grid((12, 12, 12, 12))[rng.permutation(12**4)[:5000]]
    targets = rng.normal(size=(2, 5000))
    solution = fit_least_squares(Kernel.from_normalized([0.1, 0.05, 0.03]), train, targets, bias=True)
    np.testing.assert_allclose(solution.predict(train), targets, atol=1e-9)
    assert np.abs(solution.dual.sum(axis=1)).max() < 1e-8


TASK = problems.context_dependence(3)
KERNEL = Kernel.from_normalized([0.1, 0.1])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: fit_least_squares(Kernel.from_normalized([0.4, 0.0]), TASK.train, TASK.targets),
            "not positive semi-def",
        ),
        (lambda: fit_hard_margin(KERNEL, TASK.train, TASK.targets * 2), "labels holds"),
        (lambda: fit_hard_margin(KERNEL, TASK.train, np.where(TASK.targets > 0, 1.0, 0.0)), r"labels \+1 and -1"),
        (lambda: fit_least_squares(KERNEL, TASK.train, TASK.targets, levels=(2, 6, 7)), "level 6 of component 2"),
        (lambda: fit_least_squares(KERNEL, TASK.train, TASK.targets, levels=(2, 6, 5)), "shows level 5 but has 5"),
        (lambda: fit_least_squares(KERNEL, TASK.train, TASK.targets, levels=(2, 6)), "2 entries for 3 components"),
        (lambda: fit_least_squares(KERNEL, TASK.train, TASK.targets[1:]), r"shape \(53,\) for 54"),
        (lambda: fit_least_squares(KERNEL, TASK.train, TASK.targets * np.nan), "not finite"),
        (lambda: fit_least_squares(KERNEL, TASK.train, TASK.targets, ridge=-1.0), "ridge must be"),
        (lambda: fit_least_squares(KERNEL, TASK.train[:0], TASK.targets[:0]), "training set is empty"),
        (lambda: fit_least_squares(KERNEL[None][[0, 0, 0]], TASK.train, np.ones((2, 54))), "do not broadcast"),
        (
            lambda: fit_least_squares(KERNEL, TASK.train, TASK.targets).predict([[0, 6, 0]]),
            "level 6 of component 1, which no training",
        ),
        (lambda: fit_least_squares(KERNEL, TASK.train, TASK.targets).part((1, 0), TASK.test), "names no conjunction"),
        (lambda: fit_hard_margin(Kernel.one_hot(2), full_grid((2, 2)), [1, -1, -1, 1]), "cannot separate"),
        (lambda: fit_hard_margin(Kernel.one_hot(2), full_grid((2, 2)), [1, -1, -1, 1], bias=True), "cannot separate"),
        (lambda: solve_many(Kernel.one_hot(2), full_grid((3, 3)), np.ones((1, 9)), 0.0, bias=False), "ridge above 0"),
        (lambda: problems.addition([9]), "anchors is"),
        (lambda: problems.addition(range(9)), "every item is an anchor"),
        (lambda: problems.context_dependence(4), "left_out is 4"),
        (lambda: problems.transitive_equivalence((2, 2), (3, 0)), "anchors within"),
    ],
)
def test_bad_problems_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
