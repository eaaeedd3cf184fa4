"""The modules whose C interface the host library itself implements."""

from __future__ import annotations

from typing import Final

from drystone_base.core.upcalls import SYNC_OPS, SYNC_PASSES
from drystone_base.host.op_services import generation_of_plugins
from drystone_base.modules import Library, Module

__all__ = ["BUILTIN", "builtin_modules"]


def _by_host(library: Library, symbol: str) -> None:
    library.initialise(symbol)


def _kernels(library: Library, symbol: str) -> None:
    library.initialise(symbol)
    if generation_of_plugins():  # else no plugin has ops of its own
        SYNC_OPS()


def _passes(library: Library, symbol: str) -> None:
    library.initialise(symbol)
    SYNC_PASSES()


BUILTIN: Final = (
    Module("device", ("SE_InitPlugin",), _by_host),
    Module("filesystem", ("TF_InitPlugin",), _by_host),
    Module("kernels", ("TF_InitKernel",), _kernels),
    Module(
        "graph-optimizer", ("DS_OrderOptimizer", "TF_InitGraph", "TF_InitGraphPlugin"), _by_host
    ),
    Module("graph-passes", ("DS_InitPasses",), _passes),
    Module("profiler", ("TF_InitProfiler",), _by_host),
)
"""The loader sorts them by entry symbol."""


def builtin_modules() -> tuple[Module, ...]:
    """All of them."""
    return BUILTIN
