"""Offer compilers and graphs to the tests of optimizers."""

import os
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from drystone_base.plugins.isolation import OptimizerPlugin

TOP = Path(__file__).resolve().parents[3]
HELPERS = (Path(__file__).parent, TOP / "plugin-abi" / "tests", TOP / "packages" / "base" / "tests")
sys.path[:0] = [str(folder) for folder in HELPERS]
os.environ["DRYSTONE_PLAN_CACHE"] = "off"  # plans are made here, not taken from earlier runs


@pytest.fixture(scope="session")
def compile_library() -> Callable[..., Path]:
    """``compile_library("noop.c", flags=[...])``: a library of plugin-abi/tests/plugins."""
    function: Callable[..., Path] = import_module("compiling").compile_library
    return function


@pytest.fixture(autouse=True)
def verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """The graph is checked after each pass."""
    monkeypatch.setenv("DRYSTONE_VERIFY_PASSES", "1")


@pytest.fixture(autouse=True)
def fresh_state() -> Iterator[None]:
    """Each test begins without options, Python optimizers, and lines that were logged before."""
    from drystone_optimizer.core import merge, process_state
    from drystone_optimizer.plugins import sources

    kept = dict(sources._python)
    sources._python.clear()
    sources._failed.clear()
    process_state.EXPERIMENTAL_OPTIONS.clear()
    merge._warned.clear()
    yield
    sources._python.clear()
    sources._python.update(kept)
    sources._failed.clear()
    process_state.EXPERIMENTAL_OPTIONS.clear()


@pytest.fixture(autouse=True, scope="module")
def own_plugins() -> Iterator[None]:
    """No optimizer of a library that another module's tests opened: the host forgets none."""
    from drystone_base.host.library import HostLibrary
    from drystone_base.plugins.isolation import optimizer_plugins
    from drystone_optimizer.plugins import sources

    others = {one.path for one in optimizer_plugins()}
    initialise = HostLibrary.initialise

    def opened(library: HostLibrary, entry_symbol: str) -> None:
        others.discard(library.path)
        initialise(library, entry_symbol)

    def listed(*, load: bool = False) -> list[OptimizerPlugin]:
        return [one for one in optimizer_plugins(load=load) if one.path not in others]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HostLibrary, "initialise", opened)
        patch.setattr(sources, "optimizer_plugins", listed)
        yield
