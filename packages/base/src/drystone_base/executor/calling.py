"""Kernels of Python's, called for the nodes of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from drystone_base.core.errors import DrystoneError, KernelError, remedy_for
from drystone_base.core.payloads import at_node
from drystone_base.core.tensor import as_array
from drystone_base.files.access import ACTING
from drystone_base.kernels import Call, Kernel
from drystone_base.state.cancellation import check_time
from drystone_base.state.variables import Variable

if TYPE_CHECKING:
    from drystone_base.core.dtypes import DType
    from drystone_base.executor.record import Record
    from drystone_base.state.runtime import Runtime

__all__ = ["OPERATOR_ATTR", "Called", "call_kernel", "compute", "needs_run", "unexpected"]

_MOST_SAID: Final = 1000

OPERATOR_ATTR: Final = "_host_operator"
"""The attribute of a node that says which of the host's operators may compute it, by number."""
_OF_NO_RUN: Final = frozenset({"Const", "VarHandleOp"})
"""Ops whose kernels ask for nothing that belongs to a run; what they give is kept."""


class Called(Protocol):
    """What a call must know of an instruction."""

    @property
    def kernel(self) -> Kernel | None:
        """The kernel."""

    @property
    def node(self) -> str:
        """The name of its node."""

    @property
    def op(self) -> str:
        """The op of its node."""

    @property
    def attrs(self) -> Mapping[str, Any]:
        """Decoded attributes, with defaults."""

    @property
    def input_slices(self) -> Mapping[str, slice]:
        """Ranges of the flat inputs by argument."""

    @property
    def output_count(self) -> int:
        """How many values it gives."""

    @property
    def output_types(self) -> Sequence[DType]:
        """Their dtypes; none where these were checked before."""

    @property
    def deref(self) -> tuple[int, ...]:
        """Inputs that may be variables and are read as values."""

    @property
    def device(self) -> str:
        """The device of its node."""

    @property
    def is_transfer(self) -> bool:
        """Whether a value may be dead, which is None then."""


def needs_run(kernels: Iterable[Called]) -> bool:
    """Whether one asks for what belongs to a run."""
    return any(k.op not in _OF_NO_RUN and OPERATOR_ATTR not in k.attrs for k in kernels)


def compute(
    kernels: Sequence[Called], number: int, runtime: Runtime, values: list[Any]
) -> Sequence[Any]:
    """Called by the native executor: run a kernel of Python's."""
    instruction = kernels[number]
    for slot in instruction.deref:
        if type(values[slot]) is Variable:
            values[slot] = values[slot].read()
    return call_kernel(instruction, values, runtime)


def call_kernel(
    instruction: Called, values: list[Any], runtime: Runtime, record: Record | None = None
) -> list[Any]:
    """The outputs of an instruction's kernel, as arrays and variables; ``record`` notes it.

    Raises ``KernelError`` that names the node, for whatever the kernel raises.
    """
    runtime.at = instruction
    if runtime.deadline is not None or runtime.cancellation is not None:
        check_time(runtime, f"at {runtime.place()}")
    call = Call(
        instruction.node,
        instruction.op,
        instruction.attrs,
        runtime,
        instruction.input_slices,
        instruction.output_count,
        instruction.device,
    )
    kernel = instruction.kernel
    assert kernel is not None
    acting = ACTING.set(runtime.access)
    try:
        result = (
            kernel(call, *values)
            if record is None
            else record.kernel(call, lambda: kernel(call, *values))
        )
    except DrystoneError as error:
        error.passes(node=instruction.node)
        raise
    except Exception as error:  # whatever NumPy or a plugin raises must name the node
        raise unexpected(instruction, values, error) from error
    finally:
        ACTING.reset(acting)
    outputs = result if isinstance(result, list | tuple) else [result]
    if len(outputs) != instruction.output_count:
        raise unexpected(instruction, values, ValueError(f"the kernel gave {len(outputs)} outputs"))
    if instruction.is_transfer:
        return list(outputs)  # a dead value is None
    given = [v if isinstance(v, np.ndarray | Variable) else as_array(v) for v in outputs]
    _check_types(instruction, given)
    return given


def _check_types(instruction: Called, outputs: Sequence[Any]) -> None:
    """Raise ``KernelError`` for a value of another dtype than the node declares.

    What comes out of a variant, a table or a function is as it was put in, whatever is declared.
    """
    for k, (dtype, value) in enumerate(zip(instruction.output_types, outputs, strict=False)):
        if isinstance(value, np.ndarray) and value.dtype != dtype.np:
            raise KernelError(
                f"node {instruction.node!r} ({instruction.op}) failed",
                details=at_node(instruction.node, instruction.op),
                check="an op must give the dtypes that its node declares",
                found=f"{value.dtype} at output {k}",
                needed=dtype,
                remedy="the graph is corrupt or was edited wrongly: export the model again",
                status="INVALID_ARGUMENT",
            )


def _said(error: Exception) -> str:
    """What an exception says, of bounded length."""
    try:
        text = str(error)
    except Exception:  # of a plugin's or a program's own class
        text = "it cannot be told"
    text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if len(text) > _MOST_SAID:
        text = f"{text[:_MOST_SAID]}... ({len(text)} characters)"
    return text


def unexpected(instruction: Called, values: list[Any], error: Exception) -> KernelError:
    """The error of a node whose kernel raised what no kernel should."""
    shown = ", ".join(
        f"{v.dtype}{list(v.shape)}" if isinstance(v, np.ndarray) else type(v).__name__
        for v in values
    )
    exhausted = isinstance(error, MemoryError)
    status = "RESOURCE_EXHAUSTED" if exhausted else "INVALID_ARGUMENT"
    return KernelError(
        f"node {instruction.node!r} ({instruction.op}) failed",
        details=at_node(instruction.node, instruction.op),
        check="a kernel must compute its node from the inputs",
        found=f"{_said(error)}; inputs: {shown or 'none'}",
        needed="enough memory" if exhausted else "inputs that the op is defined for",
        remedy=remedy_for(status),
        status=status,
        inner=error,
    )
