"""Whether a rewrite would give up the kernel of a plugin for a reference kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from drystone_base.core.dtypes import DType
from drystone_base.core.registered import ENTRY_FUNCTIONS

__all__ = ["keeps_native", "keeps_native_for", "of_plugins", "runs_here"]


def keeps_native(old: str, new: str) -> bool:
    """Whether plugins have kernels for ``new`` if they have some for ``old``."""
    found = of_plugins()
    return old not in found or new in found


def keeps_native_for(op: str, attr: str, dtype: DType) -> bool:
    """Whether plugins have kernels of ``op`` for that type, too, if they have some."""
    kernels = of_plugins().get(op)
    return not kernels or any(
        dtype in types or not types
        for kernel in kernels
        for types in [dict(kernel.constraints).get(attr, ())]
    )


def of_plugins() -> Mapping[str, Any]:
    """Ops for which plugins brought kernels for the CPU; nothing is imported without any.

    Kernels for devices of plugins do not count: nodes that are placed there are left as they are.
    """
    if not ENTRY_FUNCTIONS:
        return {}
    from drystone_base.executor.selection import registered

    return _ForCpu(registered())


class _ForCpu(Mapping[str, Any]):
    """Those of all kernels, by op, that are for the CPU."""

    def __init__(self, kernels: Mapping[str, Any]) -> None:
        self._kernels = kernels

    def __getitem__(self, op: str) -> list[Any]:
        found = [kernel for kernel in self._kernels[op] if kernel.device == "CPU"]
        if not found:
            raise KeyError(op)
        return found

    def __iter__(self) -> Iterator[str]:
        return (op for op in self._kernels if op in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def runs_here(op: str) -> bool:
    """Whether the host or a plugin has a kernel for nodes of that op."""
    from drystone_base.kernels import find_kernel

    return op in of_plugins() or find_kernel(op) is not None
