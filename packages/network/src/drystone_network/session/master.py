"""A session's side of a cluster: it has the parts of its graph run by the tasks, all at once."""

from __future__ import annotations

import contextlib
import itertools
import queue
import secrets
import time
import weakref
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from drystone_base import SessionConfig
from drystone_base.api.feeds import Feed
from drystone_base.core.errors import BadRequest, DrystoneError
from drystone_base.graph import Graph, parse_tensor_name
from drystone_base.placement.partitions import Partitions
from drystone_base.state.cancellation import Cancellation, cancelled, deadline_exceeded
from drystone_network.cluster.hosts import canonical
from drystone_network.cluster.spec import ClusterSpec, Task
from drystone_network.cluster.tls import Tls, token
from drystone_network.workers.client import Pending, RemoteTask
from drystone_network.workers.failures import (
    cluster_differs,
    task_lost,
    task_unreachable,
    version_differs,
)
from drystone_network.workers.worker import PROTOCOL

__all__ = ["Master", "open_master", "reset"]

_EDGE: Final = ("tensor_name", "send_device", "recv_device")
_OPEN_SECONDS: Final = 30.0
_LOOK: Final = 0.05
_GRACE: Final = 0.5  # after a run's deadline, for tasks to say where they are
_CANCEL_SECONDS: Final = 1.0
_LEAVE: Final = 5.0  # after a run's deadline, for a thread that waits for a task that is silent
_STEPS: Final = itertools.count(secrets.randbits(56) << 6)  # no other client has the same


def _address(target: str) -> str:
    scheme, found, address = target.partition("://")
    if not found or scheme != "grpc" or ":" not in address or "/" in address:
        raise BadRequest(
            f"{target!r} is no target of a session",
            check="a target is the address of a task of a cluster",
            found=target,
            needed="grpc://HOST:PORT",
            remedy='SessionConfig(target="grpc://127.0.0.1:2222")',
            code="bad-target",
        )
    return address


def open_master(config: SessionConfig) -> Master:
    """What ``SessionConfig.target`` leads to: all tasks of the cluster of the task there."""
    return Master(config)


def reset(target: str, containers: Sequence[str] = ()) -> None:
    """Forget variables, tables and queues on all tasks of a cluster, or those of some containers.

    Source: TensorFlow's ``Session.reset``.
    """
    master = Master(SessionConfig(target=target))
    try:
        for task in master.tasks.values():
            task.ask("reset", {"containers": list(containers)}, (), _OPEN_SECONDS)
    finally:
        master.close()


