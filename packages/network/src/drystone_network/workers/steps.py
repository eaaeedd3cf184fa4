"""The runs that a task takes part in: where values of other tasks meet those who wait for them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from drystone_base.core.errors import DrystoneError
from drystone_base.state.cancellation import Cancellation, cancelled, check_time
from drystone_base.state.rendezvous import Aborted, Rendezvous, Taker
from drystone_network.cluster.spec import Task
from drystone_network.workers.failures import task_lost
from drystone_network.workers.links import Links
from drystone_network.workers.plane import Edges, Run

if TYPE_CHECKING:
    from drystone_base.state.runtime import Runtime

__all__ = ["Edge", "RemoteRendezvous", "Steps"]


class Edge(NamedTuple):
    """A value that goes from a device to another."""

    source: str
    sender: str
    receiver: str

    def __str__(self) -> str:
        return f"{self.source!r} from {self.sender} to {self.receiver}"


class RemoteRendezvous(Rendezvous):
    """The rendezvous of one run in one task: what is for another task is sent there at once.

    ``run`` has the edges to and from other tasks, the base class those between devices of this one.
    """

    def __init__(self, step: int, task: Task, edges: Mapping[str, Edge], run: Run) -> None:
        super().__init__(is_shared=True)
        self.step, self.task, self.edges, self._run = step, task, edges, run
        self.table = run.table
        self.cancellation = Cancellation()
        self.failure: DrystoneError | None = None

    def _other(self, key: str, end: str) -> Edge | None:
        """The edge of a key, if its sender or receiver is another task."""
        edge = self.edges.get(key)
        return None if edge is None or Task.of_device(getattr(edge, end)) == self.task else edge

    def send(self, key: str, value: Any) -> None:
        """Leave a value for its receiver, here or on another task."""
        edge = self._other(key, "receiver")
        if edge is None:
            super().send(key, value)
            return
        try:
            self._run.send(key, value)
        except DrystoneError as error:
            failure = self._not_sent(Task.of_device(edge.receiver), error)
            failure.add_details({"drystone/edge": str(edge)})
            raise failure from error

    def _not_sent(self, there: Task, error: DrystoneError) -> DrystoneError:
        if error.status == "CANCELLED":
            return cancelled("the run was cancelled while a value was sent")
        return task_lost(there, error.found, error) if error.status == "UNAVAILABLE" else error

    def receive(self, key: str, runtime: Runtime, what: str) -> Any:
        """Take a value, as the base class does."""
        if self._other(key, "sender") is None:
            return super().receive(key, runtime, what)
        has_come, value = self._run.receive(key)
        if has_come:
            return value
        check_time(runtime, what)
        raise Aborted

    def receive_later(self, key: str, taker: Taker) -> None:
        """Have a function called with a value, as the base class does."""
        if self._other(key, "sender") is None:
            super().receive_later(key, taker)
            return

        def wait() -> None:
            has_come, value = self._run.receive(key)
            taker(value, has_come)

        threading.Thread(target=wait, name=f"receive {key}", daemon=True).start()

    def awaited(self) -> list[Edge]:
        """The edges on which a value of another task has not come."""
        return [self.edges[key] for key in self._run.awaited() if key in self.edges]

    def abort(self) -> None:
        """Wake everybody who waits."""
        self._run.abort()
        super().abort()

    def cancel(self, failure: DrystoneError | None = None) -> None:
        """End the run here."""
        self.failure = self.failure or failure
        self.cancellation.cancel()
        self.abort()


class Steps:
    """The runs under way. Safe to use from several threads."""

    def __init__(self, task: Task, transport: str, token: str) -> None:
        self.task = task
        self._lock = threading.Lock()
        self._open: dict[int, RemoteRendezvous] = {}
        self.links = Links(task, transport, token, self.lost, self.broken)

    def edges_of(self, edges: Mapping[str, Edge]) -> Edges:
        """The edges that go from or to this task, as the plane of its links has them."""
        found = {}
        for key, edge in edges.items():
            sender, receiver = Task.of_device(edge.sender), Task.of_device(edge.receiver)
            if sender != receiver and self.task in (sender, receiver):
                sends = sender == self.task
                found[key] = self.links.number(receiver if sends else sender), sends
        return Edges(found)

    def begin(
        self, step: int, edges: Mapping[str, Edge], native: Edges, ends: float | None
    ) -> RemoteRendezvous:
        """A run begins; raises ``KernelError`` where it was cancelled before."""
        run = self.links.plane.begin(step, native, ends)
        if run is None:
            raise cancelled("the run was cancelled before it began here")
        meeting = RemoteRendezvous(step, self.task, edges, run)
        with self._lock:
            self._open[step] = meeting
        return meeting

    def end(self, step: int) -> RemoteRendezvous | None:
        """A run has ended, or is not to begin; what comes of it later is dropped."""
        self.links.plane.end(step)
        with self._lock:
            return self._open.pop(step, None)

    def find(self, step: int) -> RemoteRendezvous | None:
        """The run of that number, if it is under way."""
        return self._open.get(step)

    def lost(self, task: Task) -> None:
        """A task is gone: runs that exchange values with it end."""
        with self._lock:
            hurt = [m for m in self._open.values() if _concerns(m, task)]
        for meeting in hurt:
            edges = [edge for edge in meeting.awaited() if Task.of_device(edge.sender) == task]
            said = f"edge {edges[0]} was waited for" if edges else ""
            meeting.cancel(task_lost(task, "its connection has ended", edges=said))

    def broken(self, error: DrystoneError) -> None:
        """Nothing is carried any more: every run ends."""
        for meeting in self._all():
            meeting.cancel(task_lost(self.task, error.found or error.what, error))

    def stop(self) -> None:
        """End every run, and all connections."""
        for meeting in self._all():
            meeting.cancel()
        self.links.close()

    def _all(self) -> list[RemoteRendezvous]:
        with self._lock:
            return list(self._open.values())


def _concerns(meeting: RemoteRendezvous, task: Task) -> bool:
    ends = {Task.of_device(d) for e in meeting.edges.values() for d in (e.sender, e.receiver)}
    return task in ends
