"""What a sequence model answers by itself: decoded greedily, each token fed back instead of the true one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from recombine.errors import InputError
from recombine.measures._views import means
from recombine.tasks import Draws, Task
from recombine.training import Ensemble
from recombine.training.stack import positional

if TYPE_CHECKING:
    import polars as pl
    from torch import Tensor


def decoded(ensemble: Ensemble, task: Task, count: int = 512, seed: int = 0) -> pl.DataFrame:
    """Mean scores of greedy answers, ŷ_t = argmax f(x, ŷ_<t), on the examples that `views` asks. One row per member and
    view.

    For a task whose inputs are a sequence and the answer moved by one. Whether a whole answer is right, the next-token
    scores of `views` say too; a score that forgives some errors must not be told the truth after making one."""
    import polars as pl

    found = task.views(Draws.single(seed, "views", ensemble.device), count)
    parts = {name: positional(inputs) for name, (inputs, _) in found.items()}
    if any(len(each) != 2 or each[1].dim() != 2 for each in parts.values()):
        raise InputError("greedy decoding needs a task whose inputs are a sequence and the answer moved by one.")
    # All views at once: decoding is as many calls of the model as the answer is long, however many rows there are.
    given, previous = (torch.cat([each[k] for each in parts.values()]) for k in (0, 1))
    with torch.no_grad():
        outputs: Tensor = ensemble.map(greedy(previous.shape[1]), given, previous[:, :1])
    rows: list[dict[str, object]] = []
    for (name, (_, targets)), answers in zip(found.items(), outputs.split(count, 1), strict=True):
        each = torch.vmap(lambda o, t=targets: dict(task.scores(o, t)))(answers)
        rows += means(ensemble, name, each)
    return pl.DataFrame(rows, schema_overrides={"member": pl.Int32})


def greedy(length: int) -> Callable[..., Tensor]:
    """(model, sequence, first token) → scores of each token at each of ``length`` places, given the best before it."""

    def decode(model: Callable[..., Tensor], given: Tensor, tokens: Tensor) -> Tensor:
        scores: list[Tensor] = []
        for _ in range(length):
            scores.append(model(given, tokens)[:, -1])
            tokens = torch.cat([tokens, scores[-1].argmax(-1, keepdim=True)], 1)
        return torch.stack(scores, 1)

    return decode
