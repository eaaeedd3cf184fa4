"""From lowered plans to programs of the native executor, which calls kernels in Python."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from drystone_base.executor.encode import OPERATOR_ATTR, Encoded, encode
from drystone_base.executor.native import Program
from drystone_base.executor.reference import call_kernel
from drystone_base.state import Variable

if TYPE_CHECKING:
    from drystone_base.dtypes import DType
    from drystone_base.executor.functions import FunctionCaller
    from drystone_base.executor.plan import Instruction, Plan
    from drystone_base.executor.runtime import Runtime

__all__ = ["encode_plan", "program_of"]

_OF_NO_RUN: Final = frozenset({"Const", "VarHandleOp"})
"""Ops whose kernels ask for nothing that belongs to a run; what they give is kept."""


def encode_plan(
    plan: Plan, feed_types: Sequence[DType], caller: FunctionCaller, *, alone: bool = False
) -> Encoded:
    """The PlanDef of a plan and of the functions that it calls; raises as :func:`encode` does."""
    names = [function.name for function in caller.library]
    lower_function = partial(caller.plan, native=True)
    return encode(plan, feed_types, lower_function, names, alone=alone)


def program_of(encoded: Encoded) -> Program:
    """What the host library loads."""
    needs_run = any(
        i.op not in _OF_NO_RUN and OPERATOR_ATTR not in i.attrs for i in encoded.kernels
    )
    return Program(
        encoded.plan.SerializeToString(),
        encoded.constants,
        encoded.outputs,
        partial(_compute, encoded.kernels),
        needs_run,
    )


def _compute(
    kernels: list[Instruction], number: int, runtime: Runtime, values: list[Any]
) -> Sequence[Any]:
    """Called by the executor: run a kernel of Python's."""
    instruction = kernels[number]
    for slot in instruction.deref:
        if type(values[slot]) is Variable:
            values[slot] = values[slot].read()
    return call_kernel(instruction, values, runtime)