class Master:
    """The tasks of a cluster, for one session."""

    def __init__(self, config: SessionConfig) -> None:
        address = _address(config.target)
        self._config = {"executor": config.executor, "deterministic": config.deterministic}
        self._token, self._tls = token(), Tls.of_environment()
        self._deadline = config.deadline
        seconds = config.deadline or _OPEN_SECONDS
        self.tasks: dict[Task, RemoteTask] = {}
        self._sessions: dict[Task, str] = {}
        self._end = weakref.finalize(self, _close, self.tasks, self._sessions)
        first = RemoteTask("a task of the cluster", address, self._token, self._tls)
        try:
            document, _ = first.ask("status", {}, (), seconds, waits=True)
        finally:
            first.close()
        self.cluster = ClusterSpec.from_json(str(document["cluster"]))
        self._connect(seconds)

    def _connect(self, seconds: float) -> None:
        """Have a session on every task, and know its devices."""
        for task in self.cluster:
            self.tasks[task] = RemoteTask(task, self.cluster.address(task), self._token, self._tls)
        asked = {
            task: remote.start("status", {}, (), seconds, waits=True)
            for task, remote in self.tasks.items()
        }
        self.data: dict[Task, str] = {}
        self.devices: list[str] = []
        for task, pending in asked.items():
            facts, _ = pending.result()
            if facts.get("protocol") != PROTOCOL:
                raise version_differs(task, facts.get("protocol"), PROTOCOL)
            if facts.get("task") != [task.job, task.index]:
                where = self.cluster.address(task)
                raise task_unreachable(task, where, f"task {facts.get('task')} is there")
            self._check_cluster(task, str(facts["cluster"]))
            self.data[task] = str(facts["data"])
            self.devices += [str(device) for device in facts["devices"]]
        for task, remote in self.tasks.items():
            self._sessions[task] = str(remote.ask("open", {}, (), seconds)[0]["session"])

    def _check_cluster(self, task: Task, described: str) -> None:
        """Raise ``BadRequest`` (``cluster-differs``) where a task takes others for other ones."""
        if described == self.cluster.to_json():
            return
        theirs = ClusterSpec.from_json(described)
        for one in set(theirs) & set(self.cluster):
            there, here = theirs.address(one), self.cluster.address(one)
            if canonical(there) != canonical(here):
                raise cluster_differs(task, f"{one} at {there}", f"{one} at {here}")

    def close(self) -> None:
        """Close the sessions of the tasks."""
        self._end()

    def load(self, parts: Partitions, fetches: Sequence[str], feeds: Sequence[Feed]) -> RemotePlan:
        """Have the tasks take their parts."""
        edges = {t.key: (t.source, t.sender, t.receiver) for t in parts.transfers}
        edges = _written(parts.graphs.values()) | edges
        by_task: dict[Task, list[dict[str, Any]]] = {}
        data: dict[Task, list[Any]] = {}
        places: dict[Task, tuple[list[int], list[int]]] = {}
        for device, graph in parts.graphs.items():
            task = Task.of_device(device)
            fed = [k for k, f in enumerate(feeds) if parse_tensor_name(f.name)[0] in graph]
            fetched = [k for k, name in enumerate(fetches) if name.split(":")[0] in graph]
            all_fed, all_fetched = places.setdefault(task, ([], []))
            by_task.setdefault(task, []).append(
                {
                    "device": device,
                    "feeds": [feeds[k].name for k in fed],
                    "fetches": [fetches[k] for k in fetched],
                    "sends": parts.sends[device],
                    "feed_places": [len(all_fed) + k for k in range(len(fed))],
                    "fetch_places": [len(all_fetched) + k for k in range(len(fetched))],
                }
            )
            all_fed += fed
            all_fetched += fetched
            data.setdefault(task, []).append(np.frombuffer(graph.to_bytes(), np.uint8))
        handles = {}
        for task, described in by_task.items():
            there = {
                str(Task.of_device(receiver)): receiver
                for _, sender, receiver in edges.values()
                if Task.of_device(sender) == task and Task.of_device(receiver) != task
            }
            document = {
                "session": self._sessions[task],
                "seconds": self._deadline,
                "config": self._config,
                "parts": described,
                "edges": edges,
                "peers": {r: self.data[Task.of_device(r)] for r in there.values()},
            }
            seconds = None if self._deadline is None else self._deadline + _GRACE
            answer, _ = self.tasks[task].ask("register", document, data[task], seconds)
            handles[task] = int(answer["handle"])
        return RemotePlan(self, handles, places, len(fetches))

    def session_of(self, task: Task) -> str:
        """The session on a task."""
        return self._sessions[task]


def _written(graphs: Iterable[Graph]) -> dict[str, tuple[str, str, str]]:
    """Edges by nodes of the graph's own, such as a plugin's, that say where they send to."""
    found = {}
    for graph in graphs:
        for node in graph:
            key, sender, receiver = (node.attrs.get(name) for name in _EDGE)
            if isinstance(key, str) and isinstance(sender, str) and isinstance(receiver, str):
                found[key] = (node.name, sender, receiver)
    return found


class RemotePlan:
    """A signature whose parts the tasks have."""

    def __init__(
        self, master: Master, handles: dict[Task, int],
        places: dict[Task, tuple[list[int], list[int]]], count: int,
    ) -> None:  # fmt: skip
        self.master, self.handles, self.places, self.count = master, handles, places, count

    def __call__(
        self, values: Sequence[Any], cancellation: Cancellation | None, ends: float | None
    ) -> list[Any]:
        """Run all parts; raises what the first of them that failed says."""
        run = _Run(self, cancellation, ends)
        try:
            run.start(values)
            return run.wait()
        except BaseException:
            run.stop()
            raise


