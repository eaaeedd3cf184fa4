"""Imports between packages follow the arrows and touch public names only.

Checked for every import statement of every package: the other package is listed in `depends_on`,
sits in a lower layer and is required by pyproject.toml, if only by an extra; no part of the path
starts with an underscore; `from module import name` takes submodules or names in the module's
`__all__`. Integration tests import none of the packages.

Inside a package with `floors` every folder is one of them, only `__init__` and `__main__` stand
beside them, and no import runs upwards: neither at the top of a module nor in a function. Imports
for types alone (`if TYPE_CHECKING:`) may.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

from ci.checks._report import report
from ci.checks._syntax import module, nodes
from ci.scripts.project import ROOT, Package, packages

__all__ = ["declared_names", "find", "imports", "main"]


@dataclass(frozen=True)
class Import:
    """One imported module and, for `from` imports, the names taken from it."""

    line: int
    module: str
    names: tuple[str, ...]
    for_types: bool = False


def find(root: Path = ROOT) -> list[str]:
    """Every import that breaks a rule, as `file:line: text`."""
    every = packages(root)
    problems = []
    for package in every.values():
        required = _required(package)
        for file in sorted(package.source.rglob("*.py")):
            for item in imports(file):
                problems += [
                    f"{file.relative_to(root)}:{item.line}: {text}"
                    for text in _judge(package, required, item, every)
                ]
    problems += [text for package in every.values() for text in _floor_problems(root, package)]
    return problems + _integration_imports(root, every)


def declared_names(file: Path) -> set[str] | None:
    """Names in the `__all__` literal of a module, or None when it has none that can be read."""
    found: set[str] | None = None
    for node in module(file).body:
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


def imports(file: Path) -> Iterator[Import]:
    """Every import statement of a file."""
    every = nodes(file)
    typed = {id(inner) for node in every for inner in _for_types(node)}
    for node in every:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(node.lineno, alias.name, (), id(node) in typed)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = tuple(alias.name for alias in node.names)
            yield Import(node.lineno, node.module, names, id(node) in typed)


def _for_types(node: ast.AST) -> Iterator[ast.AST]:
    """What stands under `if TYPE_CHECKING:`, its `else` aside."""
    if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
        for statement in node.body:
            yield from ast.walk(statement)


def _floor_problems(root: Path, package: Package) -> Iterator[str]:
    """Files beside the floors of a package, and imports that run upwards."""
    if not package.floors:
        return
    for file in sorted(package.source.rglob("*.py")):
        where = file.relative_to(root)
        floor = _floor(package, file.relative_to(package.source).with_suffix("").parts)
        if floor is None:
            yield f"{where}:1: stands on no floor of {package.key} (ci/packages.toml)"
            continue
        for item in imports(file):
            if not item.for_types:
                yield from (
                    f"{where}:{item.line}: {package.floors[floor]} must not import "
                    f"{package.floors[target]}, which stands on it ({item.module})"
                    for target in _targets(package, item)
                    if target > floor >= 0
                )


def _targets(package: Package, item: Import) -> set[int]:
    """The floors that an import reaches."""
    top, *rest = item.module.split(".")
    if top != package.import_name:
        return set()
    paths = [rest] if rest else [[name] for name in item.names]
    found = {_floor(package, (*path, "")) for path in paths}
    return {floor for floor in found if floor is not None}


def _floor(package: Package, parts: tuple[str, ...]) -> int | None:
    """The number of the floor that a module stands on, -1 for what is beside them all."""
    if len(parts) == 1:
        return -1 if parts[0] in ("__init__", "__main__") else None
    return package.floors.index(parts[0]) if parts[0] in package.floors else None


def _judge(
    package: Package, required: frozenset[str], item: Import, every: dict[str, Package]
) -> Iterator[str]:
    """Rules that one import of `package` breaks."""
    top, *rest = item.module.split(".")
    target = next((other for other in every.values() if other.import_name == top), None)
    if target is None or target is package:
        return
    if target.key not in package.depends_on or target.layer >= package.layer:
        yield f"{package.key} (layer {package.layer}) must not import {target.key} ({item.module})"
        return
    if target.distribution not in required:
        yield f"{package.key} does not require {target.distribution} ({item.module})"
    if any(part.startswith("_") for part in rest):
        yield f"{item.module} is private to {target.key}"
        return
    if item.names and item.names != ("*",):
        yield from _private_names(target, item)


def _required(package: Package) -> frozenset[str]:
    """Distributions that a package or one of its extras requires."""
    extras = package.project.get("optional-dependencies", {}).values()
    texts = [*package.project["dependencies"], *(text for extra in extras for text in extra)]
    return frozenset(Requirement(text).name for text in texts)


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
        for item in imports(file)
        if item.module.split(".")[0] in ours
    ]


def main() -> int:
    """Run the check on this checkout."""
    return report("import_layers", find())


if __name__ == "__main__":
    sys.exit(main())
