"""The pretended GPU refuses what a GPU cannot do, and computes everything else."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from pretend_gpu import DEVICE, GPUFault, PretendGPU
from torch import Tensor


@pytest.fixture
def gpu() -> Iterator[PretendGPU]:
    with PretendGPU() as mode:
        yield mode


def ones(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.ones(shape, dtype=dtype, device=DEVICE)


ANYWHERE: dict[str, Callable[[], object]] = {
    "a product of whole numbers": lambda: ones(2, 2, dtype=torch.int64) @ ones(2, dtype=torch.int64),
    "a batched product of bytes": lambda: ones(2, 2, 2, dtype=torch.uint8) @ ones(2, 2, 2, dtype=torch.uint8),
    "a product of axes of whole numbers": lambda: torch.einsum("ij,ij->", *[ones(2, 2, dtype=torch.int32)] * 2),
    "a convolution of whole numbers": lambda: torch.conv1d(*[ones(1, 1, 3, dtype=torch.int64)] * 2),
    "the largest of windows of bytes": lambda: torch.max_pool2d(ones(1, 2, 2, dtype=torch.uint8), 2),
    "a histogram": lambda: torch.histogram(ones(3), 2),
    "two devices": lambda: ones(2) + torch.ones(2),
    "places of the CPU": lambda: ones(2).gather(0, torch.zeros(1, dtype=torch.int64)),
    "stacked from two devices": lambda: torch.stack([ones(2), torch.ones(2)]),
    "written from the CPU": lambda: ones(3).index_put((torch.tensor([0, 1], device=DEVICE),), torch.ones(2)),
    "numpy": lambda: ones(2).numpy(),
    "a generator of the CPU": lambda: torch.randn(2, device=DEVICE, generator=torch.Generator()),
}
WITHIN_A_STEP: dict[str, Callable[[], object]] = {
    "item": lambda: ones(1).item(),
    "an if": lambda: bool(ones(1) > 0),
    "a list": lambda: ones(2).tolist(),
    "equal": lambda: torch.equal(ones(2), ones(2)),
    "where it is": lambda: ones(2).nonzero(),
    "chosen by a mask": lambda: ones(2)[ones(2) > 0],
    "written by a mask": lambda: ones(2).index_put((ones(2) > 0,), ones(2)),
    "distinct": lambda: ones(2).unique(),
    "repeated by numbers": lambda: ones(2).repeat_interleave(ones(2, dtype=torch.int64)),
    "a copy to the CPU": lambda: ones(2).cpu(),
    "a copy from the CPU": lambda: torch.zeros(2).to(DEVICE),
    "a tensor of numbers": lambda: torch.tensor([1.0, 2.0], device=DEVICE),
    "an index of the CPU": lambda: ones(2)[[0, 1]],
    "singular values": lambda: torch.linalg.svdvals(ones(2, 2)),
    "an inverse": lambda: torch.linalg.inv(torch.eye(2, device=DEVICE)),
}


@pytest.mark.parametrize("name", ANYWHERE)
def test_what_no_gpu_does_is_refused(gpu: PretendGPU, name: str) -> None:
    with pytest.raises(GPUFault):
        ANYWHERE[name]()


@pytest.mark.parametrize("name", WITHIN_A_STEP)
def test_what_no_graph_records_is_refused_within_a_step_only(gpu: PretendGPU, name: str) -> None:
    WITHIN_A_STEP[name]()
    with pytest.raises(GPUFault), gpu.capturing():
        WITHIN_A_STEP[name]()
    WITHIN_A_STEP[name]()


def test_what_a_graph_records_is_computed(gpu: PretendGPU) -> None:
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]], device=DEVICE, requires_grad=True)
    with gpu.capturing():
        y = torch.where(x > 0, x, torch.zeros((), device=DEVICE)).masked_fill(x > 3, 7.0) @ x.detach()
        y[:, 0].mul_(2)
        y.sum().backward()
        places = torch.arange(2, device=DEVICE)[x.detach().argmax(1)]
    assert x.grad is not None
    assert y.tolist() == [[2.0, -2.0], [48.0, 22.0]]
    assert x.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert places.tolist() == [0, 1]


def test_outside_there_is_no_gpu() -> None:
    with PretendGPU():
        there = ones(2)
    with pytest.raises(GPUFault):
        there + 1
    assert torch.tensor([1.0]).device.type == "cpu"
