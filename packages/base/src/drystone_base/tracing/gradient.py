"""Gradients of Python functions while they are traced, and gradients of one's own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from drystone_base.autodiff import gradients
from drystone_base.autodiff._slices import IndexedSlices, dense
from drystone_base.autodiff.backward import RECOMPUTED
from drystone_base.autodiff.control_flow.custom import CUSTOM, FUNCTION
from drystone_base.core.arguments import checked
from drystone_base.core.errors import BadRequest
from drystone_base.core.shown import shape_text
from drystone_base.graph.extract import Extract, add_function
from drystone_base.graph.node import Output
from drystone_base.ops.attrs import FunctionRef
from drystone_base.tracing import calls
from drystone_base.tracing.nests import leaves, mapped
from drystone_base.tracing.tensor import Tensor
from drystone_base.tracing.trace import Trace

__all__ = ["custom_gradient", "recompute", "value_and_gradients"]


def value_and_gradients(
    trace: Trace,
    function: Callable[..., Any],
    by: Sequence[int],
    args: Sequence[Any],
    kwargs: Any,
) -> tuple[Any, list[Any]]:
    """What a function gives, and its gradients by the arguments ``by``, each a nest like that."""
    given = list(args)
    for k in by:
        if k >= len(given):
            raise BadRequest(
                "there is no gradient by an argument that was not given",
                check="argnums must be numbers of arguments that are given by position",
                found=f"argument {k} of {len(given)}",
                needed=f"one of the first {len(given)}",
                remedy="give the argument by position, or another argnums",
                code="wrong-argument-count",
            )
        given[k] = mapped(given[k], lambda leaf: _as_variable(trace, leaf))
    value = function(*given, **kwargs)
    result = Tensor(trace, calls.as_output(trace, value))
    if result.shape not in ((), None):
        raise BadRequest(
            "there is no gradient of a function that gives more than one number",
            check="what is differentiated must be one number",
            found=f"{result.dtype} {shape_text(result.shape)}",
            needed="a tensor without dimensions",
            remedy="return the sum or the mean: loss.mean()",
            code="not-differentiable",
        )
    sources = [leaf for k in by for _, leaf in leaves(given[k])]
    found = iter(gradients(result, sources))
    back = [mapped(given[k], lambda leaf: _whole(trace, leaf, next(found))) for k in by]
    return value, back


def _as_variable(trace: Trace, leaf: Any) -> Tensor:
    """A tensor of its own, so that other uses of the value are no uses of the argument."""
    return Tensor(trace, (trace.emit("Identity", [calls.as_output(trace, leaf)], {}), 0))


def _whole(trace: Trace, leaf: Tensor, grad: Any) -> Tensor:
    if grad is None:
        return Tensor(trace, (trace.emit("ZerosLike", [leaf.output], {}), 0))
    if isinstance(grad, IndexedSlices):
        parts = IndexedSlices(*(calls.as_output(trace, part) for part in grad))
        return Tensor(trace, dense(trace.b, parts))
    found: Tensor = grad
    return found


@checked
def custom_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function with a gradient of its own.

    ``function(*xs)`` returns its result and a function of the result's gradient that returns the
    gradient of each x, None for none. Of several results, a tuple, it takes as many gradients. ::

        @ds.custom_gradient
        def softplus(x):
            e = ds.ops.exp(x)
            return ds.ops.log(1 + e), lambda grad: grad * (1 - 1 / (1 + e))

    Both may use tensors from outside, by which nothing is differentiated.
    """

    @functools.wraps(function)
    def call(*xs: Any) -> Any:
        trace = Trace.active()
        if trace is None:
            return function(*xs)[0]
        inputs = [_as_variable(trace, x) for x in xs]
        result, back = function(*inputs)
        several = isinstance(result, tuple | list)
        values = [calls.as_output(trace, value) for value in (result if several else [result])]
        made, captured = _way_back(trace, back, values, len(inputs))
        sources = [*values, *(x.output for x in inputs), *captured]
        attrs = {"_gradient_op_type": CUSTOM, FUNCTION: made}
        node = trace.emit("IdentityN", [sources], attrs)
        found = [Tensor(trace, (node, k)) for k in range(len(values))]
        return tuple(found) if several else found[0]

    return call


@checked
def recompute(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose values are computed again for its gradients, rather than held until then.

    It takes less memory and more time. The result is the same; where nothing is differentiated, or
    drystone-optimizer is not installed, nothing is computed twice. Ops that have a state or draw
    random numbers, and what is in branches and loops, are held as before. ::

        @ds.recompute
        def block(x):
            return ds.ops.relu(x @ w) @ v
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        trace = Trace.active()
        if trace is None:
            return function(*args, **kwargs)
        before = len(trace.graph)
        found = function(*args, **kwargs)
        held = {leaf.place[0] for _, leaf in leaves(found) if isinstance(leaf, Tensor)}
        for node in list(trace.graph)[before:]:
            if node.inputs and node not in held:  # results bound what is computed again at a time
                trace.graph.set_attr(node, RECOMPUTED, 1)
        return found

    return call


def _way_back(
    outer: Trace, back: Callable[..., Any], values: Sequence[Output], count: int
) -> tuple[FunctionRef, list[Any]]:
    """The way back as a function of the gradients and of what it uses from outside."""
    trace = Trace(outer)
    with trace:
        grads = [_gradient_of(outer, trace, value) for value in values]
        found = back(*(Tensor(trace, grad) for grad in grads))
        items = list(found) if isinstance(found, list | tuple) else [found]
        if len(items) != count:
            raise BadRequest(
                "a custom gradient returns another number of gradients than there are arguments",
                check="it must return the gradient of each argument, None for none",
                found=len(items),
                needed=count,
                remedy="return a tuple with one for each",
                code="wrong-argument-count",
            )
        results = [None if g is None else calls.as_output(trace, g) for g in items]
    outside = list(trace.captured)
    given = [*grads, *(trace.captured[o] for o in outside)]
    skipped = {node for node, _ in given}
    extract = Extract(
        trace.graph,
        [(o, trace.b.dtype(o)) for o in given],
        [node for node in trace.graph if node not in skipped],
    )
    ends = [(extract.place(o), trace.b.dtype(o)) for o in results if o is not None]
    body, signature = extract.finish(ends)
    name = add_function(trace.graph, "custom_gradient", body, signature)
    places = [k for k, o in enumerate(results) if o is not None]
    stated = {"places": places or [-1], "count": count, "results": len(values)}
    return FunctionRef(name, stated), outside


def _gradient_of(outer: Trace, trace: Trace, value: Output) -> Output:
    """What stands in the way back for a result's gradient."""
    shape = outer.shapes.shape(value)
    known = None if shape is None else [max(d, -1) for d in shape]
    return trace.placeholder(outer.b.dtype(value), known, "grad")
