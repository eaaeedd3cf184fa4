"""The runs that a task takes part in: where values of other tasks meet those who wait for them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from drystone_base.core.errors import DrystoneError
from drystone_base.state.cancellation import Cancellation, cancelled
from drystone_base.state.rendezvous import Rendezvous
from drystone_network.cluster.spec import Task
from drystone_network.workers.failures import task_lost

if TYPE_CHECKING:
    from drystone_base.state.runtime import Runtime
    from drystone_network.workers.links import Links

__all__ = ["Edge", "RemoteRendezvous", "Steps"]

_MOST_EARLY: Final = 256 << 20
_MOST_ENDED: Final = 4096


class Edge(NamedTuple):
    """A value that goes from a device to another."""

    source: str
    sender: str
    receiver: str

    def __str__(self) -> str:
        return f"{self.source!r} from {self.sender} to {self.receiver}"


class RemoteRendezvous(Rendezvous):
    """The rendezvous of one run in one task: what is for another task is sent there at once."""

    def __init__(self, step: int, task: Task, edges: Mapping[str, Edge], links: Links) -> None:
        super().__init__(is_shared=True)
        self.step, self.task, self.edges, self.links = step, task, edges, links
        self.cancellation = Cancellation()
        self.failure: DrystoneError | None = None
        self._awaited: list[str] = []

    def send(self, key: str, value: Any) -> None:
        """Leave a value for its receiver, here or on another task."""
        edge = self.edges.get(key)
        if edge is None or (there := Task.of_device(edge.receiver)) == self.task:
            super().send(key, value)
            return
        try:
            self.links.send(there, {"step": self.step, "key": key}, value, self._look)
        except DrystoneError as error:
            error.add_details({"drystone/edge": str(edge)})
            raise

    def _look(self) -> None:
        if self.cancellation.cancelled:
            raise cancelled("the run was cancelled while a value was sent")

    def take(self, sender: Task, key: str, value: Any) -> None:
        """A value of another task is there; one that is not that task's to send is dropped."""
        edge = self.edges.get(key)
        if edge is not None and Task.of_device(edge.sender) == sender:
            super().send(key, value)

    def receive(self, key: str, runtime: Runtime, what: str) -> Any:
        """Take a value, as the base class does."""
        self._awaited.append(key)
        value = super().receive(key, runtime, what)
        self._awaited.remove(key)  # what failed stays, for who asks what was waited for
        return value

    def awaited(self) -> list[Edge]:
        """The edges on which a value has not come."""
        return [self.edges[key] for key in self._awaited[:] if key in self.edges]

    def cancel(self, failure: DrystoneError | None = None) -> None:
        """End the run here."""
        self.failure = self.failure or failure
        self.cancellation.cancel()
        self.abort()


class Steps:
    """The runs under way, and values that came before their run began. Safe to use from threads."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._lock = threading.Lock()
        self._open: dict[int, RemoteRendezvous] = {}
        self._early: dict[int, list[tuple[Task, str, Any, int]]] = {}
        self._early_bytes = 0
        self._ended: OrderedDict[int, None] = OrderedDict()

    def begin(self, meeting: RemoteRendezvous) -> None:
        """A run begins; raises ``KernelError`` where it was cancelled before."""
        with self._lock:
            if meeting.step in self._ended:
                raise cancelled("the run was cancelled before it began here")
            self._open[meeting.step] = meeting
            for sender, key, value, size in self._early.pop(meeting.step, []):
                self._early_bytes -= size
                meeting.take(sender, key, value)

    def end(self, step: int) -> RemoteRendezvous | None:
        """A run has ended, or is not to begin; what comes of it later is dropped."""
        with self._lock:
            self._ended[step] = None
            while len(self._ended) > _MOST_ENDED:
                self._ended.popitem(last=False)
            self._early_bytes -= sum(one[-1] for one in self._early.pop(step, []))
            return self._open.pop(step, None)

    def find(self, step: int) -> RemoteRendezvous | None:
        """The run of that number, if it is under way."""
        return self._open.get(step)

    def arrived(self, sender: Task, document: dict[str, Any], arrays: list[Any]) -> None:
        """A value has come from another task."""
        step, key = document.get("step"), document.get("key")
        if not isinstance(step, int) or not isinstance(key, str) or len(arrays) != 1:
            return
        with self._lock:
            meeting = self._open.get(step)
            if meeting is None:
                self._keep(step, sender, key, arrays[0])
                return
        meeting.take(sender, key, arrays[0])

    def _keep(self, step: int, sender: Task, key: str, value: Any) -> None:
        size = 64 if value is None else 64 + value.nbytes
        if step in self._ended:
            return
        if self._early_bytes + size > _MOST_EARLY:  # so that its run fails, and does not wait
            self._ended[step] = None
            self._early_bytes -= sum(one[-1] for one in self._early.pop(step, []))
            return
        self._early.setdefault(step, []).append((sender, key, value, size))
        self._early_bytes += size

    def lost(self, task: Task) -> None:
        """A task is gone: runs that exchange values with it end."""
        with self._lock:
            hurt = [m for m in self._open.values() if _concerns(m, task)]
        for meeting in hurt:
            edges = [edge for edge in meeting.awaited() if Task.of_device(edge.sender) == task]
            said = f"edge {edges[0]} was waited for" if edges else ""
            meeting.cancel(task_lost(task, "its connection has ended", edges=said))

    def cancel_all(self) -> None:
        """End every run."""
        for step in list(self._open):
            meeting = self._open.get(step)
            if meeting is not None:
                meeting.cancel()


def _concerns(meeting: RemoteRendezvous, task: Task) -> bool:
    ends = {Task.of_device(d) for e in meeting.edges.values() for d in (e.sender, e.receiver)}
    return task in ends
