"""File systems: every scheme that the library registers, through the host's interface."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from drystone_base.core.errors import HostError
from drystone_base.host import filesystem as fs
from drystone_conformance.live import grown
from drystone_conformance.plugin import needs
from drystone_conformance.subject import Subject

pytestmark = pytest.mark.module("filesystem")


def test_the_scheme_is_registered_by_this_library(subject: Subject, scheme: str) -> None:
    if subject.schemes:
        fs.exists(subject.root(scheme))  # a package serves it from its first use on
    found = [f for f in fs.filesystems() if f["scheme"] == scheme]
    assert len(found) == 1
    assert subject.schemes or os.path.realpath(subject.path) == found[0]["library"]


@needs("filesystem.write")
@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097, 1 << 20])
def test_bytes_come_back_as_they_were_written(folder: str, size: int) -> None:
    data = os.urandom(size)
    fs.write_bytes(f"{folder}/file", data)
    assert fs.read_bytes(f"{folder}/file") == data
    assert fs.file_size(f"{folder}/file") == size


@needs("filesystem.write")
def test_ranges_and_the_end_of_the_file(folder: str) -> None:
    """A read past the end gives what is there and OUT_OF_RANGE, which is no error to the reader."""
    fs.write_bytes(f"{folder}/file", bytes(range(100)))
    assert fs.read_range(f"{folder}/file", 10, 5) == bytes(range(10, 15))
    assert fs.read_range(f"{folder}/file", 95, 50) == bytes(range(95, 100))
    assert fs.read_range(f"{folder}/file", 100, 10) == b""
    assert fs.read_range(f"{folder}/file", 0, 0) == b""


@needs("filesystem.write")
def test_writing_again_replaces(folder: str) -> None:
    fs.write_bytes(f"{folder}/file", b"a longer text")
    fs.write_bytes(f"{folder}/file", b"short")
    assert fs.read_bytes(f"{folder}/file") == b"short"


@needs("filesystem.write")
@needs("filesystem.append")
def test_appending_keeps_what_was_there(folder: str) -> None:
    fs.append_bytes(f"{folder}/file", b"one")
    fs.append_bytes(f"{folder}/file", b" two")
    assert fs.read_bytes(f"{folder}/file") == b"one two"


@needs("filesystem.write")
@needs("filesystem.list")
def test_what_is_there_is_listed(folder: str) -> None:
    names = [f"file-{k:02d}" for k in range(20)]
    for name in names:
        fs.write_bytes(f"{folder}/{name}", name.encode())
    assert fs.list_directory(folder) == names
    assert fs.exists(f"{folder}/file-07")
    assert not fs.exists(f"{folder}/file-99")
    assert fs.stat(f"{folder}/file-03").length == 7
    assert not fs.stat(f"{folder}/file-03").is_directory


@needs("filesystem.write")
@needs("filesystem.list")
def test_patterns_match_as_in_a_shell(folder: str) -> None:
    for name in ("a1", "a2", "b1"):
        fs.write_bytes(f"{folder}/{name}", b"x")
    assert fs.glob(f"{folder}/a*") == [f"{folder}/a1", f"{folder}/a2"]
    assert fs.glob(f"{folder}/?1") == [f"{folder}/a1", f"{folder}/b1"]
    assert fs.glob(f"{folder}/[b-c]*") == [f"{folder}/b1"]
    assert fs.glob(f"{folder}/none*") == []


@needs("filesystem.write")
@needs("filesystem.directories")
def test_directories(folder: str) -> None:
    fs.create_directory(f"{folder}/one/two", parents=True)
    fs.write_bytes(f"{folder}/one/two/file", b"x")
    assert fs.is_directory(f"{folder}/one")
    assert not fs.is_directory(f"{folder}/one/two/file")
    assert fs.list_directory(f"{folder}/one") == ["two"]


@needs("filesystem.write")
@needs("filesystem.delete")
def test_deleting(folder: str) -> None:
    fs.write_bytes(f"{folder}/file", b"x")
    fs.delete(f"{folder}/file")
    assert not fs.exists(f"{folder}/file")


@needs("filesystem.write")
@needs("filesystem.rename")
def test_renaming_moves_and_replaces(folder: str) -> None:
    fs.write_bytes(f"{folder}/from", b"new")
    fs.write_bytes(f"{folder}/to", b"old")
    fs.rename(f"{folder}/from", f"{folder}/to")
    assert fs.read_bytes(f"{folder}/to") == b"new"
    assert not fs.exists(f"{folder}/from")


@needs("filesystem.write")
@needs("filesystem.unicode-names")
def test_names_of_any_script(folder: str) -> None:
    name = "ünï cødé 文件 🗿"
    fs.write_bytes(f"{folder}/{name}", b"x")
    assert fs.list_directory(folder) == [name]


@pytest.mark.parametrize("call", [fs.read_bytes, fs.file_size, fs.stat], ids=lambda f: f.__name__)
def test_what_is_not_there_is_not_found(folder: str, call: object) -> None:
    assert callable(call)
    with pytest.raises(HostError) as caught:
        call(f"{folder}/no-such-file")
    assert caught.value.status == "NOT_FOUND"
    assert caught.value.found


@needs("filesystem.delete")
def test_deleting_nothing_is_not_found(folder: str) -> None:
    with pytest.raises(HostError) as caught:
        fs.delete(f"{folder}/no-such-file")
    assert caught.value.status == "NOT_FOUND"


@needs("filesystem.write")
@needs("filesystem.concurrent")
def test_several_threads(folder: str) -> None:
    def round_trip(k: int) -> bool:
        data = bytes([k]) * (1000 + k)
        fs.write_bytes(f"{folder}/thread-{k}", data)
        return fs.read_bytes(f"{folder}/thread-{k}") == data

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(round_trip, range(16)))


@needs("filesystem.write")
def test_nothing_is_left_behind(folder: str) -> None:
    def use() -> None:
        fs.write_bytes(f"{folder}/file", b"x" * 100)
        fs.read_bytes(f"{folder}/file")
        fs.list_directory(folder)

    assert grown(use) == {}
