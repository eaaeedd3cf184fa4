"""The public names of a package as text: what a release records, and what later ones may break.

Only sources are read. A name of `__all__` is followed through imports to where it is defined, and
written as a stub: a signature, or a class with its public members.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from copy import copy
from functools import lru_cache
from pathlib import Path

import griffe

__all__ = ["breaks", "exported", "module_file", "stubs"]

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_TELLING = ("classmethod", "dataclass", "overload", "property", "setter", "staticmethod")
_Found = tuple[ast.stmt | None, Path]
"""Where a name is defined: its statement, None for a module, and the file."""


def stubs(source: Path) -> dict[str, str]:
    """Public names of an import package with their stubs; those of public modules with a dot.

    `source` is the folder of the package. One without a literal `__all__` has none of its own.
    """
    return dict(sorted(_stubs(source / "__init__.py", source, "", frozenset())))


def exported(file: Path) -> list[str]:
    """The literal `__all__` of a module; empty where it has none, or is not there."""
    for node in _statements(_tree(file).body if file.exists() else []):
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            assert isinstance(node, ast.Assign)
            if isinstance(node.value, ast.List | ast.Tuple):
                return [str(ast.literal_eval(element)) for element in node.value.elts]
    return []


def module_file(source: Path, module: str) -> Path | None:
    """The file of a module of the package in folder `source`, by its dotted name; None for none."""
    parts = module.split(".")
    if parts[0] != source.name:
        return None
    base = source.joinpath(*parts[1:])
    found = (file for file in (base / "__init__.py", base.with_suffix(".py")) if file.is_file())
    return next(found, None)


def breaks(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """What callers of `before` would notice, as griffe judges signatures; one line each."""
    found = [f"{name} is gone" for name in before if name not in after]
    for name in before.keys() & after.keys():
        old, new = before[name], after[name]
        if old != new:
            found += _changes(old, new)
    return sorted(found)


def _changes(old: str, new: str) -> Iterator[str]:
    with (
        griffe.temporary_visited_module(old, module_name="api") as before,
        griffe.temporary_visited_module(new, module_name="api") as after,
    ):
        for change in griffe.find_breaking_changes(before, after):
            if change.kind is griffe.BreakageKind.ATTRIBUTE_CHANGED_VALUE:
                continue  # nobody who reads an attribute relies on how its first value is written
            text = _COLOURS.sub("", change.explain(griffe.ExplanationStyle.ONE_LINE))
            yield text.partition(": ")[2]  # the place is one of the stub


def _stubs(
    file: Path, source: Path, prefix: str, seen: frozenset[Path]
) -> Iterator[tuple[str, str]]:
    for name in exported(file):
        if name.startswith("_"):
            continue
        node, place = _definition(file, name, source, frozenset())
        if node is not None:
            yield prefix + name, _stub(node, name)
        elif place not in seen:
            yield from _stubs(place, source, f"{prefix}{name}.", seen | {place})


def _definition(file: Path, name: str, source: Path, seen: frozenset[Path]) -> _Found:
    """The statement that defines a name, wherever it is imported from."""
    for node in _statements(_tree(file).body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.name == name:
                return node, file
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            original = next((a.name for a in node.names if (a.asname or a.name) == name), None)
            target = module_file(source, node.module)
            inside = module_file(source, f"{node.module}.{original}")
            if original and inside is not None:
                return None, inside
            if original and target is not None and target not in seen:
                return _definition(target, original, source, seen | {file})
        elif isinstance(node, ast.Assign | ast.AnnAssign) and name in _assigned(node):
            return node, file
    inside = file.parent / f"{name}.py"
    return (None, inside) if inside.is_file() else (ast.Pass(), file)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, those in its `if` and `try` blocks included."""
    for node in body:
        if isinstance(node, ast.If):
            yield from _statements([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            yield from _statements(node.body)
        else:
            yield node


def _assigned(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    flat = [e for t in targets for e in (t.elts if isinstance(t, ast.Tuple) else [t])]
    return [target.id for target in flat if isinstance(target, ast.Name)]


def _stub(node: ast.stmt, name: str) -> str:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return ast.unparse(_hollow(node))
    if isinstance(node, ast.ClassDef):
        members = [_hollow(one) for one in node.body if _is_public(one)] + _set_by_init(node)
        body: list[ast.stmt] = members or [ast.Expr(ast.Constant(...))]
        made = copy(node)
        made.body, made.decorator_list = body, _told(node.decorator_list)
        return ast.unparse(ast.fix_missing_locations(made))
    if isinstance(node, ast.AnnAssign):
        return f"{name}: {ast.unparse(node.annotation)}"
    return f"{name} = ..."


def _set_by_init(node: ast.ClassDef) -> list[ast.stmt]:
    """Public attributes that `__init__` sets, as those of the class."""
    inits = [
        one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"
    ]
    found: dict[str, ast.stmt] = {}
    for one in (inner for init in inits for inner in ast.walk(init)):
        targets = one.targets if isinstance(one, ast.Assign) else [getattr(one, "target", None)]
        for target in (t for t in targets if isinstance(t, ast.Attribute)):
            if ast.unparse(target.value) == "self" and not target.attr.startswith("_"):
                kind = ast.unparse(one.annotation) if isinstance(one, ast.AnnAssign) else ""
                text = f"{target.attr}: {kind}" if kind else f"{target.attr} = ..."
                found.setdefault(target.attr, ast.parse(text).body[0])
    return list(found.values())


def _is_public(node: ast.stmt) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name == "__init__" or not node.name.startswith("_")
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return any(not name.startswith("_") for name in _assigned(node))
    return False


def _hollow(node: ast.stmt) -> ast.stmt:
    """A function without its body; anything else as it is."""
    if isinstance(node, ast.FunctionDef):
        made = copy(node)
        made.body, made.decorator_list = [ast.Expr(ast.Constant(...))], _told(node.decorator_list)
        return ast.fix_missing_locations(made)
    return node


def _told(decorators: list[ast.expr]) -> list[ast.expr]:
    """Decorators that change what callers may do."""
    names = [ast.unparse(one).partition("(")[0].rpartition(".")[2] for one in decorators]
    return [one for one, name in zip(decorators, names, strict=True) if name in _TELLING]


def _tree(file: Path) -> ast.Module:
    return _parsed(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=1024)
def _parsed(file: Path, _changed: int) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))
