"""Make the helpers beside the tests importable, and offer the compilers as fixtures."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import compiling


@pytest.fixture(scope="session")
def compile_library() -> Callable[..., Path]:
    """``compile_library("noop.c", flags=[...])``: a shared library of sources in tests/plugins."""
    return compiling.compile_library


@pytest.fixture(scope="session")
def compile_program() -> Callable[..., Path]:
    """``compile_program(path, flags=[...])``: an executable."""
    return compiling.compile_program
