"""Every error says what helps: made with `check=` and `found=`, it has a `remedy=`, too."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from ci.checks._report import report
from ci.checks._syntax import nodes
from ci.scripts.project import ROOT, packages

__all__ = ["find", "main"]


def find(root: Path = ROOT) -> list[str]:
    """Places in the sources where an error is made without a remedy."""
    return [
        f"{file.relative_to(root)}:{node.lineno}: an error without remedy="
        for package in packages(root).values()
        for file in sorted(package.source.rglob("*.py"))
        for node in nodes(file)
        if isinstance(node, ast.Call) and _lacks(node)
    ]


def _lacks(call: ast.Call) -> bool:
    """Whether the call makes an error, and gives nothing that helps; ``**parts`` may hold it."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    given = {item.arg for item in call.keywords}
    return name[:1].isupper() and {"check", "found"} <= given and not given & {"remedy", None}


def main() -> int:
    """Run the check on this checkout."""
    return report("remedies", find())


if __name__ == "__main__":
    sys.exit(main())
