"""Directories are moved also where a store moves files only; flushing, and appending refused."""

from __future__ import annotations

import itertools
import uuid
from pathlib import Path

import pytest

from drystone_base.core.errors import HostError
from drystone_filesystem import Stat, Store, Upload, gfile, register


class Files(Store):
    """Files in memory; ``fails`` at the copy of that number."""

    def __init__(self, *, implicit: bool, fails: int = -1) -> None:
        self.implicit_directories = implicit  # type: ignore[misc]
        self.files: dict[str, bytes] = {}
        self.directories = {"box"}
        self.left = fails

    def stat(self, path: str) -> Stat:
        """A file, else a directory."""
        if path in self.files:
            return Stat(len(self.files[path]))
        if path in self.directories or any(name.startswith(f"{path}/") for name in self.files):
            return Stat(0, is_directory=True)
        raise FileNotFoundError(path)

    def children(self, path: str) -> list[str]:
        """The next parts."""
        below = [
            n[len(path) + 1 :] for n in (*self.files, *self.directories) if n.startswith(f"{path}/")
        ]
        return sorted({name.partition("/")[0] for name in below})

    def read_into(self, path: str, offset: int, buffer: memoryview, version: str = "") -> int:
        """Their bytes."""
        del version
        part = self.files[path][offset : offset + len(buffer)]
        buffer[: len(part)] = part
        return len(part)

    def write(self, path: str) -> Upload:
        """Kept until it is closed."""
        store, kept = self, bytearray()

        class Kept(Upload):
            def append(self, data: memoryview) -> None:
                kept.extend(data)

            def close(self) -> None:
                store.files[path] = bytes(kept)

            def abandon(self) -> None:
                kept.clear()

        return Kept()

    def make_directory(self, path: str) -> None:
        """One."""
        if path in self.directories:
            raise FileExistsError(path)
        self.directories.add(path)

    def remove_directory(self, path: str) -> None:
        """One."""
        if self.children(path):
            raise OSError(39, "not empty")
        self.directories.remove(path)

    def delete(self, path: str) -> None:
        """One."""
        del self.files[path]

    def copy(self, source: str, target: str) -> None:
        """One, unless it is the one to fail at."""
        if self.left == 0:
            raise PermissionError("no more")
        self.left -= 1
        self.files[target] = self.files[source]


@pytest.fixture
def scheme() -> str:
    """One that nothing else has."""
    return f"t{uuid.uuid4().hex[:8]}"


TREE = {"box/a/x": b"1", "box/a/b/y": b"2", "box/a/b/c/z": b"3", "box/other": b"4"}


def served(scheme: str, *, implicit: bool, fails: int = -1) -> Files:
    store = Files(implicit=implicit, fails=fails)
    register(scheme, store)
    for name, data in TREE.items():
        if not implicit:
            gfile.makedirs(f"{scheme}://{name.rpartition('/')[0]}")
        store.files[name] = data
    return store


@pytest.mark.parametrize("implicit", [True, False])
def test_a_directory_is_moved_with_all_in_it(scheme: str, implicit: bool) -> None:
    store = served(scheme, implicit=implicit)
    gfile.rename(f"{scheme}://box/a", f"{scheme}://box/new")
    moved = {name.replace("box/a/", "box/new/"): data for name, data in TREE.items()}
    assert store.files == moved
    assert not gfile.exists(f"{scheme}://box/a")


@pytest.mark.parametrize(("implicit", "fails"), [*itertools.product([True, False], [0, 1, 2])])
def test_a_failure_on_the_way_loses_nothing(scheme: str, implicit: bool, fails: int) -> None:
    store = served(scheme, implicit=implicit, fails=fails)
    with pytest.raises(HostError, match="no more"):
        gfile.rename(f"{scheme}://box/a", f"{scheme}://box/new")
    assert store.files == TREE
    assert not gfile.exists(f"{scheme}://box/new")


@pytest.mark.parametrize(
    ("target", "text"),
    [("box/a/b/in", "into itself"), ("box/other", "is a file"), ("box/full", "not empty")],
)
def test_directories_are_moved_over_nothing(scheme: str, target: str, text: str) -> None:
    store = served(scheme, implicit=True)
    store.files["box/full/x"] = b""
    before = dict(store.files)
    with pytest.raises(HostError, match=text):
        gfile.rename(f"{scheme}://box/a", f"{scheme}://{target}", overwrite=True)
    assert store.files == before


def test_appending_where_a_store_cannot_is_refused_by_name(scheme: str) -> None:
    served(scheme, implicit=True)
    with pytest.raises(HostError) as caught:
        gfile.GFile(f"{scheme}://box/other", "a")
    assert caught.value.status == "UNIMPLEMENTED"
    assert f"{scheme}://box/other" in str(caught.value)
    assert "cannot be appended to" in str(caught.value)


def test_what_is_flushed_is_seen_by_others(tmp_path: Path) -> None:
    for base in (str(tmp_path), f"posix://{tmp_path}/p", "ram://flushed"):
        gfile.makedirs(base)
        for text, mode in (("aaa", "w"), ("aaabbb", "a")):
            with gfile.GFile(f"{base}/x", mode) as file:
                file.write(text[-3:])
                file.flush()
                assert gfile.GFile(f"{base}/x").read() == text, (base, mode)


@pytest.mark.parametrize("mode", ["w", "wb"])
def test_flushing_where_nothing_shows_before_the_end_does_nothing(scheme: str, mode: str) -> None:
    store = served(scheme, implicit=True)
    with gfile.GFile(f"{scheme}://box/new", mode) as file:
        file.write(b"abc" if mode == "wb" else "abc")
        file.flush()
        assert "box/new" not in store.files
    assert store.files["box/new"] == b"abc"
