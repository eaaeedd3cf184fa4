"""What is installed: the distributions that plans depend on, and entry points of our groups.

``importlib.metadata`` says so. To import it and to scan ``sys.path`` takes 20 ms and 5 MB, so the
user's cache folder has a note of it for each environment (``sys.prefix``), and so has a folder of
plans that was named, for images. A later process takes what is noted where ``sys.path`` has
the same folders of metadata, and they and every RECORD the same times of change.
"""

from __future__ import annotations

import json
import os
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from drystone_base.core.arguments import explained
from drystone_base.core.environment import PLAN_CACHE
from drystone_base.core.machine import cache_folder, chosen_folder
from drystone_base.core.owners import is_own, opened

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoints

__all__ = [
    "NOTES",
    "SETTLED",
    "EntryPoint",
    "code_stamps",
    "declared",
    "forget",
    "note_name",
    "points",
    "unsettled_seconds",
]

NOTES: Final = "installed-*.json"
"""Which files of a folder are notes."""
SETTLED: Final = 3.0
"""Seconds without a change after which times of change tell two states of a folder apart."""
_OURS: Final = "drystone."
_WITHOUT_POINTS: Final = (
    "drystone", "drystone-base", "drystone-cpu", "drystone-gpu", "drystone-plugin-abi",
    "drystone-tvm",
)  # fmt: skip
"""Distributions of drystone's that need not declare an entry point of our groups."""
_CODE: Final = (".py", ".so", ".z")
_INFO: Final = (".dist-info", ".egg-info")
_Places = tuple[tuple[str, int], ...]
"""Entries of ``sys.path``, each with its time of change, in nanoseconds."""
_Metadata = tuple[tuple[str, str, int], ...]
"""Folders of metadata: entry of ``sys.path``, name, and time of change in whole seconds: layers of
a container's image keep no more of it. An archive has the name ""."""


class EntryPoint(NamedTuple):
    """One line of a group: its name, what it names (``module:attribute``), and where it is from.

    ``place`` is the entry of ``sys.path`` that its package's metadata is in, "" for a zip file.
    """

    name: str
    value: str
    package: str
    version: str
    place: str = ""

    def load(self) -> Any:
        """What it names; raises whatever importing it raises.

        ``OutOfStep`` where it needs what the installed release of another package has not.
        """
        module, _, attribute = self.value.partition("[")[0].strip().partition(":")
        try:
            found: Any = import_module(module.strip())
        except (ImportError, AttributeError) as error:
            from drystone_base.core.out_of_step import out_of_step

            unfit = out_of_step(error)
            if unfit is None:
                raise
            raise unfit from error
        for part in filter(None, attribute.strip().split(".")):
            found = getattr(found, part)
        return found


class _Code(NamedTuple):
    """A distribution: SHA-256 and path of its RECORD; the ``folder`` of an editable one's code."""

    name: str
    version: str
    digest: str
    record: str
    changed: int
    folder: str = ""


class _Installed(NamedTuple):
    """``groups``: entry points by group, as far as it is one of ours."""

    code: list[_Code]
    groups: dict[str, list[EntryPoint]]


@explained
def declared(group: str) -> bool:
    """Whether some installed package declares an entry point of that group."""
    return bool(points(group))


@explained
def points(group: str) -> list[EntryPoint]:
    """The entry points of a group, sorted; of a package that is there twice the first counts."""
    if group.startswith(_OURS):
        return _installed(_places()).groups.get(group, [])
    from importlib.metadata import entry_points

    return _sorted(entry_points(group=group), {None: _Owner("", "", "")})


def code_stamps(started: float) -> list[list[str]] | None:
    """Of each distribution that plans depend on: name, version and digest of its RECORD.

    Of an editable one, of size and time of change of each file of code. None where one changed
    after ``started`` (seconds since 1970): what runs here is then not what is installed.
    """
    rows = []
    for one in _installed(_places()).code:
        digest: str | None = one.digest
        if one.folder:
            digest = _tree_digest(one.folder, started)
        elif one.record and os.stat(one.record).st_ctime > started:
            return None
        if digest is None:
            return None
        rows.append([one.name, one.version, digest])
    return rows


def forget() -> None:
    """Look again, in the folder that the plan cache has now."""
    _installed.cache_clear()
    _of_metadata.cache_clear()


def unsettled_seconds() -> float:
    """How long it takes until what is installed can be noted; 0 where it can."""
    found = [row[-1] for place, _ in _places() for row in _metadata(place)]
    return max(0.0, max(found, default=0) + SETTLED + 1.0 - time.time())


def _places() -> _Places:
    return tuple((place, _changed(place or os.curdir)) for place in dict.fromkeys(sys.path))


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=1)
def _installed(places: _Places) -> _Installed:
    return _of_metadata(tuple(found for place, _ in places for found in _metadata(place)))


def _metadata(place: str) -> Iterator[tuple[str, str, int]]:
    try:
        names = sorted(os.listdir(place or os.curdir))
    except NotADirectoryError:
        names = [""]
    except OSError:
        return
    folder = os.path.abspath(place)
    for name in names:
        if name.endswith(_INFO) or not name:
            yield folder, name, _seconds(_changed(os.path.join(folder, name).rstrip(os.sep)))


