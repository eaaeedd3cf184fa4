"""What a task of a cluster does when it is asked to: parts of graphs, on its own devices.

Variables, tables and queues belong to the task and outlive the sessions of clients, as those of a
TensorFlow server do: a client that comes back finds them.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from drystone_base import Access, Graph, Session, SessionConfig
from drystone_base.core.errors import DrystoneError
from drystone_base.placement.parts import Part, run_parts
from drystone_base.state.rendezvous import KEY
from drystone_base.state.variables import Step
from drystone_network.cluster.spec import ClusterSpec, Task
from drystone_network.workers.failures import bad_frame
from drystone_network.workers.plane import Edges
from drystone_network.workers.sessions import Sessions
from drystone_network.workers.steps import Edge, Steps

__all__ = ["PROTOCOL", "Worker"]

PROTOCOL: Final = 3
"""Version of what workers and clients say to each other."""
_OPTIONS: Final = ("executor", "deterministic")

Answer = tuple[dict[str, Any], Sequence[Any]]


class _Registered:
    """The parts of one signature that run here."""

    def __init__(
        self, parts: list[Part], edges: dict[str, Edge], native: Edges, peers: dict[Task, str]
    ) -> None:
        self.parts, self.edges, self.native, self.peers = parts, edges, native, peers


class Worker:
    """A task: ``call(method, document, arrays)`` gives the answer to a request of a client.

    ``access`` is what graphs may reach here, whatever the client's session may. ``transport`` is
    the address at which values of other tasks come in.
    """

    def __init__(
        self,
        cluster: ClusterSpec,
        task: Task,
        *,
        transport: str = "tcp://127.0.0.1:0",
        token: str = "",
        access: Access | None = None,
        devices: int = 1,
    ) -> None:
        cluster.address(task)
        self.cluster, self.task = cluster, task
        self.devices = [task.device("CPU", k) for k in range(devices)]
        self.incarnation = secrets.randbits(62)
        self._config = SessionConfig(access=access, optimizer="off")
        self._home = Session(Graph(), self._config)
        self._steps = Steps(task, transport, token)
        self._links = self._steps.links
        self._sessions: Sessions[_Registered] = Sessions(task)
        self._methods: dict[str, Callable[[dict[str, Any], list[Any]], Answer]] = {
            "status": self._status,
            "open": self._open,
            "register": self._register,
            "run": self._run,
            "cancel": self._cancel,
            "abandon": self._abandon,
            "close": self._close,
            "reset": self._reset,
        }

    def reached_at(self, bound: str, host: str) -> None:
        """Tell others to send values to ``host`` where this listens at ``bound``, if it has ports.

        What is listened at may be all addresses of a machine, which is no place to connect to.
        """
        scheme, _, rest = self._links.address.partition("://")
        if rest.startswith(f"{bound}:"):
            self._links.address = f"{scheme}://{host}{rest[len(bound) :]}"

    def stop(self) -> None:
        """End runs and connections."""
        self._steps.stop()
        self._home.close()

    def call(self, method: str, document: dict[str, Any], arrays: list[Any]) -> Answer:
        """The answer to a request; raises ``DrystoneError``."""
        found = self._methods.get(method)
        if found is None:
            raise bad_frame(f"a request {method!r}")
        try:
            return found(document, arrays)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise bad_frame(f"{method}: {type(error).__name__}: {error}") from error

    def _status(self, _document: dict[str, Any], _arrays: list[Any]) -> Answer:
        return {
            "protocol": PROTOCOL,
            "task": [self.task.job, self.task.index],
            "devices": self.devices,
            "data": self._links.address,
            "cluster": self.cluster.to_json(),
            "incarnation": self.incarnation,
        }, ()

    def _open(self, _document: dict[str, Any], _arrays: list[Any]) -> Answer:
        return {"session": self._sessions.open()}, ()

    def _register(self, document: dict[str, Any], arrays: list[Any]) -> Answer:
        session = str(document["session"])
        self._sessions.find(session)
        options = {k: v for k, v in document["config"].items() if k in _OPTIONS}
        config = replace(self._config, **options)
        parts = [
            self._part(one, data, config)
            for one, data in zip(document["parts"], arrays, strict=True)
        ]
        edges = {key: Edge(*map(str, edge)) for key, edge in document["edges"].items()}
        peers = {Task.of_device(name): str(at) for name, at in document["peers"].items()}
        self._connect(peers, _end(document))
        what = _Registered(parts, edges, self._steps.edges_of(edges), peers)
        return {"handle": self._sessions.register(session, what)}, ()

    def _connect(self, peers: dict[Task, str], ends: float | None) -> None:
        for task, address in peers.items():
            self._links.connect(task, address, ends)

    def _part(self, one: dict[str, Any], data: Any, config: SessionConfig) -> Part:
        """What runs one device's graph, on the state of this task."""
        if one["device"] not in self.devices:
            raise bad_frame(f"a part for {one['device']}, which is not here")
        session = Session(Graph.from_bytes(data.tobytes()), config)
        session.resources = self._home.resources
        run = session.make_part(one["fetches"], one["feeds"], one["sends"])
        places = one["feed_places"], one["fetch_places"]
        return Part(one["device"], run, tuple(places[0]), tuple(places[1]))

    def _run(self, document: dict[str, Any], arrays: list[Any]) -> Answer:
        registered = self._sessions.find(str(document["session"]))[document["handle"]]
        ends = _end(document)
        self._connect(registered.peers, ends)
        number = int(document["step"])
        meeting = self._steps.begin(number, registered.edges, registered.native, ends)
        step = Step()
        step.resources[KEY] = meeting

        def run(part: Part, values: Sequence[Any], step: Step) -> Sequence[Any]:
            found: list[Any] = part.plan(values, step, meeting.cancellation, ends)
            return found

        try:
            return {}, run_parts(registered.parts, arrays, run, step)
        except DrystoneError as error:
            if meeting.failure is not None and error.code == "run-cancelled":
                raise meeting.failure from error  # why it was cancelled
            if error.code == "deadline-exceeded" and (edges := meeting.awaited()):
                error.found = f"{error.found}; waited for {', '.join(map(str, edges[:4]))}"
            raise
        finally:
            self._steps.end(meeting.step)

    def _cancel(self, document: dict[str, Any], _arrays: list[Any]) -> Answer:
        step = int(document["step"])
        meeting = self._steps.end(step)
        if meeting is None:
            return {"awaited": []}, ()
        awaited = [str(edge) for edge in meeting.awaited()]
        meeting.cancel()
        return {"awaited": awaited}, ()

    def _abandon(self, document: dict[str, Any], _arrays: list[Any]) -> Answer:
        """Nobody waits for the answer of a run any more: it has got there, or who asked is gone."""
        meeting = self._steps.find(int(document["step"]))
        if meeting is not None:
            meeting.cancel()
        return {}, ()

    def _close(self, document: dict[str, Any], _arrays: list[Any]) -> Answer:
        self._sessions.close(str(document["session"]))
        return {}, ()

    def _reset(self, document: dict[str, Any], _arrays: list[Any]) -> Answer:
        containers = document["containers"]
        for container in containers or [None]:
            self._home.resources.clear(container)
        return {}, ()


def _end(document: dict[str, Any]) -> float | None:
    """When what is asked for must be done, by the monotonic clock of this task."""
    seconds = document["seconds"]
    return None if seconds is None else time.monotonic() + float(seconds)
