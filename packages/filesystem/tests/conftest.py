"""Schemes of a test's own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fsspec.implementations.memory import MemoryFileSystem

import drystone_filesystem
from drystone_base.host import filesystem as host

_numbers = itertools.count()


class OwnMemory(MemoryFileSystem):  # type: ignore[misc]
    """Files in memory that no other test sees."""

    cachable = False

    def __init__(self) -> None:
        super().__init__()
        self.store: dict[str, object] = {}
        self.pseudo_dirs = [""]


@pytest.fixture(autouse=True)
def _nothing_stays_registered() -> Iterator[None]:
    """The next test of the process, of whichever package, finds the host as it was."""
    yield
    host.cleanup()


@pytest.fixture
def serve() -> Iterator[Callable[[Any], str]]:
    """``serve(filesystem)`` registers it under a new scheme and answers ``scheme://``."""
    made: list[str] = []

    def register(filesystem: Any) -> str:
        scheme = f"test{next(_numbers)}"
        drystone_filesystem.register(scheme, filesystem, "a test")
        made.append(scheme)
        return f"{scheme}://"

    yield register
    from drystone_filesystem.registry import _given

    for scheme in made:
        del _given[scheme]


@pytest.fixture
def root(serve: Callable[[Any], str]) -> str:
    """A new, empty scheme with a host, served by a filesystem of fsspec's."""
    return serve(OwnMemory()) + "box"
