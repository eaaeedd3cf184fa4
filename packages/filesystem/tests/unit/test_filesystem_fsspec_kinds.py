"""Filesystems of fsspec's whose own ways lose files, mix bytes up, or write nothing at all.

S2-filesystems.
"""

from __future__ import annotations

import io
import os
import tarfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fsspec import AbstractFileSystem
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.tar import TarFileSystem
from own_memory import OwnCoroutines, OwnMemory

from drystone_base.core.errors import HostError
from drystone_base.host import filesystem as host
from drystone_filesystem import from_fsspec, gfile

Serve = Callable[[Any], str]


GENERAL: dict[str, Callable[[], AbstractFileSystem]] = {
    "memory": OwnMemory,
    "a folder of it": lambda: DirFileSystem("/below", OwnMemory()),
    "asynchronous": lambda: OwnCoroutines(OwnMemory(), asynchronous=False),
}


@pytest.fixture(params=GENERAL)
def box(request: pytest.FixtureRequest, serve: Serve) -> str:
    """A folder of a filesystem that moves files in fsspec's general way: by patterns."""
    path = f"{serve(GENERAL[request.param]())}box"
    gfile.makedirs(path)
    return path


def content(path: str) -> bytes:
    return bytes(gfile.GFile(path, "rb").read())


def test_paths_in_a_folder_of_a_filesystem_have_single_slashes(serve: Serve) -> None:
    """To an object store two of them are part of another name."""
    memory = OwnMemory()
    root = serve(DirFileSystem("/below", memory))
    gfile.makedirs(f"{root}box")
    host.write_bytes(f"{root}box/a", b"granite")
    assert list(memory.store) == ["/below/box/a"]
    assert gfile.listdir(root) == ["box"]
    assert gfile.listdir(f"{root}box") == ["a"]


@pytest.mark.parametrize("name", ["a[1]", "a?", "a*", "[!b]1"])
def test_a_name_with_signs_of_patterns_is_renamed_alone(box: str, name: str) -> None:
    host.write_bytes(f"{box}/a1", b"granite")
    host.write_bytes(f"{box}/{name}", b"slate")
    gfile.rename(f"{box}/{name}", f"{box}/b")
    assert sorted(gfile.listdir(box)) == ["a1", "b"]
    assert (content(f"{box}/a1"), content(f"{box}/b")) == (b"granite", b"slate")


def test_an_empty_folder_is_not_lost_by_a_rename(box: str) -> None:
    gfile.makedirs(f"{box}/empty")
    left = []
    try:
        gfile.rename(f"{box}/empty", f"{box}/other")
    except HostError as error:  # a filesystem whose rmdir does nothing
        left = ["empty"] if "did not remove the directory" in str(error) else [str(error)]
    assert gfile.listdir(box) == [*left, "other"]


def test_a_file_takes_no_place_in_a_folder_of_its_new_name(box: str) -> None:
    gfile.makedirs(f"{box}/folder")
    host.write_bytes(f"{box}/a", b"granite")
    with pytest.raises(HostError) as caught:
        gfile.rename(f"{box}/a", f"{box}/folder", overwrite=True)
    assert caught.value.status == "FAILED_PRECONDITION"
    assert (gfile.listdir(f"{box}/folder"), content(f"{box}/a")) == ([], b"granite")


def test_local_files_take_no_place_in_a_folder_either(serve: Serve, tmp_path: Path) -> None:
    box = serve(DirFileSystem(str(tmp_path), LocalFileSystem())) + "box"
    gfile.makedirs(f"{box}/folder")
    host.write_bytes(f"{box}/a", b"granite")
    with pytest.raises(HostError):
        host.write_bytes(f"{box}/folder", b"slate")
    with pytest.raises(HostError):
        gfile.rename(f"{box}/a", f"{box}/folder", overwrite=True)
    assert os.listdir(tmp_path / "box" / "folder") == []
    assert content(f"{box}/a") == b"granite"


def test_what_opens_no_files_is_written_whole(serve: Serve) -> None:
    """fsspec opens what drops each byte for a filesystem that opens none."""
    memory = OwnMemory()
    root = serve(OwnCoroutines(memory, asynchronous=False))
    with gfile.GFile(f"{root}a", "wb") as file:
        file.write(b"gran")
        file.write(b"ite")
    assert memory.cat_file("/a") == b"granite"
    with pytest.raises(HostError) as caught, gfile.GFile(f"{root}a", "ab") as file:
        file.write(b" and slate")
    assert caught.value.status == "UNIMPLEMENTED"
    assert memory.cat_file("/a") == b"granite"


class Listing(AbstractFileSystem):  # type: ignore[misc]
    """Can be looked at only."""

    protocol = "listing"
    cachable = False

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        del path, detail
        return []


def test_what_cannot_be_written_says_so(serve: Serve) -> None:
    with pytest.raises(HostError) as caught:
        host.write_bytes(f"{serve(Listing())}a", b"granite")
    assert caught.value.status == "UNIMPLEMENTED"


def test_what_needs_an_event_loop_of_the_callers_is_refused(serve: Serve) -> None:
    root = serve(OwnCoroutines(OwnMemory(), asynchronous=True))
    with pytest.raises(HostError, match="without asynchronous=True"):
        gfile.listdir(root)


class Slow(io.FileIO):
    """A file whose place may be moved before its bytes come."""

    def read(self, size: int | None = -1, /) -> bytes:
        time.sleep(0.0005)
        return super().read(-1 if size is None else size) or b""


def test_members_of_an_archive_are_not_mixed_up(serve: Serve, tmp_path: Path) -> None:
    """They are read out of one open file, which has one place."""
    size = 10_000
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for k in range(4):
            member = tarfile.TarInfo(f"m{k}")
            member.size = size
            archive.addfile(member, io.BytesIO(bytes([k]) * size))
    with Slow(tmp_path / "a.tar") as file:
        root = serve(TarFileSystem(file))
        names = [f"{root}m{k}" for k in range(4)] * 4
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda name: host.read_range(name, 0, size), names))
    assert found == [bytes([k % 4]) * size for k in range(16)]


class Broken:
    """A file that cannot be closed."""

    def __init__(self) -> None:
        self.discarded = 0

    def close(self) -> None:
        raise OSError("the disk is full")

    def discard(self) -> None:
        self.discarded += 1


def test_what_cannot_be_closed_is_discarded() -> None:
    file, store = Broken(), from_fsspec.FsspecStore(OwnMemory())
    upload = from_fsspec._FsspecUpload(file, store.turn)
    with pytest.raises(OSError, match="disk is full"):
        upload.close()
    assert file.discarded == 1


def test_times_of_webhdfs_are_milliseconds() -> None:
    second = 1_700_000_000
    assert from_fsspec._time({"modificationTime": second * 1000}) == second * 10**9
    assert from_fsspec._time({"mtime": float(second)}) == second * 10**9
