"""What gives a plan its variables: the only kernels of Python's that a kept plan has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from drystone_base.dtypes import from_number
from drystone_base.errors import DrystoneError
from drystone_base.kernels import Call, find_kernel
from drystone_base.late_tuples import NamedTuple

if TYPE_CHECKING:
    from drystone_base.executor.plan import Instruction
    from drystone_base.executor.runtime import Runtime

__all__ = ["Handles", "handle_rows"]

_OF_NO_RUN: Final = "VarHandleOp"
_OPS: Final = frozenset({_OF_NO_RUN, "Variable", "VariableV2"})


def handle_rows(kernels: Iterable[Instruction]) -> list[Sequence[Any]] | None:
    """Instructions as values that JSON has; None where one is more than a variable's."""
    rows: list[Sequence[Any]] = []
    for instruction in kernels:
        a = instruction.attrs
        if instruction.op not in _OPS or instruction.kernel is not find_kernel(instruction.op):
            return None
        variable = a["shared_name"], a["container"], a["dtype"].number, a["shape"]
        (output,) = instruction.output_types
        rows.append((instruction.op, instruction.node, output.base.number, *variable))
    return rows


class _Handle(NamedTuple):
    op: str
    node: str
    output: int
    attrs: dict[str, Any]


class Handles:
    """The instructions that :func:`handle_rows` wrote, by number; raises ``ValueError``."""

    def __init__(self, rows: Iterable[Sequence[Any]]) -> None:
        self._handles = [_handle(*row) for row in rows]

    @property
    def outputs(self) -> list[tuple[int]]:
        """The dtypes of what they give, by number."""
        return [(handle.output,) for handle in self._handles]

    @property
    def needs_run(self) -> bool:
        """Whether one asks for what belongs to a run."""
        return any(handle.op != _OF_NO_RUN for handle in self._handles)

    def compute(self, number: int, runtime: Runtime, _: list[Any]) -> Sequence[Any]:
        """Called by the executor: give a variable, or a handle to one."""
        handle = self._handles[number]
        kernel = find_kernel(handle.op)
        assert kernel is not None
        try:
            return [kernel(Call(handle.node, handle.op, handle.attrs, runtime))]
        except DrystoneError as error:
            error.passes(node=handle.node)
            raise


def _handle(
    op: str, node: str, output: int, name: str, container: str, dtype: int, shape: Any
) -> _Handle:
    if op not in _OPS:
        raise ValueError(f"{op} gives no variable")
    dims = None if shape is None else tuple(shape)
    attrs = {"shared_name": name, "container": container, "shape": dims}
    return _Handle(op, node, output, attrs | {"dtype": from_number(dtype)})
