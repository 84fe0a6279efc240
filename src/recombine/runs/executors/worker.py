"""What a worker that is another process needs: its share of the machine, and answers that can travel."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from contextlib import suppress
from dataclasses import replace

from recombine.runs.executors.executor import Work
from recombine.runs.work import Answer, Piece


class WorkerError(Exception):
    """What a run raised on a worker, in words, where the error itself cannot leave its process."""


def in_worker(work: Work, piece: Piece, lane: int = 0) -> Answer:
    """``work`` on a piece in a process that belongs to another."""
    import torch

    # Two processes that each use all cores wait for each other.
    torch.set_num_threads(1)
    if piece.device != "cpu" and torch.cuda.is_available():
        torch.cuda.set_device(lane % torch.cuda.device_count())
    with suppress(ValueError):
        # Ctrl-C on a terminal reaches every process; it is for the one that was started to end the others.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    answer = work(piece)
    return replace(answer, error=_portable(answer.error), stored=None)


def end_with_parent(parent: int) -> None:
    """End this process soon after the one that started it has ended without a word."""
    global _watched
    if _watched:
        return
    _watched = True

    def watch() -> None:
        while os.getppid() == parent:
            pause.wait(1.0)
        os._exit(1)

    pause = threading.Event()
    threading.Thread(target=watch, daemon=True).start()


_watched = False


def _portable(error: Exception | None) -> Exception | None:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return WorkerError(f"{type(error).__name__}: {error}")
    return error
