"""Records as event files: the graph, and what its nodes took, for TensorBoard."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drystone_abi.protos import Event, NodeExecStats, RunMetadata
from drystone_base.files.writing import Draft, writing
from drystone_base.kernels.io._event_file import EventFile

if TYPE_CHECKING:
    from drystone_base.executor.record import NodeRun
    from drystone_base.graph import Graph

__all__ = ["run_metadata", "write_events"]

_DEVICE: Final = "/job:localhost/replica:0/task:0/device:CPU:0"


def write_events(folder: Path, graph: Graph, nodes: Sequence[NodeRun]) -> Path:
    """A new event file in ``folder`` with the graph and one run's statistics; gives its path."""
    moment = time.time()
    path = folder / f"events.out.tfevents.{int(moment):010d}.{platform.node()}.drystone"
    with writing(path):
        folder.mkdir(parents=True, exist_ok=True)
        _write(path, graph, nodes, moment)
    return path


def _write(path: Path, graph: Graph, nodes: Sequence[NodeRun], moment: float) -> None:
    with Draft(path) as draft:
        file = EventFile(draft.path, limit=100, seconds=1e9, moment=int(moment))
        file.add(Event(wall_time=moment, graph_def=graph.to_bytes()))
        event = Event(wall_time=moment, step=0)
        event.tagged_run_metadata.tag = "drystone"
        event.tagged_run_metadata.run_metadata = run_metadata(nodes).SerializeToString()
        file.add(event)
        file.flush()
        draft.put_in_place()


def run_metadata(nodes: Sequence[NodeRun]) -> RunMetadata:
    """Statistics of the graph's own nodes; those of function bodies under the name of both."""
    metadata = RunMetadata()
    device = metadata.step_stats.dev_stats.add(device=_DEVICE)
    for node in sorted(nodes, key=lambda n: n.start):
        device.node_stats.append(_stats(node))
    return metadata


def _stats(node: NodeRun) -> NodeExecStats:
    took = node.end - node.start
    stats = NodeExecStats(
        node_name=f"{node.function}/{node.node}" if node.function else node.node,
        timeline_label=f"{node.node} = {node.op}()",
        thread_id=node.thread,
        all_start_micros=node.start // 1000,
        all_start_nanos=node.start,
        op_end_rel_micros=took // 1000,
        op_end_rel_nanos=took,
        all_end_rel_micros=took // 1000,
        all_end_rel_nanos=took,
    )
    for slot, (size, _) in enumerate(node.outputs):
        output = stats.output.add(slot=slot)
        output.tensor_description.allocation_description.requested_bytes = size
        output.tensor_description.allocation_description.allocator_name = "cpu"
    return stats
