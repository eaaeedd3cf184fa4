"""A task as others see it: requests to it, and their answers or errors."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, InvalidStateError
from functools import partial
from typing import Any, Final

import grpc

from drystone_base.core.errors import DrystoneError
from drystone_network.cluster.tls import Tls
from drystone_network.workers.callers import CALLERS
from drystone_network.workers.failures import from_fields, task_busy, task_unreachable
from drystone_network.workers.service import METHOD, OPTIONS, TOKEN, token_sent
from drystone_network.workers.wire import BadFrame, pack, unpack

__all__ = ["Pending", "RemoteTask"]

_ASK_SECONDS: Final = 0.5


class Pending:
    """A request under way, on a thread that waits for the answer."""

    def __init__(self, task: RemoteTask, call: Callable[[], Any]) -> None:
        self.task, self._call = task, call
        self._future: Future[Any] = Future()
        CALLERS.run(self._work)

    def _work(self) -> None:
        try:
            answer, error = self._call(), None
        except BaseException as raised:
            answer, error = None, raised
        with contextlib.suppress(InvalidStateError):  # nobody waits for it any more
            if error is None:
                self._future.set_result(answer)
            else:
                self._future.set_exception(error)

    def when_done(self, tell: Callable[[Pending], None]) -> None:
        """Have ``tell`` called, on another thread, once there is an answer."""
        self._future.add_done_callback(lambda _: tell(self))

    def result(self) -> tuple[dict[str, Any], list[Any]]:
        """The answer; raises what the task raised, or ``HostError`` (``task-unreachable``)."""
        try:
            return self.task.answer(self._future.result)
        except CancelledError as error:
            raise task_unreachable(self.task.name, self.task.address, "cancelled") from error

    def cancel(self) -> None:
        """Do not wait for it any more."""
        self._future.cancel()


class RemoteTask:
    """A connection to the worker at an address (``HOST:PORT``); ``name`` is what errors call it."""

    def __init__(self, name: object, address: str, token: str, tls: Tls | None = None) -> None:
        self.name, self.address = name, address
        self._metadata = ((TOKEN, token_sent(token)),)
        if tls is None:
            self._channel = grpc.insecure_channel(address, options=OPTIONS)
        else:
            self._channel = grpc.secure_channel(address, tls.channel(), options=OPTIONS)
        self._calls: dict[str, Any] = {}

    def _asking(
        self, method: str, document: dict[str, Any], arrays: Sequence[Any], seconds: float | None,
        waits: bool,
    ) -> Callable[[], Any]:  # fmt: skip
        """What sends a request and waits for the answer."""
        call = self._calls.get(method)
        if call is None:
            call = self._calls[method] = self._channel.unary_unary(METHOD + method)
        return partial(
            call, pack(document, arrays), timeout=seconds, metadata=self._metadata,
            wait_for_ready=waits,
        )  # fmt: skip

    def start(
        self, method: str, document: dict[str, Any], arrays: Sequence[Any] = (),
        seconds: float | None = None, *, waits: bool = False,
    ) -> Pending:  # fmt: skip
        """Send a request; ``waits``: for a worker that has not begun to listen."""
        return Pending(self, self._asking(method, document, arrays, seconds, waits))

    def ask(
        self, method: str, document: dict[str, Any], arrays: Sequence[Any] = (),
        seconds: float | None = None, *, waits: bool = False,
    ) -> tuple[dict[str, Any], list[Any]]:  # fmt: skip
        """Send a request and wait for the answer; raises as :meth:`Pending.result` does."""
        return self.answer(self._asking(method, document, arrays, seconds, waits))

    def answer(self, call: Callable[[], Any]) -> tuple[dict[str, Any], list[Any]]:
        """What a call brings; raises what the task raised, or that nobody answers."""
        try:
            message = call()
        except grpc.RpcError as error:
            said = f"{error.code().name}: {error.details()}"
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                said += self._why_silent()
            if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
                raise task_busy(self.name, self.address, said) from error
            raise task_unreachable(self.name, self.address, said) from error
        except ValueError as error:  # the connection was closed meanwhile
            raise task_unreachable(self.name, self.address, error) from error
        return self.read(message)

    def _why_silent(self) -> str:
        """Why there is no connection, if there is none: a call that waits for one does not say."""
        try:
            self._channel.unary_unary(METHOD + "none")(
                b"", timeout=_ASK_SECONDS, metadata=self._metadata
            )
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.UNAVAILABLE:
                return f"; {error.details()}"
        except ValueError:  # it was closed meanwhile
            pass
        return ""

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
