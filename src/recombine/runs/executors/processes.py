"""Processes of this machine, one per core, kept by joblib."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Self

from recombine.errors import InputError
from recombine.runs.executors.executor import Work
from recombine.runs.executors.worker import end_with_parent, in_worker
from recombine.runs.work import Answer, Piece

TRIES = 4
"""How often what is left is handed out: a worker may be killed from outside; one that always dies has a reason."""


class Processes:
    """Workers that share this machine. Where one is killed, what is not finished is handed out again."""

    apart = True

    def __init__(self, workers: int, device: str) -> None:
        self.workers, self.device = workers, device

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        from joblib.externals.loky import get_reusable_executor

        get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=any(exception))

    def each(self, work: Work, pieces: Sequence[Piece]) -> Iterator[Answer]:
        from joblib.externals.loky.process_executor import BrokenProcessPool

        left = dict(enumerate(pieces))
        for _ in range(TRIES):
            try:
                for place, answer in self._hand_out(work, left):
                    del left[place]
                    yield answer
                return
            except BrokenProcessPool:
                continue
        fewer = f"processes:{max(1, self.workers // 2)}"
        raise InputError(
            f"worker processes were killed {TRIES} times with {len(left)} pieces of work left, perhaps because memory "
            f"ran out; what is finished is kept: use fewer, such as --on {fewer}."
        )

    def _hand_out(self, work: Work, left: dict[int, Piece]) -> Iterator[tuple[int, Answer]]:
        from joblib import Parallel, delayed, parallel_config

        with parallel_config(backend="loky", n_jobs=self.workers, inner_max_num_threads=1):
            parallel = Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch=2 * self.workers)
            answers = parallel(delayed(_one)(work, place, left[place], os.getpid()) for place in list(left))
        try:
            yield from answers
        finally:
            answers.close()


def share(device: str) -> int:
    """As many processes as there are GPUs, or else cores that this process may use."""
    from recombine.training import pick_device

    if pick_device(device).type == "cuda":
        import torch

        return torch.cuda.device_count()
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _one(work: Work, place: int, piece: Piece, parent: int) -> tuple[int, Answer]:
    end_with_parent(parent)
    return place, in_worker(work, piece, lane=place)
