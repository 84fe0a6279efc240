"""A GPU that is not there: tensors on a device of their own, computed on the CPU under the rules of a CUDA device.

Tensors on `DEVICE` hold numbers, so whatever runs on a GPU can be run to its end, but they do not mix with tensors of
the CPU, numpy cannot look into them, and they refuse what CUDA has no kernel for. Within `PretendGPU.capturing` they
also refuse what a CUDA graph cannot record: to wait for a number, to copy from or to the CPU, shapes that depend on
numbers, and numbers computed on the CPU, which would be recorded once and never change again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "pretend"
DEVICE = torch.device("privateuseone", 0)
"""What PyTorch calls a kind of device that has no name yet."""

# Where the lists of PyTorch's own tests have a type for the CPU and not for CUDA.
NOT_OF_WHOLE_NUMBERS = {
    "mm", "bmm", "mv", "dot", "vdot", "addmm", "_addmm_activation", "addmv", "addbmm", "baddbmm", "linear",
    "convolution", "convolution_backward", "avg_pool2d", "avg_pool3d", "max_pool2d_with_indices",
    "max_pool3d_with_indices",
}  # fmt: skip
NOT_OF_HALF_NUMBERS = {"histc", "igamma", "igammac", "angle"}
NOT_AT_ALL = {"histogram", "_histogramdd_bin_edges", "_histogramdd_from_bin_cts", "_histogramdd_from_bin_tensors"}

COPIES = {"copy_", "_to_copy"}
INDEXING = {"index", "index_put", "index_put_", "_index_put_impl_"}
FROM_NUMBERS = {"lift_fresh", "lift_fresh_copy"}
WAITING = {"_local_scalar_dense", "equal", "is_nonzero", "histc"}
SHAPED_BY_NUMBERS = {
    "nonzero", "masked_select", "bincount", "_unique", "_unique2", "unique_dim", "unique_consecutive",
    "unique_dim_consecutive", "repeat_interleave",
}  # fmt: skip
LOOKING_FOR_FAILURE = {"_linalg_check_errors", "_linalg_svd", "_linalg_eigh", "linalg_eig", "linalg_lstsq"}


class GPUFault(AssertionError):
    """What would fail on a GPU. No RuntimeError, so that nothing takes it for a model that cannot be stacked."""


class _Module:
    """What PyTorch asks of a device. There are none to count: who asks before choosing one finds a CPU alone."""

    def is_initialized(self) -> bool:
        return True

    def is_available(self) -> bool:
        return False

    def device_count(self) -> int:
        return 0

    def current_device(self) -> int:
        return 0

    def manual_seed_all(self, seed: int) -> None: ...

    def _is_in_bad_fork(self) -> bool:
        return False


@cache
def _there_is_one() -> None:
    """Tell PyTorch of the device: once a process, and in those alone that pretend."""
    _setup_privateuseone_for_python_backend(NAME, _Module())


class OnGPU(Tensor):
    """A tensor on `DEVICE`; its numbers are in ``inner``."""

    inner: Tensor

    @staticmethod
    def __new__(cls, inner: Tensor) -> OnGPU:
        made: OnGPU = Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls, inner.size(), strides=inner.stride(), storage_offset=inner.storage_offset(), dtype=inner.dtype,
            layout=inner.layout, device=DEVICE,
        )  # fmt: skip
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise GPUFault(f"{func} where no GPU is pretended.")

    __torch_function__ = torch._C._disabled_torch_function_impl

    def numpy(self, *, force: bool = False) -> Any:
        raise GPUFault("numpy cannot look into a tensor on a GPU; copy it with .cpu() first.")

    def __array__(self, dtype: Any = None) -> Any:
        return self.numpy()

    def tolist(self) -> Any:
        return self.cpu().tolist()

    def data_ptr(self) -> int:
        return self.inner.data_ptr()

    def untyped_storage(self) -> torch.UntypedStorage:
        return self.inner.untyped_storage()

    def __deepcopy__(self, memo: dict[int, Any]) -> OnGPU:
        made = memo[id(self)] = OnGPU(self.inner.clone()).requires_grad_(self.requires_grad)
        if isinstance(self, nn.Parameter):
            made._is_param = True
        return made

    @property
    def data(self) -> Tensor:
        return self.detach()

    @data.setter
    def data(self, new: OnGPU) -> None:
        Tensor.data.__set__(self, new)  # type: ignore[attr-defined]
        self.inner = new.inner


class PretendGPU(TorchDispatchMode):
    """While it is active, there is a GPU called `DEVICE`."""

    def __init__(self) -> None:
        _there_is_one()
        super().__init__()
        self.recording = False

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # there is nothing to skip: nothing is compiled here, and each operation would pay for it

    def __enter__(self) -> PretendGPU:
        # torch.tensor(list, device=…) is then made on the CPU and copied where this is seen.
        self.before = torch._C._only_lift_cpu_tensors()
        torch._C._set_only_lift_cpu_tensors(True)
        super().__enter__()
        return self

    def __exit__(self, *failed: Any) -> None:
        super().__exit__(*failed)
        torch._C._set_only_lift_cpu_tensors(self.before)

    @contextmanager
    def capturing(self) -> Iterator[None]:
        """As while a step is recorded as a CUDA graph."""
        self.recording = True
        try:
            yield
        finally:
            self.recording = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if OnGPU not in types and not self.recording and "device" not in kwargs:
            return func(*args, **kwargs)
        given = _tensors((args, kwargs))
        there = [tensor for tensor in given if isinstance(tensor, OnGPU)]
        target = None if kwargs.get("device") is None else torch.device(kwargs["device"]).type
        if there or target == NAME:
            _check_kernel(func, given, kwargs)
            _check_devices(func, args, given)
        if self.recording:
            _check_recorded(func, args, given, target)
        if target == NAME:
            kwargs["device"] = "cpu"
        if there:
            args, kwargs = _each(_inner, args), _each(_inner, kwargs)
        found = func(*args, **kwargs)
        if target not in (None, NAME) or not (there or target):
            return found
        # What was changed in place is given back itself.
        own = {id(tensor.inner): tensor for tensor in there}
        return _each(lambda made: own[id(made)] if id(made) in own else OnGPU(made), found)


def _check_kernel(func: Any, given: list[Tensor], kwargs: dict[str, Any]) -> None:
    name = _name(func)
    if name in NOT_AT_ALL:
        raise GPUFault(f"{func} has no kernel for CUDA.")
    if name in NOT_OF_WHOLE_NUMBERS and not (given[0].is_floating_point() or given[0].is_complex()):
        raise GPUFault(f"{func} has no kernel for {given[0].dtype} on CUDA; multiply and sum, or use floats.")
    if name in NOT_OF_HALF_NUMBERS and given[0].dtype in (torch.float16, torch.bfloat16):
        raise GPUFault(f"{func} has no kernel for {given[0].dtype} on CUDA.")
    if name == "linalg_lstsq" and kwargs.get("driver") not in (None, "gels"):
        raise GPUFault("linalg.lstsq has no driver but gels on CUDA.")
    if kwargs.get("generator") is not None and kwargs["generator"].device.type != NAME:
        raise GPUFault(f"{func} with a generator of the CPU.")


def _check_devices(func: Any, args: Any, given: list[Tensor]) -> None:
    """A tensor of one number may come from the CPU, as a number may; an index is copied."""
    if _name(func) in COPIES:
        return
    mixed = [*_tensors(args[0]), *_tensors(args[2:])] if _name(func) in INDEXING else given
    if any(not isinstance(tensor, OnGPU) and tensor.dim() for tensor in mixed):
        raise GPUFault(f"{func} of tensors on the CPU and on a GPU.")


def _check_recorded(func: Any, args: Any, given: list[Tensor], target: str | None) -> None:
    name = _name(func)
    devices = {tensor.device.type for tensor in given} | ({target} if target else set())
    if name in FROM_NUMBERS or (name in COPIES and len(devices) > 1):
        raise GPUFault(f"{func} within a step copies from or to the CPU; make what it needs beforehand.")
    if name in WAITING:
        raise GPUFault(f"{func} within a step waits for a number.")
    if name in LOOKING_FOR_FAILURE:
        raise GPUFault(f"{func} within a step waits to see whether it failed.")
    if name in SHAPED_BY_NUMBERS:
        raise GPUFault(f"{func} within a step has a shape that depends on numbers.")
    if name in INDEXING:
        chosen = _tensors(args[1])
        filled = len(args) > 2 and args[2].numel() == 1
        if not filled and any(index.dtype is torch.bool for index in chosen):
            raise GPUFault(f"{func} by a mask within a step has a shape that depends on numbers; use torch.where.")
        if any(not isinstance(index, OnGPU) for index in chosen):
            raise GPUFault(f"{func} within a step copies its indices from the CPU.")
    if devices == {"cpu"}:
        raise GPUFault(f"{func} within a step computes on the CPU.")


def _name(func: Any) -> str:
    return str(func.overloadpacket.__name__)


def _inner(tensor: Tensor) -> Tensor:
    return tensor.inner if isinstance(tensor, OnGPU) else tensor


def _each(change: Callable[[Tensor], Tensor], value: Any) -> Any:
    """A value with every tensor in it changed."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, dict):
        return {name: _each(change, part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        # Named results of an operation become plain tuples, which is all that its callers unpack.
        return (list if isinstance(value, list) else tuple)(_each(change, part) for part in value)
    return value


def _tensors(given: Any) -> list[Tensor]:
    """The tensors among arguments, which may hold lists of them."""
    if isinstance(given, Tensor):
        return [given]
    if isinstance(given, dict):
        given = given.values()
    elif not isinstance(given, (list, tuple)):
        return []
    return [tensor for part in given for tensor in _tensors(part)]
