"""Kernels of Python's in cached plans: what gives variables and tables, and fills tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from drystone_base.core.dtypes import DType, from_number
from drystone_base.kernels import Kernel, find_kernel
from drystone_base.ops.properties import VARIABLES

if TYPE_CHECKING:
    from drystone_base.executor.plan import Instruction

__all__ = ["CachedKernel", "kernel_rows", "read_kernels"]

_FAMILIES: Final = ("drystone_base.kernels.state.lookup", "drystone_base.kernels.state.lookup_file")
"""Modules whose kernels ask for no function of the graph and nothing that a program has set."""
_PLAIN: Final = (bool, int, float, str, type(None))


class CachedKernel(NamedTuple):
    """An instruction as what calls its kernel must know it."""

    op: str
    node: str
    device: str
    output_count: int
    attrs: Mapping[str, Any]
    input_slices: Mapping[str, slice]
    deref: tuple[int, ...]
    is_transfer: bool = False
    output_types: Sequence[DType] = ()

    @property
    def kernel(self) -> Kernel | None:
        """The kernel, imported when a run comes to it."""
        return find_kernel(self.op)


def kernel_rows(kernels: Iterable[Instruction]) -> list[Sequence[Any]] | None:
    """Instructions as values that JSON has; None where one cannot be cached."""
    rows: list[Sequence[Any]] = []
    for i in kernels:
        attrs = {name: _written(value) for name, value in i.attrs.items()}
        if not _may_be_cached(i) or None in attrs.values():
            return None
        slices = {name: (s.start, s.stop) for name, s in i.input_slices.items()}
        rows.append((i.op, i.node, i.device, i.output_count, attrs, slices, i.deref))
    return rows


def _may_be_cached(instruction: Instruction) -> bool:
    """Whether drystone's own kernel computes it, of those that need nothing but the session."""
    kernel = find_kernel(instruction.op)
    if kernel is None or instruction.kernel is not kernel or instruction.is_transfer:
        return False
    return instruction.op in VARIABLES or kernel.__module__ in _FAMILIES


def read_kernels(rows: Iterable[Sequence[Any]]) -> list[CachedKernel]:
    """What :func:`kernel_rows` wrote; raises ``ValueError`` and its like for anything else."""
    return [_kernel(*row) for row in rows]


def _kernel(
    op: str, node: str, device: str, outputs: int, attrs: Any, slices: Any, deref: Any
) -> CachedKernel:
    if find_kernel(op) is None:
        raise ValueError(f"there is no kernel for {op}")
    read = {name: _read(*value) for name, value in attrs.items()}
    ranges = {name: slice(start, stop) for name, (start, stop) in slices.items()}
    return CachedKernel(op, node, device, outputs, read, ranges, tuple(deref))


def _written(value: Any) -> tuple[str, Any] | None:
    """An attribute as its kind and what JSON has of it; None for one that it does not have."""
    if isinstance(value, DType):
        return "dtype", value.number
    if isinstance(value, _PLAIN):
        return "plain", value
    if not isinstance(value, list | tuple):
        return None
    items = [_written(item) for item in value]
    return None if None in items else (type(value).__name__, items)


def _read(kind: str, value: Any) -> Any:
    if kind == "dtype":
        return from_number(value)
    if kind == "plain":
        return value
    items = (_read(*item) for item in value)
    return tuple(items) if kind == "tuple" else list(items)
