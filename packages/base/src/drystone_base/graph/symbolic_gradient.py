"""The gradient of a function as a function: what ``SymbolicGradient`` calls.

The gradient of ``y... = f(x...)`` is a function of ``x..., dy...`` that returns ``dx...``: the body
of ``f``, and behind it the gradients of its nodes in reverse. It is not kept in the graph: the
library makes it when a name that :func:`gradient_name` gives is looked up. Source: TensorFlow
``gradients.cc``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from drystone_abi.protos import FunctionDef, OpDef
from drystone_base.core.dtypes import RESOURCE, STRING, VARIANT
from drystone_base.core.errors import GraphError
from drystone_base.graph import _gradient_arrays as _gradient_arrays  # which registers rules, too
from drystone_base.graph._gradient_rules import CONSTANT, RULES
from drystone_base.graph.builder import Builder
from drystone_base.graph.functions import Body, Function, FunctionLibrary, gradient_name
from drystone_base.graph.node import Node, Output
from drystone_base.graph.topology import topological_order
from drystone_base.graph.validate import output_dtypes
from drystone_base.ops.attrs import FunctionRef

__all__ = ["GradientFunction"]

_UNCHANGED: Final = (RESOURCE, VARIANT, STRING)


class GradientFunction(Function):
    """The gradient of a function: only its body is ever asked for."""

    def __init__(self, function: Function) -> None:
        super().__init__(FunctionDef(signature=OpDef(name=gradient_name(function.name))))
        self._function = function

    def body(self, library: FunctionLibrary, attrs: Mapping[str, Any] | None = None) -> Body:
        """The body; raises as a function's does, and ``GraphError`` for an op without a rule."""
        return _Backward(self._function.body(library, attrs), self._function.name).build()


class _Backward:
    """Extends a body by the gradients of its results."""

    def __init__(self, body: Body, name: str) -> None:
        self.body, self.name = body, name
        self.b = Builder(body.graph, "gradient")
        self.found: dict[Output, list[Output]] = {}

    def build(self) -> Body:
        order = topological_order(self.body.graph)
        forward = [n for n in order if n not in {*self.body.args, *self.body.results}]
        given = [self._argument(k, r) for k, r in enumerate(self.body.results)]
        for node in reversed(forward):
            self._through(node)
        results = [self._result(k, arg) for k, arg in enumerate(self.body.args)]
        return Body(self.body.graph, [*self.body.args, *given], results, self.body.effects)

    def _argument(self, index: int, result: Node) -> Node:
        source = result.inputs[0]
        graph = self.body.graph
        attrs = {"T": self.b.dtype(source), "index": len(self.body.args) + index}
        node = graph.add("_Arg", graph.unique_name(f"gradient/dy{index}"), attrs=attrs)
        self._add(source, (node, 0))
        return node

    def _add(self, output: Output, grad: Output) -> None:
        self.found.setdefault(output, []).append(grad)

    def _sum(self, output: Output) -> Output:
        """The gradient of an output: the sum of those of its uses, zeros without any."""
        grads = self.found.get(output, [])
        if not grads:
            return self.b("ZerosLike", output)
        return grads[0] if len(grads) == 1 else self.b("AddN", grads)

    def _through(self, node: Node) -> None:
        """Hand the gradients of a node's outputs on to its inputs."""
        outputs = [(node, k) for k in range(len(output_dtypes(node) or []))]
        if node.op in CONSTANT or not node.inputs or not any(o in self.found for o in outputs):
            return
        grads = [self._sum(o) for o in outputs]
        for source, grad in zip(node.inputs, self._gradients(node, grads), strict=True):
            if grad is not None:
                self._add(source, grad)

    def _gradients(self, node: Node, grads: list[Output]) -> Any:
        library = self.body.graph.functions
        if node.op in library:
            return self._call(node, FunctionRef(node.op, node.attrs), list(node.inputs), grads)
        if node.op in ("PartitionedCall", "StatefulPartitionedCall"):
            return self._call(node, node.attr("f"), list(node.inputs), grads)
        if node.op == "SymbolicGradient" or node.op not in RULES:
            raise GraphError(
                f"function {self.name!r} has no gradient",
                check="every op on the way from results to arguments must have a gradient rule",
                found=f"node {node.name!r} ({node.op})",
                needed=f"one of {len(RULES)} ops, or a call of a function of them",
                remedy="compute the gradient with TensorFlow's tf.gradients, and export it",
                code="bad-function",
                status="NOT_FOUND",
            )
        return RULES[node.op](self.b, node, grads)

    def _call(
        self, node: Node, function: FunctionRef, args: list[Output], grads: list[Output]
    ) -> list[Output]:
        types = [self.b.dtype(o) for o in args]
        inner = self.b.node(
            "SymbolicGradient",
            [*args, *grads],
            Tin=[*types, *(self.b.dtype(g) for g in grads)],
            Tout=types,
            f=function,
        )
        return [(inner, k) for k in range(len(node.inputs))]

    def _result(self, index: int, arg: Node) -> Node:
        dtype = self.b.dtype((arg, 0))
        grad = (arg, 0) if dtype in _UNCHANGED else self._sum((arg, 0))
        graph = self.body.graph
        name = graph.unique_name(f"gradient/dx{index}")
        return graph.add("_Retval", name, [grad], attrs={"T": dtype, "index": index})
