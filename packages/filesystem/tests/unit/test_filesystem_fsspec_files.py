"""Files and filesystems as fsspec's users expect them: pickled, moved, in transactions, failing.

S2-filesystems.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from drystone_base.core.errors import HostError
from drystone_filesystem import DrystoneFileSystem, Stat, Store, Upload, gfile, offer_to_fsspec
from drystone_filesystem.from_fsspec import MemoryStore


@pytest.fixture
def files(root: str) -> DrystoneFileSystem:
    """With an empty directory ``box/inner``."""
    gfile.makedirs(f"{root}/inner")
    return DrystoneFileSystem(root.partition("://")[0], skip_instance_cache=True)


_OTHER = """
import pickle, sys
from pathlib import Path
from drystone_filesystem import register
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem

register("pickled", DirFileSystem(sys.argv[1], LocalFileSystem()))
files, opened = pickle.loads(Path(sys.argv[1], "box", "pickled").read_bytes())
assert files.cat("box/a") == b"text" and type(files).scheme == "pickled"
with opened as file:
    assert file.read() == b"text"
"""


def test_another_process_has_it_pickled(tmp_path: Any) -> None:
    """Also of a class that no module has, as Dask and others send it to their workers."""
    made = offer_to_fsspec("pickled")
    assert offer_to_fsspec("pickled") is made
    (tmp_path / "box").mkdir()
    (tmp_path / "box" / "a").write_bytes(b"text")
    sent = pickle.dumps((made(), fsspec.open("pickled://box/a")))
    (tmp_path / "box" / "pickled").write_bytes(sent)
    subprocess.run([sys.executable, "-c", _OTHER, str(tmp_path)], timeout=60, check=True)
    plain = DrystoneFileSystem("pickled")
    assert pickle.loads(pickle.dumps(plain))._scheme == "pickled"


def test_files_have_a_size(files: DrystoneFileSystem) -> None:
    files.pipe_file("box/inner/a", b"one\ntwo\nthree\n")
    with files.open("box/inner/a") as file:
        assert file.size == 14
        assert file.seek(-6, os.SEEK_END) == 8
        assert file.read() == b"three\n"
    assert files.tail("box/inner/a", 6) == b"three\n"
    assert files.read_block("box/inner/a", 1, 5, b"\n") == b"two\n"


@pytest.mark.parametrize("mode", ["w", "wb", "ab"])
def test_its_transactions(files: DrystoneFileSystem, mode: str) -> None:
    text: Any = b"new" if "b" in mode else "new"
    files.pipe_file("box/inner/a", b"old")
    with files.transaction:
        with files.open("box/inner/a", mode) as file:
            file.write(text)
        assert files.cat("box/inner/a") == b"old"
    assert files.cat("box/inner/a") == (b"oldnew" if mode == "ab" else b"new")
    with pytest.raises(ZeroDivisionError), files.transaction:  # noqa: PT012
        with files.open("box/inner/a", mode) as file:
            file.write(text)
        raise ZeroDivisionError
    assert files.cat("box/inner/a") == (b"oldnew" if mode == "ab" else b"new")


def test_what_an_exception_leaves_shows_nothing(files: DrystoneFileSystem) -> None:
    with pytest.raises(ZeroDivisionError), files.open("box/inner/a", "wb") as file:  # noqa: PT012
        file.write(b"half")
        raise ZeroDivisionError
    assert not files.exists("box/inner/a")


@pytest.mark.parametrize("target", ["box/inner/deep", "box/inner/deep/"])
def test_moved_into_a_directory(files: DrystoneFileSystem, target: str) -> None:
    files.mkdir("box/inner/deep")
    files.pipe({"box/inner/a": b"a", "box/inner/b1": b"b", "box/inner/b2": b"b"})
    files.mv("box/inner/a", target)
    assert files.find("box") == ["box/inner/b1", "box/inner/b2", "box/inner/deep/a"]
    files.mv("box/inner/deep/a", "box/inner/c")
    assert files.cat("box/inner/c") == b"a"


def test_patterns_are_removed(files: DrystoneFileSystem) -> None:
    files.pipe({f"box/inner/{name}": b"" for name in ("a1", "a2", "b1")})
    files.rm("box/inner/a*")
    assert files.find("box") == ["box/inner/b1"]
    with pytest.raises(FileNotFoundError):
        files.rm("box/inner/a*")


class Counting(MemoryStore):
    """A store that counts what it is asked about files."""

    asked = 0

    def stat(self, path: str) -> Stat:
        """What it is."""
        self.asked += 1
        return super().stat(path)


def test_an_open_file_is_asked_about_once(serve: Callable[[object], str]) -> None:
    store = Counting(MemoryFileSystem())
    root = f"{serve(store)}counted"
    gfile.makedirs(root)
    files = DrystoneFileSystem(root.partition("://")[0], skip_instance_cache=True)
    files.pipe_file("counted/a", b"text")
    store.asked = 0
    with files.open("counted/a") as file:
        assert file.read(2) == b"te"
        assert store.asked == 1
        assert file.size == file.size == 4
        assert store.asked == 2
    gfile.remove(f"{root}/a")


class Going(MemoryStore):
    """A store from which somebody deletes what was listed."""

    def children(self, path: str) -> list[str]:
        """With one that is gone."""
        return [*super().children(path), "gone"]


def test_what_goes_while_it_is_listed_is_left_out(serve: Callable[[object], str]) -> None:
    root = f"{serve(Going(MemoryFileSystem()))}listed"
    gfile.makedirs(root)
    files = DrystoneFileSystem(root.partition("://")[0], skip_instance_cache=True)
    files.pipe_file("listed/a", b"a")
    assert [one["name"] for one in files.ls("listed")] == ["listed/a"]
    gfile.remove(f"{root}/a")


def test_few_threads_ask(files: DrystoneFileSystem) -> None:
    before = threading.active_count()
    for k in range(50):
        files.pipe({"box/inner/a": b"a", "box/inner/b": b"b"})
        files.pipe("box/inner/a", bytes(k))
    assert threading.active_count() <= before + 8


class Refusing(Store):
    """A file that nobody may read or write."""

    def stat(self, path: str) -> Stat:
        """It is long."""
        del path
        return Stat(1 << 20)

    def children(self, path: str) -> list[str]:
        """None."""
        del path
        return []

    def read_into(self, path: str, offset: int, buffer: memoryview, version: str = "") -> int:
        """Refused."""
        del offset, buffer, version
        raise PermissionError(path)

    def write(self, path: str) -> Upload:
        """Refused in the end."""

        class Refused(Upload):
            def append(self, data: memoryview) -> None:
                """Taken."""

            def close(self) -> None:
                raise PermissionError(path)

            def abandon(self) -> None:
                """Nothing is left."""

        return Refused()


def test_open_files_fail_as_files_do(serve: Callable[[object], str]) -> None:
    scheme = serve(Refusing()).partition("://")[0]
    files = DrystoneFileSystem(scheme, skip_instance_cache=True)
    with files.open("box/a") as file:
        for read in (lambda: file.read(10), file.read):
            with pytest.raises(PermissionError) as caught:
                read()
            assert isinstance(caught.value.__cause__, HostError)
    written = files.open("box/a", "wb")
    written.write(b"a")
    with pytest.raises(PermissionError):
        written.close()
