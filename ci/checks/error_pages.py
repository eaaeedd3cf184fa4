"""Every error code of the sources has a page docs/reference/errors/CODE.md, every page a code."""

from __future__ import annotations

import ast
import fnmatch
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from ci.checks._report import report
from ci.checks._syntax import module, nodes
from ci.scripts.project import ROOT, packages

__all__ = ["codes", "find", "main"]

KEBAB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def codes(root: Path = ROOT) -> dict[str, str]:
    """Error codes by name with the first place that uses each.

    A code is a string given for a parameter or a field called `code`, by name, by place or as its
    default, or assigned to `default_code` in a class. One that is put together when it is used,
    `f"unknown-{role}"`, counts as the pattern `unknown-*`.
    """
    found: dict[str, str] = {}
    files = list(_files(root))
    defined = {_module(file): _places(module(file)) for file in files}
    for file in files:
        places = _imported(file, defined) | _places(module(file))
        for node in nodes(file):
            for value in _code_values(node, places):
                for code, line in _texts(value):
                    found.setdefault(code, f"{file.relative_to(root)}:{line}")
    return found


def _module(file: Path) -> str:
    parts = file.with_suffix("").parts
    return ".".join(parts[len(parts) - parts[::-1].index("src") :]).removesuffix(".__init__")


def _imported(file: Path, defined: Mapping[str, Mapping[str, int | None]]) -> dict[str, int | None]:
    """As :func:`_places`, for what a module imports from another one."""
    imports = [node for node in nodes(file) if isinstance(node, ast.ImportFrom)]
    homes = [defined.get(node.module or "", {}) for node in imports]
    return {
        one.name: home[one.name]
        for node, home in zip(imports, homes, strict=True)
        for one in node.names
        if one.name in home
    }


def _places(tree: ast.Module) -> dict[str, int | None]:
    """By name of what a module defines: which argument is the code; None for no such argument."""
    found: dict[str, int | None] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = _place(node.args)
        elif isinstance(node, ast.ClassDef):
            made = [one for one in node.body if isinstance(one, ast.FunctionDef)]
            made = [one for one in made if one.name == "__init__"]
            fields = [one.target for one in node.body if isinstance(one, ast.AnnAssign)]
            names = [one.id for one in fields if isinstance(one, ast.Name)]
            place = names.index("code") if "code" in names else None
            found[node.name] = _place(made[0].args, 1) if made else place
    return found


def _place(args: ast.arguments, skipped: int = 0) -> int | None:
    names = [one.arg for one in (*args.posonlyargs, *args.args)][skipped:]
    return names.index("code") if "code" in names else None


def _files(root: Path) -> Iterator[Path]:
    for package in packages(root).values():
        yield from sorted(package.source.rglob("*.py"))


def _code_values(node: ast.AST, places: Mapping[str, int | None]) -> list[ast.expr]:
    """Expressions that `node` uses as an error code."""
    if isinstance(node, ast.Call):
        place = places.get(node.func.id) if isinstance(node.func, ast.Name) else None
        by_place = [] if place is None else node.args[place : place + 1]
        return [*by_place, *(item.value for item in node.keywords if item.arg == "code")]
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(item, ast.Name) and item.id == "default_code" for item in targets):
            return [node.value]
    if isinstance(node, ast.arguments):
        named = [*node.posonlyargs, *node.args]
        named = [*named[len(named) - len(node.defaults) :], *node.kwonlyargs]
        values = [*node.defaults, *node.kw_defaults]
        pairs = zip(named, values, strict=True)
        return [value for one, value in pairs if one.arg == "code" and value is not None]
    return []


def _texts(value: ast.expr) -> Iterator[tuple[str, int]]:
    """Codes or patterns that an expression can give, with their lines."""
    if isinstance(value, ast.IfExp):
        yield from _texts(value.body)
        yield from _texts(value.orelse)
    elif isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value:
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
        for file in _files(root)
        for node in nodes(file)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def main() -> int:
    """Run the check on this checkout."""
    return report("error_pages", find())


if __name__ == "__main__":
    sys.exit(main())
