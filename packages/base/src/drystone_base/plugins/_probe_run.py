"""A plugin tried in a child process: what the child is asked, how long it may take, how it ended.

Apart from the step that asks for it, as most processes remember the answer and need no child.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import IO, Any, Final

from drystone_base.plugins._record import Plugin

__all__ = ["run_child"]

_CHILD: Final = (
    "import json, sys; request = json.loads(sys.argv[1]); sys.path[:] = request['sys_path']; "
    "from drystone_base.plugins._probe_child import main; main(request)"
)
_TAIL: Final = 2000


def run_child(plugin: Plugin, seconds: float, imports: Sequence[str]) -> dict[str, Any]:
    """Run it, with modules to import first; ``outcome`` is finished, crashed, exited or hung.

    ``steps`` are those that a finished child took, as JSON-ready values.
    """
    start = time.monotonic()
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as answer, _log(writer) as log:
        request: dict[str, Any] = {
            "path": plugin.path,
            "name": plugin.name,
            "modules": plugin.modules,
        }
        request |= {"sys_path": sys.path, "answer": writer, "imports": list(imports)}
        try:
            child = subprocess.Popen(
                [sys.executable, "-c", _CHILD, json.dumps(request)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(writer,),
                start_new_session=True,
            )
        finally:
            os.close(writer)
        hung = not _wait(child, seconds)
        os.set_blocking(answer.fileno(), False)
        said = answer.read() or b""
        log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL))
        tail = log.read().decode("utf-8", "replace").strip()
    finished = said.startswith(b"finished")
    outcome = "hung" if hung else "finished" if finished else _ending(child.returncode)
    taken = round(time.monotonic() - start, 3)
    return {
        "outcome": outcome,
        "code": child.returncode,
        "log": tail,
        "seconds": taken,
        "time": time.time(),
        "steps": _steps(said) if outcome == "finished" else [],
    }


def _log(writer: int) -> IO[bytes]:
    """A file for what the child prints; where there is none the pipe's end is closed, too."""
    try:
        return tempfile.TemporaryFile()
    except OSError:
        os.close(writer)
        raise


def _steps(said: bytes) -> list[Any]:
    """The steps that the child told; none if the plugin wrote into the pipe."""
    try:
        found = json.loads(said.removeprefix(b"finished"))
    except ValueError:
        return []
    return found if isinstance(found, list) else []


def _wait(child: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait for the child; whether it ended by itself. Its whole process group ends with it."""
    try:
        child.wait(seconds)
        ended = True
    except subprocess.TimeoutExpired:
        ended = False
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        ended = ended or child.poll() is not None
    child.wait()
    return ended


def _ending(code: int) -> str:
    return "crashed" if code < 0 else "exited"
