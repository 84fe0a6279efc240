"""What the usual learners will do: kernel machines of wide networks, in closed form (Lippl & Stachenfeld, ICLR 2025).

    f(q) = Σ_J f_J(q_J),  f_J = 0 for a conjunction never seen     (Thm 4.2)
    shrinkage(q) = x_qᵀ H x_q / x_qᵀ x_q,  H = S Q (S Q + (1 − 2S) I)⁻¹     (two factors; Q: signless Laplacian of
    training)

For more factors the same ratio for independent effects of unit variance comes from the solver. A *shortcut* is a
factor or conjunction whose part of f agrees with the answers in training and opposes them on the asked combinations,
unless the learner keeps to it once it is shown the asked answers too: effects of opposite signs are no shortcut.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import orth

from recombine.checks.adds_up.additivity import interaction
from recombine.checks.exact.identifiability import SEEN, UNSEEN, Identifiability
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.effects import Block
from recombine.errors import InputError
from recombine.kernels import Kernel, ReLU, Solution, expected_shrinkage, fit_least_squares, nngp, subsets
from recombine.kernels.closed_forms import GraphFilter
from recombine.space import Codes
from recombine.support.table import Target

LARGEST_TRAINING = 1_500
MOST_FACTORS = 8
KEPT = 0.5
"""Share of an opposing pull up to which the learner may keep to it once shown the asked answers."""
MOST_SHRUNK = 2_000
"""Queries of three or more factors for which the solver works out the expected shrinkage."""
BY_CHANCE = 0.05
"""p-value from which what goes with the answers in training is taken for chance."""


@dataclass(frozen=True)
class Shortcut:
    """One factor or conjunction that helps in training and hurts where it is asked."""

    factors: tuple[str, ...]
    in_training: float
    """Σ f_J · (y − ȳ) over training combinations, as a share of the whole fit's."""
    when_asked: float
    """The same over the asked combinations; negative: it pulls the wrong way."""
    outweighs: bool
    """Whether it is stronger than everything that pulls the right way."""
    judged_by: str
    """Whose answers the asked side uses."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """Per query: what the learner says, its parts by conjunction, and the share of a random additive rule that
    arrives.
    """

    learner: str
    salience: tuple[float, ...]
    shrinkage: Floats
    """NaN where it does not apply."""
    answers: Floats | None
    """queries (numbers) or queries × classes."""
    parts: dict[tuple[str, ...], Floats] | None
    """By conjunction: its part of the answer (numbers; of the second of two classes as ±1)."""
    shortcut: Shortcut | None


def learner(factors: int, salience: float | None, depth: int) -> tuple[str, Kernel]:
    """The kernel asked for, without its constant: S(1;2) for two factors, else ReLU networks of the given depth."""
    if salience is not None:
        if factors != 2:
            raise InputError(f"a single salience describes two factors, here are {factors}; give the depth instead.")
        if not 0 < salience <= 0.5:
            raise InputError(f"salience is {salience:g}; S(1;2) lies above 0 and at most at 0.5.")
        return f"kernel with salience S = {salience:g}", Kernel.from_normalized([salience])
    if depth < 0:
        raise InputError(f"depth is {depth}; give the number of hidden layers, 0 or more.")
    name = (
        "linear model on one-hot codes"
        if depth == 0
        else f"wide ReLU network, {depth} hidden layer{'s' if depth > 1 else ''}"
    )
    if factors == 1:
        return name, Kernel.from_saliences([0.0, 1.0])
    table = nngp(Kernel.one_hot(factors), ReLU(), depth)[depth]
    return name, Kernel.from_normalized(table.normalized[:-1])


def numbers(target: Target) -> Floats:
    """Mean answers to be fitted: numbers as they are, two classes as ±1, more as one column of shares each."""
    return 2 * target.mean[:, 1] - 1 if target.classes is not None and len(target.classes) == 2 else target.mean


def predict(
    known: Identifiability,
    names: tuple[str, ...],
    queries: Codes,
    status: Ints,
    target: Target | None,
    asked_answers: Floats | None,
    *,
    salience: float | None = None,
    depth: int = 1,
) -> Prediction | str:
    """The closed-form prediction, or a sentence why there is none."""
    if len(known.codes) > LARGEST_TRAINING or len(names) > MOST_FACTORS:
        limits = f"{LARGEST_TRAINING:,} distinct training combinations of up to {MOST_FACTORS} factors"
        return f"no kernel prediction: it is made for up to {limits}."
    if known.curves:
        which = ", ".join(names[k] for k in known.curves)
        return f"no kernel prediction: it is about levels, not about numbers ({which})."
    word, kernel = learner(len(names), salience, depth)
    train = known.codes.astype(np.int64)
    queries = queries.astype(np.int64)
    usable = status != UNSEEN
    shrinkage = np.full(len(queries), np.nan)
    open_queries = np.flatnonzero(usable & (status != SEEN))
    shrinkage[open_queries] = _shrinkage(kernel, known, train, queries[open_queries])
    by_order = tuple(float(s) for s in kernel.normalized)
    if target is None or not (target.count > 0).all() or not usable.any():
        return Prediction(word, by_order, shrinkage, None, None, None)
    return _with_answers(word, by_order, kernel, known, names, queries, usable, shrinkage, target, asked_answers)


def _shrinkage(kernel: Kernel, known: Identifiability, train: Codes, queries: Codes) -> Floats:
    if not len(queries):
        return np.zeros(0)
    if train.shape[1] == 2 and known.order == 1:
        place = [np.cumsum(seen) - 1 for seen in known.seen_levels]
        graph = GraphFilter.of(np.stack([place[0][train[:, 0]], place[1][train[:, 1]]], axis=1))
        return np.asarray(
            graph.shrinkage(
                float(kernel.normalized[0]), np.stack([place[0][queries[:, 0]], place[1][queries[:, 1]]], axis=1)
            )
        )
    shares = np.full(len(queries), np.nan)
    shares[:MOST_SHRUNK] = expected_shrinkage(kernel, train, queries[:MOST_SHRUNK], order=known.order)
    return shares


def _with_answers(
    word: str,
    by_order: tuple[float, ...],
    kernel: Kernel,
    known: Identifiability,
    names: tuple[str, ...],
    queries: Codes,
    usable: NDArray[np.bool_],
    shrinkage: Floats,
    target: Target,
    asked: Floats | None,
) -> Prediction:
    train = known.codes.astype(np.int64)
    y = numbers(target)
    solutions: list[Solution] = [
        fit_least_squares(kernel, train, column, bias=True) for column in (y[:, None] if y.ndim == 1 else y).T
    ]
    answers = np.full((len(queries), len(solutions)), np.nan)
    for column, solution in enumerate(solutions):
        answers[usable, column] = solution.predict(queries[usable])
    if len(solutions) > 1:
        return Prediction(word, by_order, shrinkage, answers, None, None)
    parts = {}
    for chosen in subsets(len(names)):
        values = np.full(len(queries), np.nan)
        values[usable] = solutions[0].part(chosen, queries[usable])
        parts[tuple(names[k] for k in chosen)] = values
    shortcut = _shortcut(solutions[0], kernel, known, names, train, y, queries, usable, asked)
    return Prediction(word, by_order, shrinkage, answers[:, 0], parts, shortcut)


def _shortcut(
    solution: Solution,
    kernel: Kernel,
    known: Identifiability,
    names: tuple[str, ...],
    train: Codes,
    y: Floats,
    queries: Codes,
    usable: NDArray[np.bool_],
    asked: Floats | None,
) -> Shortcut | None:
    if asked is not None:
        told = usable & np.isfinite(asked)
        truth, judged = asked[told], "the asked targets"
    else:
        told = usable & known.rows.contains(queries)
        x = known.rows.floats(train)
        truth = known.rows.floats(queries[told]) @ np.linalg.lstsq(x, y, rcond=None)[0]
        judged = "the additive fit to training"
    centre = float(y.mean())
    if not told.any() or np.allclose(truth, centre) or np.allclose(y, centre):
        return None
    here = {chosen: float(solution.part(chosen, train) @ (y - centre)) for chosen in subsets(len(names)) if chosen}
    there = {chosen: float(solution.part(chosen, queries[told]) @ (truth - centre)) for chosen in here}
    whole, pull = sum(here.values()), sum(v for v in there.values() if v > 0)
    scale = sum(abs(v) for v in there.values())
    if whole <= 0 or scale <= 0:
        return None
    wrong = [chosen for chosen in there if there[chosen] < -1e-9 * scale and here[chosen] > 1e-9 * whole]
    if not wrong:
        return None
    fresh = ~known.members.contains(queries[told])
    more, answers = queries[told][fresh], truth[fresh]
    some = np.linspace(0, len(more) - 1, min(len(more), LARGEST_TRAINING)).round().astype(np.int64)
    more, answers = more[some], answers[some]
    shown = fit_least_squares(kernel, np.concatenate([train, more]), np.concatenate([y, answers]), bias=True)
    before, after = (
        {chosen: float(fit.part(chosen, more) @ (answers - centre)) for chosen in wrong} for fit in (solution, shown)
    )
    wrong = [chosen for chosen in wrong if before[chosen] < 0 and after[chosen] > KEPT * before[chosen]]
    worst_first = sorted(wrong, key=lambda chosen: there[chosen])
    worst = next((chosen for chosen in worst_first if _associated(train, known.shape, chosen, y)), None)
    if worst is None:
        return None
    return Shortcut(
        tuple(names[k] for k in worst), here[worst] / whole, there[worst] / scale, -there[worst] > pull, judged
    )


def _associated(train: Codes, shape: tuple[int, ...], chosen: tuple[int, ...], y: Floats) -> bool:
    """Whether these factors go with the answers in training beyond chance and beyond what fewer of them do; where
    nothing is left to tell chance by, they may."""
    fewer = itertools.combinations(chosen, len(chosen) - 1) if len(chosen) > 1 else [()]
    inner = np.hstack([Block.of(train, shape, part).columns(train).toarray() for part in fewer])
    basis = orth(inner)
    found = interaction(
        "", basis, Block.of(train, shape, chosen).columns(train).toarray(), y - basis @ (basis.T @ y), np.ones(len(y))
    )
    return found is None or found.p_value < BY_CHANCE
