"""The parent's side of an isolated plugin: start its process, ask it, and end it when it must."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final, NoReturn, TypeVar

from drystone_base.core.errors import PluginError
from drystone_base.plugins._keeper import end_marked, marked
from drystone_base.plugins._words import advice
from drystone_base.plugins.isolation_channel import BadMessage, Channel, Closed, Deadline
from drystone_base.plugins.isolation_limits import Limits

__all__ = ["Worker"]

T = TypeVar("T")

_START_SECONDS: Final = 60.0
_TAIL: Final = 2000
_ROOM: Final = 1 << 20
"""Bytes that a pipe holds: tensors cross in fewer turns of the two processes."""
_LAST_WORDS_SECONDS: Final = 1.0
_ORDERLY_SECONDS: Final = 5.0
_ANSWER_MINIMUM: Final = 64 << 20


class _TooMuchMemory(Exception):
    """The child holds more memory than it may."""


def _pipes() -> tuple[int, int, int, int]:
    """Both ends of two pipes, or ``OSError`` and none."""
    first = os.pipe()
    try:
        ends = (*first, *os.pipe())
    except OSError:
        for end in first:
            os.close(end)
        raise
    for end in ends[::2]:
        with suppress(OSError):  # a user may have no more room in pipes: then in smaller pieces
            fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, _ROOM)
    return ends


class Worker:
    """One child process with one library open. One request at a time; safe from any thread.

    ``offered`` is what its entry functions registered there, as the child tells it.
    """

    def __init__(self, name: str, version: str, path: str, limits: Limits) -> None:
        self.name, self.version, self.path = name, version, path
        self.memory = limits.memory
        self.lock = threading.Lock()
        self.offered: dict[str, Any] = {}
        self.dropped: list[int] = []
        self._serving = 0
        self._said = b""
        self._has_ended = False
        self._during = ""
        self._stop: Callable[[], object] | None = None
        self._start(limits)

    # ---- starting and ending -------------------------------------------------------------------

    def _start(self, limits: Limits) -> None:
        try:
            to_child, from_parent, to_parent, from_child = _pipes()
        except OSError as error:
            raise self._not_started(error) from error
        os.set_blocking(from_parent, False)
        os.set_blocking(to_parent, False)
        self.channel = Channel(to_parent, from_parent)
        self._mark = marked()
        command = [sys.executable, "-P", "-m", "drystone_base.executor.isolation_worker"]
        try:
            self.process = subprocess.Popen(
                [*command, str(to_child), str(from_child), str(self.memory)],
                pass_fds=(to_child, from_child),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=os.environ
                | self._mark
                | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,
            )
        except OSError as error:
            self.channel.close()
            raise self._not_started(error) from error
        finally:
            os.close(to_child)
            os.close(from_child)
        assert self.process.stdout is not None
        self.listener = threading.Thread(
            target=self._listen, args=(self.process.stdout,), daemon=True
        )
        self.listener.start()
        with self.lock:
            self._serving = self._receive(_START_SECONDS, 0)[0].get("process", 0)
            reply, ops = self._ask({"call": "open", "path": self.path}, b"", limits)
        self.offered = reply | {"ops": ops}

    def _not_started(self, error: OSError) -> PluginError:
        return PluginError(
            f"plugin {self.name} ({self.path}) cannot be given its own process",
            check="the interpreter must be able to start another one",
            found=f"{sys.executable or 'no interpreter'}: {error}",
            needed="a Python interpreter in sys.executable, and files and memory for a process",
            remedy="free what is short; or run it in this process: DRYSTONE_PLUGIN_ISOLATION=none",
            plugin=self.name,
            version=self.version,
            path=self.path,
            code="isolated-plugin-not-started",
            status="UNAVAILABLE",
        )

    def _listen(self, output: IO[bytes]) -> None:
        """Keep the end of what the plugin prints, so that its pipe never fills up."""
        with output:
            while data := os.read(output.fileno(), 1 << 16):
                self._said = (self._said + data)[-_TAIL:]

    @property
    def alive(self) -> bool:
        """Whether the process is there to be asked."""
        return self.process.poll() is None

    def end(self) -> None:
        """End the process and what it started: its keeper does that, the one that was made here."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(_ORDERLY_SECONDS)
            except subprocess.TimeoutExpired:  # a plugin can stop it, not have it live on
                self.process.kill()
                self.process.wait()
        if self.process.returncode == -signal.SIGKILL:
            end_marked(self._mark)
        if self.channel.source >= 0:
            self.channel.close()
            self.channel.source = self.channel.target = -1

    # ---- asking --------------------------------------------------------------------------------

    def optimize(
        self, device: str, graph: bytes, names: dict[str, Any], limits: Limits
    ) -> bytes | None:
        """What its optimizer of a device type makes of a graph; raises ``PluginError``."""

        def take(reply: dict[str, Any], blob: bytes) -> bytes | None:
            if not isinstance(reply["changed"], bool):
                raise BadMessage("a reply that does not say whether the graph changed")
            return blob if reply["changed"] else None

        header = {"call": "optimize", "device": device, **names}
        return self.ask(header, graph, limits, "optimize_func", take)

    def ask(
        self,
        header: dict[str, Any],
        blob: bytes,
        limits: Limits,
        during: str,
        take: Callable[[dict[str, Any], bytes], T],
    ) -> T:
        """What ``take`` makes of the answer to a request; raises ``PluginError``.

        ``take`` raises ``BadMessage`` for an answer that means nothing. ``during`` is what the
        plugin does meanwhile, in words: "compute of node 'z'".
        """
        with self.lock:
            if not self.alive:
                self._fail_crash()
            self._during, self._stop = f" while {during} ran", limits.stop
            header["drop"], self.dropped = self.dropped, []
            try:
                return take(*self._ask(header, blob, limits))
            except (BadMessage, KeyError, TypeError, ValueError) as error:
                self._fail_reply(f"{type(error).__name__}: {error}")
            except PluginError:
                raise
            except BaseException:  # the answer that is on its way would be the next one's
                self.end()
                raise
            finally:
                self._during, self._stop = "", None

    def _ask(
        self, header: dict[str, Any], blob: bytes, limits: Limits
    ) -> tuple[dict[str, Any], bytes]:
        seconds = limits.seconds
        until = time.monotonic() + seconds
        try:
            self.channel.send({"name": self.name, **header}, blob, until=until, watch=self._watch)
        except Closed:
            self._fail_crash()
        except Deadline:
            self._fail_deadline(seconds)
        except _TooMuchMemory as error:
            self._fail_memory(error)
        reply, data = self._receive(until - time.monotonic(), len(blob), seconds)
        if reply.get("ok") is not True:
            self._fail_answer(reply)
        return reply, data

    def _receive(
        self, seconds: float, sent: int, stated: float = _START_SECONDS
    ) -> tuple[dict[str, Any], bytes]:
        longest = max(_ANSWER_MINIMUM, 4 * sent, self.memory)
        until = time.monotonic() + seconds
        try:
            return self.channel.receive(longest=longest, until=until, watch=self._watch)
        except Closed:
            self._fail_crash()
        except Deadline:
            self._fail_deadline(stated)
        except _TooMuchMemory as error:
            self._fail_memory(error)
        except BadMessage as error:
            self._fail_reply(str(error))

    def _watch(self) -> None:
        """Raise ``_TooMuchMemory`` when the child holds more than it may, or what stops it.

        Raise ``Closed`` when it has ended: what it started may hold its end of the pipe open. What
        it wrote last is read first, as the pipe is looked at once more.
        """
        if self._stop is not None:
            self._stop()
        if not self.alive:
            if self._has_ended:
                raise Closed
            self._has_ended = True
            return
        if not self.memory:
            return
        try:
            text = Path(f"/proc/{self._serving}/statm").read_text(encoding="ascii")
        except OSError:
            return
        used = int(text.split()[1]) * resource.getpagesize()
        if used > self.memory:
            raise _TooMuchMemory(used)

    # ---- failing -------------------------------------------------------------------------------

    def _fail(self, what: str, **parts: Any) -> NoReturn:
        self.end()
        # What it printed last may still be in the pipe; one that it started may hold that open.
        self.listener.join(_LAST_WORDS_SECONDS)
        said = self._said.decode("utf-8", "replace").strip()
        if said:
            parts["found"] += f"; it printed: {said}"
        raise PluginError(
            f"plugin {self.name} ({self.path}) {what} in its own process{self._during}",
            plugin=self.name,
            version=self.version,
            path=self.path,
            remedy=advice(self.name, self.path),
            **parts,
        )

    def _fail_crash(self) -> NoReturn:
        try:
            status = self.process.wait(5)
        except subprocess.TimeoutExpired:
            status = 0
        found = f"exit status {status}"
        if status < 0:
            found = f"ended by {signal.Signals(-status).name}"
        self._fail(
            "crashed",
            check="an isolated plugin must answer and live on",
            found=found,
            needed="an answer",
            code="isolated-plugin-crashed",
            status="ABORTED",
        )

    def _fail_deadline(self, seconds: float) -> NoReturn:
        self._fail(
            "did not answer",
            check="an isolated plugin must answer before its deadline",
            found=f"no answer within {seconds:.3g} s",
            needed="an answer, or a longer deadline",
            code="isolated-plugin-deadline",
            status="DEADLINE_EXCEEDED",
        )

    def _fail_memory(self, used: Exception) -> NoReturn:
        self._fail(
            "used too much memory",
            check="an isolated plugin must stay below its memory limit",
            found=f"{int(str(used)) >> 20} MiB",
            needed=f"at most {self.memory >> 20} MiB",
            code="isolated-plugin-memory",
            status="RESOURCE_EXHAUSTED",
        )

    def _fail_reply(self, found: str) -> NoReturn:
        self._fail(
            "sent something that is no answer",
            check="an isolated plugin must answer in the worker's format",
            found=found,
            needed="a message",
            code="isolated-plugin-reply",
            status="DATA_LOSS",
        )

    def _fail_answer(self, reply: dict[str, Any]) -> NoReturn:
        """The plugin's own failure, as the child told it; the child lives on."""
        told = reply.get("error")
        fields = told if isinstance(told, dict) else {}
        raise PluginError.of_fields(fields, plugin=self.name, version=self.version, path=self.path)
