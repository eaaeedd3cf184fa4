"""What the TOML files and git say about this repository, as typed objects."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["ROOT", "Package", "git", "load_toml", "packages", "python_sources", "tracked_files"]

ROOT = Path(__file__).resolve().parents[2]
"""Top of the checkout this file belongs to."""


@dataclass(frozen=True)
class Package:
    """One entry of ci/packages.toml; `root` is the checkout, sizes are in KiB."""

    key: str
    root: Path
    dir: str
    distribution: str
    import_name: str
    layer: int
    depends_on: tuple[str, ...]
    owners: tuple[str, ...]
    floors: tuple[str, ...]
    native: bool
    apart: bool
    wheel_kib: int
    installed_kib: int
    only_on: str = ""
    extra: str = ""
    extras: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """Folder with pyproject.toml."""
        return self.root / self.dir

    @property
    def source(self) -> Path:
        """Folder of the import package."""
        return self.path / "src" / self.import_name

    @property
    def manifests(self) -> list[Path]:
        """What hosts read of its plugins before they open them."""
        return sorted([*self.path.glob("*.so.toml"), *self.path.glob("native/*.so.toml")])

    @property
    def project(self) -> dict[str, Any]:
        """The `[project]` table of its pyproject.toml."""
        table: dict[str, Any] = load_toml(self.path / "pyproject.toml")["project"]
        return table

    @property
    def version(self) -> str:
        """The version declared in pyproject.toml."""
        return str(self.project["version"])


def load_toml(path: Path) -> dict[str, Any]:
    """Parse one TOML file."""
    with path.open("rb") as stream:
        return tomllib.load(stream)


def packages(root: Path = ROOT) -> dict[str, Package]:
    """Every package of the checkout by its short name, lowest layer first."""
    table = load_toml(root / "ci" / "packages.toml")["packages"]
    found = [
        Package(
            key=key,
            root=root,
            dir=entry["dir"],
            distribution=entry["distribution"],
            import_name=entry["import_name"],
            layer=entry["layer"],
            depends_on=tuple(entry["depends_on"]),
            owners=tuple(entry["owners"]),
            floors=tuple(entry.get("floors", ())),
            native=entry["native"],
            apart=entry.get("apart", False),
            wheel_kib=entry["wheel_kib"],
            installed_kib=entry["installed_kib"],
            only_on=entry.get("only_on", ""),
            extra=entry.get("extra", ""),
            extras=tuple(entry.get("extras", ())),
        )
        for key, entry in table.items()
    ]
    return {package.key: package for package in sorted(found, key=lambda p: (p.layer, p.key))}


def tracked_files(root: Path = ROOT) -> list[Path]:
    """Files that git tracks and that are present, relative to `root`.

    Outside a git checkout: all files that are not in hidden folders.
    """
    listed = git(root, "ls-files", "-z", "--cached")
    if listed is not None:
        names = [Path(name) for name in listed.split("\0") if name]
    else:
        every = (path.relative_to(root) for path in root.rglob("*"))
        names = [path for path in every if not any(part[0] == "." for part in path.parts[:-1])]
    return sorted(name for name in names if (root / name).is_file())


def git(root: Path, *arguments: str) -> str | None:
    """What `git ARGUMENTS` prints in `root`; None where there is no git or no checkout."""
    program = shutil.which("git")
    if program is None:
        return None
    done = subprocess.run(
        [program, "-C", str(root), *arguments], capture_output=True, text=True, check=False
    )
    return done.stdout if done.returncode == 0 else None


def python_sources(root: Path = ROOT) -> Iterator[Path]:
    """Tracked Python files relative to `root`, without generated ones."""
    for path in tracked_files(root):
        generated = "_generated" in path.parts or path.stem.endswith("_pb2")
        if path.suffix == ".py" and not generated:
            yield path
