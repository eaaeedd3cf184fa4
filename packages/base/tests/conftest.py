"""Make the helpers beside the tests importable, and offer the compilers as fixtures."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "plugin-abi" / "tests")]

import compiling


@pytest.fixture(scope="session")
def compile_library() -> Callable[..., Path]:
    """``compile_library("noop.c", flags=[...])``: a library of sources in plugin-abi/tests/plugins."""
    return compiling.compile_library


@pytest.fixture(scope="session")
def compile_program() -> Callable[..., Path]:
    """``compile_program(path, flags=[...])``: an executable."""
    return compiling.compile_program
