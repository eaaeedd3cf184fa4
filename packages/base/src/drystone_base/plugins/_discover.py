"""The first step: which plugins are there, in a fixed order, each once.

Searched are the folder ``drystone-plugins`` of every site-packages folder of ``sys.path``, the
entry points of the group ``drystone.plugins`` outside of the working folder, and, if asked for,
TensorFlow's own folders ``tensorflow-plugins``.
Folders are not searched recursively. Every file that is passed over is kept with its reason.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from drystone_base.core.installed import EntryPoint, points
from drystone_base.core.plugin_settings import Settings
from drystone_base.plugins._manifest import manifest_for
from drystone_base.plugins._places import is_working_folder, plugin_folders
from drystone_base.plugins._record import Plugin, library_stem, plugin_name, skipped

__all__ = ["GROUP", "Discovery", "Place", "discover", "from_path"]

GROUP: Final = "drystone.plugins"
FOLDER: Final = "drystone-plugins"
TENSORFLOW_FOLDER: Final = "tensorflow-plugins"
_BESIDE: Final = (".toml", ".minisig")


class Place(NamedTuple):
    """Somewhere that was searched, and what came of it."""

    place: str
    found: int
    text: str = ""

    def as_json(self) -> dict[str, Any]:
        """The place as JSON-ready values."""
        return {"place": self.place, "found": self.found, "text": self.text}


class Discovery:
    """Plugins in the order in which they are loaded, and what was passed over."""

    def __init__(self) -> None:
        self.plugins: list[Plugin] = []
        self.ignored: list[Plugin] = []
        self.places: list[Place] = []
        self.points: dict[str, EntryPoint] = {}

    def order(self) -> None:
        """Sort by name and path, and set aside what is the same file as another."""
        seen: dict[object, Plugin] = {}
        kept = []
        for plugin in sorted(self.plugins, key=lambda p: (p.name, p.path)):
            first = next((seen[key] for key in _identity(plugin.path) if key in seen), None)
            if first is None:
                kept.append(plugin)
                seen |= dict.fromkeys(_identity(plugin.path), plugin)
            else:
                text = f"the same file as {first.path}, found in {first.found_in}"
                plugin.take(skipped("discover", "plugin-duplicate", text))
                self.ignored.append(plugin)
        self.plugins = kept


def discover(settings: Settings) -> Discovery:
    """Everything that the searched places offer."""
    found = Discovery()
    for name in (FOLDER, TENSORFLOW_FOLDER) if settings.tensorflow_plugins else (FOLDER,):
        for folder, why in plugin_folders(name):
            if why:
                found.places.append(Place(folder, 0, why))
            else:
                _search(found, folder)
    _entry_points(found)
    found.order()
    return found


def from_path(path: str | os.PathLike[str]) -> Discovery:
    """What one file or folder offers."""
    found = Discovery()
    path = str(os.fspath(path))  # the system lists a folder in bytes for a str of NumPy
    if os.path.isdir(path):
        _search(found, path)
    else:
        found.plugins.append(_plugin(os.path.realpath(path), "load_library"))
        found.places.append(Place(path, 1))
    found.order()
    return found


def _identity(path: str) -> Iterator[object]:
    """What two paths of one file have in common."""
    yield path
    try:
        facts = os.stat(path)
    except OSError:
        return
    yield facts.st_dev, facts.st_ino


def _search(found: Discovery, folder: str) -> None:
    """Take the libraries of a folder; every other file is ignored with a reason."""
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        found.places.append(Place(folder, 0, f"cannot be listed: {error.strerror}"))
        return
    before = len(found.plugins)
    for name in names:
        path = os.path.join(folder, name)
        reason = _not_a_library(name, path)
        if reason is None:
            found.plugins.append(_plugin(os.path.realpath(path), folder))
        elif reason:
            plugin = Plugin(name, path, folder)
            plugin.take(skipped("discover", "plugin-file-ignored", reason))
            found.ignored.append(plugin)
    found.places.append(Place(folder, len(found.plugins) - before))


def _not_a_library(name: str, path: str) -> str | None:
    """Why a file is no candidate; "" where that is as it should be, None where it is one."""
    if name.endswith(_BESIDE) or name.startswith("."):
        return ""
    if not library_stem(name):
        return "its name does not end in .so or .so.NUMBER"
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return None if stat.S_ISREG(mode) else "it is a folder or a special file, not a library"


def _plugin(path: str, found_in: str) -> Plugin:
    """A record with what the file's name and manifest say; a bad manifest is a later step's."""
    plugin = Plugin(plugin_name(os.path.basename(path)), path, found_in)
    named = manifest_for(path)
    if named is not None and named.manifest is not None:
        plugin.name = named.manifest.name or plugin.name
        plugin.package = named.manifest.package
    return plugin


def _entry_points(found: Discovery) -> None:
    """Take entry points by name; what they name is not imported yet."""
    before = len(found.plugins)
    for point in points(GROUP):
        if point.place and is_working_folder(point.place):
            text = "the working folder is not searched"
            found.places.append(Place(f"entry point {point.name} in {point.place}", 0, text))
            continue
        plugin = Plugin(point.name, f"entry point {point.value}", GROUP)
        plugin.package, plugin.version = point.package, point.version
        found.points[plugin.path] = point
        found.plugins.append(plugin)
    text = "" if len(found.plugins) > before else "no installed package declares one"
    found.places.append(Place(f"entry points {GROUP}", len(found.plugins) - before, text))
