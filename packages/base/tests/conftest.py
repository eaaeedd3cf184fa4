"""Make the helpers beside the tests importable, and offer the compilers as fixtures."""

import os
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from drystone_conformance.strict_device import StrictDevice

HERE = Path(__file__).parent
CONTRACT = HERE.parents[2] / "plugin-abi"
sys.path[:0] = [str(HERE), str(CONTRACT / "tests")]
sys.path.append(str(CONTRACT / "conformance" / "src"))  # for the strict device

# Before NumPy is there: what steps of Adam make of sums' rounding (test_training.py) depends on how
# many threads share a product, and small products are several times faster with one.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ["DRYSTONE_PLAN_CACHE"] = "off"  # plans are made here, not taken from earlier runs
os.environ["DRYSTONE_VISIBLE_DEVICES"] = "none"  # what one test loads, others have, too
compiling = import_module("compiling")


@pytest.fixture(scope="session")
def compile_library() -> Callable[..., Path]:
    """``compile_library("noop.c", flags=[...])``: a library of plugin-abi/tests/plugins."""
    function: Callable[..., Path] = compiling.compile_library
    return function


@pytest.fixture(scope="session")
def compile_program() -> Callable[..., Path]:
    """``compile_program(path, flags=[...])``: an executable."""
    function: Callable[..., Path] = compiling.compile_program
    return function


@pytest.fixture(scope="session")
def strict_device() -> "StrictDevice":
    """The strict device of drystone-plugin-conformance, in this process from now on."""
    from device_graphs import loaded

    return loaded()


@pytest.fixture
def strict(
    strict_device: "StrictDevice", monkeypatch: pytest.MonkeyPatch
) -> "Iterator[StrictDevice]":
    """That device seen by sessions; no fault must be found, and no memory held at the end."""
    from device_graphs import settled

    monkeypatch.setenv("DRYSTONE_VISIBLE_DEVICES", "STRICT")
    strict_device.take_faults()
    strict_device.counted()
    yield strict_device
    assert settled(strict_device) == (0, [])
