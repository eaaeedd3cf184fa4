"""Name nodes by their web interface: one filesystem of fsspec's for each."""

from __future__ import annotations

import os
import threading
from typing import Any

from drystone_filesystem import FsspecStore, Stat, Store, Upload

__all__ = ["WebHdfs", "hdfs"]

_PORT = 9870


class WebHdfs(Store):
    """``host:port/path``: each name node is a filesystem of its own."""

    def __init__(self) -> None:
        self._nodes: dict[str, FsspecStore] = {}
        self._lock = threading.Lock()

    def _split(self, path: str) -> tuple[FsspecStore, str]:
        """The filesystem of the path's name node, and the path there."""
        node, _, rest = path.partition("/")
        if not node:
            raise ValueError("a path must name its name node, as hdfs://host:port/path")
        with self._lock:
            if node not in self._nodes:
                self._nodes[node] = FsspecStore(_connect(node))
            return self._nodes[node], rest

    def stat(self, path: str) -> Stat:
        """The status of a path; with the time as the version, as HDFS has no other."""
        store, rest = self._split(path)
        found = store.stat(rest)
        return found._replace(version="" if found.is_directory else str(found.mtime_nsec))

    def children(self, path: str) -> list[str]:
        """The names in a directory."""
        store, rest = self._split(path)
        return store.children(rest)

    def read_into(self, path: str, offset: int, buffer: memoryview, version: str = "") -> int:
        """One ranged request."""
        store, rest = self._split(path)
        return store.read_into(rest, offset, buffer, version)

    def write(self, path: str) -> Upload:
        """Written under another name, and renamed when it is closed."""
        store, rest = self._split(path)
        return store.write(rest)

    def append_to(self, path: str) -> Upload:
        """After what is there."""
        store, rest = self._split(path)
        return store.append_to(rest)

    def make_directory(self, path: str) -> None:
        """One directory."""
        store, rest = self._split(path)
        store.make_directory(rest)

    def remove_directory(self, path: str) -> None:
        """One empty directory."""
        store, rest = self._split(path)
        store.remove_directory(rest)

    def delete(self, path: str) -> None:
        """One file."""
        store, rest = self._split(path)
        store.delete(rest)

    def copy(self, source: str, target: str) -> None:
        """By way of here: WebHDFS has no copy."""
        file = self.write(target)
        try:
            place, size = 0, self.stat(source).length
            while place < size:
                room = bytearray(min(1 << 24, size - place))
                place += self.read_into(source, place, memoryview(room))
                file.append(memoryview(room))
        except BaseException:
            file.abandon()
            raise
        file.close()

    def rename(self, source: str, target: str) -> None:
        """Moved by the name node, after the target is deleted: it does not replace."""
        store, rest = self._split(source)
        other, new = self._split(target)
        if store is not other:
            super().rename(source, target)
            return
        if store.filesystem.exists("/" + new):
            store.delete(new)
        store.rename(rest, new)


def hdfs() -> WebHdfs:
    """All name nodes."""
    return WebHdfs()


def _connect(node: str) -> Any:
    from fsspec.implementations.webhdfs import WebHDFS

    host, _, port = node.partition(":")
    return WebHDFS(
        host,
        int(port or _PORT),
        user=os.environ.get("HADOOP_USER_NAME"),
        token=os.environ.get("WEBHDFS_DELEGATION_TOKEN"),
        use_https=bool(os.environ.get("DRYSTONE_WEBHDFS_HTTPS")),
        skip_instance_cache=True,
    )
