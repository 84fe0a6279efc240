"""What a model can be asked beyond its answers: does a redundant factor move it, does it draw sums of what it has
seen, does it mix factors that its input keeps apart?

Each gives evidence, or in a sentence the reason why it does not apply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from recombine.measures._factorization import additive
from recombine.measures._geometry import kernel_of
from recombine.measures._superposition import share
from recombine.measures._swap import redrawn_flips
from recombine.measures.activations import INPUT, activations
from recombine.measures.gaps import _evaluate
from recombine.measures.shapes import PICTURE, alike
from recombine.mechanisms import Answers, Finding
from recombine.mechanisms.answers.finding import LIFT
from recombine.mechanisms.answers.names import brief
from recombine.statistics import FEW, FloatArray, Over, interval
from recombine.tasks import Draws, Task
from recombine.training import Ensemble
from recombine.training.stack import initial

MOVED = 0.05
"""A redundant factor is said to move the answer where it does so more often than this, …"""
CHANCE, SHUFFLES, PAIRED = 0.01, 400, 400
"""… and where unseen combinations at one of its levels get more alike wrong answers than at shuffled levels, at this
chance, over so many shuffles of at most so many combinations."""
BY_HEART = (
    "That wrong answers to unseen combinations are more alike at one of its levels than elsewhere is not shown "
    "(p = {:.2f}), and a learner of single combinations would flip as well."
)
HALF = 0.5
APART = 0.9
"""Share of the input that has to be a sum over factors before mixing them is worth a word."""
UNTRAINED = 4
CELLS = 400
LAYERS = 6
LAYER_KINDS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.ReLU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.LeakyReLU, nn.ELU)


def redundant_influence(
    ensemble: Ensemble, task: Task, answers: Answers, over: Over, count: int, seed: int, one: int | None = None
) -> list[Finding] | str:
    """How often the answer flips when a factor is redrawn that the right answer does not depend on, beside how often it
    does when the factor stays and only the example is another. ``one``: which of several labels the answers are."""
    if answers.classes is None or not answers.space.finite:
        return "it counts flips of a class between levels, and the answers or the factors are numbers"
    if min(task.space.shape) < 2:
        return "a factor has one level only and cannot be redrawn"
    ignored = [j for j in range(len(task.space.components)) if _ignored(answers, task, j)]
    if not ignored:
        return "every factor changes the right answer, so none is redundant"
    found = []
    for j in ignored:
        name = brief("·".join(task.space.components[j]))
        flips = redrawn_flips(ensemble, task, j, count, seed, one)
        if isinstance(flips, str):
            return flips
        few = flips.moved.shape[1] < FEW and over.members == 1
        pair = (flips.moved, -flips.still) if few else (flips.moved - flips.still,)
        excess = over.mean(*pair, counts=[flips.counts] * len(pair))
        by_chance = _alike_by_chance(answers, task, j, seed)
        by_heart = by_chance is not None and by_chance > CHANCE
        value = over.mean(flips.moved, counts=[flips.counts]).within(0, 1)
        found.append(
            Finding(
                f"influence {j + 1}",
                f"redundant influence of {name}",
                f"answers that flip when {name} is redrawn, on which the right answer does not depend",
                value,
                chance=float(flips.still.mean()),
                reference=flips.still_is,
                speaks=excess.bounded and excess.low > MOVED and not by_heart,
                limit=f"More often than without redrawing it: {excess.mean:.2f} [{excess.low:.2f}, {excess.high:.2f}]. "
                + (BY_HEART.format(by_chance) if by_heart else "That it moves the answer does not say why."),
            )
        )
    return found


def _alike_by_chance(answers: Answers, task: Task, component: int, seed: int) -> float | None:
    """How often shuffled levels of a component make wrong answers to unseen combinations at one level as much alike as
    its own levels do, beside those of as equal or unequal right answers. A learner of single combinations answers what
    it has not seen without regard to any level. Null where no two unseen combinations share a level, or all do."""
    rng = np.random.default_rng(seed)
    rows = _drawn(np.flatnonzero(answers.unseen), PAIRED, rng)
    levels = answers.codes[rows][:, [task.space.position(name) for name in task.space.components[component]]]
    level = np.unique(levels, axis=0, return_inverse=True)[1].ravel()
    right = np.unique(answers.target[rows].round(6), axis=0, return_inverse=True)[1].ravel()
    said = np.where(answers.target[rows] > 0, 0.0, np.nan_to_num(answers.predicted[:, rows]))
    alike = np.einsum("mic,mjc->ij", said, said)
    pair = np.triu_indices(len(rows), 1)
    agree, same = alike[pair], right[pair[0]] == right[pair[1]]
    for kind in (same, ~same):
        agree[kind] -= agree[kind].mean() if kind.any() else 0.0

    def shared(levels: NDArray[np.int64]) -> float:
        return float(agree[levels[pair[0]] == levels[pair[1]]].mean())

    together = level[pair[0]] == level[pair[1]]
    if together.all() or not together.any():
        return None
    found, shuffled = shared(level), (shared(rng.permutation(level)) for _ in range(SHUFFLES))
    return (1 + sum(other >= found - 1e-12 for other in shuffled)) / (1 + SHUFFLES)


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
    ensemble: Ensemble, task: Task, answers: Answers, over: Over, seed: int, most: int = 12, known: int = 150
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
    form = alike(*parts[0][:2], task)
    compared = [form(o, t) for o, t, _ in parts]
    outputs = torch.cat([o.flatten(2) for o, _ in compared], 1).double().cpu().numpy()
    right = torch.cat([t.flatten(1) for _, t in compared]).double().cpu().numpy()
    if right.shape[1] < PICTURE:
        return f"an answer has {right.shape[1]} number{'s' if right.shape[1] > 1 else ''}; a picture needs {PICTURE}"
    background = np.median(right[: len(rows[0])], axis=0)
    each = np.stack([_shares(o - background, len(rows[0])) for o in outputs])
    truth = _shares(right - background, len(rows[0]))
    kept = np.isfinite(each).all(axis=0) & np.isfinite(truth)
    if kept.sum() < 2:
        return "almost all unseen pictures are blank"
    value = replace(over, members=len(each)).mean(each[:, kept]).within(0, 1)
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
    """How much less of the activity is a sum over two factors in the most mixed layer than in the input, beside the
    same in networks of these layers that learnt nothing."""
    space = task.space
    if not space.finite or len(space) != 2 or not 9 <= space.size <= CELLS:
        return f"it looks at a grid of two factors with 9 to {CELLS} combinations"
    names = [name for name, part in ensemble.module.named_modules() if isinstance(part, LAYER_KINDS)]
    if len(names) < 2:
        return "the model has no layers that are known by kind (linear, convolution, activation)"
    if len(ensemble) < 2:
        return "one model gives no interval; it is looked at in several members"
    names = [names[i] for i in np.unique(np.linspace(0, len(names) - 2, min(LAYERS, len(names) - 1)).astype(int))]
    points = torch.as_tensor(space.grid(), device=ensemble.device)
    inputs, _ = task.examples(points, Draws.single(seed, "re-entanglement", ensemble.device))
    if not isinstance(inputs, Tensor) or not inputs.is_floating_point():
        return "it looks at models of one input of numbers"
    modules = [initial(ensemble.module, i, seed, ensemble.flat.dtype) for i in range(UNTRAINED)]
    state = [{**dict(m.named_parameters()), **dict(m.named_buffers())} for m in modules]
    tensors = {name: torch.stack([one[name].detach() for one in state]).to(ensemble.device) for name in state[0]}
    fresh = Ensemble.of(tensors, tuple(range(UNTRAINED)), ensemble.module)
    lost = [_lost(ensemble, m, inputs, names, space.shape) for m in ensemble.members[:16]]
    blank = [_lost(fresh, m, inputs, names, space.shape) for m in fresh.members]
    if any(found is None for found in (*lost, *blank)):
        return "a layer does not give one activation per example"
    before = float(np.mean([found[0] for found in lost if found]))
    value = interval([found[1] for found in lost if found])
    chance = float(np.mean([found[1] for found in blank if found]))
    return Finding(
        "re-entanglement",
        "re-entanglement",
        "share of the activity that is a sum over factors, lost between the input and the most mixed layer",
        value,
        chance=chance,
        reference="of untrained networks",
        speaks=value.bounded and value.low > HALF and before >= APART and value.low - chance >= LIFT * (1 - chance),
        limit=f"In the input this share is {before:.2f}. Mixing is not failing: a product code can compose as well.",
    )


def _lost(
    ensemble: Ensemble, member: int, inputs: Tensor, names: Sequence[str], shape: Sequence[int]
) -> tuple[float, float] | None:
    """The additive share of the input, and how much of it is lost in the most mixed layer."""
    acts = activations(ensemble, member, inputs, [INPUT, *names])
    if any(len(a) != len(inputs) for a in acts.values()):
        return None
    scores = {n: additive(kernel_of(a - a.median(0).values, shape[0], shape[1])) for n, a in acts.items()}
    start = scores.pop(INPUT)
    return start, start - min(scores.values())


def taken(name: str, found: object, evidence: list[Finding], left_out: dict[str, str]) -> None:
    """Keep the evidence, or the reason why there is none."""
    if isinstance(found, str):
        left_out[name] = found
    elif isinstance(found, Finding):
        evidence.append(found)
    elif isinstance(found, list):
        evidence += found
