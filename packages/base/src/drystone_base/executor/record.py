"""Records of runs: what each node did, when, on which thread, and how much memory it took."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from drystone_base.core.arguments import explaining
from drystone_base.core.errors import BadRequest
from drystone_base.files.uris import as_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from drystone_abi.protos import XSpace
    from drystone_base.graph import Graph
    from drystone_base.kernels import Call

__all__ = ["NodeRun", "Record", "device_spans", "kernel_name"]

_REST = "(executor)"
_FIRST_LINE = 1 << 30  # numbers of lines of devices, beyond those of threads


class NodeRun(NamedTuple):
    """One run of one node.

    ``function`` is the function whose body the node belongs to, empty for the graph; ``kernel``
    says whose kernel ran. ``thread`` is the system's number of the thread; ``start`` and ``end``
    are nanoseconds of ``time.monotonic_ns()``. ``bytes`` are those of its outputs, ``held`` those
    of all values of the run right after it, None where the executor does not count them.
    ``outputs`` has the bytes of each output and the number of its memory: outputs of one number
    share memory; -1 where it is not known. ``allocations`` says how each output was allocated
    ("small block", "large block", "heap", "arena", "borrowed", or "" for no array) and how many
    bytes it took, as ``drystone/session.h`` has it; empty for nodes of the reference executor.
    ``place`` are the numbers of its block and instruction in ``Session.describe``, of a node that
    the native executor ran. ``device`` is the device of a plugin that its work was put on, from
    ``start`` to ``end``, and ``on_device`` are the nanoseconds that this work took there; "" and
    None of a device without timers.
    """

    node: str
    op: str
    function: str
    kernel: str
    thread: int
    start: int
    end: int
    bytes: int
    held: int | None
    outputs: tuple[tuple[int, int], ...] = ()
    place: tuple[int, int] = (-1, -1)
    allocations: tuple[tuple[str, int], ...] = ()
    device: str = ""
    on_device: int | None = None

    @property
    def seconds(self) -> float:
        """What it took, with all that ran inside it."""
        return (self.end - self.start) / 1e9


@explaining("write_chrome_trace", "write_events", "write_profile", "kernel", "add_native")
class Record:
    """What runs of a session did; :meth:`Session.record` makes one.

    ``nodes`` are in the order in which they ended, so those inside a call come before it.
    ``devices`` has the XSpace proto that each plugin's profiler collected, by type of device, once
    the record has ended. ``memory`` has for each device of a plugin by name the most bytes that
    values of a run took there (``peak``), and what the device said of its memory after the last
    one: ``free``, ``total`` and ``allocator``, as ``drystone_host/device.h`` has them.
    """

    def __init__(self, devices: Mapping[str, XSpace] | None = None) -> None:
        self.devices: Mapping[str, XSpace] = {} if devices is None else devices
        self.nodes: list[NodeRun] = []
        self.runs: list[tuple[int, int]] = []
        self.memory: dict[str, dict[str, Any]] = {}

    def __repr__(self) -> str:
        return f"<Record of {len(self.runs)} runs: {len(self.nodes)} nodes, {self.seconds:.6f} s>"

    @property
    def seconds(self) -> float:
        """What all runs took together."""
        return sum(end - start for start, end in self.runs) / 1e9

    @property
    def peak(self) -> int | None:
        """The most bytes that values of a run held at once; None where it was not counted."""
        return max((n.held for n in self.nodes if n.held is not None), default=None)

    def by_op(self) -> list[dict[str, Any]]:
        """One row per op, most time first: calls, seconds, share of all runs, bytes of outputs.

        Seconds leave out the nodes that ran inside (in the body of a loop, for one). Time that
        no node accounts for is the row ``(executor)``. ``device_seconds`` are those of work on
        devices, by their timers.
        """
        rows: dict[str, dict[str, Any]] = {}
        own, outermost = _own_times(self.nodes)
        for node, spent in zip(self.nodes, own, strict=True):
            row = rows.setdefault(node.op, _row(node.op))
            row["calls"] += 1
            row["device_seconds"] += (node.on_device or 0) / 1e9
            row["seconds"] += spent / 1e9
            row["bytes"] += node.bytes
        rest = max(0.0, self.seconds - outermost / 1e9)
        rows[_REST] = _row(_REST) | {"seconds": rest}
        for row in rows.values():
            row["share"] = row["seconds"] / self.seconds if self.runs else 0.0
        return sorted(rows.values(), key=lambda row: -row["seconds"])

    def chrome_trace(self) -> dict[str, Any]:
        """The runs in the form that Perfetto and ``chrome://tracing`` show, as a JSON object."""
        process = os.getpid()
        base = min((start for start, _ in self.runs), default=0)
        threads = {node.thread for node in self.nodes}
        spans = device_spans(self.nodes)
        lines = {name: _FIRST_LINE + k for k, name in enumerate(spans)}
        events = [_named("process_name", process, 0, "drystone")]
        events += [_named("thread_name", process, t, f"thread {t}") for t in sorted(threads)]
        events += [_named("thread_name", process, lines[name], name) for name in spans]
        for name, found in spans.items():
            for node, start, end in found:
                where = {"ts": (start - base) / 1e3, "pid": process, "tid": lines[name]}
                work = {"ph": "X", "name": node.op, "cat": "device", "dur": (end - start) / 1e3}
                events.append(work | where | {"args": {"node": node.node}})
        for node in self.nodes:
            where = {"ts": (node.start - base) / 1e3, "pid": process, "tid": node.thread}
            facts = {
                "node": node.node,
                "function": node.function,
                "kernel": node.kernel,
                "bytes": node.bytes,
            }
            took = (node.end - node.start) / 1e3
            events.append(
                {"ph": "X", "name": node.op, "cat": "op", "dur": took, "args": facts} | where
            )
            if node.held is not None:
                held = {"ph": "C", "name": "memory held", "args": {"bytes": node.held}}
                events.append(held | where | {"ts": (node.end - base) / 1e3})
        return {"displayTimeUnit": "ns", "traceEvents": events}

    def write_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Save :meth:`chrome_trace`; open the file at https://ui.perfetto.dev."""
        from drystone_base.files.writing import replace_file

        replace_file(as_path(path), [json.dumps(self.chrome_trace()).encode()])

    def write_events(self, folder: str | os.PathLike[str], graph: Graph) -> Path:
        """Save an event file with the graph and what its nodes took; gives its path.

        ``tensorboard --logdir FOLDER`` shows both under Graphs. Raises ``BadRequest``
        (``cannot-write``).
        """
        from drystone_base.executor.record_events import write_events

        return write_events(as_path(folder), graph, self.nodes)

    def write_profile(self, folder: str | os.PathLike[str]) -> Path:
        """Save what threads and devices ran and when, as a profile below ``folder``; its path.

        TensorBoard's profile plugin shows it with ``tensorboard --logdir FOLDER``, xprof with
        ``xprof --logdir FOLDER``. Raises ``BadRequest`` (``cannot-write``).
        """
        from drystone_base.executor.record_profile import write_profile

        return write_profile(as_path(folder), self.nodes, self.runs, self.devices.values())

    # ---- recording -----------------------------------------------------------------------------

    @contextmanager
    def run(self) -> Iterator[None]:
        """Note how long a run takes."""
        start = time.monotonic_ns()
        try:
            yield
        finally:
            self.runs.append((start, time.monotonic_ns()))

    def kernel(self, call: Call, compute: Callable[[], Any]) -> Any:
        """Run a kernel in Python and note it."""
        start = time.monotonic_ns()
        result = compute()
        end = time.monotonic_ns()
        outputs = result if isinstance(result, list | tuple) else [result]
        sizes = tuple((getattr(np.asarray(o), "nbytes", 0), -1) for o in _arrays(outputs))
        total = sum(size for size, _ in sizes)
        thread = threading.get_native_id()
        self.nodes.append(
            NodeRun(call.node, call.op, "", "NumPy", thread, start, end, total, None, sizes)
        )
        return result

    def add_native(self, trace: bytes, blocks: Sequence[dict[str, Any]]) -> None:
        """Add what ``DS_RunOptions.trace`` says, for a plan that ``DS_DescribePlan`` describes.

        Raises ``BadRequest`` (``bad-argument``) for what is no trace, or one of another plan.
        """
        try:
            told = json.loads(trace)
            self.nodes += [_native_run(event, blocks) for event in told["events"]]
            for device in told.get("devices", ()):
                before = self.memory.get(device["name"], {}).get("peak", 0)
                peak = max(before, device["peak"])
                self.memory[device.pop("name")] = device | {"peak": peak}
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise BadRequest(
                "this cannot be added to a record",
                check="a trace must be one of the plan that is described beside it",
                found=f"{len(trace)} bytes for {len(blocks)} blocks",
                needed="what DS_RunOptions.trace and DS_DescribePlan say of one plan",
                remedy="record runs with `with session.record() as record:`",
                code="bad-argument",
                inner=error,
            ) from error


