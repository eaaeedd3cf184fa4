"""Calls for files of filesystems in Python keep the interpreter's lock until those wait."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from drystone_base.host import _files
from drystone_base.host import filesystem as host
from drystone_filesystem import DrystoneFileSystem, Stat, Store

FILES = 200
Serve = Callable[[Any], str]


class Numbers(Store):
    """File N holds N bytes; ``meet`` is called by whoever opens or reads one."""

    def __init__(self, meet: Callable[[], object] = lambda: None) -> None:
        self.meet = meet

    def stat(self, path: str) -> Stat:
        self.meet()
        return Stat(int(path.rpartition("/")[2]))

    def children(self, path: str) -> list[str]:
        raise NotADirectoryError(path)

    def read_into(self, path: str, offset: int, buffer: memoryview, version: str = "") -> int:
        del path, offset, version
        self.meet()
        buffer[:] = bytes(len(buffer))
        return len(buffer)


def test_what_waits_in_python_lets_others_go_on(serve: Serve) -> None:
    """Files are opened, and read, two at a time or never."""
    root = serve(Numbers(threading.Barrier(2, timeout=30).wait))
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(host.read_range, [f"{root}box/3"] * 2, [0, 0], [9, 9]))
    assert found == [bytes(3)] * 2


def test_only_filesystems_in_python_are_called_so(serve: Serve) -> None:
    path = serve(Numbers()) + "box/3"
    assert host.stat(path).length == 3
    plain = _files.calls(b"file:///3")
    assert _files.calls(path.encode()) is not plain
    assert _files.calls(b"/3") is plain
    host.cleanup()  # what serves the scheme next may be a library
    assert _files.calls(path.encode()) is plain


@pytest.mark.parametrize("threads", [1, 8])
def test_many_small_files_by_threads(
    serve: Serve, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRYSTONE_FILES_THREADS", str(threads))
    root = serve(Numbers())
    names = [f"box/{k}" for k in range(FILES)]
    found = DrystoneFileSystem(root.removesuffix("://")).cat(names)
    assert {name: len(data) for name, data in found.items()} == {
        name: k for k, name in enumerate(names)
    }
