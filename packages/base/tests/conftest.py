"""Make the helpers beside the tests importable, and offer the compilers as fixtures."""

import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "plugin-abi" / "tests")]

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
