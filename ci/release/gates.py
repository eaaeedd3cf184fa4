"""What refuses a release: each function gives the reasons, a line each, and none where it may be.

They read the tree and `ci/released/`; nothing is built.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from packaging.requirements import Requirement

from ci.checks import import_layers, version_sync
from ci.release import changelog
from ci.release.records import headers, included, introduced, latest, number, read_all, uses
from ci.release.symbols import breaks, exported, module_file, stubs
from ci.scripts.project import Package, git, load_toml, packages

__all__ = [
    "bound_problems",
    "broken",
    "contract_problems",
    "dependents",
    "may_break",
    "refusals",
]


def refusals(package: Package, version: str) -> list[str]:
    """Every reason against releasing `package` as `version`."""
    wrong = _version(package, version)
    if wrong:
        return wrong
    return [
        *_clean(package.root),
        *version_sync.find(package.root),
        *import_layers.find(package.root),
        *changelog.problems(package, version),
        *_size_of_step(package, version),
        *_abi(package, version),
        *bound_problems(package),
        *contract_problems(package),
        *dependents(package, version),
    ]


def _version(package: Package, version: str) -> list[str]:
    if not re.fullmatch(r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}", version):
        return [f"{version!r} is no version: three numbers are needed, such as 1.2.3"]
    last = latest(package.root, package.key)
    if last is not None and number(version) <= number(last.version):
        return [f"{package.key} {last.version} is released: {version} is not later"]
    if last is None and number(version) < number(package.version):
        return [f"the tree has {package.key} {package.version}: {version} is earlier"]
    return []


def _clean(root: Path) -> list[str]:
    changed = git(root, "status", "--porcelain", "--untracked-files=no")
    if changed is None:
        return ["this is no git checkout: a release is a commit and a tag"]
    return ["the checkout has changes: commit or drop them"] if changed.strip() else []


def may_break(before: str, after: str) -> bool:
    """Whether the significant part of the version grew: major, or minor before 1.0."""
    old, new = number(before)[:2], number(after)[:2]
    return new[0] > old[0] or (old[0] == new[0] == 0 and new[1] > old[1])


def broken(package: Package) -> list[str]:
    """What users of the last release would miss in the tree."""
    last = latest(package.root, package.key)
    return [] if last is None else breaks(last.public, stubs(package.source))


def _size_of_step(package: Package, version: str) -> list[str]:
    """A break of the public API needs a major version, or a minor one before 1.0."""
    last = latest(package.root, package.key)
    if last is None or may_break(last.version, version):
        return []
    needed = "minor" if number(last.version)[0] == 0 else "major"
    return [
        f"{package.key} {version} would break users of {last.version}: {text}; put it back, or "
        f"make it a {needed} release"
        for text in broken(package)
    ]


def _abi(package: Package, version: str) -> list[str]:
    """The contract changes with its own package only, and with a version of its own."""
    from ci.release.records import of_tree

    last = latest(package.root, package.key)
    now = of_tree(package, "", [])
    if package.key != "plugin-abi" or last is None or last.abi_lock == now.abi_lock:
        return []
    if last.abi == now.abi:
        return [f"the contract differs from that of {last.version}, and is ABI {now.abi} still"]
    if last.abi.partition(".")[0] != now.abi.partition(".")[0] and not may_break(
        last.version, version
    ):
        return [f"ABI {now.abi} breaks plugins for {last.abi}: {version} is no step for that"]
    return []


def bound_problems(package: Package) -> list[str]:
    """Lower bounds, of extras too, that admit a release without a name that the package uses.

    Says the bound to write; a name that no release has needs a release of its package first.
    """
    every = packages(package.root)
    extras = package.project.get("optional-dependencies", {}).values()
    texts = [text for extra in extras for text in extra] + package.project["dependencies"]
    stated = {Requirement(text).name: text for text in texts}
    problems = []
    for key, names in uses(package).items():
        text = stated.get(every[key].distribution)
        if text is not None:
            problems += _too_low(package, every[key], text, names)
    return problems


def _too_low(package: Package, other: Package, text: str, names: list[str]) -> list[str]:
    """Why the requirement `text` does not do for these names of `other`."""
    records = read_all(package.root, other.key)
    came = {name: introduced(records, name) for name in names}
    new = [name for name, version in came.items() if version is None]
    if new:
        return [
            (
                f"{package.key} uses {', '.join(new[:3])}, which no release of {other.key} has: "
                f"release {other.key} first, then write that version as the bound"
            )
        ]
    needed = max((version for version in came.values() if version), key=number, default="0")
    if number(_lower(text)) >= number(needed):
        return []
    last = [name for name, version in came.items() if version == needed]
    return [
        (
            f"{package.key} requires {text} and uses {', '.join(last[:3])}, which came with "
            f"{other.key} {needed}: write {other.distribution}>={needed}"
        )
    ]


def contract_problems(package: Package) -> list[str]:
    """A native package is built with a release of the contract that has its ABI and headers."""
    every, key = packages(package.root), "plugin-abi"
    asked, place, stated = _asked(package)
    if not asked:
        return []
    taken = included(package) & set(headers(every[key]))
    released = [one for one in read_all(package.root, key) if number(one.abi) >= number(asked)]
    fitting = [one for one in released if taken <= set(one.headers)]
    lacks = taken.difference(*(one.headers for one in released[:1]))
    says = f"{package.key} is built for ABI {asked}"
    if released and lacks:
        says = f"{package.key} includes {', '.join(sorted(lacks)[:3])}"
    if not fitting:
        then = f"then write that version into {place}"
        return [f"{says}, which no release of {key} has: release {key} first, {then}"]
    name, needed = every[key].distribution, fitting[0].version
    bounds = [text for text in stated if Requirement(text).name == name]
    if bounds and number(_lower(bounds[0])) >= number(needed):
        return []
    return [f"{says}, which came with {key} {needed}: write {name}>={needed} into {place}"]


def _asked(package: Package) -> tuple[str, str, list[str]]:
    """The ABI that a package is built for, where its build says what it needs, and what it needs.

    The host is built for the newest, and its own build backend asks for headers.
    """
    backend = package.path / "build-support" / "backend.py"
    if backend.exists():
        lock = (package.root / "plugin-abi" / "abi.lock").read_text(encoding="utf-8")
        stated = re.findall(r'"(drystone-[\w-]+>=[\d.]+)"', backend.read_text(encoding="utf-8"))
        return json.loads(lock)["abi_version"], "build-support/backend.py", stated
    file = package.path / "CMakeLists.txt"
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    found = re.search(r"find_package\(DrystonePluginABI (\d+\.\d+)", text)
    build = load_toml(package.path / "pyproject.toml").get("build-system", {}).get("requires", [])
    return found[1] if found else "", "build-system.requires", build


def _lower(requirement: str) -> str:
    """The lowest version that a requirement on one of ours admits."""
    found = [
        one.version for one in Requirement(requirement).specifier if one.operator in (">=", "==")
    ]
    return max(found, key=number, default="0")


def dependents(package: Package, version: str) -> list[str]:
    """Released packages that a resolver would put beside this release, and that it breaks.

    Each has to say so in a release of its own, by an upper bound or by doing without, before this.
    """
    problems = []
    for other in packages(package.root).values():
        last = latest(package.root, other.key)
        if last is None or other.key == "metapackage":
            continue
        admitted = [
            text
            for text in last.requires
            if Requirement(text).name == package.distribution
            and Requirement(text).specifier.contains(version)
        ]
        gone = [name for name in last.uses.get(package.key, []) if not _has(package, name)]
        if admitted and gone:
            problems.append(
                f"{other.distribution} {last.version} requires {admitted[0]} and uses "
                f"{', '.join(gone[:3])}, which {version} has not: release {other.key} before it, "
                f"without that or with {package.distribution}<{version}"
            )
    return problems


def _has(package: Package, name: str) -> bool:
    module, _, attribute = name.partition(":")
    file = module_file(package.source, module)
    return file is not None and (not attribute or attribute in exported(file))
