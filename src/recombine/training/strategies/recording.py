"""A function of tensors as the flat list of operations that it came down to.

PyTorch's own ``make_fx`` makes the same list, and a description of every tensor in it besides, for compilers: that
takes several times as long (.15 s for .02 s on a small perceptron), and most of a short training.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx
from torch.fx.graph import _PyTreeCodeGen, _PyTreeInfo
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map
from torch.utils.weak import WeakTensorKeyDictionary

ATEN = torch.ops.aten
RESHAPES = {ATEN.expand.default, ATEN.view.default, ATEN._unsafe_view.default, ATEN.reshape.default}


def trace(step: Callable[..., Any], arguments: tuple[Any, ...]) -> fx.GraphModule:
    """The step as recorded operations; ``arguments`` are lists, tuples and dictionaries of tensors."""
    given, shape = tree_flatten(arguments)
    recorder = Recorder(given)
    with recorder:
        found, shape_after = tree_flatten(step(*arguments))
    graph = recorder.graph
    graph.output([recorder.node(part) for part in found])
    names = [f"argument_{place}" for place in range(len(arguments))]
    graph.set_codegen(_PyTreeCodeGen(_PyTreeInfo(names, shape, shape_after)))
    graph.eliminate_dead_code()
    return fx.GraphModule(recorder.constants, graph)


class Recorder(TorchDispatchMode):
    """Writes down what is computed while it is active, below vmap and autograd."""

    def __init__(self, given: list[Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.graph = fx.Graph()
        self.constants: dict[str, Tensor] = {}
        self._nodes = WeakTensorKeyDictionary()
        for place, tensor in enumerate(given):
            self._nodes[tensor] = self.graph.placeholder(f"given_{place}")

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # nothing is compiled meanwhile, and each operation would pay for it

    def node(self, part: Any) -> Any:
        """Where a tensor came from; one that was there before is a constant. What is no tensor stays."""
        if not isinstance(part, Tensor):
            return part
        if part not in self._nodes:
            name = f"constant_{len(self.constants)}"
            self.constants[name] = part
            self._nodes[part] = self.graph.create_node("get_attr", name)
        return self._nodes[part]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        nodes, named = tree_map(self.node, (args, kwargs or {}))
        looked_at = torch.Tag.data_dependent_output in func.tags
        if looked_at and not all(_written(node) for node in nodes if isinstance(node, fx.Node)):
            raise RuntimeError(f"{func}: what is done in a step may not depend on the numbers in it.")
        found = func(*args, **(kwargs or {}))
        if looked_at:
            return found
        # What batching leaves behind and changes nothing: a view to the same shape, times one.
        same = isinstance(found, Tensor) and args and isinstance(args[0], Tensor) and found.shape == args[0].shape
        if same and (func in RESHAPES or (func is ATEN.mul.Scalar and args[1] == 1)):
            self._nodes[found] = nodes[0]
            return found
        # The number written in `torch.tensor(…)` is a constant; what is made of it may be changed in place.
        func = ATEN.lift_fresh_copy.default if func is ATEN.lift_fresh.default else func
        self._keep(found, self.graph.call_function(func, nodes, named))
        return found

    def _keep(self, found: Any, node: fx.Node) -> None:
        if isinstance(found, Tensor):
            self._nodes[found] = node
        elif isinstance(found, (tuple, list)):
            for place, part in enumerate(found):
                self._keep(part, self.graph.call_function(operator.getitem, (node, place)))


def _written(node: fx.Node) -> bool:
    """Whether a value is made of numbers that are written in the code alone."""
    sources = node.all_input_nodes
    return node.target is ATEN.lift_fresh_copy.default or (bool(sources) and all(map(_written, sources)))
