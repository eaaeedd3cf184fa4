"""Where the dynamic linker would find the libraries that a file needs, without opening them.

Source: ld.so(8) and the layout of /etc/ld.so.cache that glibc's ldconfig writes.
"""

from __future__ import annotations

import os
import struct
import sys
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from drystone_base.files.contents import identity
from drystone_base.plugins._elf import BadElf, ElfFile, read_elf

__all__ = ["Closure", "closure_of", "is_system", "is_tensorflow_name"]

_CACHE: Final = Path("/etc/ld.so.cache")
_CACHE_MAGIC: Final = b"glibc-ld.so.cache1.1"
_FOLDERS: Final = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")
_SYSTEM: Final = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/")
_TENSORFLOW: Final = (
    "libtensorflow_framework.so",
    "libtensorflow_cc.so",
    "libtensorflow.so",
    "_pywrap_tensorflow_",
)


def is_tensorflow_name(name: str) -> bool:
    """Whether the host answers to this library's name when TensorFlow's is not there."""
    return name.startswith(_TENSORFLOW)


def is_system(place: str) -> bool:
    """Whether a file is one of the system's own libraries."""
    return place.startswith(_SYSTEM)


@dataclass
class Closure:
    """The files that a library needs, directly or not, in the order the linker finds them.

    ``missing`` are names that nothing was found for, ``aliased`` those of TensorFlow among them.
    """

    files: dict[str, ElfFile] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    aliased: list[str] = field(default_factory=list)
    searched: list[str] = field(default_factory=list)


def closure_of(path: str, elf: ElfFile) -> Closure:
    """Follow the needed libraries of a file; ``missing`` says which file needs each."""
    found, mapped = Closure(), _mapped()
    names: set[str] = set()
    waiting: deque[tuple[str, ElfFile, tuple[str, ...]]] = deque([(path, elf, ())])
    while waiting:
        owner, file, inherited = waiting.popleft()
        rpath = _expand(file.rpath, owner) + inherited
        for name in file.needed:
            if name in names:
                continue
            names.add(name)
            place = _find(name, owner, file, rpath, mapped)
            if place is None:
                _note_missing(found, name, owner)
                continue
            try:
                needed = _read(place, identity(place))
            except (BadElf, OSError):
                _note_missing(found, name, owner)
                continue
            if place not in found.files:
                found.files[place] = needed
                waiting.append((place, needed, rpath))
    found.searched = list(_system_folders())
    return found


def _note_missing(found: Closure, name: str, owner: str) -> None:
    if is_tensorflow_name(name):
        found.aliased.append(name)
    else:
        found.missing[name] = owner


@cache
def _read(path: str, _state: tuple[int, ...]) -> ElfFile:
    """The file; one that is not the system's with names that can be read, too."""
    found = read_elf(path)
    if not is_system(path):
        _ = found.exports, found.imports
    return found


def _expand(folders: tuple[str, ...], owner: str) -> tuple[str, ...]:
    origin = os.path.dirname(owner)
    expanded = (f.replace("${ORIGIN}", origin).replace("$ORIGIN", origin) for f in folders)
    return tuple(folder for folder in expanded if folder)


def _find(
    name: str, owner: str, file: ElfFile, rpath: tuple[str, ...], mapped: Mapping[str, str]
) -> str | None:
    """The file that a needed name leads to, or None."""
    if "/" in name:
        (place,) = _expand((name,), owner)
        return place if os.path.isfile(place) else None
    folders = list(_expand(file.runpath, owner)) if file.runpath else [*rpath, *_program_rpath()]
    folders[0 if file.runpath else len(folders) : 0] = _environment()
    for folder in folders:
        place = os.path.join(folder, name)
        if os.path.isfile(place):
            return place
    loaded = mapped.get(name) or _cached().get(name)
    if loaded is not None and os.path.isfile(loaded):
        return loaded
    places = (os.path.join(folder, name) for folder in _system_folders())
    return next((place for place in places if os.path.isfile(place)), None)


def _environment() -> list[str]:
    return [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]


@cache
def _program_rpath() -> tuple[str, ...]:
    """The search path in the running program itself, which holds for all it opens."""
    try:
        program = os.path.realpath("/proc/self/exe")
        return _expand(read_elf(program).rpath, program)
    except (BadElf, OSError):
        return ()


def _mapped() -> dict[str, str]:
    """Libraries that this process has mapped, by file name."""
    found: dict[str, str] = {}
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return found
    for line in lines:
        place = line.split(maxsplit=5)[-1]
        if place.startswith("/") and ".so" in place:
            found.setdefault(os.path.basename(place), place)
    return found


@cache
def _system_folders() -> tuple[str, ...]:
    """The linker's own folders, with the one that libc itself is in."""
    libc = {os.path.dirname(p) for n, p in _mapped().items() if n.startswith(("libc.so", "libc-"))}
    triplet = f"{os.uname().machine}-linux-gnu"
    multiarch = [f"/lib/{triplet}", f"/usr/lib/{triplet}"]
    return tuple(dict.fromkeys([*sorted(libc), *multiarch, *_FOLDERS]))


@cache
def _cached() -> dict[str, str]:
    """What ldconfig has written down: file by name, the first of each name."""
    try:
        return parse_cache(_CACHE.read_bytes())
    except OSError:
        return {}


def parse_cache(data: bytes) -> dict[str, str]:
    """The entries of an ld.so.cache; {} where it has another layout."""
    start = data.find(_CACHE_MAGIC)
    order = "<" if sys.byteorder == "little" else ">"
    if start < 0 or len(data) < start + 48:
        return {}
    (count,) = struct.unpack_from(order + "I", data, start + 20)
    found: dict[str, str] = {}
    for k in range(min(count, (len(data) - start - 48) // 24)):
        _, key, value = struct.unpack_from(order + "iII", data, start + 48 + k * 24)
        name, place = (_terminated(data, start + at) for at in (key, value))
        if name and place:
            found.setdefault(name, place)
    return found


def _terminated(data: bytes, offset: int) -> str:
    end = data.find(b"\0", offset) if offset < len(data) else -1
    return os.fsdecode(data[offset:end]) if end >= 0 else ""
