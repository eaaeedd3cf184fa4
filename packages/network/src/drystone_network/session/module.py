"""What this package adds to ``drystone_base.modules``: transports, targets of sessions, workers.

It is imported by every process that has this package installed, so it imports next to nothing.
"""

from __future__ import annotations

from typing import Any, Final

from drystone_base.modules import Library, Module

__all__ = ["MODULE"]


def _initialise(library: Library, symbol: str) -> None:
    from drystone_network.transports.registry import initialise

    initialise(library, symbol)


def _offers(library: Library) -> list[str]:
    from drystone_network.transports.registry import offered

    return offered(library)


def _target(config: Any) -> Any:
    from drystone_network.session.master import open_master

    return open_master(config)


def _engine(address: str, **options: Any) -> Any:
    from drystone_network.transports.engine import Engine

    return Engine(address, **options)


MODULE: Final = Module(
    "network",
    ("DS_InitNetwork",),
    _initialise,
    _offers,
    stages={"engine": _engine, "target": _target},
    commands={
        "network": "drystone_network.session.network_command:network",
        "worker": "drystone_network.session.command:worker",
    },
    variables="drystone_network.cluster.environment:VARIABLES",
)
