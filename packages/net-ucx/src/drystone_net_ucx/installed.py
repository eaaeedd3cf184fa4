"""What this package adds to ``drystone_base.modules``: answers for ``drystone network probe``.

It is imported by every process that has this package installed, so it imports next to nothing.
"""

from __future__ import annotations

from typing import Final

from drystone_base.modules import Library, Module

__all__ = ["MODULE"]


def _initialise(library: Library, symbol: str) -> None:
    """Nothing: the transports are the network module's, and no symbol is asked for."""
    raise NotImplementedError(f"{symbol} of {library.name}")


def _probe() -> list[tuple[str, bool, str]]:
    from drystone_net_ucx.probe import capabilities

    return capabilities()


MODULE: Final = Module(
    "net-ucx",
    (),
    _initialise,
    stages={"network_probe": _probe},
    variables="drystone_net_ucx.environment:VARIABLES",
)
