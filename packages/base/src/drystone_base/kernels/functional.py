"""Ops that call functions of the graph's library: If, While, Case, For and the plain calls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._variants import blank
from drystone_base.ops.truth import truth


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
    return values


@kernel("PartitionedCall", "StatefulPartitionedCall")
def partitioned_call(call: Call, *args: Array) -> list[Array]:
    """Outputs of function ``f`` applied to the inputs."""
    return call.runtime.invoke(call.attrs["f"], args)


@kernel("RemoteCall")
def remote_call(call: Call, _target: Array, *args: Array) -> list[Array]:
    """Outputs of function ``f`` applied to the inputs."""
    return call.runtime.invoke(call.attrs["f"], args)


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
