"""Calls of the passes under test."""

from __future__ import annotations

from drystone_base.host import passes as host
from drystone_conformance.graphs import Case
from drystone_conformance.progress import doing

__all__ = ["pass_bytes", "run_pass"]

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
PARTITIONED = 3


def pass_bytes(name: str, data: bytes, case: Case | None = None, graph: str = "") -> bytes:
    """A serialized graph as the pass leaves it; the same bytes where it changed nothing.

    Raises ``HostError``.
    """
    (found,) = [p for p in host.passes() if p.name == name]
    is_split = found.grouping == PARTITIONED
    fetches, feeds = (case.fetches, list(case.feeds)) if case else ([], [])
    partitions, devices = ([CPU], None) if is_split else (None, [CPU])
    with doing(f"pass {name} ran on {f'graph {graph}' if graph else 'a graph'}"):
        (after,) = host.run(name, [data], partitions, fetches, feeds, devices)
    return data if after is None else after


def run_pass(name: str, case: Case, graph: str = "") -> bytes:
    """What the pass makes of a case; ``graph`` says which it is where the plugin dies of it."""
    return pass_bytes(
        name, case.graph.to_proto().SerializeToString(deterministic=True), case, graph
    )
