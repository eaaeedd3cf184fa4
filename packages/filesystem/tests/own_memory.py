"""A filesystem of fsspec's for one test."""

from __future__ import annotations

from fsspec.implementations.memory import MemoryFileSystem

__all__ = ["OwnMemory"]


class OwnMemory(MemoryFileSystem):  # type: ignore[misc]
    """Files in memory that no other test sees."""

    cachable = False

    def __init__(self) -> None:
        super().__init__()
        self.store: dict[str, object] = {}
        self.pseudo_dirs = [""]
