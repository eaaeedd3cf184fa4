"""Whether a rewrite would give up the kernel of a plugin for a reference kernel."""

from __future__ import annotations

from collections.abc import Mapping
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
    """Ops for which plugins brought kernels; nothing is imported before one registered any."""
    if not ENTRY_FUNCTIONS:
        return {}
    from drystone_base.executor.selection import registered

    return registered()


def runs_here(op: str) -> bool:
    """Whether the host or a plugin has a kernel for nodes of that op."""
    from drystone_base.kernels import find_kernel

    return op in of_plugins() or find_kernel(op) is not None
