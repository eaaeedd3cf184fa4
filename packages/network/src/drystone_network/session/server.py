"""A task of a cluster in this process: what listens, and to whom."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self

from drystone_base.core.arguments import checked
from drystone_base.core.errors import BadRequest
from drystone_network.cluster.hosts import bracketed, is_loopback
from drystone_network.cluster.spec import ClusterSpec, Task
from drystone_network.cluster.tls import Tls
from drystone_network.cluster.tls import token as own_token
from drystone_network.workers.failures import insecure

if TYPE_CHECKING:
    from drystone_base import Access

__all__ = ["Server"]


class Server:
    """A task of a cluster, which runs parts of graphs for clients until it is stopped.

    ``cluster`` is a ``ClusterSpec`` or what makes one. It listens at the task's address if that is
    of this machine alone (127.0.0.1, localhost), else at ``bind`` (``"0.0.0.0"``: on all
    interfaces), which needs a token. ``access`` says which files graphs may read and write here.
    ``transport`` carries values between tasks: ``tcp``, ``unix`` or ``shm`` on one machine, or the
    scheme of a plugin's.
    Raises ``BadRequest``: ``bad-cluster``, ``unknown-task``, ``insecure-worker``,
    ``unknown-transport``, ``address-in-use``. Source: TensorFlow's ``tf.distribute.Server``.
    """

    @checked
    def __init__(
        self,
        cluster: ClusterSpec | Mapping[str, Sequence[str] | Mapping[int, str]],
        job: str = "worker",
        task: int = 0,
        *,
        bind: str = "",
        token: str | None = None,
        tls: Tls | None = None,
        access: Access | None = None,
        transport: str = "tcp",
        devices: int = 1,
    ) -> None:
        from drystone_network.workers.service import serve
        from drystone_network.workers.worker import Worker

        spec = cluster if isinstance(cluster, ClusterSpec) else ClusterSpec(cluster)
        self.task = Task(job, task)
        host, _, port = spec.address(self.task).rpartition(":")
        secret = own_token() if token is None else token
        where = _bound(self.task, host, bind, secret)
        address = _data_address(transport, where)
        self._worker = Worker(
            spec, self.task, transport=address, token=secret, access=access, devices=devices
        )
        self._worker.reached_at(where, host)
        try:
            self._server = serve(
                f"{where}:{port}", self._worker.call, secret, tls or Tls.of_environment()
            )
        except RuntimeError as error:
            self._worker.stop()
            raise _in_use(self.task, f"{where}:{port}", error) from error
        self.target = f"grpc://{spec.address(self.task)}"
        self._stopped = threading.Event()

    def __repr__(self) -> str:
        return f"<Server of {self.task} at {self.target}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End runs under way and listen no more. To stop it again does nothing."""
        if not self._stopped.is_set():
            self._stopped.set()
            self._worker.stop()
            self._server.stop(0.2).wait()

    def join(self, seconds: float | None = None) -> bool:
        """Wait until it is stopped, at most so long; whether it is."""
        return self._stopped.wait(seconds)


def _data_address(transport: str, host: str) -> str:
    """Where values come in: a name of the transport's choice, or a port of that host."""
    from drystone_network.transports.registry import find

    is_local = "one-machine" in find(f"{transport}://").capabilities
    return f"{transport}://" if is_local else f"{transport}://{host}:0"


def _bound(task: Task, host: str, bind: str, token: str) -> str:
    """Where to listen; raises ``BadRequest`` (``insecure-worker``)."""
    if not bind and is_loopback(host):
        return host
    if not bind or not (is_loopback(bind) or token):
        found = f"address {host}, bind {bind!r}, {'a' if token else 'no'} token"
        remedy = 'Server(..., bind="0.0.0.0", token=SECRET), or drystone worker --bind 0.0.0.0 with'
        raise insecure(task, found, "bind and a token", remedy)
    return bracketed(bind)


def _in_use(task: Task, address: str, error: Exception) -> BadRequest:
    return BadRequest(
        f"{task} cannot listen at {address}",
        check="the address of a task is free",
        found=str(error).splitlines()[0] if str(error) else "it is taken",
        needed="an address of this machine that nobody listens at",
        remedy="stop what listens there, or give the task another address",
        code="address-in-use",
        status="ALREADY_EXISTS",
        inner=error,
    )
