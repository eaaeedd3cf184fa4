"""Imports between packages follow the arrows and touch public names only.

Checked for every import statement of every package: the other package is listed in `depends_on` and
sits in a lower layer; no part of the path starts with an underscore; `from module import name`
takes submodules or names in the module's `__all__`. Integration tests import none of the packages.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ci.checks._report import report
from ci.scripts.project import ROOT, Package, packages

__all__ = ["declared_names", "find", "main"]


@dataclass(frozen=True)
class Import:
    """One imported module and, for `from` imports, the names taken from it."""

    line: int
    module: str
    names: tuple[str, ...]


def find(root: Path = ROOT) -> list[str]:
    """Every import that breaks a rule, as `file:line: text`."""
    every = packages(root)
    problems = []
    for package in every.values():
        for file in sorted(package.source.rglob("*.py")):
            for item in _imports(file):
                problems += [
                    f"{file.relative_to(root)}:{item.line}: {text}"
                    for text in _judge(package, item, every)
                ]
    return problems + _integration_imports(root, every)


def declared_names(file: Path) -> set[str] | None:
    """Names in the `__all__` literal of a module, or None when it has none that can be read."""
    found: set[str] | None = None
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        target, value = _assignment(node)
        if target == "__all__" and value is not None:
            literals = [n.value for n in ast.walk(value) if isinstance(n, ast.Constant)]
            found = (found or set()) | {name for name in literals if isinstance(name, str)}
    return found


def _assignment(node: ast.stmt) -> tuple[str, ast.expr | None]:
    """Target name and value of a plain, annotated or augmented assignment."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign | ast.AugAssign) and isinstance(node.target, ast.Name):
        return node.target.id, node.value
    return "", None


def _imports(file: Path) -> Iterator[Import]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(node.lineno, alias.name, ())
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield Import(node.lineno, node.module, tuple(alias.name for alias in node.names))


def _judge(package: Package, item: Import, every: dict[str, Package]) -> Iterator[str]:
    """Rules that one import of `package` breaks."""
    top, *rest = item.module.split(".")
    target = next((other for other in every.values() if other.import_name == top), None)
    if target is None or target is package:
        return
    if target.key not in package.depends_on or target.layer >= package.layer:
        yield f"{package.key} (layer {package.layer}) must not import {target.key} ({item.module})"
        return
    if any(part.startswith("_") for part in rest):
        yield f"{item.module} is private to {target.key}"
        return
    if item.names and item.names != ("*",):
        yield from _private_names(target, item)


def _private_names(target: Package, item: Import) -> Iterator[str]:
    """Names taken by a `from` import that are neither submodules nor in `__all__`."""
    base = target.source.joinpath(*item.module.split(".")[1:])
    file = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    declared = (declared_names(file) if file.exists() else None) or set()
    for name in item.names:
        submodule = (base / name).is_dir() or (base / f"{name}.py").exists()
        if name not in declared and name != "__all__" and (not submodule or name.startswith("_")):
            yield f"{name} is not in __all__ of {item.module}"


def _integration_imports(root: Path, every: dict[str, Package]) -> list[str]:
    """Imports of our packages inside the process of an integration test."""
    ours = {package.import_name for package in every.values()}
    return [
        f"{file.relative_to(root)}:{item.line}: integration tests see installed wheels only "
        f"(imports {item.module}; use the installed_env fixture)"
        for file in sorted((root / "integration_tests").rglob("*.py"))
        for item in _imports(file)
        if item.module.split(".")[0] in ours
    ]


def main() -> int:
    """Run the check on this checkout."""
    return report("import_layers", find())


if __name__ == "__main__":
    sys.exit(main())
