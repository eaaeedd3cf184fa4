"""Schemes of drystone for those who speak fsspec."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest

from drystone_base.host import filesystem as host
from drystone_filesystem import DrystoneFileSystem, gfile, offer_to_fsspec


@pytest.fixture
def files(root: str) -> DrystoneFileSystem:
    gfile.makedirs(f"{root}/inner")
    return DrystoneFileSystem(root.partition("://")[0], skip_instance_cache=True)


def test_reading_and_writing(files: DrystoneFileSystem) -> None:
    with files.open("box/inner/a", "wb") as file:
        file.write(b"0123456789")
    assert files.cat("box/inner/a") == b"0123456789"
    assert files.cat_file("box/inner/a", start=2, end=-3) == b"23456"
    with files.open("box/inner/a") as file:
        file.seek(7)
        assert file.read() == b"789"
    with files.open("box/inner/a", "r") as text:
        assert text.read(4) == "0123"
    files.pipe({"box/inner/b": b"b", "box/inner/c": b"c"})
    assert files.cat(["box/inner/b", "box/inner/c"]) == {"box/inner/b": b"b", "box/inner/c": b"c"}


def test_names(files: DrystoneFileSystem) -> None:
    files.makedirs("box/inner/one/two")
    files.pipe_file("box/inner/one/a.txt", b"abc")
    assert files.ls("box/inner/one", detail=False) == ["box/inner/one/a.txt", "box/inner/one/two"]
    assert files.info("box/inner/one/a.txt")["size"] == 3
    assert files.isdir("box/inner/one")
    assert files.find("box/inner") == ["box/inner/one/a.txt"]
    assert files.glob("box/inner/*/*.txt") == ["box/inner/one/a.txt"]
    assert files.modified("box/inner/one/a.txt").year >= 1970
    files.mv("box/inner/one/a.txt", "box/inner/b.txt")
    files.cp("box/inner/b.txt", "box/inner/c.txt")
    files.rm("box/inner/one", recursive=True)
    assert files.ls("box/inner", detail=False) == ["box/inner/b.txt", "box/inner/c.txt"]


def test_a_directory_is_moved_by_its_name_alone(files: DrystoneFileSystem) -> None:
    """What its name means as a pattern stays, and nothing is deleted that was not copied."""
    files.makedirs("box/inner/d1")
    files.makedirs("box/inner/d[1]/inner/empty")
    files.pipe({"box/inner/d1/a": b"other", "box/inner/d[1]/inner/b?": b"own"})
    with pytest.raises(OSError, match="inside of itself"):
        files.mv("box/inner/d[1]", "box/inner/d[1]/inner/deeper", recursive=True)
    files.mv("box/inner/d[1]", "box/inner/d[1]", recursive=True)
    files.mv("box/inner/d[1]", "box/inner/moved", recursive=True)
    assert files.ls("box/inner", detail=False) == ["box/inner/d1", "box/inner/moved"]
    assert files.find("box/inner") == ["box/inner/d1/a", "box/inner/moved/inner/b?"]
    assert files.isdir("box/inner/moved/inner/empty")
    files.mv("box/inner/moved", "box/inner/d1", recursive=True)
    assert files.cat_file("box/inner/d1/moved/inner/b?") == b"own"
    with pytest.raises(IsADirectoryError):
        files.mv("box/inner/d1", "box/inner/e")
    assert files.isdir("box/inner/d1")


def test_failures_are_those_of_files(files: DrystoneFileSystem) -> None:
    with pytest.raises(FileNotFoundError, match="box/none") as caught:
        files.info("box/none")
    assert type(caught.value.__cause__).__name__ == "HostError"
    with pytest.raises(FileNotFoundError):
        files.cat("box/none")
    with pytest.raises(FileExistsError):
        files.mkdir("box/inner")
    assert not files.exists("box/none")


@pytest.mark.parametrize("value", [3, "text", object(), None])
def test_what_is_written_is_bytes(files: DrystoneFileSystem, value: Any) -> None:
    for call in (files.pipe_file, files.pipe):
        with pytest.raises(TypeError, match="bytes-like"):
            call("box/a", value)
    files.pipe_file("box/a", memoryview(np.arange(3, dtype=np.int16)))
    assert files.cat_file("box/a") == np.arange(3, dtype=np.int16).tobytes()


def test_what_is_read_has_paths(files: DrystoneFileSystem) -> None:
    for given in (range(10**12), 3, None, {"box": 1}):
        with pytest.raises(TypeError, match="a path, or a list"):
            files.cat(given)


def test_uploads_and_downloads(files: DrystoneFileSystem, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "a").write_bytes(b"a" * 100_000)
    files.put(f"{tmp_path}/here", "box/inner/there", recursive=True)
    files.get("box/inner/there/a", f"{tmp_path}/back")
    assert (tmp_path / "back").read_bytes() == b"a" * 100_000


def test_by_its_scheme_from_anywhere(root: str) -> None:
    scheme = root.partition("://")[0]
    offer_to_fsspec(scheme)
    gfile.makedirs(root)
    with fsspec.open(f"{root}/a", "w") as file:
        file.write("text")
    assert host.read_bytes(f"{root}/a") == b"text"
    with fsspec.open(f"{root}/a", "r") as file:
        assert file.read() == "text"


def test_several_files_at_once(files: DrystoneFileSystem) -> None:
    data = {f"box/inner/{k}": bytes([k]) * k for k in range(20)}
    files.pipe(data)
    assert files.cat(list(data)) == data
    assert files.cat("box/inner/3") == data["box/inner/3"]
    assert files.cat("box/inner/1*") == {k: v for k, v in data.items() if "inner/1" in k}
    both = ["box/inner/3", "box/inner/none"]
    with pytest.raises(FileNotFoundError):
        files.cat(both)
    assert files.cat(both, on_error="omit") == {"box/inner/3": data["box/inner/3"]}
    assert isinstance(files.cat(both, on_error="return")["box/inner/none"], FileNotFoundError)
