"""A task as others see it: requests to it, and their answers or errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import grpc

from drystone_base.core.errors import DrystoneError
from drystone_network.cluster.tls import Tls
from drystone_network.workers.failures import from_fields, task_unreachable
from drystone_network.workers.service import METHOD, OPTIONS, TOKEN
from drystone_network.workers.wire import BadFrame, pack, unpack

__all__ = ["Pending", "RemoteTask"]


class Pending:
    """A request under way."""

    def __init__(self, task: RemoteTask, future: Any) -> None:
        self.task, self._future = task, future

    def when_done(self, tell: Callable[[Pending], None]) -> None:
        """Have ``tell`` called, on another thread, once there is an answer."""
        self._future.add_done_callback(lambda _: tell(self))

    def result(self) -> tuple[dict[str, Any], list[Any]]:
        """The answer; raises what the task raised, or ``HostError`` (``task-unreachable``)."""
        try:
            message = self._future.result()
        except grpc.RpcError as error:
            code = error.code()
            said = f"{code.name}: {error.details()}"
            raise task_unreachable(self.task.name, self.task.address, said) from error
        except grpc.FutureCancelledError as error:
            raise task_unreachable(self.task.name, self.task.address, "cancelled") from error
        return self.task.read(message)

    def cancel(self) -> None:
        """Do not wait for it any more."""
        self._future.cancel()


class RemoteTask:
    """A connection to the worker at an address (``HOST:PORT``); ``name`` is what errors call it."""

    def __init__(self, name: object, address: str, token: str, tls: Tls | None = None) -> None:
        self.name, self.address = name, address
        self._metadata = ((TOKEN, token),)
        if tls is None:
            self._channel = grpc.insecure_channel(address, options=OPTIONS)
        else:
            self._channel = grpc.secure_channel(address, tls.channel(), options=OPTIONS)
        self._calls: dict[str, Any] = {}

    def start(
        self, method: str, document: dict[str, Any], arrays: Sequence[Any] = (),
        seconds: float | None = None, *, waits: bool = False,
    ) -> Pending:  # fmt: skip
        """Send a request; ``waits``: for a worker that has not begun to listen."""
        call = self._calls.get(method)
        if call is None:
            call = self._calls[method] = self._channel.unary_unary(METHOD + method)
        future = call.future(
            pack(document, arrays), timeout=seconds, metadata=self._metadata, wait_for_ready=waits
        )
        return Pending(self, future)

    def ask(
        self, method: str, document: dict[str, Any], arrays: Sequence[Any] = (),
        seconds: float | None = None, *, waits: bool = False,
    ) -> tuple[dict[str, Any], list[Any]]:  # fmt: skip
        """Send a request and wait for the answer; raises as :meth:`Pending.result` does."""
        return self.start(method, document, arrays, seconds, waits=waits).result()

    def read(self, message: bytes) -> tuple[dict[str, Any], list[Any]]:
        """The document and arrays of an answer; raises the error that it holds."""
        try:
            document, arrays = unpack(message)
        except BadFrame as error:
            raise task_unreachable(self.name, self.address, f"no answer: {error}") from error
        if "error" in document:
            failure: DrystoneError = from_fields(document["error"])
            raise failure
        return document, arrays

    def close(self) -> None:
        """Let go of the connection."""
        self._channel.close()
