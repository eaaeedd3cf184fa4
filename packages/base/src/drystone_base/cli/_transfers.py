"""What a terminal shows while files move between here and a store."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from drystone_base.cli import _output

__all__ = ["moving"]


@contextmanager
def moving(text: str, *paths: Path | None) -> Iterator[None]:
    """Show ``text`` while the block runs, with the bytes that came or went if a path has a scheme.

    On a terminal only, as :func:`drystone_base.cli._output.status`.
    """
    from drystone_base.files.uris import uri_of
    from drystone_base.modules import stage

    with _output.status(text) as shown, ExitStack() as watched:
        if shown is not None and any(uri_of(path) for path in paths if path is not None):
            for watch in stage("transfers"):
                watched.enter_context(watch(_counting(shown.update, text)))
        yield


def _counting(show: Callable[[str], Any], text: str) -> Callable[[str, int, int], None]:
    """A watcher of transfers, in whatever threads, that shows how many bytes have moved."""
    moved = 0
    lock = threading.Lock()

    def watch(_path: str, count: int, _size: int) -> None:
        nonlocal moved
        with lock:
            moved += count
            show(f"{text}: {_output.size(moved)}")

    return watch
