"""Learners whose behaviour is planted, and what may be said of each.

Each generator builds a table of predictions by hand, over a random space, support and noise, and says which verdicts
are right and which mechanisms may be named. `verdicts.py` asks `measure` about all of them, about models
(`planted_models.py`), and about tables where seen combinations have training rows alone (`planted_by_heart.py`), with
columns besides the factors (`planted_columns.py`) and with three factors or more (`planted_factors.py`).
"""

from __future__ import annotations

import numpy as np

import recombine as rc
from planted_grid import FAILS, UNTOLD, Grid, Planted, blurred, classes, learner, neighbours, numbers, with_errors


@learner
def composes_classes(rng: np.random.Generator) -> Planted:
    grid = Grid.of(rng, int(rng.choice([16, 24])))
    y = classes(rng, grid)
    return Planted(grid.measured(y, with_errors(rng, y, 0.02)), ("composes",))


@learner
def composes_numbers(rng: np.random.Generator) -> Planted:
    grid = Grid.of(rng, int(rng.choice([1, 8])))
    y = numbers(rng, grid, 1.0)
    return Planted(grid.measured(y, y + 0.1 * rng.normal(size=len(y))), ("composes",))


@learner
def overfits_only(rng: np.random.Generator) -> Planted:
    """New rows of seen and unseen combinations are equally hard, training rows are not."""
    grid = Grid.of(rng, int(rng.choice([16, 24])))
    share = np.where(grid.unseen | grid.fresh, rng.uniform(0.15, 0.45), 0.0)
    if rng.integers(2):
        y = classes(rng, grid)
        return Planted(grid.measured(y, with_errors(rng, y, share)), ("overfits",))
    y = numbers(rng, grid, 0.5)
    return Planted(grid.measured(y, y + np.sqrt(share) * y.std() * rng.normal(size=len(y))), ("overfits",))


@learner
def memorization_leak(rng: np.random.Generator) -> Planted:
    grid = Grid.of(rng, int(rng.choice([1, 8])))
    y = numbers(rng, grid, float(rng.uniform(0, 1.5)))
    p = np.where(grid.unseen, rng.uniform(0.3, 0.6) * y, y) + 0.03 * rng.normal(size=len(y))
    return Planted(grid.measured(y, p), grid.fails(), ("memorization leak",))


@learner
def shortcut(rng: np.random.Generator) -> Planted:
    """The answer is a class of ``a``; in training ``b`` nearly always goes with it, and elsewhere it is followed."""
    k, rows = int(rng.integers(2, 5)), int(rng.choice([1, 8]))
    while True:
        side = 3 * k
        a, b = np.indices((side, side)).reshape(2, -1).repeat(rows, axis=1)
        hidden = rng.random((side, side))[a, b] < np.where(a % k == b % k, 0.1, 0.85)
        known = {(x, y) for x, y in zip(a[~hidden], b[~hidden], strict=True)}
        if {x for x, _ in known} == {y for _, y in known} == set(range(side)):
            break
    grid = Grid(a, b, hidden, ~hidden & (np.tile(np.arange(rows), side**2) >= 6))
    y = np.array([f"class {c}" for c in a % k])
    follow = rng.random((side, side))[a, b] < 0.9
    p = np.where(hidden & follow, grid.level(y, b), y)
    return Planted(grid.measured(y, p), FAILS, ("shortcut by b",))


@learner
def shortcut_of_two_levels(rng: np.random.Generator) -> Planted:
    """Waterbirds: two kinds of birds on two backgrounds, each seen on its own; all others named by the background."""
    n = int(rng.integers(40, 200))
    bird, place = np.indices((2, 2)).reshape(2, -1).repeat(n, axis=1)
    unseen = bird != place
    fresh = ~unseen & (np.tile(np.arange(n), 4) % 4 == 0)
    wrong = rng.random(len(bird)) < rng.choice([1.0, 0.95])
    said = np.where(unseen & wrong, place, bird)
    names = np.array(["land", "water"])
    table = {"bird": names[bird], "background": names[place], "y": names[bird], "p": names[said],
             "part": np.where(unseen | fresh, "test", "train")}  # fmt: skip
    result = rc.measure_predictions(table, ["bird", "background"], target="y", prediction="p", split="part=test")
    return Planted(result, FAILS, ("shortcut by background",))


@learner
def shortcut_of_three_groups(rng: np.random.Generator) -> Planted:
    """The same, but birds of one kind were seen on both backgrounds, seldom on the other's; each is named by the
    background there too."""
    n = int(rng.integers(300, 600))
    bird, place = np.indices((2, 2)).reshape(2, -1).repeat(n, axis=1)
    unseen, seldom = (bird == 1) & (place == 0), (bird == 0) & (place == 1)
    row = np.tile(np.arange(n), 4)
    at = ~seldom | (row < n // 5)
    said = np.where(rng.random(len(bird)) < rng.choice([1.0, 0.97]), place, bird)
    names = np.array(["land", "water"])
    table = {"bird": names[bird], "background": names[place], "y": names[bird], "p": names[said],
             "part": np.where(unseen | (row % 4 == 0), "test", "train")}  # fmt: skip
    table = {name: values[at] for name, values in table.items()}
    result = rc.measure_predictions(table, ["bird", "background"], target="y", prediction="p", split="part=test")
    return Planted(result, FAILS, ("shortcut by background",))


@learner
def shortcut_of_eight_combinations(rng: np.random.Generator) -> Planted:
    """Two classes of four levels; each was seen with half of the others, which are followed elsewhere."""
    a, b = np.indices((4, 4)).reshape(2, -1).repeat(20, axis=1)
    unseen = a // 2 != b // 2
    grid = Grid(a, b, unseen, ~unseen & (rng.random(len(a)) < 0.3))
    said = np.where(rng.random(len(a)) < 0.03, 1 - b // 2, b // 2)
    names = np.array(["round", "square"])
    return Planted(grid.measured(names[a // 2], names[said]), FAILS, ("shortcut by b",))


@learner
def two_combinations_wholly_wrong(rng: np.random.Generator) -> Planted:
    """All others are right, but for a little."""
    grid = Grid.of(rng, 10, (10, 10))
    cells = np.unique((10 * grid.a + grid.b)[grid.unseen])
    wrong = np.isin(10 * grid.a + grid.b, rng.choice(cells, 2, replace=False))
    if rng.integers(2):
        y = classes(rng, grid)
        return Planted(grid.measured(y, with_errors(rng, y, np.where(wrong, 1.0, 0.02))), ("partly",))
    y = numbers(rng, grid, 0.0)
    p = y + 0.1 * rng.normal(size=(10, 10))[grid.a, grid.b] + 2 * y.std() * wrong
    return Planted(grid.measured(blurred(rng, y, 0.1), p), FAILS)


@learner
def some_of_nine_combinations_wholly_wrong(rng: np.random.Generator) -> Planted:
    """Several of few, so that they hide each other from whoever holds each against the others' spread; all others are
    right. More than half of them are no exception."""
    a, b = np.indices((6, 6)).reshape(2, -1).repeat(8, axis=1)
    cell = 6 * a + b
    while True:
        hidden = rng.permutation(36)[:9]
        known = np.setdiff1d(np.arange(36), hidden)
        if len({*(known // 6)}) == len({*(known % 6)}) == 6:
            break
    unseen = np.isin(cell, hidden)
    grid = Grid(a, b, unseen, ~unseen & (np.tile(np.arange(8), 36) < 2))
    count = int(rng.integers(2, 8))
    wrong = np.isin(cell, hidden[:count])
    y = numbers(rng, grid, 0.0)
    p = y + rng.uniform(1.5, 3) * y.std() * wrong * rng.choice([-1, 1], size=36)[cell]
    return Planted(grid.measured(blurred(rng, y, 0.15), p), ("partly",) if count < 5 else ("fails",))


@learner
def a_level_that_fails(rng: np.random.Generator) -> Planted:
    """One level of twelve, at all of its unseen combinations, of which there are four or more."""
    levels = np.zeros(0, int)
    while not levels.size:
        grid = Grid.of(rng, 6, (12, 8))
        cells = np.unique(np.stack([grid.a, grid.b], 1)[grid.unseen], axis=0)[:, 0]
        levels = np.flatnonzero(np.bincount(cells) >= 4)
    wrong = grid.unseen & (grid.a == rng.choice(levels))
    if rng.integers(2):
        y = classes(rng, grid)
        return Planted(grid.measured(y, with_errors(rng, y, np.where(wrong, 0.8, 0.02))), ("partly",))
    y = numbers(rng, grid, 0.0)
    p = y + y.std() * (0.1 * rng.normal(size=(12, 8))[grid.a, grid.b] + 1.5 * wrong)
    return Planted(grid.measured(blurred(rng, y, 0.1), p), ("partly",))


@learner
def held_out_rows_known_by_heart(rng: np.random.Generator) -> Planted:
    """Rows of seen combinations leaked into training, noise and all; unseen ones get the best answers there are."""
    grid = Grid.of(rng, 8)
    if rng.integers(2):
        best = np.array([f"class {c}" for c in (grid.a + grid.b) % 3])
        y = with_errors(rng, best, rng.uniform(0.15, 0.3))
    else:
        best = numbers(rng, grid, 0.0)
        y = blurred(rng, best, rng.uniform(0.3, 0.8))
    return Planted(grid.measured(y, np.where(grid.unseen, best, y)), ("unclear",))


@learner
def a_leak_beside_other_errors(rng: np.random.Generator) -> Planted:
    grid = Grid.of(rng, 8, (12, 12))
    y = numbers(rng, grid, float(rng.uniform(0, 1)))
    other = rng.uniform(0.1, 0.2) * y.std() * rng.normal(size=(12, 12))[grid.a, grid.b]
    p = np.where(grid.unseen, rng.uniform(0.4, 0.6) * y + other, y)
    return Planted(grid.measured(y, p), FAILS, ("memorization leak",))


@learner
def less_of_what_does_not_add_up(rng: np.random.Generator) -> Planted:
    """Smaller than the right answers, but not by one factor."""
    grid = Grid.of(rng, 8)
    one, two = rng.normal(size=(2, 20)), rng.normal(size=(2, 20))
    added, rest = one[0][grid.a] + one[1][grid.b], rng.uniform(1, 2) * two[0][grid.a] * two[1][grid.b]
    p = added + np.where(grid.unseen, rng.uniform(0.1, 0.5), 1.0) * rest
    return Planted(grid.measured(added + rest, p), UNTOLD, ("additive rule",))


@learner
def less_of_one_factor(rng: np.random.Generator) -> Planted:
    grid = Grid.of(rng, 8)
    one, two = rng.normal(size=(2, 20))
    y = one[grid.a] + 1.5 * two[grid.b]
    p = one[grid.a] + 1.5 * np.where(grid.unseen, rng.uniform(0.1, 0.5), 1.0) * two[grid.b]
    return Planted(grid.measured(blurred(rng, y, 0.05), p), UNTOLD, ("shortcut by a",))


@learner
def overconfident_where_unseen(rng: np.random.Generator) -> Planted:
    """The right class, but probabilities near 0 and 1 where it is far from sure."""
    grid = Grid.of(rng, 40)
    share = np.where(grid.a % 2, rng.uniform(0.6, 0.75), rng.uniform(0.25, 0.4))
    y = (rng.random(len(share)) < share).astype(int)
    p = np.where(grid.unseen, np.where(share > 0.5, 0.999, 0.001), share)
    return Planted(grid.measured(y, p), FAILS, remark="surer than right")


@learner
def copies(rng: np.random.Generator) -> Planted:
    grid = Grid.of(rng, int(rng.choice([1, 2])))
    y = np.array([f"class {c}" for c in rng.permutation(20)[(grid.a + grid.b) % 20]])
    p = np.where(grid.unseen, neighbours(rng, grid, y), y)
    return Planted(grid.measured(y, p), grid.fails(), ("memorization: a copied answer",))


@learner
def random_errors_classes(rng: np.random.Generator) -> Planted:
    grid = Grid.of(rng, 16)
    y = classes(rng, grid)
    p = with_errors(rng, y, np.where(grid.unseen, rng.uniform(0.12, 0.4), 0.0))
    return Planted(grid.measured(y, p), FAILS)


@learner
def random_errors_numbers(rng: np.random.Generator) -> Planted:
    grid = Grid.of(rng, 8)
    y = numbers(rng, grid, float(rng.uniform(0, 1.5)))
    off = rng.normal(size=(20, 20))[grid.a, grid.b] * y.std()
    return Planted(grid.measured(y, y + np.where(grid.unseen, rng.uniform(0.6, 1.5) * off, 0.0)), FAILS)


@learner
def noise_ceiling(rng: np.random.Generator) -> Planted:
    """The true conditional mean of answers that are mostly noise, several rows per combination."""
    grid = Grid.of(rng, int(rng.choice([60, 100])))
    mean = numbers(rng, grid, float(rng.uniform(0, 1.5)))
    noise = rng.uniform(0.7, 1.5) * mean.std()
    return Planted(grid.measured(mean + noise * rng.normal(size=len(mean)), mean), ("composes",))


@learner
def told_more_than_the_factors(rng: np.random.Generator) -> Planted:
    """Answers that are mostly noise to whoever knows the factors, but the learner's input shows it."""
    grid = Grid.of(rng, int(rng.choice([8, 16])))
    y = numbers(rng, grid, 0.5) + rng.uniform(1, 3) * rng.normal(size=len(grid.a))
    return Planted(grid.measured(y, y + 0.1 * y.std() * rng.normal(size=len(y))), ("composes",))


@learner
def noise_ceiling_of_single_rows(rng: np.random.Generator) -> Planted:
    grid = Grid.of(rng, 1, (30, 30))
    one, two = rng.normal(size=(2, 30))
    mean = one[grid.a] + two[grid.b]
    return Planted(grid.measured(mean + rng.normal(size=len(mean)), mean), ("composes", "unclear"))


@learner
def noise_ceiling_of_classes(rng: np.random.Generator) -> Planted:
    grid = Grid.of(rng, 40)
    p = np.array([f"class {c}" for c in (grid.a + grid.b) % 3])
    return Planted(grid.measured(with_errors(rng, p, rng.uniform(0.15, 0.35)), p), ("composes", "unclear"))


@learner
def always_the_same_answer(rng: np.random.Generator) -> Planted:
    grid = Grid.of(rng, 40)
    y = (rng.random(len(grid.a)) < rng.uniform(0.01, 0.2)).astype(int)
    return Planted(grid.measured(y, np.zeros(len(y), dtype=int)), ("not fitted",))


@learner
def better_than_adding_up(rng: np.random.Generator) -> Planted:
    """Trained rows nearly right, new combinations with an R² near .85 where a sum reaches much less."""
    grid = Grid.of(rng, int(rng.choice([1, 4])), (12, 12))
    y = numbers(rng, grid, 0.0) + 2 * rng.normal(size=(20, 20))[grid.a, grid.b]
    p = y + np.where(grid.unseen, 0.35, 0.1) * y.std() * rng.normal(size=len(y))
    return Planted(grid.measured(y, p), ("partly", "composes", *grid.fails()[2:]))


@learner
def additive_rule(rng: np.random.Generator) -> Planted:
    grid = Grid.of(rng, int(rng.choice([1, 8])))
    y = numbers(rng, grid, 2.0)
    return Planted(grid.measured(y, np.where(grid.unseen, grid.summed(y), y)), grid.fails(), ("additive rule",))


@learner
def one_fixed_answer(rng: np.random.Generator) -> Planted:
    grid = Grid.of(rng, int(rng.choice([1, 8])))
    y = np.array([f"class {c}" for c in (grid.a + grid.b) % 5])
    return Planted(
        grid.measured(y, np.where(grid.unseen, rng.choice(y), y)), grid.fails(), ("memorization: one fixed answer",)
    )


@learner
def classes_that_training_never_had(rng: np.random.Generator) -> Planted:
    grid = Grid.of(rng, int(rng.choice([1, 2])))
    y = np.array([f"class {c}" for c in grid.a % 3])
    y = np.where(grid.unseen, np.char.add("new ", y), y)
    p = np.where(grid.unseen, np.array([f"class {c}" for c in rng.integers(3, size=len(y))]), y)
    return Planted(grid.measured(y, p), grid.fails())


@learner
def random_guesses(rng: np.random.Generator) -> Planted:
    grid = Grid.of(rng, 8)
    y = classes(rng, grid)
    return Planted(grid.measured(y, rng.permutation(y)), ("not fitted",), remarks=("stand beside their own rows",))


def animals(rng: np.random.Generator) -> Grid:
    """Animals in as many places, each seen in three of them."""
    side, rows = int(rng.integers(7, 10)), 12
    a, b = np.indices((side, side)).reshape(2, -1).repeat(rows, axis=1)
    unseen = (b - a) % side > 2
    return Grid(a, b, unseen, ~unseen & (rng.random(len(a)) < 0.25))


@learner
def nearest_neighbours_where_the_place_is_loud(rng: np.random.Generator) -> Planted:
    """The answer of most of the five nearest training rows; these fit in part, and share the place."""
    grid = animals(rng)
    side = grid.a.max() + 1
    x = np.concatenate([0.6 * np.eye(side)[grid.a], 2 * np.eye(side)[grid.b]], 1)
    x += rng.uniform(0.25, 0.4) * rng.normal(size=x.shape)
    known = np.flatnonzero(grid.known)
    near = known[np.square(x[:, None] - x[known]).sum(2).argsort(axis=1)[:, :5]]
    p = np.array([np.bincount(found).argmax() for found in grid.a[near]])
    names = np.array([f"animal {i}" for i in range(side)])
    return Planted(grid.measured(names[grid.a], names[p]), FAILS, ("shortcut by b", "memorization: a copied answer"))


@learner
def one_factor_alone(rng: np.random.Generator) -> Planted:
    """Of the animals seen at a place, right at a third of them, always the same."""
    grid = animals(rng)
    y = np.array([f"animal {i}" for i in grid.a])
    result = grid.measured(y, grid.level(y, grid.b))
    return Planted(result, ("not fitted", *FAILS), ("shortcut by b",), remark="vary with a")


@learner
def a_sum_for_what_does_not_add_up(rng: np.random.Generator) -> Planted:
    """Exclusive or, by least squares over levels: it fits some of it, and is wrong about most of the rest."""
    grid = Grid.of(rng, 12, (8, 8))
    y = (grid.a + grid.b) % 2
    names = np.array(["same", "other"])
    return Planted(grid.measured(names[y], names[(grid.summed(y - 0.5) > 0).astype(int)]), (*FAILS, "not fitted"),
                   ("additive rule", "memorization: a copied answer"))  # fmt: skip


@learner
def too_weak_for_the_rule(rng: np.random.Generator) -> Planted:
    """Knows what one factor adds and nothing of the other, at seen and unseen combinations alike."""
    grid = Grid.of(rng, 12)
    one, two = rng.normal(size=(2, 20))
    y = one[grid.a] + two[grid.b] + 0.3 * rng.normal(size=len(grid.a))
    return Planted(grid.measured(y, one[grid.a]), ("not fitted", "composes", "unclear"))


@learner
def too_weak_at_levels_that_are_mostly_unseen(rng: np.random.Generator) -> Planted:
    """Guesses at some places, wherever the combination was seen; these are hidden above all."""
    side, rows = int(rng.integers(7, 10)), 12
    hard = np.arange(side) < 3
    a, b = np.indices((side, side)).reshape(2, -1).repeat(rows, axis=1)
    hidden = rng.random((side, side)) < np.where(hard, 0.75, 0.1)
    hidden[np.arange(side), np.arange(side)] = False
    grid = Grid(a, b, hidden[a, b], ~hidden[a, b] & (rng.random(len(a)) < 0.25))
    y = np.array([f"class {c}" for c in a % 5])
    p = with_errors(rng, y, np.where(hard[b], 0.8, rng.uniform(0.12, 0.25)))
    return Planted(grid.measured(y, p), ("not fitted", "unclear"))


@learner
def learns_noise_by_heart_in_part(rng: np.random.Generator) -> Planted:
    grid = Grid.of(rng, 16)
    y, guess = np.array(["x", "y", "z"])[rng.integers(3, size=(2, len(grid.a)))]
    learnt = grid.known & (rng.random(len(grid.a)) < rng.uniform(0.3, 0.8))
    return Planted(grid.measured(y, np.where(learnt, y, guess)), ("not fitted", "overfits", "unclear"))


@learner
def outliers_among_seen_rows(rng: np.random.Generator) -> Planted:
    """The true mean, where some new rows of seen combinations are far off."""
    grid = Grid.of(rng, 12)
    mean = numbers(rng, grid, 0.0)
    y = blurred(rng, mean, 0.2)
    far = rng.choice(np.flatnonzero(grid.fresh), 3, replace=False)
    y[far] += 8 * mean.std() * rng.choice([-1, 1], size=3)
    return Planted(grid.measured(y, mean), ("composes", "unclear"))


@learner
def right_but_for_a_constant(rng: np.random.Generator) -> Planted:
    """All answers to unseen combinations are too high, or too low, by one number."""
    grid = Grid.of(rng, int(rng.choice([4, 8])))
    mean = numbers(rng, grid, float(rng.uniform(0, 1)))
    off = rng.choice([-1, 1]) * rng.uniform(0.7, 1.5) * mean.std()
    return Planted(grid.measured(blurred(rng, mean, 0.1), mean + off * grid.unseen), FAILS)


@learner
def flipped_labels(rng: np.random.Generator) -> Planted:
    """Of two classes, unseen combinations mostly get the other one."""
    grid = Grid.of(rng, 12)
    score = numbers(rng, grid, 0.5)
    y = (score > np.median(score)).astype(int)
    p = np.where(grid.unseen & (rng.random(len(y)) < rng.uniform(0.9, 1)), 1 - y, y)
    names = np.array(["no", "yes"])
    return Planted(grid.measured(names[y], names[p]), FAILS)


@learner
def nothing_to_learn(rng: np.random.Generator) -> Planted:
    """One number and noise, and a learner that says this number, or a little else of each combination."""
    grid = Grid.of(rng, 8)
    p = rng.choice([0, 0.2]) * rng.normal(size=(20, 20))[grid.a, grid.b]
    return Planted(grid.measured(rng.normal(size=len(p)), p), ("not fitted", "unclear", "composes"))
