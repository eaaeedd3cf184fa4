"""Values of reference variables for the nodes of frames, which hand on what they get."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from drystone_base.core.dtypes import DType
from drystone_base.executor.plan import Instruction, Kind, Plan
from drystone_base.kernels import find_kernel
from drystone_base.ops.defs import find

__all__ = ["with_values"]

_HAND_ON: Final = frozenset({Kind.SWITCH, Kind.MERGE, Kind.ENTER})
_OF_LOOPS: Final = frozenset({Kind.ENTER, Kind.NEXT_ITERATION})  # a Merge must see which it is


def with_values(plan: Plan) -> Plan:
    """The plan with an Identity where a Switch, Merge or Enter is to take a variable's value.

    Handed on as the variable, it could not be told any more that its value is meant.
    """
    instructions = plan.instructions
    out = list(instructions)
    for k, instruction in enumerate(instructions):
        types = instruction.output_types
        if instruction.kind in _OF_LOOPS or not any(t.ref for t in types):
            continue
        edges = []
        for output, consumer, slot in instruction.edges:
            taker = instructions[consumer]
            if types[output].ref and taker.kind in _HAND_ON and slot in taker.deref:
                out.append(_identity(taker, types[output].base, (0, consumer, slot)))
                consumer, slot = len(out) - 1, 0
            edges.append((output, consumer, slot))
        out[k] = replace(instruction, edges=edges)
    return plan if len(out) == len(instructions) else replace(plan, instructions=out)


def _identity(taker: Instruction, dtype: DType, edge: tuple[int, int, int]) -> Instruction:
    """A node that reads what ``taker`` takes."""
    return Instruction(
        Kind.PLAIN,
        find_kernel("Identity"),
        taker.node,
        "Identity",
        {"T": dtype},
        1,
        1,
        {"input": slice(0, 1)},
        deref=(0,),
        edges=[edge],
        device=taker.device,
        output_types=(dtype,),
        definition=find("Identity"),
    )
