"""``drystone network probe``: what carries messages on this machine."""

from __future__ import annotations

from typing import Final, NamedTuple

import click

from drystone_base.cli.kit import common_options, print_json, print_table, wants_json

__all__ = ["network"]

EPILOG = """\b
Examples:
  drystone network probe
  drystone network probe --json
"""
_BY_UCX: Final = ("verbs", "gdr", "tcp", "shm")
_NOT_INSTALLED: Final = "drystone-net-ucx is not installed: pip install drystone-net-ucx[ucx]"


class Row(NamedTuple):
    """One way for messages."""

    transport: str
    available: bool
    found: str


@click.group(epilog=EPILOG)
def network() -> None:
    """Look at the network between processes."""


@network.command(epilog=EPILOG)
@common_options
def probe() -> None:
    """Say which transports this machine has, and why not the others.

    Of each transport that is registered an engine is opened, and listens for a moment on the
    loopback. UCX's verbs (RDMA), gdr (memory of GPUs), tcp and shm are tried one by one.
    """
    rows = [*_registered(), *_of_ucx()]
    if wants_json():
        print_json([row._asdict() for row in rows])
        return
    shown = [[row.transport, "yes" if row.available else "no", row.found] for row in rows]
    print_table("Transports", ["transport", "available", "found"], shown)


def _registered() -> list[Row]:
    from drystone_network.transports.registry import schemes

    return [_tried(scheme, carrier.library) for scheme, carrier in schemes().items()]


def _tried(scheme: str, library: str) -> Row:
    """Open an engine, and have it listen where others on this machine would find it."""
    from drystone_base.core.errors import DrystoneError, HostError
    from drystone_network.transports.engine import Engine

    try:
        with Engine(scheme) as engine:
            try:
                engine.listen(f"{scheme}://")
            except HostError:
                engine.listen(f"{scheme}://127.0.0.1:0")
    except DrystoneError as error:
        return Row(scheme, False, error.found or error.what)
    return Row(scheme, True, library)


def _of_ucx() -> list[Row]:
    from drystone_base.modules import stage

    found = [
        Row(f"ucx: {name}", there, said)
        for ask in stage("network_probe")
        for name, there, said in ask()
    ]
    return found or [Row(f"ucx: {name}", False, _NOT_INSTALLED) for name in _BY_UCX]
