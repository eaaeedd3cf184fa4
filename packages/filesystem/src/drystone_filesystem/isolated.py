"""The filesystem of an isolated plugin as a store: paths are whole URIs, which the plugin reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from drystone_base.core.errors import HostError, PluginError
from drystone_base.plugins.isolation_files import IsolatedFiles, OpenFile
from drystone_filesystem._failures import StoreFailure
from drystone_filesystem.store import Stat, Store, Upload

__all__ = ["IsolatedStore"]

_PIECE = 8 << 20


@contextmanager
def _asking() -> Iterator[None]:
    """Failures of the plugin, and of its process, become those of stores."""
    try:
        yield
    except (HostError, PluginError) as error:
        if error.status == "NOT_FOUND":
            raise FileNotFoundError(error.found or error.what) from error
        is_own = not error.code.startswith("isolated-plugin")
        text = error.found or error.what
        said = text if is_own else f"{error.what}: {text} [{error.code}]"
        raise StoreFailure(error.status, said, is_final=True) from error


class IsolatedStore(Store):
    """Every call goes to the plugin's process, one at a time."""

    def __init__(self, files: IsolatedFiles) -> None:
        self._files = files

    def translated(self, uri: str) -> str:
        """The URI as it is: what it means is the plugin's own matter."""
        return uri

    def stat(self, path: str) -> Stat:
        """Length, time and kind, as the plugin says."""
        with _asking():
            return Stat(*self._files.call("stat", path))

    def children(self, path: str) -> list[str]:
        """The names in a directory."""
        with _asking():
            names: list[str] = self._files.call("children", path)
            return names

    def read_into(self, path: str, offset: int, buffer: memoryview, version: str = "") -> int:
        """Fill ``buffer``, piece by piece."""
        del version
        done = 0
        with _asking():
            while done < len(buffer):
                size = min(_PIECE, len(buffer) - done)
                data = self._files.read(path, offset + done, size)
                buffer[done : done + len(data)] = data
                done += len(data)
                if len(data) < size:
                    break
        return done

    def write(self, path: str) -> Upload:
        """Begin a file; what others see of it meanwhile is as the plugin has it."""
        return _Writing(self._files, path, append=False)

    def append_to(self, path: str) -> Upload:
        """Begin to write at the end of a file."""
        return _Writing(self._files, path, append=True)

    def make_directory(self, path: str) -> None:
        """Make one directory."""
        self._act("make_directory", path)

    def remove_directory(self, path: str) -> None:
        """Delete an empty directory."""
        self._act("remove_directory", path)

    def delete(self, path: str) -> None:
        """Delete a file."""
        self._act("delete", path)

    def copy(self, source: str, target: str) -> None:
        """Copy a file."""
        self._act("copy", source, target)

    def rename(self, source: str, target: str) -> None:
        """Move a file or a directory, as the plugin does."""
        self._act("rename", source, target)

    def _act(self, member: str, *paths: str) -> None:
        with _asking():
            self._files.call(member, *paths)


class _Writing(Upload):
    """A file open in the plugin's process."""

    def __init__(self, files: IsolatedFiles, path: str, *, append: bool) -> None:
        self._files = files
        with _asking():
            self._file: OpenFile = files.open(path, append=append)

    def append(self, data: memoryview) -> None:
        """Send the bytes, piece by piece."""
        with _asking():
            for start in range(0, len(data), _PIECE):
                self._files.append(self._file, bytes(data[start : start + _PIECE]))

    def close(self) -> None:
        """End the file."""
        with _asking():
            self._files.close(self._file)

    def abandon(self) -> None:
        """Give it up."""
        try:
            self._files.close(self._file, abandon=True)
        except (HostError, PluginError):
            return  # its process is gone, and the file with it
