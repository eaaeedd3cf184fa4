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
from drystone_base.autodiff._registry import RULES, Grads
from drystone_base.autodiff._slices import Grad, dense
from drystone_base.autodiff.backward import Backward, NoGradient
from drystone_base.core.dtypes import RESOURCE, STRING, VARIANT
from drystone_base.core.errors import GraphError
from drystone_base.graph.builder import Builder
from drystone_base.graph.functions import Body, Function, FunctionLibrary, gradient_name
from drystone_base.graph.node import Node, Output
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
        forward = self._function.body(library, attrs)
        graph = forward.graph
        b = Builder(graph, "gradient")
        ys = [result.inputs[0] for result in forward.results]
        given = [_argument(b, len(forward.args) + k, y) for k, y in enumerate(ys)]
        xs = [(arg, 0) for arg in forward.args]
        back = Backward(graph, ys, xs, calls=_call)
        try:
            found = back.run([(node, 0) for node in given])
        except NoGradient as error:
            raise _refused(self._function.name, error) from error
        results = [_result(b, k, x, g) for k, (x, g) in enumerate(zip(xs, found, strict=True))]
        return Body(graph, [*forward.args, *given], results, forward.effects)


def _argument(b: Builder, index: int, source: Output) -> Node:
    return b.node("_Arg", T=b.dtype(source), index=index)


def _result(b: Builder, index: int, x: Output, grad: Grad | None) -> Node:
    dtype = b.dtype(x)
    unchanged = dtype in _UNCHANGED
    source = x if unchanged else b("ZerosLike", x) if grad is None else dense(b, grad)
    return b.node("_Retval", source, T=dtype, index=index)


def _call(back: Backward, node: Node, function: FunctionRef, grads: list[Grad | None]) -> Grads:
    """A call's gradients: of the gradient of what it calls, which is not kept, either."""
    b = back.b
    args = list(node.inputs)
    given = [
        b("ZerosLike", (node, k)) if grad is None else dense(b, grad)
        for k, grad in enumerate(grads)
    ]
    inner = b.node("SymbolicGradient", [*args, *given], Tout=[b.dtype(o) for o in args], f=function)
    return [(inner, k) for k in range(len(args))]


def _refused(name: str, error: NoGradient) -> GraphError:
    return GraphError(
        f"function {name!r} has no gradient",
        check="every op on the way from results to arguments must have a gradient rule",
        found=f"node {error.node.name!r} ({error.node.op})",
        needed=f"one of {len(RULES.index)} ops, or a call of a function of them",
        remedy="compute the gradient with TensorFlow's tf.gradients, and export it",
        code="bad-function",
        status="NOT_FOUND",
    )
