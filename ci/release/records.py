"""What was released, as files of the repository: `ci/released/PACKAGE-VERSION.json`.

Tags are not in every clone. A record has the public names with their signatures, what other
packages may import from each module, what the package itself imports from others, the headers for
native packages and the lock of the plugin ABI, requirements, and the tags of the wheels.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ci.checks.import_layers import imports
from ci.release.symbols import exported, module_file, stubs
from ci.scripts.project import Package, packages

__all__ = [
    "Record",
    "headers",
    "included",
    "introduced",
    "latest",
    "number",
    "of_tree",
    "read_all",
    "uses",
    "write",
]

FOLDER = Path("ci/released")
_ALL = ("*", "__all__")
_NATIVE = (".c", ".cc", ".cpp", ".cu", ".h", ".hpp")
_INCLUDED = re.compile(r'^\s*#\s*include\s+[<"]([\w./]+)[>"]', re.MULTILINE)


@dataclass(frozen=True)
class Record:
    """One released version of one package."""

    package: str
    distribution: str
    version: str
    released: str
    requires: list[str]
    abi: str
    abi_lock: str
    wheels: list[str] = field(default_factory=list)
    public: dict[str, str] = field(default_factory=dict)
    modules: dict[str, list[str]] = field(default_factory=dict)
    uses: dict[str, list[str]] = field(default_factory=dict)
    headers: list[str] = field(default_factory=list)


def number(version: str) -> tuple[int, ...]:
    """A version to compare by."""
    return tuple(int(part) for part in version.split("."))


def read_all(root: Path, key: str) -> list[Record]:
    """The records of a package, oldest first."""
    found = []
    for file in (root / FOLDER).glob(f"{key}-*.json"):
        record = Record(**json.loads(file.read_text(encoding="utf-8")))
        if record.package == key:
            found.append(record)
    return sorted(found, key=lambda record: number(record.version))


def latest(root: Path, key: str) -> Record | None:
    """The last release of a package, or None before the first."""
    return next(reversed(read_all(root, key)), None)


def write(root: Path, record: Record) -> Path:
    """Write a record; the file."""
    file = root / FOLDER / f"{record.package}-{record.version}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(record), indent=1, ensure_ascii=False) + "\n"
    file.write_text(text, encoding="utf-8")
    return file


def of_tree(package: Package, date: str, wheels: list[str]) -> Record:
    """What a release of the package as it is in the tree is recorded as."""
    lock = json.loads((package.root / "plugin-abi" / "abi.lock").read_text(encoding="utf-8"))
    return Record(
        package=package.key,
        distribution=package.distribution,
        version=package.version,
        released=date,
        requires=list(package.project["dependencies"]),
        abi=lock["abi_version"],
        abi_lock=lock["hash"],
        wheels=sorted(wheels),
        public=stubs(package.source),
        modules=_modules(package),
        uses=uses(package),
        headers=headers(package),
    )


def _modules(package: Package) -> dict[str, list[str]]:
    """What other packages may import: modules without an underscore, and their `__all__`."""
    found = {}
    for file in sorted(package.source.rglob("*.py")):
        parts = file.relative_to(package.source.parent).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if not any(part.startswith("_") for part in parts):
            found[".".join(parts)] = exported(file)
    return found


def uses(package: Package) -> dict[str, list[str]]:
    """What a package imports from others of ours, by package: `module` or `module:name`."""
    every = packages(package.root)
    sources = {other.import_name: other for other in every.values() if other is not package}
    sources.pop(package.import_name, None)
    found: dict[str, set[str]] = {}
    for file in package.source.rglob("*.py"):
        for item in imports(file):
            other = sources.get(item.module.partition(".")[0])
            if other is not None:
                taken = [name for name in item.names if name not in _ALL]
                names = {_named(other, item.module, name) for name in taken}
                found.setdefault(other.key, set()).update(names or {item.module})
    return {key: sorted(names) for key, names in sorted(found.items())}


def headers(package: Package) -> list[str]:
    """What native packages may include of a package, as they write it."""
    folder = package.path / "include"
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*.h*"))


def included(package: Package) -> set[str]:
    """What the native sources of a package include, as they write it; tests are left out."""
    found: set[str] = set()
    for file in package.path.rglob("*"):
        inner = file.relative_to(package.path).parts
        if file.suffix in _NATIVE and not {"build", "tests"} & set(inner):
            found.update(_INCLUDED.findall(file.read_text(encoding="utf-8")))
    return found


def _named(package: Package, module: str, name: str) -> str:
    inner = f"{module}.{name}"
    return inner if module_file(package.source, inner) else f"{module}:{name}"


def introduced(records: list[Record], name: str) -> str | None:
    """The first release from which on every release has a name as `uses` writes it; None for none.

    A name that went and came back counts from when it came back.
    """
    first = None
    for record in records:
        module, _, attribute = name.partition(":")
        there = module in record.modules and (not attribute or attribute in record.modules[module])
        if not there:
            first = None
        elif first is None:
            first = record.version
    return first
