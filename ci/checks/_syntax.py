"""The syntax of Python files, which many checks look through, read once for all of them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

__all__ = ["module", "nodes"]


def nodes(file: Path) -> tuple[ast.AST, ...]:
    """Every node of a file, its module first, in the order of `ast.walk`; nobody changes one."""
    return _nodes(file.read_text(encoding="utf-8"))


def module(file: Path) -> ast.Module:
    """The module that a file holds."""
    first = nodes(file)[0]
    assert isinstance(first, ast.Module)
    return first


@cache
def _nodes(text: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(text)))
