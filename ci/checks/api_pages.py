"""Every public name of the packages that people import is on a page of docs/reference/api.

The pages are made from docstrings (mkdocstrings); which names they show is written on them.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

from ci.checks._report import report
from ci.scripts.project import ROOT, Package, packages

__all__ = ["find", "main"]

PACKAGES = ("base", "optimizer", "subgraph", "filesystem")
PAGES = Path("docs/reference/api")


def find(root: Path = ROOT) -> list[str]:
    """Public names without a place, and places of names that are not public any more."""
    shown = set()
    for page in sorted((root / PAGES).glob("*.md")):
        shown |= set(re.findall(r"(?m)^::: ([\w.]+)$", page.read_text(encoding="utf-8")))
    faces = [package for key, package in packages(root).items() if key in PACKAGES]
    public = {f"{p.import_name}.{name}": p.source / name for p in faces for name in _public(p)}
    modules = {name for name, file in public.items() if _is_module(file)}
    inside = tuple(f"{package.import_name}." for package in faces)
    direct = {name for name in shown if name.startswith(inside) and name.count(".") == 1}
    return [
        *(f"{PAGES}: no page shows {name}" for name in sorted(public.keys() - modules - shown)),
        *(f"{PAGES}: {name} is shown and not public" for name in sorted(direct - public.keys())),
    ]


def _public(package: Package) -> set[str]:
    """The names in ``__all__`` of a package, but for its version."""
    tree = ast.parse((package.source / "__init__.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value)) - {"__version__"}
    return set()


def _is_module(path: Path) -> bool:
    return path.is_dir() or path.with_suffix(".py").exists()


def main() -> int:
    """Run the check on this checkout."""
    return report("api_pages", find())


if __name__ == "__main__":
    sys.exit(main())
