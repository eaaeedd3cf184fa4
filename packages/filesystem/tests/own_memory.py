"""Filesystems of fsspec's for one test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fsspec.asyn import AsyncFileSystem
from fsspec.implementations.memory import MemoryFileSystem

__all__ = ["OwnCoroutines", "OwnMemory"]


class OwnMemory(MemoryFileSystem):  # type: ignore[misc]
    """Files in memory that no other test sees."""

    cachable = False

    def __init__(self) -> None:
        super().__init__()
        self.store: dict[str, object] = {}
        self.pseudo_dirs = [""]


class OwnCoroutines(AsyncFileSystem):  # type: ignore[misc]
    """The same by coroutines alone, which opens no files: as stores on the net are made.

    fsspec can make one of another filesystem only from 2024.12 on.
    """

    cachable = False
    protocol = OwnMemory.protocol
    root_marker = OwnMemory.root_marker
    _strip_protocol = OwnMemory._strip_protocol

    def __init__(self, memory: OwnMemory, *, asynchronous: bool) -> None:
        super().__init__(asynchronous=asynchronous)
        self.memory = memory


def _coroutine(name: str) -> Callable[..., Any]:
    async def call(self: OwnCoroutines, *arguments: Any, **options: Any) -> Any:
        return getattr(self.memory, name)(*arguments, **options)

    return call


for _name in (
    "cat_file", "cp_file", "get_file", "info", "ls", "makedirs", "mkdir", "pipe_file", "put_file",
    "rm_file",
):  # fmt: skip
    setattr(OwnCoroutines, f"_{_name}", _coroutine(_name))
