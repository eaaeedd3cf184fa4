"""Versions agree: pyproject.toml, `__version__`, manifests, ci/compat.toml, pins, compat.md."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement

from ci.checks._report import report
from ci.scripts import compat_page, metapackage_pins
from ci.scripts.project import ROOT, Package, load_toml, packages

__all__ = ["find", "main"]


def find(root: Path = ROOT) -> list[str]:
    """Every pair of places that disagree about a version."""
    every = packages(root)
    newest = load_toml(root / "ci" / "compat.toml")["sets"][0]
    held = newest["packages"] | newest.get("beside", {})
    tested = {"drystone": newest["drystone"], **held}
    by_distribution = {package.distribution: package for package in every.values()}
    problems = [
        f"ci/compat.toml names {name}, ci/packages.toml does not"
        for name in sorted(set(tested) - set(by_distribution))
    ]
    released = _in_a_set(root) | _required(every.values())
    for package in every.values():
        problems += _package(package, tested, released)
        problems += _requirements(package, by_distribution)
    if metapackage_pins.outdated(root):
        problems.append("metapackage pins differ from ci/compat.toml: run metapackage_pins")
    if compat_page.outdated(root):
        problems.append("docs/reference/compat.md differs from ci/compat.toml: run compat_page")
    return problems


def _in_a_set(root: Path) -> set[str]:
    """Distributions that some tested set names."""
    sets = load_toml(root / "ci" / "compat.toml")["sets"]
    return {name for one in sets for name in (*one["packages"], *one.get("beside", {}), "drystone")}


def _required(every: Iterable[Package]) -> set[str]:
    """Distributions that one of ours requires: these cannot be left out of a set."""
    return {Requirement(text).name for one in every for text in one.project["dependencies"]}


def _package(package: Package, tested: dict[str, str], released: set[str]) -> list[str]:
    """Disagreements between one package's own declarations and the newest tested set.

    A new package that none requires joins a set when it is released.
    """
    declared = _dunder_version(package.source / "__init__.py")
    problems = []
    if declared != package.version:
        problems.append(
            f"{package.import_name}.__version__ is {declared}, "
            f"pyproject.toml says {package.version}"
        )
    for manifest in package.manifests:
        stated = load_toml(manifest)["version"]
        if stated != package.version:
            problems.append(
                f"{package.dir}/{manifest.relative_to(package.path)} says {stated}, "
                f"pyproject.toml says {package.version}"
            )
    left_out = package.distribution not in released
    if not left_out and tested.get(package.distribution) != package.version:
        problems.append(
            f"ci/compat.toml has {package.distribution} {tested.get(package.distribution)}, "
            f"pyproject.toml says {package.version}"
        )
    return problems


def _requirements(package: Package, ours: dict[str, Package]) -> list[str]:
    """Requirements between our packages: lower bounds already reached; `==` in metapackage only."""
    problems = []
    for text in package.project["dependencies"]:
        wanted = Requirement(text)
        operators = {specifier.operator for specifier in wanted.specifier}
        if "==" in operators and package.key != "metapackage":
            problems.append(f"{package.dir} pins {text}: exact pins belong to the metapackage")
        if wanted.name in ours and not wanted.specifier.contains(ours[wanted.name].version):
            problems.append(f"{package.dir} needs {text}, the tree has {ours[wanted.name].version}")
        if ">=" not in operators and "==" not in operators:
            problems.append(f"{package.dir}: {text} has no lower bound")
    return problems


def _dunder_version(file: Path) -> str | None:
    """The literal assigned to `__version__` in a module, or None."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id == "__version__"
            and isinstance(node.value, ast.Constant)
        ):
            value = str(node.value.value)
            return value if re.fullmatch(r"[0-9][0-9a-z.]*", value) else None
    return None


def main() -> int:
    """Run the check on this checkout."""
    return report("version_sync", find())


if __name__ == "__main__":
    sys.exit(main())
