"""Calls of the optimizer under test."""

from __future__ import annotations

from drystone_base import SessionConfig
from drystone_base.host import optimizer as host
from drystone_conformance.graphs import Case
from drystone_conformance.progress import doing

__all__ = ["PLAIN", "REFERENCE", "optimize"]

PLAIN = SessionConfig(optimizer="off")
REFERENCE = SessionConfig(optimizer="off", executor="reference")


def optimize(device: str, case: Case, name: str = "") -> bytes:
    """The graph as the plugin gives it back; the same bytes where it changed nothing.

    ``name`` says which graph it is where the plugin ends the process. Raises ``HostError``.
    """
    data = case.graph.to_proto().SerializeToString(deterministic=True)
    nodes = len(case.graph)
    with doing(f"optimizing {f'graph {name}' if name else f'a graph of {nodes} nodes'}"):
        after = host.run(device, data, case.fetches, list(case.feeds), case.kept)
    return data if after is None else after
