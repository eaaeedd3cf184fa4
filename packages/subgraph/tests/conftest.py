"""The module is registered, and backends that a test registers are gone after it."""

import os
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from drystone_base import modules
from drystone_subgraph.session.module import MODULE

TOP = Path(__file__).resolve().parents[3]
BASE = TOP / "packages" / "base" / "tests"
HELPERS = (Path(__file__).parent, BASE, BASE / "golden", TOP / "plugin-abi" / "tests")
sys.path[:0] = [str(folder) for folder in HELPERS]
os.environ["DRYSTONE_PLAN_CACHE"] = "off"  # plans are made here, not taken from earlier runs


@pytest.fixture(autouse=True, scope="session")
def module() -> None:
    """Also where the package was not installed, but found by a path."""
    if not modules.stage("partition"):
        modules.register(MODULE)


@pytest.fixture(autouse=True)
def fresh_backends(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test begins with the backends that are installed, and without the variable."""
    from drystone_subgraph.contract import backend

    monkeypatch.delenv("DRYSTONE_SUBGRAPH_BACKEND", raising=False)
    backend.backends()
    kept = dict(backend._BACKENDS._items)
    yield
    backend._BACKENDS._items.clear()
    backend._BACKENDS._items.update(kept)


@pytest.fixture(scope="session")
def compile_library() -> Callable[..., Path]:
    """``compile_library("noop.c", flags=[...])``: a library of plugin-abi/tests/plugins."""
    function: Callable[..., Path] = import_module("compiling").compile_library
    return function