def _native_run(event: Sequence[Any], blocks: Sequence[dict[str, Any]]) -> NodeRun:
    block, k, thread, start, end, held, outputs, allocations, *there = event
    ran = blocks[block]["instructions"][k]
    total = sum(size for size, _ in outputs)
    return NodeRun(
        ran["node"], ran["op"], blocks[block]["name"], kernel_name(ran), thread,
        start, end, total, held, tuple(map(tuple, outputs)), (block, k),
        tuple(map(tuple, allocations)), *reversed(there),
    )  # fmt: skip


def device_spans(nodes: Sequence[NodeRun]) -> dict[str, list[tuple[NodeRun, int, int]]]:
    """By device: nodes, with when their work there began and ended at the earliest.

    A timer tells how long work took, not when: it is shown where it can have been first, once it
    was put on the device, kernels and copies each after the one before.
    """
    found: dict[str, list[tuple[NodeRun, int, int]]] = {}
    free: dict[str, int] = {}
    for node in nodes:
        if node.on_device is None:
            continue
        line = f"{node.device} copies" if node.op == "_Copy" else node.device
        start = max(node.start, free.get(line, 0))
        free[line] = start + node.on_device
        found.setdefault(line, []).append((node, start, free[line]))
    return found


def _row(op: str) -> dict[str, Any]:
    return {"op": op, "calls": 0, "seconds": 0.0, "device_seconds": 0.0, "bytes": 0}


def kernel_name(instruction: dict[str, Any]) -> str:
    """Whose kernel an instruction runs, for people; ``DS_DescribePlan`` describes it."""
    if "library" in instruction:
        return f"{instruction['kernel']} of {Path(instruction['library']).name}"
    return "NumPy" if "callback" in instruction else "the executor's own"


def _arrays(outputs: Iterable[Any]) -> Iterator[Any]:
    return (o for o in outputs if isinstance(o, np.ndarray | np.generic))


def _named(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}


def _own_times(nodes: Sequence[NodeRun]) -> tuple[list[int], int]:
    """Nanoseconds of each node without those that ran inside it, and of the outermost ones."""
    own = [node.end - node.start for node in nodes]
    outermost = 0
    order = sorted(
        range(len(nodes)), key=lambda k: (nodes[k].thread, nodes[k].start, -nodes[k].end)
    )
    around: list[int] = []
    for k in order:
        node = nodes[k]
        while around and (
            nodes[around[-1]].thread != node.thread or nodes[around[-1]].end < node.end
        ):
            around.pop()
        if around:
            own[around[-1]] -= node.end - node.start
        else:
            outermost += node.end - node.start
        around.append(k)
    return own, outermost
