"""Variables DRYSTONE_* are stated once, as a `Variable`, and read through that alone.

In Python no other place of a package's sources names one, except in prose; what C++ asks `getenv`
for is stated as well, so that its values are checked.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from ci.checks._report import report
from ci.checks._syntax import nodes
from ci.scripts.project import ROOT, packages

__all__ = ["find", "main", "stated"]

Nodes: TypeAlias = tuple[ast.AST, ...]
NAME = re.compile(r"DRYSTONE_[A-Z0-9_]*")
NO_VARIABLES = {"DRYSTONE_ABI_VERSION": "a record in libraries"}
ASKED = re.compile(r'getenv\("(DRYSTONE_\w+)"')


def stated(root: Path = ROOT) -> set[str]:
    """Names of all variables that some package states."""
    return {name for tree in _trees(root).values() for name, _ in _of_variables(tree)}


def find(root: Path = ROOT) -> list[str]:
    """Places that name a variable without stating it, and what only native code knows."""
    trees, problems = _trees(root), []
    known = {name for tree in trees.values() for name, _ in _of_variables(tree)}
    for file, tree in trees.items():
        allowed = {line for _, line in _of_variables(tree)}
        problems += [
            f"{file.relative_to(root)}:{line}: {name} is read by its Variable alone"
            for name, line in _named(tree)
            if line not in allowed and name not in NO_VARIABLES
        ]
    for package in packages(root).values():
        for file in sorted(package.path.rglob("*.cc")):
            if "tests" in file.parts:
                continue
            for name in ASKED.findall(file.read_text(encoding="utf-8", errors="replace")):
                if name not in known:
                    problems.append(f"{file.relative_to(root)}: no Variable states {name}")
    return problems


def _trees(root: Path) -> dict[Path, Nodes]:
    return {
        file: nodes(file)
        for package in packages(root).values()
        for file in sorted(package.source.rglob("*.py"))
        if "suites" not in file.parts  # tests, which set them
    }


def _of_variables(tree: Nodes) -> Iterator[tuple[str, int]]:
    """Names that calls of `Variable` state, with the lines of these."""
    for node in tree:
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Variable" and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant):
                yield str(first.value), first.lineno


def _named(tree: Nodes) -> Iterator[tuple[str, int]]:
    """Texts that are nothing but the name of a variable, or its beginning, with their lines."""
    for node in tree:
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            continue
        if NAME.fullmatch(node.value) and node.value != "DRYSTONE_":
            yield node.value, node.lineno


def main() -> int:
    """Run the check on this checkout."""
    return report("environment_reads", find())


if __name__ == "__main__":
    sys.exit(main())
