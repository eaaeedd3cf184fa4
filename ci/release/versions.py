"""Where versions stand: a package's own places, and the sets of ci/compat.toml.

The newest set is what the tree holds. It is open, and its version of drystone not released, until
the metapackage is: releases of other packages go into it, or begin the next one.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from ci.release.records import Record, latest, number, read_all
from ci.scripts import compat_page, metapackage_pins
from ci.scripts.project import Package, load_toml, packages

__all__ = ["enter", "hold", "newest_set", "open_next", "set_problems", "write_version"]

HEADER = """# Which versions were tested together, newest set first. The pins of the metapackage are
# generated from the first set: python -m ci.scripts.metapackage_pins
"""
BESIDE = "[sets.beside]  # tested with the set, extras of the metapackage or tools"


def write_version(package: Package, version: str) -> None:
    """State the version in pyproject.toml, in `__version__` and in manifests of plugins."""
    _replace(package.path / "pyproject.toml", r'(?m)^version = ".*"$', f'version = "{version}"')
    init = package.source / "__init__.py"
    _replace(init, r'(?m)^__version__ = ".*"$', f'__version__ = "{version}"')
    for manifest in package.manifests:
        _replace(manifest, r'(?m)^version = ".*"$', f'version = "{version}"')


def newest_set(root: Path) -> dict[str, Any]:
    """The first set of ci/compat.toml."""
    found: dict[str, Any] = load_toml(root / "ci" / "compat.toml")["sets"][0]
    return found


def enter(package: Package, version: str) -> None:
    """Put a released version into the open set; begin one where the last is released."""
    root = package.root
    sets = _sets(root)
    meta = packages(root)["metapackage"]
    if package.key == "metapackage":
        sets[0]["drystone"] = version
    else:
        last = latest(root, meta.key)
        if last is not None and last.version == sets[0]["drystone"]:
            sets.insert(0, _copy(sets[0], _next(last.version)))
            write_version(meta, sets[0]["drystone"])
        part = "packages" if package.distribution in sets[0]["packages"] else "beside"
        sets[0].setdefault(part, {})[package.distribution] = version
    _write(root, sets)


def hold(root: Path, held: dict[str, str]) -> None:
    """Put released versions into the newest set, in place of the tree's later ones."""
    sets = _sets(root)
    for name, version in held.items():
        part = "packages" if name in sets[0]["packages"] else "beside"
        sets[0][part][name] = version
    _write(root, sets)


def open_next(root: Path) -> None:
    """Begin a set of what the tree holds, after one that held packages back."""
    sets = _sets(root)
    every = {package.distribution: package for package in packages(root).values()}
    following = _copy(sets[0], _next(sets[0]["drystone"]))
    for part in (following["packages"], following.get("beside", {})):
        part.update({name: every[name].version for name in part})
    write_version(packages(root)["metapackage"], following["drystone"])
    _write(root, [following, *sets])


def set_problems(root: Path) -> list[str]:
    """Why the newest set cannot be released: what is not, or does not fit."""
    newest = newest_set(root)
    held = newest["packages"] | newest.get("beside", {})
    records = {}
    problems = []
    for package in packages(root).values():
        version = held.get(package.distribution)
        if version is None or package.key == "metapackage":
            continue
        found = [one for one in read_all(root, package.key) if one.version == version]
        if found:
            records[package.distribution] = found[0]
        else:
            problems.append(f"the set has {package.distribution} {version}, which is not released")
    return problems + [text for record in records.values() for text in _unmet(record, held)]


def _unmet(record: Record, held: dict[str, str]) -> list[str]:
    wanted = [Requirement(text) for text in record.requires]
    return [
        f"{record.distribution} {record.version} requires {one}, the set has {held[one.name]}: "
        f"hold {record.distribution} or {one.name} at another version"
        for one in wanted
        if one.name in held and not one.specifier.contains(held[one.name])
    ]


def _copy(one: dict[str, Any], version: str) -> dict[str, Any]:
    parts: dict[str, Any] = {n: dict(one[n]) for n in ("packages", "beside") if n in one}
    return {"drystone": version, **parts}


def _next(version: str) -> str:
    major, minor, patch = number(version)
    return f"{major}.{minor}.{patch + 1}"


def _sets(root: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = load_toml(root / "ci" / "compat.toml")["sets"]
    return found


def _write(root: Path, sets: list[dict[str, Any]]) -> None:
    """Write the sets, and the pins and the page that are made of them."""
    text = HEADER
    for one in sets:
        text += f'\n[[sets]]\ndrystone = "{one["drystone"]}"\n[sets.packages]\n'
        text += "".join(f'{name} = "{v}"\n' for name, v in sorted(one["packages"].items()))
        if one.get("beside"):
            text += BESIDE + "\n"
            text += "".join(f'{name} = "{v}"\n' for name, v in sorted(one["beside"].items()))
    (root / "ci" / "compat.toml").write_text(text, encoding="utf-8")
    pins = root / "metapackage" / "pyproject.toml"
    pins.write_text(metapackage_pins.render(root), encoding="utf-8")
    page = root / "docs" / "reference" / "compat.md"
    page.write_text(compat_page.render(root), encoding="utf-8")


def _replace(file: Path, pattern: str, text: str) -> None:
    before = file.read_text(encoding="utf-8")
    after, count = re.subn(pattern, text, before, count=1)
    if count != 1:
        raise ValueError(f"{file} states no version")
    file.write_text(after, encoding="utf-8")
