"""Schemes of drystone for those who speak fsspec."""

from __future__ import annotations

from pathlib import Path

import fsspec
import pytest

from drystone_base.host import filesystem as host
from drystone_filesystem import DrystoneFileSystem, gfile, offer_to_fsspec


@pytest.fixture
def files(root: str) -> DrystoneFileSystem:
    gfile.makedirs(f"{root}/work")
    return DrystoneFileSystem(root.partition("://")[0], skip_instance_cache=True)


def test_reading_and_writing(files: DrystoneFileSystem) -> None:
    with files.open("box/work/a", "wb") as file:
        file.write(b"0123456789")
    assert files.cat("box/work/a") == b"0123456789"
    assert files.cat_file("box/work/a", start=2, end=-3) == b"23456"
    with files.open("box/work/a") as file:
        file.seek(7)
        assert file.read() == b"789"
    with files.open("box/work/a", "r") as text:
        assert text.read(4) == "0123"
    files.pipe({"box/work/b": b"b", "box/work/c": b"c"})
    assert files.cat(["box/work/b", "box/work/c"]) == {"box/work/b": b"b", "box/work/c": b"c"}


def test_names(files: DrystoneFileSystem) -> None:
    files.makedirs("box/work/one/two")
    files.pipe_file("box/work/one/a.txt", b"abc")
    assert files.ls("box/work/one", detail=False) == ["box/work/one/a.txt", "box/work/one/two"]
    assert files.info("box/work/one/a.txt")["size"] == 3
    assert files.isdir("box/work/one")
    assert files.find("box/work") == ["box/work/one/a.txt"]
    assert files.glob("box/work/*/*.txt") == ["box/work/one/a.txt"]
    assert files.modified("box/work/one/a.txt").year >= 1970
    files.mv("box/work/one/a.txt", "box/work/b.txt")
    files.cp("box/work/b.txt", "box/work/c.txt")
    files.rm("box/work/one", recursive=True)
    assert files.ls("box/work", detail=False) == ["box/work/b.txt", "box/work/c.txt"]


def test_a_directory_is_moved_by_its_name_alone(files: DrystoneFileSystem) -> None:
    """What its name means as a pattern stays, and nothing is deleted that was not copied."""
    files.makedirs("box/work/d1")
    files.makedirs("box/work/d[1]/inner/empty")
    files.pipe({"box/work/d1/a": b"other", "box/work/d[1]/inner/b?": b"own"})
    with pytest.raises(OSError, match="inside of itself"):
        files.mv("box/work/d[1]", "box/work/d[1]/inner/deeper", recursive=True)
    files.mv("box/work/d[1]", "box/work/d[1]", recursive=True)
    files.mv("box/work/d[1]", "box/work/moved", recursive=True)
    assert files.ls("box/work", detail=False) == ["box/work/d1", "box/work/moved"]
    assert files.find("box/work") == ["box/work/d1/a", "box/work/moved/inner/b?"]
    assert files.isdir("box/work/moved/inner/empty")
    files.mv("box/work/moved", "box/work/d1", recursive=True)
    assert files.cat_file("box/work/d1/moved/inner/b?") == b"own"
    with pytest.raises(IsADirectoryError):
        files.mv("box/work/d1", "box/work/e")
    assert files.isdir("box/work/d1")


def test_failures_are_those_of_files(files: DrystoneFileSystem) -> None:
    with pytest.raises(FileNotFoundError, match="box/none") as caught:
        files.info("box/none")
    assert type(caught.value.__cause__).__name__ == "HostError"
    with pytest.raises(FileNotFoundError):
        files.cat("box/none")
    with pytest.raises(FileExistsError):
        files.mkdir("box/work")
    assert not files.exists("box/none")


def test_uploads_and_downloads(files: DrystoneFileSystem, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "a").write_bytes(b"a" * 100_000)
    files.put(f"{tmp_path}/here", "box/work/there", recursive=True)
    files.get("box/work/there/a", f"{tmp_path}/back")
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
    data = {f"box/work/{k}": bytes([k]) * k for k in range(20)}
    files.pipe(data)
    assert files.cat(list(data)) == data
    assert files.cat("box/work/3") == data["box/work/3"]
    assert files.cat("box/work/1*") == {k: v for k, v in data.items() if "work/1" in k}
    both = ["box/work/3", "box/work/none"]
    with pytest.raises(FileNotFoundError):
        files.cat(both)
    assert files.cat(both, on_error="omit") == {"box/work/3": data["box/work/3"]}
    assert isinstance(files.cat(both, on_error="return")["box/work/none"], FileNotFoundError)
