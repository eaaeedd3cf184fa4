"""gfile: the functions that people know, on local paths and on schemes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem

from drystone_base.core.errors import BadRequest, HostError
from drystone_base.files.uris import as_path
from drystone_filesystem import gfile


@pytest.fixture(params=["local", "scheme"])
def place(request: pytest.FixtureRequest, tmp_path: Path, root: str) -> str:
    """A directory that exists, of each kind."""
    where = str(tmp_path) if request.param == "local" else f"{root}/work"
    gfile.makedirs(where)
    return where


def test_text_and_bytes_come_back(place: str) -> None:
    with gfile.GFile(f"{place}/a.txt", "w") as file:
        file.write("größe\n")
        file.write("two\n")
    with gfile.open(f"{place}/a.txt") as file:
        assert file.readline() == "größe\n"
        assert list(file) == ["two\n"]
    with gfile.GFile(f"{place}/a.txt", "rb") as file:
        assert file.size() == 12
        assert file.read(3) == b"gr" + b"\xc3"
        assert file.tell() == 3
        file.seek(-4, 2)
        assert file.read() == b"two\n"
        file.seek(0)
        assert file.readlines() == ["größe\n".encode(), b"two\n"]


def test_appending(place: str) -> None:
    for part in ("one", " two"):
        with gfile.GFile(f"{place}/a", "a") as file:
            file.write(part)
    assert gfile.GFile(f"{place}/a").read() == "one two"


def test_a_block_left_by_an_exception_shows_no_file_where_the_store_can(
    serve: Callable[[object], str], tmp_path: Path
) -> None:
    root = serve(DirFileSystem(str(tmp_path), LocalFileSystem()))
    with gfile.GFile(f"{root}whole", "wb") as file:
        file.write(b"x" * (1 << 20))
        assert not gfile.exists(f"{root}whole")

    def half() -> None:
        with gfile.GFile(f"{root}a", "wb") as file:
            file.write(b"x" * (1 << 20))
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        half()
    assert gfile.listdir(root) == ["whole"]


def test_directories_and_names(place: str) -> None:
    gfile.makedirs(f"{place}/one/two")
    gfile.mkdir(f"{place}/empty")
    for name in ("one/a.txt", "one/two/b.txt", "c.bin"):
        gfile.GFile(f"{place}/{name}", "w").close()
    assert gfile.listdir(place) == ["c.bin", "empty", "one"]
    assert gfile.isdir(f"{place}/one")
    assert not gfile.isdir(f"{place}/c.bin")
    assert gfile.glob([f"{place}/*.bin", f"{place}/one/*.txt"]) == [
        f"{place}/c.bin",
        f"{place}/one/a.txt",
    ]
    assert list(gfile.walk(place)) == [
        (place, ["empty", "one"], ["c.bin"]),
        (f"{place}/empty", [], []),
        (f"{place}/one", ["two"], ["a.txt"]),
        (f"{place}/one/two", [], ["b.txt"]),
    ]
    assert [top for top, _, _ in gfile.walk(place, topdown=False)][-1] == place
    assert gfile.stat(f"{place}/one").is_directory
    gfile.rmtree(f"{place}/one")
    assert not gfile.exists(f"{place}/one")


def test_copy_and_rename_replace_only_where_told(place: str) -> None:
    for name in ("a", "b"):
        with gfile.GFile(f"{place}/{name}", "w") as file:
            file.write(name)
    for move in (gfile.copy, gfile.rename):
        with pytest.raises(HostError, match="needed: a path that is free, or overwrite=True") as at:
            move(f"{place}/a", f"{place}/b")
        assert at.value.status == "ALREADY_EXISTS"
    gfile.copy(f"{place}/a", f"{place}/b", overwrite=True)
    assert gfile.GFile(f"{place}/b").read() == "a"
    gfile.rename(f"{place}/a", f"{place}/c")
    assert gfile.listdir(place) == ["b", "c"]
    gfile.remove(f"{place}/b")
    assert gfile.listdir(place) == ["c"]


def test_a_file_onto_itself_stays(place: str) -> None:
    with gfile.GFile(f"{place}/a", "w") as file:
        file.write("kept")
    gfile.rename(f"{place}/a", f"{place}/a", overwrite=True)
    gfile.copy(f"{place}/a", f"{place}/a", overwrite=True)
    assert gfile.GFile(f"{place}/a").read() == "kept"


def test_between_schemes(tmp_path: Path, root: str) -> None:
    (tmp_path / "a").write_bytes(b"bytes")
    gfile.makedirs(root)
    gfile.copy(tmp_path / "a", f"{root}/a")
    gfile.rename(f"{root}/a", tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == b"bytes"
    assert gfile.listdir(root) == []


def test_what_is_not_there(place: str) -> None:
    for call in (gfile.GFile, gfile.listdir, gfile.remove, gfile.stat, gfile.rmtree):
        with pytest.raises(HostError) as caught:
            call(f"{place}/none")
        assert caught.value.status == "NOT_FOUND"
    errors: list[HostError] = []
    assert list(gfile.walk(f"{place}/none", onerror=errors.append)) == []
    assert errors[0].status == "NOT_FOUND"


def test_modes_that_files_here_do_not_have(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="needed: r, w or a, or one of them with b") as caught:
        gfile.GFile(tmp_path / "a", "r+")
    assert caught.value.code == "bad-file-mode"


@pytest.mark.parametrize(
    ("parts", "joined"),
    [
        (("a", "b", "c"), "a/b/c"),
        (("s3://bucket", "a/b"), "s3://bucket/a/b"),
        (("s3://bucket/", "a", "b"), "s3://bucket/a/b"),
        (("/local", "gs://other/x", "y"), "gs://other/x/y"),
        (("a", "/b"), "/b"),
    ],
)
def test_join(parts: tuple[str, ...], joined: str) -> None:
    assert gfile.join(*parts) == joined


def test_patterns_are_text(place: str) -> None:
    for given in ([1], iter([1]), {2: "x"}):
        with pytest.raises(BadRequest, match="bad-argument"):
            gfile.glob(given)  # type: ignore[arg-type]


@pytest.mark.parametrize("path", ["simplecache::http://127.0.0.1:1/a", "zip::dir::file:///tmp/a"])
def test_chained_urls_are_refused_by_name(path: str) -> None:
    for call in (gfile.GFile, gfile.exists, gfile.listdir, as_path):
        with pytest.raises(HostError, match="chained URL") as caught:
            call(path)
        assert caught.value.code == "no-filesystem"
    assert gfile.exists("no::where") is False  # a local name