@lru_cache(maxsize=1)
def _of_metadata(metadata: _Metadata) -> _Installed:
    found, without = None, []
    for folder in _folders():
        found = _noted(folder, metadata)
        if found is not None:
            break
        without.append(folder)
    if found is None:
        found = _scanned()
    for folder in without:
        with suppress(OSError):
            _note(folder, metadata, found)
    return found


# ---- the notes -----------------------------------------------------------------------------------


def note_name() -> str:
    """The note of this environment: a machine has several, which share the user's cache folder."""
    return NOTES.replace("*", f"{zlib.crc32(os.fsencode(sys.prefix)):08x}")


def _folders() -> list[str]:
    """Folders of notes: the one of plans where it was named, then the user's cache folder."""
    found = [chosen_folder(PLAN_CACHE, "")]
    with suppress(RuntimeError):
        found.append(os.path.join(cache_folder(), ""))
    return [*dict.fromkeys(folder for folder in found if folder)]


def _noted(folder: str, metadata: _Metadata) -> _Installed | None:
    """What an earlier process noted of the same folders of metadata."""
    try:
        with opened(os.path.join(folder, note_name())) as file:
            if not is_own(os.fstat(file.fileno())):
                return None
            note = json.load(file)
        if note["metadata"] != [*map(list, metadata)] or note["python"] != sys.version:
            return None
        code = [_Code(*row) for row in note["code"]]
        groups = {name: [EntryPoint(*row) for row in rows] for name, rows in note["groups"].items()}
        same = all(not one.record or _seconds(_changed(one.record)) == one.changed for one in code)
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return None
    return _Installed(code, groups) if same else None


def _note(folder: str, metadata: _Metadata, found: _Installed) -> None:
    """Note it for later processes, unless something changed a moment ago; raises ``OSError``."""
    changes = [row[-1] for row in metadata] + [one.changed for one in found.code]
    if time.time() - max(changes, default=0) < SETTLED:
        return
    note = {"metadata": metadata, "python": sys.version, **found._asdict()}
    os.makedirs(folder, 0o700, exist_ok=True)
    draft = os.path.join(folder, f".{note_name()}-{os.urandom(8).hex()}")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(note, file)
        os.replace(draft, os.path.join(folder, note_name()))
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def _seconds(nanoseconds: int) -> int:
    return nanoseconds // 10**9


# ---- the scan ------------------------------------------------------------------------------------


def _scanned() -> _Installed:
    from importlib.metadata import PackageNotFoundError, distribution, entry_points

    every = entry_points()
    ours = {group: every.select(group=group) for group in every.groups if group.startswith(_OURS)}
    owners: dict[Distribution | None, _Owner] = {None: _Owner("", "", "")}
    groups = {group: _sorted(found, owners) for group, found in ours.items()}
    distributions = {owners[dist].name: dist for dist in owners if dist is not None}
    for name in _WITHOUT_POINTS:
        with suppress(PackageNotFoundError):
            distributions.setdefault(name, distribution(name))
    return _Installed([_code(name, distributions[name]) for name in sorted(distributions)], groups)


class _Owner(NamedTuple):
    """Of an entry point. Its metadata is parsed each time that one asks for it."""

    name: str
    version: str
    place: str


def _sorted(found: EntryPoints, owners: dict[Distribution | None, _Owner]) -> list[EntryPoint]:
    rows = set()
    for point in found:
        if point.dist not in owners:
            assert point.dist is not None
            metadata = point.dist.metadata
            place = str(point.dist.locate_file(""))
            owners[point.dist] = _Owner(
                _canonical(metadata["Name"]),
                metadata["Version"],
                place if os.path.isdir(place) else "",
            )
        rows.add(EntryPoint(point.name, point.value, *owners[point.dist]))
    return sorted(rows)


def _canonical(name: str) -> str:
    return name.replace("_", "-").replace(".", "-").lower()


def _code(name: str, dist: Distribution) -> _Code:
    from hashlib import sha256

    record = str(dist.locate_file(f"{name.replace('-', '_')}-{dist.version}.dist-info/RECORD"))
    text = dist.read_text("RECORD") or ""
    digest = sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
    record = record if os.path.isfile(record) else ""
    changed = _seconds(_changed(record)) if record else 0
    return _Code(name, dist.version, digest, record, changed, _editable(dist))


def _editable(dist: Distribution) -> str:
    """The folder of an editable distribution; "" for one that was copied where it is installed."""
    from urllib.parse import unquote, urlparse

    origin = json.loads(dist.read_text("direct_url.json") or "{}")
    if not origin.get("dir_info", {}).get("editable"):
        return ""
    folder = unquote(urlparse(origin["url"]).path)
    return os.path.join(folder, "src") if os.path.isdir(os.path.join(folder, "src")) else folder


def _tree_digest(folder: str, started: float) -> str | None:
    from hashlib import sha256

    rows = []
    for path, state in _files(folder):
        if state.st_ctime > started:
            return None
        rows.append((path, state.st_size, state.st_mtime_ns))
    return sha256(repr(sorted(rows)).encode("utf-8", "surrogateescape")).hexdigest()


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path)
            elif entry.name.endswith(_CODE):
                yield entry.path, entry.stat()
