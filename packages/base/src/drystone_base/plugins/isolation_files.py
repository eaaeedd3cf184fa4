"""Filesystems of isolated plugins: each call on a path or an open file is a message.

Code that serves schemes that are written in Python puts one of these behind ``scheme://``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from drystone_base.core.errors import HostError
from drystone_base.plugins.isolation_limits import Limits
from drystone_base.plugins.isolation_pool import asked

if TYPE_CHECKING:
    from drystone_base.plugins.isolation_process import Worker

__all__ = ["IsolatedFiles", "OpenFile", "offered", "take_schemes"]

_schemes: Final[dict[str, IsolatedFiles]] = {}


def offered(scheme: str) -> IsolatedFiles | None:
    """The filesystem of an isolated plugin for a scheme, if one has registered it."""
    return _schemes.get(scheme)


def take_schemes(name: str, version: str, path: str, schemes: list[str]) -> list[str]:
    """Make the filesystems of a library known; says which cannot be, which leave ``schemes``."""
    from drystone_base.host.filesystem import filesystems
    from drystone_base.modules import stage

    remarks = []
    taken = {one["scheme"]: one["library"] or "drystone" for one in filesystems()}
    taken |= {scheme: files.path for scheme, files in _schemes.items()}
    for scheme in list(schemes):
        if scheme in taken:
            remarks.append(f"scheme {scheme} is not taken: it is served by {taken[scheme]}")
        elif not stage("scheme"):
            remarks.append(
                f"scheme {scheme} is not taken: an isolated filesystem needs the package "
                "drystone-filesystem"
            )
        else:
            _schemes[scheme] = IsolatedFiles(name, version, path)
            continue
        schemes.remove(scheme)
    return remarks


class OpenFile:
    """A file that is open for writing in the plugin's process; it ends with that process."""

    def __init__(self, worker: Worker, number: int, uri: str) -> None:
        self.worker, self.number, self.uri = worker, number, uri


class IsolatedFiles:
    """What the filesystem of a library does with URIs; raises ``PluginError`` and ``HostError``."""

    def __init__(self, name: str, version: str, path: str) -> None:
        self.name, self.version, self.path = name, version, path

    def call(self, member: str, uri: str, *more: Any) -> Any:
        """What a function of the filesystem answers; see ``isolation_files_serve``."""
        return self._ask(member, [uri, *more], b"")[0]

    def read(self, uri: str, offset: int, size: int) -> bytes:
        """Up to ``size`` bytes from ``offset``; fewer only at the end of the file."""
        data = self._ask("read", [uri, offset, size], b"")[1]
        return data[:size]

    def open(self, uri: str, *, append: bool) -> OpenFile:
        """Begin to write a file."""
        with_worker: list[Worker] = []
        number = self._ask("open", [uri, append], b"", with_worker)[0]
        return OpenFile(with_worker[0], number, uri)

    def append(self, file: OpenFile, data: bytes) -> None:
        """Add bytes at the end of a file."""
        self._require_there(file)
        self._ask("append", [file.number], data)

    def close(self, file: OpenFile, *, abandon: bool = False) -> None:
        """End a file, or give it up."""
        if abandon and not file.worker.alive:
            return
        self._require_there(file)
        self._ask("abandon" if abandon else "close", [file.number], b"")

    def _require_there(self, file: OpenFile) -> None:
        if file.worker.alive:
            return
        raise HostError(
            f"{file.uri} cannot be written",
            check="a file stays open as long as the process of its plugin lives",
            found=f"the process of isolated plugin {self.name} ({self.path}) has ended since the "
            "file was opened",
            needed="a file that is opened and closed in one process",
            remedy="write it again from its beginning",
            status="ABORTED",
        )

    def _ask(
        self, member: str, arguments: list[Any], data: bytes, used: list[Worker] | None = None
    ) -> tuple[Any, bytes]:
        header = {"call": "files", "member": member, "arguments": arguments}
        limits, during = Limits(), f"{member} of its filesystem, for {arguments[0]!r},"

        def taken(reply: Mapping[str, Any], blob: bytes) -> tuple[Any, bytes]:
            return _KINDS.get(member, _nothing)(reply["value"]), blob

        def request(worker: Worker) -> tuple[Any, bytes]:
            if used is not None:
                used.append(worker)
            return worker.ask(header, data, limits, during, taken)

        return asked(self.name, self.version, self.path, limits, request)


def _nothing(_value: Any) -> None:
    """Of a function that answers nothing."""


def _facts(value: Any) -> tuple[int, int, bool]:
    length, time, is_directory = value
    if type(length) is not int or type(time) is not int or not 0 <= length < 1 << 63:
        raise ValueError(f"a length of {length!r} and a time of {time!r}")
    return length, time, bool(is_directory)


def _names(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError("names that are no texts")
    return value


def _number(value: Any) -> int:
    if type(value) is not int:
        raise ValueError(f"an open file of number {value!r}")
    return value


_KINDS: Final = {"stat": _facts, "children": _names, "open": _number}
