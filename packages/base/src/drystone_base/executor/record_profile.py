"""Records as profiles for TensorBoard and xprof: what each thread ran, and when."""

from __future__ import annotations

import platform
import time
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drystone_abi.protos import XSpace
from drystone_base.executor.record import device_spans
from drystone_base.files.writing import replace_file, writing

if TYPE_CHECKING:
    from drystone_abi.protos import XEvent, XLine, XPlane
    from drystone_base.executor.record import NodeRun

__all__ = ["profile_of", "write_profile"]

_PLANE: Final = "/host:CPU"
_RUN: Final = "run"
_KERNEL, _FUNCTION, _BYTES, _STEP, _ROOT, _MAKES_TYPE, _MAKES, _TAKES_TYPE, _TAKES = range(1, 10)
_FACTS: Final = {
    _KERNEL: "kernel", _FUNCTION: "function", _BYTES: "bytes", _STEP: "step_num", _ROOT: "_r",
    _MAKES_TYPE: "_pt", _MAKES: "_p", _TAKES_TYPE: "_ct", _TAKES: "_c",
}  # fmt: skip
"""Names of facts by number; those with an underscore are xprof's own (``xplane_schema.h``)."""
_EXECUTOR: Final = 2
"""xprof's type of what a run and its nodes have in common, ``ContextType::kTfExecutor``."""


def write_profile(
    folder: Path,
    nodes: Sequence[NodeRun],
    runs: Sequence[tuple[int, int]],
    devices: Iterable[XSpace] = (),
) -> Path:
    """A new profile below ``folder``, where TensorBoard looks for it; gives its path."""
    moment = time.strftime("%Y_%m_%d_%H_%M_%S")
    path = folder / "plugins" / "profile" / moment / f"{platform.node()}.xplane.pb"
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, [profile_of(nodes, runs, devices).SerializeToString()])
    return path


def profile_of(
    nodes: Sequence[NodeRun], runs: Sequence[tuple[int, int]], devices: Iterable[XSpace] = ()
) -> XSpace:
    """One plane with a line for each thread, and one for the runs; one for each device whose timers
    told what nodes took there; then those of ``devices``, which its profiler made.

    A node's event is named ``node:op``, as TensorFlow names it, which is how tools know ops.
    """
    space = XSpace(hostnames=[platform.node()])
    plane = space.planes.add(id=1, name=_PLANE)
    for number, fact in _FACTS.items():
        plane.stat_metadata[number].id = number
        plane.stat_metadata[number].name = fact
    writer = _Plane(plane)
    writer.add_runs(runs)
    begun = sorted((start, number) for number, (start, _) in enumerate(runs))
    for node in sorted(nodes, key=lambda n: n.start):
        latest = bisect_right(begun, (node.start, len(runs))) - 1
        writer.add_node(node, begun[latest][1] if latest >= 0 else None)
    for number, (name, found) in enumerate(device_spans(nodes).items(), 2):
        line = _Plane(space.planes.add(id=number, name=name))
        for node, start, end in found:
            line.add_work(node, start, end)
    for one in devices:
        space.planes.extend(one.planes)
        space.errors.extend(one.errors)
        space.warnings.extend(one.warnings)
    return space


class _Plane:
    """A plane that is being written: its lines by thread, its events' names by number."""

    def __init__(self, plane: XPlane) -> None:
        self._plane = plane
        self._since_1970 = time.time_ns() - time.monotonic_ns()
        self._lines: dict[int, tuple[XLine, int]] = {}
        self._names: dict[str, int] = {}

    def add_runs(self, runs: Sequence[tuple[int, int]]) -> None:
        """A line of its own, whose events tools take for steps."""
        for number, (start, end) in enumerate(runs):
            event = self._event(0, "runs", _RUN, start, end)
            event.stats.add(metadata_id=_STEP, int64_value=number)
            event.stats.add(metadata_id=_ROOT, int64_value=1)
            event.stats.add(metadata_id=_MAKES_TYPE, int64_value=_EXECUTOR)
            event.stats.add(metadata_id=_MAKES, uint64_value=number)

    def add_node(self, node: NodeRun, run: int | None) -> None:
        """An event on the line of its thread, in the step of a run: the latest that had begun."""
        name = f"{node.function}/{node.node}" if node.function else node.node
        line = f"thread {node.thread}"
        event = self._event(node.thread, line, f"{name}:{node.op}", node.start, node.end)
        event.stats.add(metadata_id=_KERNEL, str_value=node.kernel)
        if node.function:
            event.stats.add(metadata_id=_FUNCTION, str_value=node.function)
        event.stats.add(metadata_id=_BYTES, int64_value=node.bytes)
        if run is not None:
            event.stats.add(metadata_id=_TAKES_TYPE, int64_value=_EXECUTOR)
            event.stats.add(metadata_id=_TAKES, uint64_value=run)

    def add_work(self, node: NodeRun, start: int, end: int) -> None:
        """An event on the only line of a device's plane."""
        self._event(0, "work", f"{node.node}:{node.op}", start, end)

    def _event(self, thread: int, line: str, name: str, start: int, end: int) -> XEvent:
        if thread not in self._lines:
            made = self._plane.lines.add(id=thread, name=line)
            made.timestamp_ns = start + self._since_1970
            self._lines[thread] = made, start
        into, origin = self._lines[thread]
        return into.events.add(
            metadata_id=self._number(name),
            offset_ps=(start - origin) * 1000,
            duration_ps=(end - start) * 1000,
        )

    def _number(self, name: str) -> int:
        number = self._names.setdefault(name, len(self._names) + 1)
        self._plane.event_metadata[number].id = number
        self._plane.event_metadata[number].name = name
        return number
