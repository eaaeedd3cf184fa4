"""The manifest: what a plugin says of itself, in a TOML file beside the library.

``libfoo.so.toml`` describes ``libfoo.so``; a file ``drystone-plugin.toml`` describes the
library that its ``library`` names. docs/reference/spec/manifest.md is the specification.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from drystone_base.core.errors import PluginError, near_matches
from drystone_base.plugins._record import Plugin, StepResult, failed, passed

__all__ = ["Manifest", "Named", "VersionRange", "manifest_for", "read_manifest", "take_manifest"]

SHARED_NAME: Final = "drystone-plugin.toml"
_LARGEST: Final = 1 << 16
_DIGITS: Final = frozenset("0123456789")
_ALNUM: Final = _DIGITS.union("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_IN_NAMES: Final = _ALNUM.union("._-")
_IN_VERSIONS: Final = _IN_NAMES.union("+!")
_OPERATORS: Final = (">=", "<=", "==", "<", ">")  # none after its own beginning


class VersionRange(NamedTuple):
    """ABI versions: each bound is an operator with (major, minor)."""

    bounds: tuple[tuple[str, tuple[int, int]], ...]
    text: str

    def holds(self, version: tuple[int, int]) -> bool:
        """Whether a version keeps to all bounds."""
        compare: dict[str, Callable[[Any, Any], bool]] = {
            ">=": lambda a, b: a >= b,
            "<=": lambda a, b: a <= b,
            "==": lambda a, b: a == b,
            "<": lambda a, b: a < b,
            ">": lambda a, b: a > b,
        }
        return all(compare[operator](version, bound) for operator, bound in self.bounds)


class Manifest(NamedTuple):
    """What a manifest says; empty where it is silent.

    ``ops``, ``optimizers``, ``schemes`` and ``devices`` are what the plugin offers: asked for while
    the plugin is not loaded, they lead to the reason why.
    """

    name: str = ""
    version: str = ""
    package: str = ""
    library: str = ""
    abi: VersionRange | None = None
    modules: tuple[str, ...] = ()
    isolation: str = ""
    ops: tuple[str, ...] = ()
    optimizers: tuple[str, ...] = ()
    schemes: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    extra: Mapping[str, Any] = MappingProxyType({})


class Named(NamedTuple):
    """A manifest file, with its contents or what is wrong with it, and its bytes."""

    file: str
    manifest: Manifest | None
    problem: str = ""
    data: bytes = b""


def manifest_for(path: str) -> Named | None:
    """The manifest of a library: the one of its name, else the folder's if that names it."""
    folder, library = os.path.split(path)
    own = path + ".toml"
    if os.path.isfile(own):
        return _read(own, library)
    shared = os.path.join(folder, SHARED_NAME)
    if os.path.isfile(shared):
        named = _read(shared, library)
        if named.manifest is None or named.manifest.library == library:
            return named
    return None


def _read(file: str, library: str) -> Named:
    shared = os.path.basename(file) == SHARED_NAME
    try:
        with open(file, "rb") as stream:
            data = stream.read(_LARGEST + 1)
        manifest = read_manifest(data)
        if not shared and manifest.library not in ("", library):
            raise ValueError(f"library is {manifest.library!r}, but it lies beside {library}")
        if shared and not manifest.library:
            raise ValueError(f"library is missing: {SHARED_NAME} must name its library")
    except (OSError, ValueError) as error:
        return Named(file, None, str(error))
    return Named(file, manifest, data=data)


def read_manifest(data: bytes) -> Manifest:
    """Parse and check a manifest; raises ``ValueError`` that names the key."""
    if len(data) > _LARGEST:
        raise ValueError(f"it is larger than {_LARGEST} bytes")
    table = _table_of(data)
    for key in table:
        if key not in _VALUES:
            near = near_matches(key, _VALUES)
            hint = f"; did you mean {near[0]}?" if near else f"; known are {', '.join(_VALUES)}"
            raise ValueError(f"the key {key!r} is not known{hint}")
    return Manifest(**{key: _VALUES[key](key, value) for key, value in table.items()})


