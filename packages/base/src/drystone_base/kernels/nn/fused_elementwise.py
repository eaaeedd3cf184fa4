"""Element-wise ops that the optimizer made one node of.

Source: our own op; each of its ops is TensorFlow's.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

from drystone_base.kernels._registry import Array, Call, find_kernel, kernel
from drystone_base.ops.defs import op_def
from drystone_base.ops.own import FUSED_ELEMENTWISE, FUSES

__all__: list[str] = []


@kernel(FUSED_ELEMENTWISE)
def fused_elementwise(call: Call, *args: Array) -> Array:
    """Each of ``ops`` by its own kernel; the result of the last one."""
    values = _joined(call, _sliced(call, args))
    known = FUSES[call.attrs["T"].label]
    operands = iter(call.attrs["operands"])
    for op in call.attrs["ops"]:
        call.require(op in known, "ops must be element-wise ops that can be fused", found=op)
        given = [_operand(call, values, next(operands, -1)) for _ in op_def(op).inputs]
        function = find_kernel(op)
        assert function is not None
        attrs = {name: attr.default for name, attr in op_def(op).attrs.items()}
        step = Call(call.node, op, attrs | {"T": call.attrs["T"]}, call.runtime)
        values.append(function(step, *given))
    found: Array = values[-1]
    return found


def _sliced(call: Call, args: tuple[Array, ...]) -> tuple[Array, ...]:
    given = call.attrs.get("slices") or [0, -1] * len(args)
    call.require(
        len(given) == 2 * len(args),
        "slices must have two numbers for each input",
        found=len(given),
        needed=2 * len(args),
    )
    return tuple(
        _slice(call, x, first, count)
        for x, first, count in zip(args, given[::2], given[1::2], strict=True)
    )


def _slice(call: Call, x: Array, first: int, count: int) -> Array:
    if (first, count) == (0, -1):
        return x
    call.require(x.ndim > 0, "what is sliced must have a last dim", found=x.shape)
    call.require(
        0 <= first <= first + count <= x.shape[-1],
        "a slice must lie in the last dim",
        found=(first, count),
        needed=f"elements of {x.shape}",
    )
    return x[..., first : first + count]


def _joined(call: Call, args: tuple[Array, ...]) -> list[Any]:
    joins = call.attrs.get("joins") or [1] * len(args)
    call.require(
        min(joins) > 0 and sum(joins) == len(args),
        "joins must be positive, and add up to the inputs",
        found=list(joins),
        needed=len(args),
    )
    values: list[Any] = []
    for count, end in zip(joins, accumulate(joins), strict=True):
        parts = args[end - count : end]
        if count > 1:
            call.require(
                all(p.ndim and p.shape[:-1] == parts[0].shape[:-1] for p in parts),
                "joined inputs must agree but for the last dim",
                found=[p.shape for p in parts],
            )
        values.append(np.concatenate(parts, -1) if count > 1 else parts[0])
    return values


def _operand(call: Call, values: list[Any], number: int) -> Any:
    call.require(
        0 <= number < len(values),
        "an operand must be an input or an earlier result",
        found=number,
        needed=f"0 to {len(values) - 1}",
    )
    return values[number]
