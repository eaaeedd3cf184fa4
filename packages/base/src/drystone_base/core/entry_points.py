"""Entry points of installed packages, read without importlib.metadata.

Importing that module alone takes a good part of what a first answer may take. Here the metadata
folders on ``sys.path`` are read directly; a group of which something is declared inside a zip file
is left to importlib.metadata.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, Final

from drystone_base.core.arguments import explained

__all__ = ["EntryPoint", "declared", "declaring", "points"]

_ALL_GROUPS: Final = (
    b"[drystone.modules][drystone.plugins][drystone.graph_optimizers][drystone.passes]"
    b"[drystone.subgraph_backends][drystone.filesystems]"
)


_INFO: Final = (".dist-info", ".egg-info")
_PIECE: Final = 1 << 16


@dataclass(frozen=True, order=True)
class EntryPoint:
    """One line of a group: its name, what it names (``module:attribute``), and where it is from.

    ``place`` is the entry of ``sys.path`` that its package's metadata is in, "" for a zip file.
    """

    name: str
    value: str
    package: str
    version: str
    place: str = ""

    def load(self) -> Any:
        """What it names; raises whatever importing it raises."""
        module, _, attribute = self.value.partition("[")[0].strip().partition(":")
        found: Any = import_module(module.strip())
        for part in filter(None, attribute.strip().split(".")):
            found = getattr(found, part)
        return found


@explained
@cache
def declared(group: str) -> bool:
    """Whether the metadata of some package on ``sys.path`` has a section of that name."""
    header = f"[{group}]".encode()
    return any(header in text for *_, text in _texts())


def declaring() -> list[tuple[str, str, str]]:
    """Packages whose metadata has a section of ours: name, version and text, sorted."""
    return sorted(
        (package, version, text.decode("utf-8", "replace"))
        for _, package, version, text in _texts()
        if b"[drystone." in text
    )


@explained
def points(group: str) -> list[EntryPoint]:
    """The entry points of a group, sorted; of a package that is there twice the first counts."""
    header = f"[{group}]"
    found: dict[tuple[str, str], EntryPoint] = {}
    seen: set[str] = set()
    for place, package, version, text in _texts():
        if header.encode() not in text or package in seen:
            continue
        seen.add(package)
        if not package:
            found |= {(p.package, p.name): p for p in _of_metadata(group)}
            continue
        for point in _section(text.decode("utf-8", "replace"), header, (package, version, place)):
            found.setdefault((package, point.name), point)
    return sorted(found.values())


def _section(text: str, header: str, of: tuple[str, str, str]) -> Iterator[EntryPoint]:
    inside = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            inside = line == header
        elif inside and line and line[0] not in "#;":
            name, _, value = line.partition("=")
            yield EntryPoint(name.strip(), value.strip(), *of)


def _of_metadata(group: str) -> Iterator[EntryPoint]:
    from importlib.metadata import entry_points

    for point in entry_points(group=group):
        package, version = (point.dist.name, point.dist.version) if point.dist else ("", "")
        yield EntryPoint(point.name, point.value, package, version)


def _texts() -> list[tuple[str, str, str, bytes]]:
    """Every ``entry_points.txt`` of ``sys.path``: its place, its package, the version of that.

    For what is no folder (a zip file) a text that may hold any of our groups, of package "". Read
    again for a group that is asked for when a folder has changed.
    """
    places = tuple(dict.fromkeys(sys.path))
    return _read(tuple((place, _changed(place)) for place in places))


def _changed(place: str) -> int:
    try:
        return os.stat(place or os.curdir).st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=1)
def _read(places: tuple[tuple[str, int], ...]) -> list[tuple[str, str, str, bytes]]:
    return [(place or os.curdir, *found) for place, _ in places for found in _of_place(place)]


def _of_place(place: str) -> Iterator[tuple[str, str, bytes]]:
    try:
        names = os.listdir(place or os.curdir)
    except NotADirectoryError:
        yield "", "", _ALL_GROUPS
        return
    except OSError:
        return
    for name in names:
        if name.endswith(_INFO):
            text = _text(os.path.join(place, name, "entry_points.txt"))
            if text:
                yield *_package(os.path.splitext(name)[0]), text


def _text(path: str) -> bytes:
    """A small file, empty where there is none: many packages have none, and a stream takes long."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return b"".join(iter(lambda: os.read(descriptor, _PIECE), b""))
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _package(stem: str) -> tuple[str, str]:
    """The distribution's name and version, as far as the folder's name tells them."""
    name, _, version = stem.partition("-")
    return name.replace("_", "-").lower(), version.partition("-")[0]
