"""TVM and other compilers as they are called: what is not theirs to see, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

__all__ = ["interruptible", "run"]

_MOST_TEXT: Final = 2000
_OURS: Final = "LD_PRELOAD"
"""What is loaded into this process before all else, such as a sanitizer, is none of theirs."""


def run(command: Sequence[str]) -> None:
    """Run a compiler; raises ``RuntimeError`` with the end of what it says where it fails."""
    variables = {name: value for name, value in os.environ.items() if name != _OURS}
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", check=False, env=variables
    )
    if done.returncode:
        said = (done.stderr or done.stdout)[-_MOST_TEXT:]
        raise RuntimeError(f"{command[0]} failed with {done.returncode}: {said}")


@contextmanager
def interruptible() -> Iterator[None]:
    """While TVM works: an error that Ctrl-C has brought about is ``KeyboardInterrupt``.

    TVM makes a ``RuntimeError`` of what is raised in a function that it calls back, a compiler that
    the signal ends has failed, and what is raised while an object is deleted is lost.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    came = False

    def note(number: int, frame: Any) -> Any:
        nonlocal came
        try:
            return before(number, frame)
        except KeyboardInterrupt:
            came = True
            raise

    signal.signal(signal.SIGINT, note)
    try:
        yield
    except Exception as error:
        if came:
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt
