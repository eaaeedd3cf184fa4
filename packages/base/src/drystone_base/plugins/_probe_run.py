"""A plugin tried in a child process: what the child is asked, how long it may take, how it ended.

Apart from the step that asks for it, as most processes remember the answer and need no child.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any, Final

from drystone_base.plugins._keeper import end_marked, marked
from drystone_base.plugins._record import Plugin

__all__ = ["run_child"]

_CHILD: Final = (
    "import json, os, sys; request = json.loads(os.fdopen(int(sys.argv[1])).read()); "
    "sys.path[:] = request['sys_path']; "
    "from drystone_base.plugins._probe_child import main; main(request)"
)
_TAIL: Final = 2000
_ORDERLY_SECONDS: Final = 5.0


def run_child(
    plugin: Plugin, seconds: float, imports: Sequence[str], memory: int
) -> dict[str, Any]:
    """Run it, with modules to import first, in at most so many bytes.

    ``outcome`` is finished, crashed, exited, hung or memory. ``steps`` are those that a finished
    child took, as JSON-ready values.
    """
    start = time.monotonic()
    nonce = secrets.token_hex(16)
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as answer, _log(writer) as log:
        request: dict[str, Any] = {
            "path": plugin.path,
            "name": plugin.name,
            "modules": plugin.modules,
            "without": plugin.without,
            "memory": memory,
            "nonce": nonce,
        }
        request |= {"sys_path": sys.path, "answer": writer, "imports": list(imports)}
        try:
            mark = marked()
            child = _started(request, writer, log, mark)
        finally:
            os.close(writer)
        hung = not _wait(child, seconds, mark)
        os.set_blocking(answer.fileno(), False)
        said = answer.read() or b""
        log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL))
        tail = log.read().decode("utf-8", "replace").strip()
    steps, held = _answer(said, nonce)
    outcome = "hung" if hung else _outcome(child.returncode, steps, held)
    taken = round(time.monotonic() - start, 3)
    return {
        "outcome": outcome,
        "code": child.returncode,
        "log": tail,
        "seconds": taken,
        "time": time.time(),
        "memory": held,
        "steps": steps or [] if outcome == "finished" else [],
    }


def _log(writer: int) -> IO[bytes]:
    """A file for what the child prints; where there is none the pipe's end is closed, too."""
    try:
        return tempfile.TemporaryFile()
    except OSError:
        os.close(writer)
        raise


def _started(
    request: dict[str, Any], writer: int, log: IO[bytes], mark: dict[str, str]
) -> subprocess.Popen[bytes]:
    """The child, which reads what it is asked where the plugin cannot: from a pipe that is over."""
    with tempfile.TemporaryFile() as asked:
        asked.write(json.dumps(request).encode())
        asked.seek(0)
        return subprocess.Popen(
            [sys.executable, "-c", _CHILD, str(asked.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(writer, asked.fileno()),
            env=_environment() | mark,
            start_new_session=True,
        )


def _environment() -> dict[str, str]:
    """That of this process, without a backend of Keras.

    The child may import TensorFlow, which imports Keras: a backend that is a package of others may
    be known in this process alone.
    """
    return {name: value for name, value in os.environ.items() if name != "KERAS_BACKEND"}


def _answer(said: bytes, nonce: str) -> tuple[list[Any] | None, int]:
    """The steps that the child told, None if it did not; the bytes that it held if too many.

    Only what follows the nonce is the child's: a plugin may write into any pipe that it finds.
    """
    steps, held = None, 0
    for line in said.split(b"\n"):
        told = line.rpartition(nonce.encode() + b" ")[2] if nonce.encode() in line else b""
        try:
            found = json.loads(told or b"null")
        except ValueError:
            continue
        if isinstance(found, dict):
            steps, held = found.get("steps", steps), found.get("held", held)
    return (steps if isinstance(steps, list) else None), int(held)


def _outcome(code: int, steps: list[Any] | None, held: int) -> str:
    if held:
        return "memory"
    if steps is not None:
        return "finished"
    return "crashed" if code < 0 else "exited"


def _wait(child: subprocess.Popen[bytes], seconds: float, mark: dict[str, str]) -> bool:
    """Wait for the child; whether it ended by itself. All that it has started ends with it."""
    try:
        child.wait(seconds)
        ended = True
    except subprocess.TimeoutExpired:
        ended = False
        child.terminate()  # it then ends the trial and whatever that has started
        try:
            child.wait(_ORDERLY_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    if child.wait() == -signal.SIGKILL:
        end_marked(mark)
    return ended
