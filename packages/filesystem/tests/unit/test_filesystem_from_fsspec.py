"""Filesystems of fsspec's that do less than others: one connection, no copies.

S2-filesystems.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fsspec import AbstractFileSystem
from fsspec.implementations.dirfs import DirFileSystem

from drystone_base.host import filesystem as host
from drystone_filesystem import from_fsspec, gfile

Serve = Callable[[Any], str]


class OneConnection(AbstractFileSystem):  # type: ignore[misc]
    """Files of a folder, as fsspec's SFTP has them: nobody else may ask meanwhile."""

    protocol = "sftp", "ssh"
    cachable = False

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.busy = threading.Lock()

    @contextmanager
    def asked(self, path: str) -> Iterator[str]:
        """The local path; fails where another thread's answer is awaited."""
        assert self.busy.acquire(blocking=False), "two ask at once"
        try:
            time.sleep(0.001)
            yield f"{self.folder}/{path}"
        finally:
            self.busy.release()

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        with self.asked(path) as local:
            size, kind = os.stat(local).st_size, "directory" if os.path.isdir(local) else "file"
            return {"name": path, "size": size, "type": kind}

    def ls(self, path: str, detail: bool = False, **_: Any) -> list[Any]:
        with self.asked(path) as local:
            names = sorted(os.listdir(local))
        return [self.info(f"{path}/{n}") if detail else f"{path}/{n}" for n in names]

    def cat_file(self, path: str, start: Any = None, end: Any = None, **_: Any) -> bytes:
        with self.asked(path) as local:
            return Path(local).read_bytes()[start:end]

    def _open(self, path: str, mode: str = "rb", **_: Any) -> Any:
        with self.asked(path) as local:
            return open(local, mode)

    def mkdir(self, path: str, create_parents: bool = True, **_: Any) -> None:
        del create_parents
        with self.asked(path) as local:
            os.mkdir(local)

    def _rm(self, path: str) -> None:
        with self.asked(path) as local:
            os.remove(local)

    def mv(self, old: str, new: str) -> None:
        with self.asked(old) as local:
            os.replace(local, f"{self.folder}/{new}")


@pytest.fixture
def root(serve: Serve, tmp_path: Path) -> str:
    """A scheme of such a filesystem, with a folder and a file in it."""
    (tmp_path / "box").mkdir()
    (tmp_path / "box" / "a").write_bytes(b"granite")
    return serve(OneConnection(tmp_path))


def test_what_knows_no_copies_is_copied_by_way_of_here(root: str) -> None:
    gfile.copy(f"{root}box/a", f"{root}box/b")
    assert gfile.GFile(f"{root}box/b", "rb").read() == b"granite"
    assert gfile.GFile(f"{root}box/a", "rb").read() == b"granite"


def test_files_are_renamed_by_what_takes_two_names(root: str) -> None:
    gfile.rename(f"{root}box/a", f"{root}box/b")
    assert gfile.listdir(f"{root}box") == ["b"]


def test_threads_take_turns_at_one_connection(root: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(host.read_range, [f"{root}box/a"] * 64, [0] * 64, [9] * 64))
        names = [f"{root}box/{k}" for k in range(32)]
        list(pool.map(host.write_bytes, names, [b"slate"] * 32))
    assert found == [b"granite"] * 64
    assert gfile.listdir(f"{root}box") == sorted(["a", *map(str, range(32))])


def test_schemes_of_one_connection_take_turns_together(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "box").mkdir()
    (tmp_path / "box" / "a").write_bytes(b"granite")
    files = OneConnection(tmp_path)
    folder = serve(DirFileSystem("box", files))
    views = [f"{serve(files)}box/a", f"{serve(files)}box/a", f"{folder}a"]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(host.read_range, views * 16, [0] * 48, [9] * 48))
    assert found == [b"granite"] * 48


def test_what_nobody_closed_is_discarded_before_the_connection_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, by the end of the program: an answer to what is asked later would never come."""
    given_up: list[str] = []
    files = OneConnection(tmp_path)
    opened = files._open("a", "wb")
    monkeypatch.setattr(files, "open", lambda *_, **__: Draft(opened, given_up))
    upload = from_fsspec.FsspecStore(files).write("a")
    upload.append(memoryview(b"granite"))
    from_fsspec._give_up_what_is_open()
    assert given_up == ["a"]
    upload.abandon()
    assert given_up == ["a"]


class Draft:
    """A file that shows when it is committed."""

    def __init__(self, file: Any, given_up: list[str]) -> None:
        self.write, self.close = file.write, file.close
        self.discard = lambda: given_up.append("a")
