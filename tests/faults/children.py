"""Functions in processes of their own, forked from one that has imported everything: a round takes tenths of a second.

What a child prints comes back through a pipe, so that a full disk cannot swallow it."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from typing import Any
from unittest import mock

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["warm"])


@dataclass
class Child:
    """A process that was started; `finish` waits for it."""

    process: Any
    output: Connection

    def finish(self, code: int = 0, timeout: float = 120) -> str:
        """Wait, and give what was printed; another exit code is an error that shows it."""
        printed = bytearray()
        try:
            while piece := os.read(self.output.fileno(), 65536):
                printed += piece
        finally:
            self.output.close()
        self.process.join(timeout)
        text = printed.decode(errors="replace")
        assert self.process.exitcode == code, f"ended with {self.process.exitcode} instead of {code}:\n{text}"
        self.process.close()
        return text


def start(function: Callable[..., Any], *arguments: Any) -> Child:
    """Call a function of a module in a child of its own."""
    with mock.patch.dict(
        os.environ, PYTHONPATH=os.pathsep.join(sys.path)
    ):  # for the process that forks: it imports warm
        forkserver.ensure_running()
    reading, writing = _forks.Pipe(duplex=False)
    process = _forks.Process(target=_call, args=(writing, function, arguments), daemon=True)
    process.start()
    writing.close()
    return Child(process, reading)


def call(function: Callable[..., Any], *arguments: Any, code: int = 0) -> str:
    """Call a function in a child, wait, and give what it printed."""
    return start(function, *arguments).finish(code)


def _call(output: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    os.dup2(output.fileno(), 1)
    os.dup2(output.fileno(), 2)
    output.close()
    assert "warm" in sys.modules, "the process that forks could not import it, and does not say so"
    function(*arguments)
