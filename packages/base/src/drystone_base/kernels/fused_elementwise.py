"""Element-wise ops that the optimizer made one node of.

Source: our own op; each of its ops is TensorFlow's.
"""

from __future__ import annotations

from typing import Any

from drystone_base.kernels._registry import Array, Call, find_kernel, kernel
from drystone_base.ops.defs import op_def
from drystone_base.ops.own import FUSED_ELEMENTWISE, FUSES

__all__: list[str] = []


@kernel(FUSED_ELEMENTWISE)
def fused_elementwise(call: Call, *args: Array) -> Array:
    """Each of ``ops`` by its own kernel; the result of the last one."""
    values: list[Any] = list(args)
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


def _operand(call: Call, values: list[Any], number: int) -> Any:
    call.require(
        0 <= number < len(values),
        "an operand must be an input or an earlier result",
        found=number,
        needed=f"0 to {len(values) - 1}",
    )
    return values[number]