class _Run:
    """One run of a plan."""

    def __init__(
        self, plan: RemotePlan, cancellation: Cancellation | None, ends: float | None
    ) -> None:
        self.plan, self.master = plan, plan.master
        self.cancellation, self.ends = cancellation, ends
        self.step = next(_STEPS) & ((1 << 62) - 1)
        self.pending: dict[Pending, Task] = {}
        self.done: queue.SimpleQueue[Pending] = queue.SimpleQueue()

    def start(self, values: Sequence[Any]) -> None:
        """Send every task what it is fed."""
        seconds = None if self.ends is None else max(0.0, self.ends - time.monotonic())
        for task, handle in self.plan.handles.items():
            document = {
                "session": self.master.session_of(task),
                "handle": handle,
                "step": self.step,
                "seconds": seconds,
            }
            fed = [values[k] for k in self.plan.places[task][0]]
            limit = None if seconds is None else seconds + _LEAVE
            pending = self.master.tasks[task].start("run", document, fed, limit)
            self.pending[pending] = task
            pending.when_done(self.done.put)

    def wait(self) -> list[Any]:
        """The fetches, once all tasks have answered."""
        out: list[Any] = [None] * self.plan.count
        while self.pending:
            pending = self._next()
            task = self.pending.pop(pending)
            try:
                _, found = pending.result()
            except DrystoneError as error:
                raise self._failure(task, error) from error
            for place, value in zip(self.plan.places[task][1], found, strict=True):
                out[place] = value
        return out

    def _next(self) -> Pending:
        """The next task that has answered; raises where the run must end."""
        while True:
            try:
                return self.done.get(timeout=_LOOK)
            except queue.Empty:
                if self.cancellation is not None and self.cancellation.cancelled:
                    raise cancelled(f"the run was cancelled; {self._silent()}") from None
                if self.ends is not None and time.monotonic() > self.ends + _GRACE:
                    silent, waits = self._silent(), self.stop()
                    raise deadline_exceeded(
                        f"the run was stopped; {silent}{waits and f'; {waits}'}"
                    ) from None

    def _silent(self) -> str:
        return f"not yet done: {', '.join(map(str, self.pending.values()))}"

    def _failure(self, task: Task, error: DrystoneError) -> DrystoneError:
        """The error to raise for what a task said: of several, the one that is the cause."""
        found = [(task, error), *self._others()]
        for at, one in found:
            if one.code == "task-unreachable":
                edges = self.stop()
                told = next((e for _, e in found if e.code == "task-lost"), None)
                return told or task_lost(at, one.found, one, edges)  # who lost it knows the edge
        at, first = next((f for f in found if f[1].code != "run-cancelled"), found[0])
        if first.code == "deadline-exceeded":
            first.found = f"{first.found}; on {at}"
        if first.code == "deadline-exceeded" and self.pending:
            silent, waits = self._silent(), self.stop()
            first.found = f"{first.found}; {silent}{waits and f'; {waits}'}"
        first.add_details({"drystone/task": str(at)})
        return first

    def _others(self) -> list[tuple[Task, DrystoneError]]:
        """What others said that failed at about the same time."""
        found = []
        until = time.monotonic() + _GRACE
        while self.pending:
            try:
                pending = self.done.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                break
            task = self.pending.pop(pending)
            try:
                pending.result()
            except DrystoneError as error:
                found.append((task, error))
                if error.code != "run-cancelled":
                    break
        return found

    def stop(self) -> str:
        """End the run on all tasks; what those that still ran were waiting for."""
        asked = []
        for pending, task in list(self.pending.items()):
            pending.cancel()
            remote = self.master.tasks[task]
            asked.append(remote.start("cancel", {"step": self.step}, (), _CANCEL_SECONDS))
        self.pending.clear()
        awaited: list[str] = []
        for one in asked:
            with contextlib.suppress(DrystoneError):
                awaited += map(str, one.result()[0]["awaited"])
        return f"waited for {', '.join(awaited[:4])}" if awaited else ""


def _close(tasks: dict[Task, RemoteTask], sessions: dict[Task, str]) -> None:
    """Tell the tasks that the session has ended; those that are gone need not know."""
    for task, remote in tasks.items():
        if task in sessions:
            with contextlib.suppress(DrystoneError):
                remote.ask("close", {"session": sessions[task]}, (), _CANCEL_SECONDS)
        remote.close()
