"""The steps of one release, in order; what was written is taken back where one fails."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from ci.release import changelog, records, versions, wheels
from ci.release.index import INDEX, UPLOADS
from ci.scripts.project import Package, packages

__all__ = ["Order", "carry_out"]


@dataclass(frozen=True)
class Order:
    """What is to be released, when, with which key, and what its set holds back.

    `elsewhere` has the tags of wheels that other machines build; none is built here then.
    """

    package: Package
    version: str
    date: str
    key: Path
    password: str = ""
    held: dict[str, str] = field(default_factory=dict)
    elsewhere: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the tag."""
        return f"{self.package.key}/v{self.version}"


class _Refused(Exception):
    """What came to light only when the set of a metapackage was made."""


def carry_out(order: Order) -> int:
    """Release; 1, with the tree as before, where that fails."""
    root = order.package.root
    try:
        _write(order)
        files = _files(order)
        tags = [*order.elsewhere] or wheels.tags(files)
        record = records.of_tree(order.package, order.date, tags)
        records.write(root, record)
        notes = _notes(order)
        signatures = [wheels.sign(file, order.key, order.password) for file in files]
        _commit(root, f"release: {order.package.key} {order.version}", order.name, notes)
    except (_Refused, subprocess.CalledProcessError) as error:
        _take_back(root)
        said = getattr(error, "stderr", "") or error
        print(f"refused: {said}", file=sys.stderr)
        return 1
    _publish(order, [*files, *signatures])
    print(notes)
    upload = "what is built of it" if order.elsewhere else INDEX
    print(f"released {order.name}; next: git push origin {order.name}, and upload {upload}")
    if order.held:
        versions.open_next(root)
        _commit(root, "release: begin the next set, with nothing held back", "", "")
    return 0


def _files(order: Order) -> list[Path]:
    """The sdist and the wheel, where they are built here."""
    index = order.package.root / INDEX
    return [] if order.elsewhere else wheels.build(order.package, index / "new", index)


def _write(order: Order) -> None:
    """Versions, the set and the changelog."""
    package, root = order.package, order.package.root
    if package.key == "metapackage":
        versions.hold(root, order.held)
    versions.write_version(package, order.version)
    versions.enter(package, order.version)
    problems = versions.set_problems(root) if package.key == "metapackage" else []
    if problems:
        raise _Refused("; ".join(problems))
    changelog.build(package, order.version, order.date)


def _notes(order: Order) -> str:
    """What is told with the release: its changelog, and what it was tested with."""
    tested = versions.newest_set(order.package.root)
    held = tested["packages"] | tested.get("beside", {})
    beside = ", ".join(f"{name} {version}" for name, version in sorted(held.items()))
    return (
        f"# {order.package.distribution} {order.version}\n\n"
        f"{changelog.section(order.package, order.version)}\n"
        f"Released {order.date}; tested with {beside}.\n"
    )


def _commit(root: Path, subject: str, tag: str, notes: str) -> None:
    def git(*arguments: str) -> None:
        command = ["git", "-C", str(root), *arguments]
        subprocess.run(command, check=True, capture_output=True, text=True)

    git("add", "--all", "ci", "docs", "metapackage", "packages", "plugin-abi")
    git("commit", "-q", "-m", subject)
    if tag:
        git("tag", "-a", tag, "-m", notes, "--cleanup=verbatim")


def _publish(order: Order, files: list[Path]) -> None:
    """Move the files into the local index, with the time of their upload."""
    if not files:
        return
    folder = order.package.root / INDEX
    log = folder / UPLOADS
    uploads = json.loads(log.read_text(encoding="utf-8")) if log.exists() else {}
    for file in files:
        shutil.move(file, folder / file.name)
        uploads[file.name] = f"{order.date}T00:00:00Z"
    log.write_text(json.dumps(uploads, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    shutil.rmtree(folder / "new")


def _take_back(root: Path) -> None:
    """Restore what was written, and forget what was built."""
    subprocess.run(["git", "-C", str(root), "reset", "-q", "--hard"], check=True)
    folders = [package.dir for package in packages(root).values()]
    added = ["git", "-C", str(root), "clean", "-q", "-f", "--", "ci/released", *folders]
    subprocess.run(added, check=True)
    shutil.rmtree(root / INDEX / "new", ignore_errors=True)
