"""How faults are put into a process: at the k-th change of a file, from the k-th step on, in the clock, in the limits.

Changes of files are seen through Python's audit hooks, whichever function makes them and however it was imported."""

from __future__ import annotations

import ctypes
import datetime
import errno
import os
import resource
import signal
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CHANGES = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate", "os.link", "os.symlink"}
_MS_RDONLY, _MS_REMOUNT, _MS_REC, _MS_PRIVATE = 1, 32, 16384, 1 << 18
_CLONE_NEWNS = 0x20000


def on_changes(folder: Path, act: Callable[[int], None]) -> None:
    """Before the k-th change of a file below ``folder``, call ``act(k)``, k = 1, 2, …; what it raises forbids it."""
    root, count, busy = os.path.realpath(folder), 0, False

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count, busy
        if busy or not (event in _CHANGES or (event == "open" and (arguments[2] or 0) & _WRITES)):
            return
        path = arguments[0]
        if not isinstance(path, (str, bytes, os.PathLike)) or not os.path.realpath(os.fsdecode(path)).startswith(root):
            return
        count, busy = count + 1, True
        try:
            act(count)
        finally:
            busy = False

    sys.addaudithook(hook)


def kill() -> None:
    """SIGKILL to oneself: nothing is tidied up."""
    os.kill(os.getpid(), signal.SIGKILL)


def kill_at(folder: Path, change: int) -> None:
    """SIGKILL before the given change of a file."""
    on_changes(folder, lambda k: kill() if k == change else None)


def tear_at(folder: Path, sync: int) -> None:
    """SIGKILL in the middle of a write: half of the file that is about to be synced is there."""
    real, count = os.fsync, 0

    def half(descriptor: int) -> None:
        nonlocal count
        there = os.fstat(descriptor)
        count += stat.S_ISREG(there.st_mode)
        if count == sync:
            os.truncate(descriptor, there.st_size // 2)
            kill()
        real(descriptor)

    os.fsync = half


def refuse_from(folder: Path, change: int, number: int = errno.EROFS) -> None:
    """Every change of a file from the given one on is an error of the operating system."""

    def act(k: int) -> None:
        if k >= change:
            raise OSError(number, os.strerror(number))

    on_changes(folder, act)


def limit_files(size: int) -> None:
    """No file may grow beyond ``size`` bytes: the write that would is the error EFBIG, whoever makes it."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def own_disk(folder: Path, size: int) -> None:
    """A small file system in memory at ``folder``, seen by this process alone."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNS):
        raise OSError(ctypes.get_errno(), "no mount namespace")
    _mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None)
    _mount(b"none", os.fsencode(folder), b"tmpfs", 0, f"size={size}".encode())


def resize_disk(folder: Path, size: int) -> None:
    _mount(b"none", os.fsencode(folder), None, _MS_REMOUNT, f"size={size}".encode())


def protect_disk(folder: Path, read_only: bool) -> bool:
    """Remount the disk; False where a file is open for writing just now."""
    try:
        _mount(b"none", os.fsencode(folder), None, _MS_REMOUNT | (_MS_RDONLY if read_only else 0), None)
    except OSError as error:
        if error.errno == errno.EBUSY:
            return False
        raise
    return True


def _mount(source: bytes, target: bytes, kind: bytes | None, flags: int, data: bytes | None) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(source, target, kind, ctypes.c_ulong(flags), data):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def jump_clock(years: float) -> None:
    """The calendar of this process stands ``years`` away from what it is; the monotonic clock is as it was."""
    away = years * 365.25 * 86400
    real, real_ns = time.time, time.time_ns
    time.time = lambda: real() + away
    time.time_ns = lambda: real_ns() + int(away * 1e9)

    class Jumped(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> datetime.datetime:  # type: ignore[override]
            return datetime.datetime.fromtimestamp(real() + away, tz)

    for name, module in list(sys.modules.items()):
        if name.startswith("recombine"):
            for attribute, value in list(vars(module).items()):
                if value is datetime.datetime:
                    setattr(module, attribute, Jumped)


def run_out_of_memory_at(step: int, larger_than: int = 1) -> None:
    """The step of a stack of more than ``larger_than`` members is one allocation too much, from the given one on."""
    import torch

    from recombine.training.strategies import Stacked

    real, count = Stacked.step, 0

    def failing(self: Stacked, *arguments: Any) -> Any:
        nonlocal count
        if len(self.stack) > larger_than:
            count += 1
            if count >= step:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return real(self, *arguments)

    Stacked.step = failing  # type: ignore[method-assign]
