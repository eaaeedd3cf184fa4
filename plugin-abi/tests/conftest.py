"""Make the helpers beside the tests importable, and offer the compilers as fixtures."""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

compiling = import_module("compiling")


@pytest.fixture(scope="session")
def compile_library() -> Callable[..., Path]:
    """``compile_library("noop.c", flags=[...])``: a shared library of sources in tests/plugins."""
    function: Callable[..., Path] = compiling.compile_library
    return function


@pytest.fixture(scope="session")
def compile_program() -> Callable[..., Path]:
    """``compile_program(path, flags=[...])``: an executable."""
    function: Callable[..., Path] = compiling.compile_program
    return function
