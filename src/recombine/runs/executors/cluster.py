"""A Ray cluster: one that is there, or one of this machine alone. Placement, retries and lost nodes are Ray's."""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Self

from recombine.errors import InputError
from recombine.runs.executors.executor import Work
from recombine.runs.executors.worker import WorkerError, in_worker
from recombine.runs.work import Answer, Piece

RETRIES = 3
"""How often Ray begins a piece again whose worker or node was lost."""
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0", "RAY_DEDUP_LOGS": "0"}
OBJECTS = 80 * 2**20
"""Bytes of a local Ray's object store. Only descriptions and answers pass through it: tables go to the store."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Cluster:
    """Each piece is a task of one core, and of one GPU where the cluster has any and the device is not the CPU."""

    apart = True

    def __init__(self, address: str | None, device: str) -> None:
        self.address, self.device = address or os.environ.get("RAY_ADDRESS") or None, device
        self.workers = 1
        self.mine = False

    def __enter__(self) -> Self:
        ray = _ray()
        if not ray.is_initialized():
            self._connect(ray)
            self.mine = True
        there = ray.cluster_resources()
        gpus = int(there.get("GPU", 0))
        if self.device == "auto":
            self.device = "cuda" if gpus else "cpu"
        if self.device.startswith("cuda") and not gpus:
            self.__exit__()
            raise InputError("this Ray cluster has no GPU; use --device cpu.")
        self.workers = max(1, gpus if self.device.startswith("cuda") else int(there.get("CPU", 1)))
        return self

    def __exit__(self, *exception: object) -> None:
        if self.mine:
            _ray().shutdown()

    def each(self, work: Work, pieces: Sequence[Piece]) -> Iterator[Answer]:
        ray = _ray()
        needs: dict[str, Any] = {"num_cpus": 1, "max_retries": RETRIES}
        if self.device.startswith("cuda"):
            # Else Ray ends the process after each task that has a GPU, and every piece pays for starting torch again.
            needs |= {"num_gpus": 1, "max_calls": 0}
        remote, shared = ray.remote(**needs)(_one), ray.put(work)
        waiting = {remote.remote(shared, piece): piece for piece in pieces}
        try:
            while waiting:
                done, _ = ray.wait(list(waiting), num_returns=1)
                for reference in done:
                    yield _answer(ray, reference, waiting.pop(reference))
        finally:
            for reference in waiting:
                ray.cancel(reference, force=True)

    def _connect(self, ray: Any) -> None:
        quiet()
        how: dict[str, Any] = {"log_to_driver": False, "configure_logging": False, "logging_level": logging.ERROR}
        if self.address is None:
            how |= {"include_dashboard": False, "object_store_memory": OBJECTS}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # What matters of them is in the error that follows.
                ray.init(address=self.address or "local", **how)
        except (ConnectionError, TimeoutError, RuntimeError, ValueError) as error:
            where = self.address or "a local Ray"
            raise InputError(f"cannot reach {where}: {' '.join(str(error).split())[:200]}") from None


def quiet() -> None:
    """Have Ray report nothing to anybody, and say only what went wrong."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    logging.getLogger("ray").setLevel(logging.ERROR)


def _one(work: Work, piece: Piece) -> Answer:
    return in_worker(work, piece)


def _answer(ray: Any, reference: Any, piece: Piece) -> Answer:
    try:
        answer: Answer = ray.get(reference)
    except ray.exceptions.RayError as error:
        # Its worker was lost more often than Ray tries again, or what it needs cannot be had.
        words = " ".join(_COLOURS.sub("", str(error)).split())[:500]
        return Answer(piece.run.address, "lost", WorkerError(f"{type(error).__name__}: {words}"))
    return answer


def _ray() -> Any:
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise InputError("Ray is not installed; pip install 'recombine[cluster]', or use --on processes.") from None
    return ray
