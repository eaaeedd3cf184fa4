"""Shared libraries are opened in two places: plugins in the host's open.cc, the host in _lib.py.

Anything else would bypass the checks of plugins. Looked at are the C and C++ files of every package
except its tests and examples, and the Python files of its import package.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from ci.checks._report import report
from ci.checks._syntax import nodes
from ci.scripts.project import ROOT, Package, packages

__all__ = ["find", "main"]

ALLOWED = {
    "packages/base/host/src/library/open.cc",
    "packages/base/src/drystone_base/host/_lib.py",
}
NATIVE = {".c", ".cc", ".cpp", ".h", ".hpp"}
OPENS = re.compile(r"\b(?:__libc_)?dl(?:m)?open\s*\(")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
PYTHON = {"CDLL", "PyDLL", "LoadLibrary", "dlopen"}


def find(root: Path = ROOT) -> list[str]:
    """Calls that open a shared library, outside the two places."""
    problems = []
    for package in packages(root).values():
        for file, line, what in [*_native(package), *_python(package)]:
            place = file.relative_to(root).as_posix()
            if place not in ALLOWED:
                problems.append(f"{place}:{line}: {what} opens a library; go through open.h")
    return problems


def _native(package: Package) -> Iterator[tuple[Path, int, str]]:
    for folder in ("host", "include", "src"):
        for file in sorted((package.path / folder).rglob("*")):
            if file.suffix not in NATIVE or not file.is_file():
                continue
            text = file.read_text(encoding="utf-8")
            code = COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
            for match in OPENS.finditer(code):
                yield file, code.count("\n", 0, match.start()) + 1, match[0].rstrip("( ")


def _python(package: Package) -> Iterator[tuple[Path, int, str]]:
    """Calls of what opens a library; CDLL(None) only looks at what the process has already."""
    for file in sorted(package.source.rglob("*.py")):
        for node in nodes(file):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            first = node.args[0] if node.args else None
            if name in PYTHON and not (isinstance(first, ast.Constant) and first.value is None):
                yield file, node.lineno, name


def main() -> int:
    """Run the check on this checkout."""
    return report("no_stray_dlopen", find())


if __name__ == "__main__":
    sys.exit(main())