def _table_of(data: bytes) -> dict[str, Any]:
    """The table of a TOML file; its parser is imported for what :func:`_plain` does not read."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is no TOML file: {error}") from error
    found = _plain(text)
    if found is not None:
        return found
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"it is no TOML file: {error}") from error


def _plain(text: str) -> dict[str, Any] | None:
    """The table, where each line is blank or ``key = VALUE``; None for another file.

    A value is a ``"text"`` without escapes, or a list of such on one line.
    """
    found: dict[str, Any] = {}
    for line in text.split("\n"):
        key, equals, value = (part.strip(" \t") for part in line.partition("="))
        if not (key or equals):
            continue
        listed = value[:1] == "[" and value[-1:] == "]"
        parts = value[1:-1].split(",") if listed else [value]
        texts = [part.strip(" \t") for part in parts]
        if not (all(map(_is_plain, texts)) and key.isascii() and key.isalpha()) or key in found:
            return None
        found[key] = [one[1:-1] for one in texts] if listed else texts[0][1:-1]
    return found


def _is_plain(value: str) -> bool:
    inner = value[1:-1]
    if len(value) < 2 or not value[0] == value[-1] == '"':
        return False
    return inner.isprintable() and '"' not in inner and "\\" not in inner


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{key} must be a string, found {value!r}")
    return value


def _spelled(
    what: str, inside: frozenset[str], first: frozenset[str], last: frozenset[str]
) -> Callable[[str, Any], str]:
    """A check for 1 to 100 characters of a set, with others for the first and the last."""

    def check(key: str, value: Any) -> str:
        text = _text(key, value)
        fits = 1 <= len(text) <= 100 and inside.issuperset(text)
        if not fits or text[0] not in first or text[-1] not in last:
            raise ValueError(f"{key} must be {what}, found {value!r}")
        return text

    return check


def _file_name(key: str, value: Any) -> str:
    """A file in the manifest's own folder: no path leads out of it."""
    text = _text(key, value)
    if os.path.basename(text) != text or text in ("", ".", "..") or "\0" in text:
        raise ValueError(f"{key} must be the name of a file beside the manifest, found {value!r}")
    return text


def _texts(key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise ValueError(f"{key} must be a list of strings, found {value!r}")
    return tuple(value)


def _range(key: str, value: Any) -> VersionRange:
    text = _text(key, value)
    bounds = []
    for part in map(str.strip, text.split(",")):
        operator = next(filter(part.startswith, _OPERATORS), "")
        numbers = part.removeprefix(operator).lstrip().split(".")
        if not operator or len(numbers) > 2 or not all(map(_is_number, numbers)):
            raise ValueError(f"{key} must be bounds such as '>=1.0,<2', found {value!r}")
        major, minor = (*map(int, numbers), 0)[:2]
        bounds.append((operator, (major, minor)))
    return VersionRange(tuple(bounds), text)


def _is_number(text: str) -> bool:
    return len(text) <= 6 and text.isdecimal()


def _isolation(key: str, value: Any) -> str:
    if value not in ("none", "process"):
        raise ValueError(f"{key} must be 'none' or 'process', found {value!r}")
    return str(value)


def _table(key: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{key} must be a table, found {value!r}")
    return value


_VALUES: Final[dict[str, Callable[[str, Any], Any]]] = {
    "name": _spelled("a name of letters, digits, '.', '_' and '-'", _IN_NAMES, _ALNUM, _ALNUM),
    "version": _spelled("a version that begins with a digit", _IN_VERSIONS, _DIGITS, _IN_VERSIONS),
    "package": _spelled("the name of a distribution", _IN_NAMES, _ALNUM, _ALNUM),
    "library": _file_name,
    "abi": _range,
    "modules": _texts,
    "isolation": _isolation,
    "ops": _texts,
    "optimizers": _texts,
    "schemes": _texts,
    "devices": _texts,
    "extra": _table,
}


def take_manifest(plugin: Plugin) -> StepResult:
    """The step: read the manifest, if there is one, into the record."""
    named = manifest_for(plugin.path)
    if named is None:
        return passed("manifest", found=False)
    if named.manifest is None:
        return failed("manifest", _invalid(plugin, named))
    manifest, plugin.manifest = named.manifest, named.data
    plugin.name = manifest.name or plugin.name
    plugin.version = manifest.version or plugin.version
    plugin.package = manifest.package or plugin.package
    plugin.isolation = manifest.isolation or plugin.isolation
    plugin.modules = manifest.modules
    kinds = ("ops", "optimizers", "schemes", "devices")
    plugin.offers = {kind: getattr(manifest, kind) for kind in kinds if getattr(manifest, kind)}
    outside = _outside_range(plugin, manifest)
    if outside is not None:
        return failed("manifest", outside)
    return passed("manifest", found=True, file=named.file)


def _outside_range(plugin: Plugin, manifest: Manifest) -> PluginError | None:
    """The manifest's own range of ABI versions must hold the host's."""
    from drystone_abi import ABI_VERSION

    major, minor = (int(part) for part in ABI_VERSION.split("."))
    if manifest.abi is None or manifest.abi.holds((major, minor)):
        return None
    return plugin.refuse(
        "is not for this version of the plugin ABI",
        check="the range abi of its manifest must hold the host's version",
        found=f"plugin ABI {ABI_VERSION}",
        needed=f"plugin ABI {manifest.abi.text}",
        remedy=f"pip install --upgrade drystone-base {plugin.package}".rstrip(),
        code="plugin-wrong-abi",
    )


def _invalid(plugin: Plugin, named: Named) -> PluginError:
    return plugin.refuse(
        "has a manifest that cannot be used",
        check=f"{os.path.basename(named.file)} must be the manifest of a plugin",
        found=named.problem,
        needed="a TOML file with the keys of the specification",
        remedy=plugin.advice(author=f"correct {named.file}, or remove it"),
        code="plugin-bad-manifest",
    )
