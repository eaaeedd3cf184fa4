"""The modules whose C interface the host library itself implements."""

from __future__ import annotations

from typing import Final

from drystone_base.modules._registry import Library, Module

__all__ = ["BUILTIN"]


def _by_host(library: Library, symbol: str) -> None:
    library.initialise(symbol)


def _kernels(library: Library, symbol: str) -> None:
    library.initialise(symbol)
    from drystone_base.host.op_services import generation_of_plugins

    if generation_of_plugins():  # else no plugin has ops of its own
        from drystone_base.host.ops import sync

        sync()


def _passes(library: Library, symbol: str) -> None:
    library.initialise(symbol)
    from drystone_base.passes._plugins import sync

    sync()


BUILTIN: Final = (
    Module("device", ("SE_InitPlugin",), _by_host),
    Module("filesystem", ("TF_InitPlugin",), _by_host),
    Module("kernels", ("TF_InitKernel",), _kernels),
    Module(
        "graph-optimizer", ("DS_OrderOptimizer", "TF_InitGraph", "TF_InitGraphPlugin"), _by_host
    ),
    Module("graph-passes", ("TF_InitPasses",), _passes),
    Module("profiler", ("TF_InitProfiler",), _by_host),
)
"""In no order that matters: the loader sorts by entry symbol."""
