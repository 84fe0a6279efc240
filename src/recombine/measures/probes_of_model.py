"""What a model can be asked beyond its answers: does a redundant factor move it, does it draw sums of what it has
seen, does it mix factors that its input keeps apart?

Each gives evidence, or in a sentence the reason why it does not apply.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from recombine.measures._factorization import additive
from recombine.measures._geometry import kernel_of
from recombine.measures._superposition import share
from recombine.measures._swap import swap
from recombine.measures.activations import INPUT, activations
from recombine.measures.gaps import _evaluate
from recombine.mechanisms import Answers, Finding
from recombine.mechanisms.finding import HALF, LIFT
from recombine.mechanisms.names import brief
from recombine.statistics import FloatArray, Interval, Statistic, Summary, interval
from recombine.tasks import Draws, Task
from recombine.training import Ensemble

MOVED = 0.05
"""A redundant factor is said to move the answer where it does so more often than this."""
PICTURE = 8
"""Numbers an answer needs before it is looked at as a picture."""
APART = 0.9
"""Share of the input that has to be a sum over factors before mixing them is worth a word."""
CELLS = 400
LAYERS = 6
LAYER_KINDS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.ReLU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.LeakyReLU, nn.ELU)


def over_members(statistic: Statistic, sizes: Sequence[int]) -> Interval:
    """A figure with its interval over members."""
    values = statistic(*[np.arange(size) for size in sizes])
    return interval(values[np.isfinite(values)])


def redundant_influence(ensemble: Ensemble, task: Task, answers: Answers, count: int, seed: int) -> list[Finding] | str:
    """How often the answer flips when a factor is redrawn that the right answer does not depend on."""
    if answers.classes is None or not answers.space.finite:
        return "it counts flips of a class between levels, and the answers or the factors are numbers"
    if min(task.space.shape) < 2:
        return "a factor has one level only and cannot be redrawn"
    ignored = [j for j in range(len(task.space.components)) if _ignored(answers, task, j)]
    if not ignored:
        return "every factor changes the right answer, so none is redundant"
    flips = swap(ensemble, task, count, seed)
    found = []
    for j in ignored:
        name = "·".join(task.space.components[j])
        values = flips.filter(flips["component"] == name)["flip"].to_numpy()
        value = over_members(lambda *_, v=values: v, []) if len(values) > 1 else _of_examples(float(values[0]), count)
        found.append(
            Finding(
                f"influence {j + 1}",
                f"redundant influence of {brief(name)}",
                f"answers that flip when {brief(name)} is redrawn, on which the right answer does not depend",
                value,
                chance=0.0,
                reference="should be",
                speaks=value.bounded and value.low > MOVED,
                limit="Factors are drawn independently, seen or not; that it moves the answer does not say why.",
            )
        )
    return found


def _of_examples(share_: float, count: int) -> Interval:
    half = 1.96 * float(np.sqrt(share_ * (1 - share_) / count))
    return Interval(share_, share_ - half, share_ + half, over="examples", count=count).within(0, 1)


def _ignored(answers: Answers, task: Task, component: int) -> bool:
    """Whether the right answer is the same at all combinations that differ in this component alone."""
    mine = [task.space.position(name) for name in task.space.components[component]]
    rest = np.delete(answers.codes, mine, axis=1)
    _, group = np.unique(rest, axis=0, return_inverse=True)
    group = group.ravel()
    if np.bincount(group).max() < 2:
        return False
    sums = np.zeros((group.max() + 1, answers.target.shape[1]))
    np.add.at(sums, group, answers.target)
    means = sums / np.bincount(group)[:, None]
    return bool(np.allclose(answers.target, means[group], atol=1e-6))


def superposed(
    ensemble: Ensemble, task: Task, answers: Answers, over: Summary, seed: int, most: int = 12, known: int = 150
) -> Finding | str:
    """The share of an unseen answer's energy that a sum of seen answers, none of them negative, accounts for."""
    if answers.classes is not None:
        return "the answers are classes, not pictures"
    if not answers.unseen.any():
        return "no unseen combination was asked about"
    rng = np.random.default_rng(seed)
    rows = [_drawn(np.flatnonzero(mask), size, rng) for mask, size in ((answers.seen, known), (answers.unseen, most))]
    chosen = answers.codes[np.concatenate(rows)]
    parts = list(_evaluate(ensemble.select(list(ensemble.members[:4])), task, chosen, 1, seed))
    outputs = torch.cat([p[0] for p in parts], 1).flatten(2).double().cpu().numpy()
    right = torch.cat([p[1] for p in parts]).flatten(1).double().cpu().numpy()
    if right.shape[1] < PICTURE:
        return f"an answer has {right.shape[1]} number{'s' if right.shape[1] > 1 else ''}; a picture needs {PICTURE}"
    background = np.median(right[: len(rows[0])], axis=0)
    each = np.stack([_shares(o - background, len(rows[0])) for o in outputs])
    truth = _shares(right - background, len(rows[0]))
    kept = np.isfinite(each).all(axis=0) & np.isfinite(truth)
    if kept.sum() < 2:
        return "almost all unseen pictures are blank"
    value = over(lambda at: each[:, kept][:, at].mean(axis=1), [int(kept.sum())]).within(0, 1)
    chance = float(truth[kept].mean())
    return Finding(
        "superposition",
        "superposition of seen answers",
        "share of an unseen picture that a non-negative sum of seen ones accounts for",
        value,
        chance=chance,
        reference="of the right pictures",
        speaks=value.bounded and value.low > HALF and value.low - chance >= LIFT * (1 - chance),
        limit="A smooth picture is always partly a sum of its neighbours.",
    )


