"""Ops that call functions of the graph's library: If, While, Case, For and the plain calls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.graph.functions import gradient_name
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._variants import blank
from drystone_base.ops.attrs import FunctionRef, Shape
from drystone_base.ops.truth import truth

_DEVICE: Final = re.compile(
    r"(?:/job:(?P<job>[a-zA-Z]\w*))?(?:/replica:(?P<replica>\d+))?(?:/task:(?P<task>\d+))?"
    r"(?:/?(?:device:)?\w+:(?:\d+|\*))?"
)
_HERE: Final = {"job": "localhost", "replica": "0", "task": "0"}


@kernel("If", "StatelessIf", "_If")
def if_(call: Call, cond: Array, *args: Array) -> list[Array]:
    """Outputs of ``then_branch`` or ``else_branch``, applied to the inputs after the condition."""
    branch = call.attrs["then_branch" if truth(cond) else "else_branch"]
    return call.runtime.invoke(branch, args)


@kernel("Case", "StatelessCase")
def case(call: Call, branch_index: Array, *args: Array) -> list[Array]:
    """Outputs of the branch of that index; an index out of range takes the last branch."""
    branches = call.attrs["branches"]
    index = int(branch_index.item())
    return call.runtime.invoke(branches[index if 0 <= index < len(branches) else -1], args)


@kernel("While", "StatelessWhile", "_While")
def while_(call: Call, *args: Array) -> Sequence[Array]:
    """The loop variables, replaced by ``body`` of them for as long as ``cond`` holds."""
    cond, body, invoke = call.attrs["cond"], call.attrs["body"], call.runtime.invoke
    values: Sequence[Array] = args
    while True:
        verdict = invoke(cond, values)
        call.require(
            len(verdict) == 1,
            "the condition of a loop must return one value",
            found=f"{len(verdict)} values",
            needed="1",
        )
        if not truth(verdict[0]):
            return values
        values = invoke(body, values)
        call.require(
            len(values) == len(args),
            "the body of a loop must return as many values as it takes",
            found=len(values),
            needed=len(args),
        )


@kernel("For")
def for_(call: Call, start: Array, limit: Array, delta: Array, *args: Array) -> Sequence[Array]:
    """The values after ``body(i, *values)`` for ``i`` from ``start`` to ``limit`` by ``delta``."""
    first, last, step = int(start.item()), int(limit.item()), int(delta.item())
    call.require(step != 0, "the step of a loop must not be zero", found=0, needed="not 0")
    call.require(
        first == last or (last > first) == (step > 0),
        "the step of a loop must lead from its start towards its limit",
        found=f"start {first}, limit {last}, delta {step}",
        needed="a delta of the sign of limit - start",
    )
    values: Sequence[Array] = args
    for i in range(first, last, step):
        values = call.runtime.invoke(call.attrs["body"], [np.array(i, np.int32), *values])
    return _of_types(call, values, call.attrs["T"])


@kernel("PartitionedCall", "StatefulPartitionedCall")
def partitioned_call(call: Call, *args: Array) -> list[Array]:
    """Outputs of function ``f`` applied to the inputs."""
    return call.runtime.invoke(call.attrs["f"], args)


@kernel("RemoteCall")
def remote_call(call: Call, target: Array, *args: Array) -> Sequence[Array]:
    """Outputs of function ``f`` applied to the inputs: on a device of this process, whichever."""
    name = target.item().decode("utf-8", "replace") if target.size == 1 else ""
    parts = _DEVICE.fullmatch(name)
    if parts is None:
        call.fail(
            "the target of a call must be one device",
            found=repr(name) if target.size == 1 else list(target.shape),
            needed="/job:localhost/replica:0/task:0/device:CPU:0",
        )
    elsewhere = {k: v for k, v in parts.groupdict().items() if v not in (None, _HERE[k])}
    call.require(
        not elsewhere,
        "the target of a call must be in this process: there is no cluster",
        found=name,
        needed="/job:localhost/replica:0/task:0",
        remedy="feed the outputs of the call, or replace its target",
        status="INTERNAL",
    )
    return _of_types(call, call.runtime.invoke(call.attrs["f"], args), call.attrs["Tout"])


@kernel("MapDefun")
def map_defun(call: Call, *inputs: Array) -> list[Array]:
    """Outputs of function ``f`` for each row of the arguments, stacked; captured inputs as are."""
    count = len(call.attrs["Targuments"])
    args, captured = inputs[:count], inputs[count:]
    rows = {a.shape[0] if a.ndim else -1 for a in args}
    call.require(
        len(rows) == 1 and -1 not in rows,
        "arguments must have the same number of rows",
        found=[list(a.shape) for a in args],
        needed="equal first dimensions",
    )
    declared = list(zip(call.attrs["output_shapes"], call.attrs["output_types"], strict=True))
    if rows == {0}:
        call.require(
            all(s is not None and min(s, default=0) >= 0 for s, _ in declared),
            "outputs for no rows must have full shapes",
            found=call.attrs["output_shapes"],
            needed="declared output_shapes",
            status="INTERNAL",
        )
        return [blank((0, *s), dtype) for s, dtype in declared]
    results = [
        call.runtime.invoke(call.attrs["f"], [*(a[k, ...] for a in args), *captured])
        for k in range(rows.pop())
    ]
    return [
        _stacked(call, [result[k] for result in results], shape)
        for k, (shape, _) in enumerate(declared)
    ]


def _stacked(call: Call, values: list[Array], shape: Shape) -> Array:
    found = {v.shape for v in values}
    fits = shape is None or all(
        len(f) == len(shape) and all(d < 0 or d == n for d, n in zip(shape, f, strict=True))
        for f in found
    )
    call.require(
        len(found) == 1 and fits,
        "the function must return the declared shape, the same for each row",
        found=sorted(found)[:4],
        needed=shape or "one shape",
    )
    return np.stack(values)


@kernel("SymbolicGradient")
def symbolic_gradient(call: Call, *args: Array) -> Sequence[Array]:
    """Gradients of the arguments of function ``f``: the inputs are those, then its outputs'."""
    function = call.attrs["f"]
    gradient = FunctionRef(gradient_name(function.name), function.attrs)
    return _of_types(call, call.runtime.invoke(gradient, args), call.attrs["Tout"])


def _of_types(call: Call, values: Sequence[Array], types: Sequence[DType]) -> Sequence[Array]:
    """The values, which a function gave: they must be what the node says it gives."""
    found = [value.dtype for value in values]
    needed = [np.dtype(dtype.base.np) for dtype in types]
    call.require(
        found == needed,
        "a function must return what the node that calls it gives",
        found=f"values of {', '.join(map(str, found)) or 'nothing'}",
        needed=f"values of {', '.join(map(str, needed)) or 'nothing'}",
        remedy="the graph is corrupt: export the model again",
    )
    return values


@kernel("FakeParam")
def fake_param(call: Call) -> Array:
    """A stand-in for a value that only another branch gives: zeros, unknown dims as 0."""
    shape = tuple(max(d, 0) for d in call.attrs["shape"] or ())
    return blank(check_size(call, shape, call.attrs["dtype"].np), call.attrs["dtype"])


@kernel("DeviceIndex")
def device_index(call: Call) -> Array:
    """Position of this node's device type in ``device_names``; their number if it is not listed."""
    kind = call.device.rpartition("device:")[2].partition(":")[0] or "CPU"
    names = call.attrs["device_names"]
    return np.array(names.index(kind) if kind in names else len(names), np.int32)
