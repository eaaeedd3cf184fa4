"""Files and functions fit their limits, nothing unfinished is left; generated code is exempt."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

from ci.checks._report import report
from ci.scripts.project import ROOT, load_toml, python_sources

__all__ = ["find", "main"]

UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX|HA" + r"CK)\b")


def find(root: Path = ROOT) -> list[str]:
    """Python files and functions over the limits, and marks of unfinished work."""
    budgets = load_toml(root / "ci" / "packages.toml")["budgets"]
    problems = []
    for path in python_sources(root):
        text = (root / path).read_text(encoding="utf-8")
        lines = text.splitlines()
        if len(lines) > budgets["file_lines"]:
            problems.append(f"{path}: {len(lines)} lines, limit {budgets['file_lines']}")
        problems += [
            f"{path}:{number}: unfinished work: {line.strip()[:80]}"
            for number, line in enumerate(lines if UNFINISHED.search(text) else (), 1)
            if UNFINISHED.search(line)
        ]
        problems += _long_functions(path, text, budgets["function_lines"])
    return problems


def _long_functions(path: Path, text: str, limit: int) -> list[str]:
    problems = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            if size > limit:
                problems.append(
                    f"{path}:{node.lineno}: {node.name} has {size} lines, limit {limit}"
                )
    return problems


def main() -> int:
    """Run the check on this checkout."""
    return report("code_size", find())


if __name__ == "__main__":
    sys.exit(main())
