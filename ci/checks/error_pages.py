"""Every error code of the sources has a page docs/reference/errors/CODE.md, every page a code."""

from __future__ import annotations

import ast
import fnmatch
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from ci.checks._report import report
from ci.scripts.project import ROOT, packages

__all__ = ["codes", "find", "main"]

KEBAB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def codes(root: Path = ROOT) -> dict[str, str]:
    """Error codes by name with the first place that uses each.

    A code is a string given as `code=` in a call or assigned to `default_code` in a class. One
    that is put together when it is used, `f"unknown-{role}"`, counts as the pattern `unknown-*`.
    """
    found: dict[str, str] = {}
    for file, tree in _trees(root):
        for node in ast.walk(tree):
            for value in _code_values(node):
                for code, line in _texts(value):
                    found.setdefault(code, f"{file.relative_to(root)}:{line}")
    return found


def _trees(root: Path) -> Iterator[tuple[Path, ast.Module]]:
    for package in packages(root).values():
        for file in sorted(package.source.rglob("*.py")):
            yield file, ast.parse(file.read_text(encoding="utf-8"))


def _code_values(node: ast.AST) -> list[ast.expr]:
    """Expressions that `node` uses as an error code."""
    if isinstance(node, ast.Call):
        return [item.value for item in node.keywords if item.arg == "code"]
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(item, ast.Name) and item.id == "default_code" for item in targets):
            return [node.value]
    return []


def _texts(value: ast.expr) -> Iterator[tuple[str, int]]:
    """Codes or patterns that an expression can give, with their lines."""
    if isinstance(value, ast.IfExp):
        yield from _texts(value.body)
        yield from _texts(value.orelse)
    elif isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value, value.lineno
    elif isinstance(value, ast.JoinedStr):
        parts = [str(p.value) if isinstance(p, ast.Constant) else "*" for p in value.values]
        yield "".join(parts), value.lineno


def find(root: Path = ROOT) -> list[str]:
    """Codes without a page, pages without a code, names that are not kebab-case."""
    used = codes(root)
    pages = {page.stem for page in (root / "docs" / "reference" / "errors").glob("*.md")} - {
        "index"
    }
    problems = [
        f"{place}: {code!r} has no page docs/reference/errors/{code}.md"
        for code, place in sorted(used.items())
        if not fnmatch.filter(pages, code)
    ]
    problems += [
        f"{place}: {code!r} is not kebab-case"
        for code, place in used.items()
        if not KEBAB.fullmatch(code.replace("*", "x"))
    ]
    strings = _strings(root)
    return problems + [
        f"docs/reference/errors/{page}.md: no source uses this code"
        for page in sorted(pages)
        if page not in strings and not any(fnmatch.fnmatch(page, code) for code in used)
    ]


def _strings(root: Path) -> set[str]:
    """Every string constant of the sources: a code may reach its error through a variable."""
    return {
        node.value
        for _, tree in _trees(root)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def main() -> int:
    """Run the check on this checkout."""
    return report("error_pages", find())


if __name__ == "__main__":
    sys.exit(main())
