"""Server processes: free ports, waiting until one answers, and its end."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

__all__ = ["free_ports", "running", "wait_for"]


def free_ports(count: int) -> list[int]:
    """Ports of this machine that are not listened on, below those of outgoing connections."""
    with ExitStack() as stack:
        found: list[int] = []
        for port in range(20_000 + os.getpid() * 7 % 9_000, 32_000):
            sock = stack.enter_context(socket.socket())
            try:
                sock.bind(("127.0.0.1", port))
            except OSError:
                continue
            found.append(port)
            if len(found) == count:
                return found
    raise OSError("no port is free")


def wait_for(ready: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    """Until ``ready`` holds; raises what the server's log ends with when it does not come up."""
    end = time.monotonic() + 90
    while time.monotonic() < end and process.poll() is None:
        try:
            if ready():
                return
        except OSError:
            pass
        time.sleep(0.1)
    raise RuntimeError(f"the server did not start: {log.read_text(errors='replace')[-2000:]}")


@contextmanager
def running(
    command: Sequence[str | Path], folder: Path, log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose output goes to ``log``; ended when the block is left."""
    with (
        log.open("wb") as out,
        subprocess.Popen(
            list(map(str, command)), cwd=folder, stdout=out, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
