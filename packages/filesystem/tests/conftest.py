"""Schemes of a test's own."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import drystone_filesystem
from drystone_base.host import filesystem as host

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "plugin-abi" / "tests")]  # of helpers
_numbers = itertools.count()


@pytest.fixture(scope="session")
def compile_library() -> Callable[..., Path]:
    """``compile_library("noop.c", flags=[...])``: a library of plugin-abi/tests/plugins."""
    function: Callable[..., Path] = import_module("compiling").compile_library
    return function


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
    from own_memory import OwnMemory

    return serve(OwnMemory()) + "box"
