"""What unseen combinations are taken for: combinations that training saw, or others?

A model that has learnt which components go together answers an unseen combination (y_1, y_2) with an a for which
(a, y_2) was seen. BCDLSG (Li 2022) counts such answers, and how many different combinations are answered at all; here
they are compared with what chance would give.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from recombine.errors import InputError
from recombine.measures.gaps import _evaluate
from recombine.space import Codes
from recombine.tasks import Task
from recombine.tasks.abilities import AnswersInParts
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl


def nearest_seen(ensemble: Ensemble, task: Task, count: int = 32, seed: int = 0) -> pl.DataFrame:
    """Answers to unseen combinations. One row per member.

    A task that says which outputs answer a component (``answer_part(i)``) is answered with a whole combination; for any
    other the answer a is the level of the first factor, and the combination is (a, the other levels as asked).
    ``unseen`` is the share of answers that are a combination training never saw; ``snapped`` is the share of *wrong*
    answers that are one training saw, and ``chance`` the same for wrong answers drawn uniformly. A member without wrong
    answers has no ``snapped``. ``combinations`` is how many different ones are answered, and ``perplexity`` how many
    equally frequent ones would be as varied: exp(−Σ p ln p) over their shares p."""
    import polars as pl

    space, points = task.space, task.test.explicit().require_nonempty("test").codes
    strides = np.asarray(space._strides)
    seen = task.train.contains(space.grid())
    asked = points @ strides
    answered = len(space) if isinstance(task, AnswersInParts) else 1
    totals = np.zeros((3, len(ensemble)))
    counts = np.zeros((len(ensemble), len(seen)))
    for outputs, _, rows in _evaluate(ensemble, task, points, count, seed):
        codes = np.repeat(points[rows.start : rows.stop], count, axis=0)
        given = codes[:, answered:] @ strides[answered:] + _answers(task, outputs) @ strides[:answered]
        hit, false = seen[given], given != np.repeat(asked[rows.start : rows.stop], count)
        totals += np.stack([part.sum(1) for part in (~hit, hit & false, false)])
        counts += np.stack([np.bincount(one, minlength=len(seen)) for one in given])
    shares = counts / counts.sum(1, keepdims=True)
    entropy = -(shares * np.log(np.where(shares > 0, shares, 1))).sum(1)
    return pl.DataFrame(
        {
            "member": np.array(ensemble.members, dtype=np.int32),
            "unseen": totals[0] / (len(points) * count),
            "snapped": [h / w if w else None for h, w in zip(totals[1], totals[2], strict=True)],
            "chance": np.full(len(ensemble), _chance(task, points, seen, answered)),
            "combinations": (counts > 0).sum(1),
            "perplexity": np.exp(entropy),
        },
        schema_overrides={"snapped": pl.Float64},
    )


def _answers(task: Task, outputs: Tensor) -> NDArray[np.int64]:
    """The level that is answered for each factor: (members × examples × answered factors)."""
    places = [slice(None)]
    if isinstance(task, AnswersInParts):
        places = [task.answer_part(i) for i in range(len(task.space))]
    parts = [outputs[..., place] for place in places] if outputs.dim() == 3 else []
    wanted = task.space.shape[: len(places)]
    if tuple(part.shape[-1] for part in parts) != wanted:
        levels = " and of ".join(str(n) for n in wanted)
        raise InputError(f"this measure needs one of {levels} classes as an answer: the levels of the first factor.")
    return np.stack([part.argmax(-1).cpu().numpy() for part in parts], -1)


def _chance(task: Task, points: Codes, seen: NDArray[np.bool_], answered: int) -> float:
    """The share of all wrong answers that are a combination training saw."""
    strides = np.asarray(task.space._strides)
    grid = np.indices(task.space.shape[:answered]).reshape(answered, -1).T @ strides[:answered]
    given = (points[:, answered:] @ strides[answered:])[:, None] + grid
    wrong = given != (points @ strides)[:, None]
    return float((seen[given] & wrong).sum() / wrong.sum())