def _drawn(rows: NDArray[np.int64], most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


def _shares(pictures: FloatArray, known: int) -> FloatArray:
    energy = np.square(pictures).sum(axis=1)
    blank = energy <= 1e-3 * energy[:known].mean()
    return np.array(
        [np.nan if b else share(pictures[:known], o) for o, b in zip(pictures[known:], blank[known:], strict=True)]
    )


def reentanglement(ensemble: Ensemble, task: Task, seed: int) -> Finding | str:
    """How much less of the activity is a sum over two factors in the most mixed layer than in the input."""
    space = task.space
    if not space.finite or len(space) != 2 or not 9 <= space.size <= CELLS:
        return f"it looks at a grid of two factors with 9 to {CELLS} combinations"
    names = [name for name, part in ensemble.module.named_modules() if isinstance(part, LAYER_KINDS)]
    if len(names) < 2:
        return "the model has no layers that are known by kind (linear, convolution, activation)"
    names = [names[i] for i in np.unique(np.linspace(0, len(names) - 2, min(LAYERS, len(names) - 1)).astype(int))]
    points = torch.as_tensor(space.grid(), device=ensemble.device)
    inputs, _ = task.examples(points, Draws.single(seed, "re-entanglement", ensemble.device))
    if not isinstance(inputs, Tensor) or not inputs.is_floating_point():
        return "it looks at models of one input of numbers"
    drops, start = [], []
    for member in ensemble.members[:16]:
        acts = activations(ensemble, member, inputs, [INPUT, *names])
        if any(a.shape[0] != space.size for a in acts.values()):
            return "a layer does not give one activation an example"
        scores = {n: additive(kernel_of(a - a.median(0).values, *space.shape)) for n, a in acts.items()}
        start.append(scores.pop(INPUT))
        drops.append(scores and start[-1] - min(scores.values()))
    before = float(np.mean(start))
    value = over_members(lambda *_: np.array(drops, dtype=float), [])
    return Finding(
        "re-entanglement",
        "re-entanglement",
        "share of the activity that is a sum over factors, lost between the input and the most mixed layer",
        value,
        chance=0.0,
        reference="none lost",
        speaks=value.bounded and value.low > HALF and before >= APART,
        limit=f"In the input this share is {before:.2f}. Mixing is not failing: a product code can compose as well. "
        "It is named for several members only, as one model gives no interval.",
    )


def taken(name: str, found: object, evidence: list[Finding], left_out: dict[str, str]) -> None:
    """Keep the evidence, or the reason why there is none."""
    if isinstance(found, str):
        left_out[name] = found
    elif isinstance(found, Finding):
        evidence.append(found)
    elif isinstance(found, list):
        evidence += found
