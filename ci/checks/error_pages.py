"""Every error code used in the sources has a page docs/errors/CODE.md, and every page a code."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

from ci.checks._report import report
from ci.scripts.project import ROOT, packages

__all__ = ["codes", "find", "main"]

KEBAB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def codes(root: Path = ROOT) -> dict[str, str]:
    """Error codes by name with the first place that uses each.

    A code is a string given as `code=` in a call or assigned to `default_code` in a class.
    """
    found: dict[str, str] = {}
    for package in packages(root).values():
        for file in sorted(package.source.rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                for value in _code_values(node):
                    found.setdefault(str(value.value), f"{file.relative_to(root)}:{value.lineno}")
    return found


def _code_values(node: ast.AST) -> list[ast.Constant]:
    """String constants that `node` uses as an error code."""
    values: list[ast.expr | None] = []
    if isinstance(node, ast.Call):
        values = [item.value for item in node.keywords if item.arg == "code"]
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(item, ast.Name) and item.id == "default_code" for item in targets):
            values = [node.value]
    constants = [part for value in values if value is not None for part in _branches(value)]
    return [item for item in constants if isinstance(item.value, str)]


def _branches(value: ast.expr) -> list[ast.Constant]:
    """Constants a code expression can give: itself, or both sides of a conditional."""
    if isinstance(value, ast.IfExp):
        return _branches(value.body) + _branches(value.orelse)
    return [value] if isinstance(value, ast.Constant) else []


def find(root: Path = ROOT) -> list[str]:
    """Codes without a page, pages without a code, names that are not kebab-case."""
    used = codes(root)
    pages = {page.stem for page in (root / "docs" / "errors").glob("*.md")} - {"index"}
    problems = [
        f"{place}: {code!r} has no page docs/errors/{code}.md"
        for code, place in sorted(used.items())
        if code not in pages
    ]
    problems += [
        f"{place}: {code!r} is not kebab-case"
        for code, place in used.items()
        if not KEBAB.fullmatch(code)
    ]
    return problems + [
        f"docs/errors/{page}.md: no source uses this code" for page in sorted(pages - set(used))
    ]


def main() -> int:
    """Run the check on this checkout."""
    return report("error_pages", find())


if __name__ == "__main__":
    sys.exit(main())
