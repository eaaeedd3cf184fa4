"""Models and checkpoints behind schemes: loaders, writers, ops and the command line of base."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem

import drystone_base as ds
from drystone_base.cli._app import app
from drystone_base.core.dtypes import FLOAT32, STRING
from drystone_base.core.errors import BadModelFile, BadRequest, HostError, KernelError
from drystone_base.files.uris import Ranges, UriPath, as_path, uri_of
from drystone_base.host import filesystem as host
from drystone_filesystem import Stat, Store, gfile

DATA = Path(__file__).resolve().parents[4] / "integration_tests" / "data"
MODEL = DATA / "guesslang/saved_model"


@pytest.fixture
def shop(serve: Callable[[object], str], tmp_path: Path) -> tuple[str, Path]:
    """A scheme whose files are those of a folder, and the folder."""
    (tmp_path / "box").mkdir()
    return f"{serve(DirFileSystem(str(tmp_path), LocalFileSystem()))}box", tmp_path / "box"


def variable_graph() -> ds.Graph:
    """Variable ``v`` of two floats; ``put`` assigns what is fed to ``x``, ``got`` reads it."""
    graph = ds.Graph()
    kind = {"dtype": FLOAT32, "shape": (2,)}
    v = graph.add("VarHandleOp", "v", attrs={**kind, "shared_name": "v"})
    x = graph.add("Placeholder", "x", attrs=kind)
    graph.add("AssignVariableOp", "put", [v, x], attrs={"dtype": FLOAT32})
    graph.add("ReadVariableOp", "got", [v], attrs={"dtype": FLOAT32})
    return graph


def test_a_saved_model_loads_as_from_disk(shop: tuple[str, Path]) -> None:
    root, folder = shop
    shutil.copytree(MODEL, folder / "model")
    here, there = ds.load(MODEL), ds.load(f"{root}/model")
    assert there.loaded.size == here.loaded.size
    with np.load(MODEL.parent / "case_0.in.npz", allow_pickle=False) as given:
        feeds = {name: given[name] for name in given}
    fetch = "head/predictions/probabilities:0"
    np.testing.assert_array_equal(there.run(fetch, feeds), here.run(fetch, feeds))


def test_saving_and_checkpoints(shop: tuple[str, Path]) -> None:
    root, folder = shop
    session = ds.Session(variable_graph())
    session.run("put", {"x": np.array([1, 2], np.float32)})
    ds.save_checkpoint(session, f"{root}/ckpt/one")
    assert sorted(p.name for p in (folder / "ckpt").iterdir()) == [
        "checkpoint",
        "one.data-00000-of-00001",
        "one.index",
    ]
    session.run("put", {"x": np.array([3, 4], np.float32)})
    ds.save(session, f"{root}/model", signatures={"get": ({}, {"y": "got:0"})})
    ds.restore_checkpoint(session, f"{root}/ckpt/one")
    np.testing.assert_array_equal(session.run("got:0"), [1, 2])
    np.testing.assert_array_equal(ds.load(f"{root}/model").signatures["get"]()["y"], [3, 4])
    np.testing.assert_array_equal(ds.load(folder / "model").signatures["get"]()["y"], [3, 4])
    with pytest.raises(BadRequest, match="is there already") as caught:
        ds.save(session, f"{root}/model")
    assert caught.value.code == "path-taken"


def test_a_save_that_fails_leaves_no_model(
    shop: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, folder = shop
    session = ds.Session(variable_graph())
    session.run("put", {"x": np.array([1, 2], np.float32)})
    upload = UriPath.upload

    def failing(self: UriPath, source: Path) -> None:
        if source.name == "saved_model.pb":
            raise ConnectionResetError("the store is gone")
        upload(self, source)

    monkeypatch.setattr(UriPath, "upload", failing)
    with pytest.raises(BadRequest, match="the store is gone"):
        ds.save(session, f"{root}/model")
    assert [p for p in folder.rglob("*") if p.is_file()] == []


def test_graph_files(shop: tuple[str, Path]) -> None:
    root, _ = shop
    graph = variable_graph()
    for name in ("graph.pb", "graph.pbtxt"):
        ds.write_graph(graph, f"{root}/{name}")
        assert ds.read_graph(f"{root}/{name}").to_bytes() == graph.to_bytes()
    with pytest.raises(BadModelFile, match=r"did you mean graph\.pb"):
        ds.load(f"{root}/grph.pb")


def test_ops_read_and_write_what_the_session_opens(shop: tuple[str, Path]) -> None:
    root, folder = shop
    (folder / "a.txt").write_text("words")
    graph = ds.Graph()
    string = {"dtype": STRING, "shape": ()}
    name = graph.add("Placeholder", "name", attrs=string)
    graph.add("ReadFile", "read", [name])
    graph.add("WriteFile", "write", [name, graph.add("Placeholder", "data", attrs=string)])
    graph.add("MatchingFiles", "match", [name])
    closed = ds.Session(graph)
    with pytest.raises(KernelError, match=r"may not read 'test\d+://box/a.txt'") as caught:
        closed.run("read:0", {"name": f"{root}/a.txt"})
    assert caught.value.code == "access-denied"
    assert f"--allow-read {root}/a.txt" in caught.value.remedy
    access = ds.Access().with_read(root).with_write(f"{root}/out")
    session = ds.Session(graph, ds.SessionConfig(access=access))
    assert session.run("read:0", {"name": f"{root}/x/../a.txt"}).item() == b"words"
    session.run("write", {"name": f"{root}/out/b.txt", "data": "more"})
    assert (folder / "out" / "b.txt").read_text() == "more"
    assert session.run("match:0", {"name": f"{root}/*/*.txt"}).tolist() == [
        f"{root}/out/b.txt".encode()
    ]
    for outside in (f"{root}/../boxes/b", f"{root}es/b", f"{root}/out/../b"):
        with pytest.raises(KernelError, match="access-denied"):
            session.run("write", {"name": outside, "data": "x"})


def test_the_command_line(shop: tuple[str, Path]) -> None:
    root, folder = shop
    shutil.copytree(MODEL, folder / "model")
    for command in ("run", "inspect", "explain"):
        done = CliRunner().invoke(app, [command, f"{root}/model"])
        assert done.exit_code == 0, done.output
    given = ["--inputs", f"{root}/in.npz", "--outputs", f"{root}/out.npz"]
    graph = ds.Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (2,)})
    graph.add("Neg", "y", [x], attrs={"T": FLOAT32})
    ds.write_graph(graph, f"{root}/neg.pb")
    arrays: dict[str, Any] = {"x:0": np.array([1, 2], np.float32)}
    np.savez(folder / "in.npz", **arrays)
    done = CliRunner().invoke(app, ["run", f"{root}/neg.pb", "--fetch", "y:0", *given])
    assert done.exit_code == 0, done.output
    with np.load(folder / "out.npz") as results:
        assert list(results["y:0"]) == [-1, -2]
    done = CliRunner().invoke(app, ["run", f"{root}/neg.pb", "--inputs", f"{root}/none.npz"])
    assert "none.npz does not exist" in done.output
    done = CliRunner().invoke(app, ["run", "nobodys://box/model"])
    assert done.exit_code == 6
    assert "no filesystem serves nobodys://" in done.output


class Web(Store):
    """Files that can be asked for, and no names: as a web server has them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def stat(self, path: str) -> Stat:
        if not (self.folder / path).is_file():
            raise FileNotFoundError(path)
        return Stat((self.folder / path).stat().st_size)

    def children(self, path: str) -> list[str]:
        raise NotImplementedError(f"there are no names in {path}")

    def read_into(self, path: str, offset: int, buffer: memoryview, version: str = "") -> int:
        del version
        part = (self.folder / path).read_bytes()[offset : offset + len(buffer)]
        buffer[: len(part)] = part
        return len(part)


def test_a_folder_without_names_is_asked_for_its_model(
    serve: Callable[[object], str], tmp_path: Path
) -> None:
    shutil.copytree(MODEL, tmp_path / "host" / "model")
    root = f"{serve(Web(tmp_path))}host"
    assert sorted(ds.load(f"{root}/model").signatures) == sorted(ds.load(MODEL).signatures)
    with pytest.raises(BadModelFile) as caught:
        ds.load(f"{root}/other")
    assert caught.value.code == "file-not-found"


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("s3://bucket", "s3://bucket"),
        ("s3://bucket/", "s3://bucket"),
        ("s3://bucket//a/./b/../c/", "s3://bucket/a/c"),
        ("s3://bucket/../../other", "s3://bucket/other"),
        ("s3://../x", "s3:///x"),
        ("file:///tmp/x", "/tmp/x"),
        ("file://localhost/tmp/x", "/tmp/x"),
        ("a/b", "a/b"),
        ("C://x y", "C://x y"),
    ],
)
def test_which_path_is_meant(given: str, path: str) -> None:
    assert str(as_path(given)) == path


def test_paths_have_the_methods_of_paths(shop: tuple[str, Path]) -> None:
    root, folder = shop
    path = as_path(f"{root}/a/b.tar.gz")
    assert (path.name, path.stem, path.suffix) == ("b.tar.gz", "b.tar", ".gz")
    assert str(path.parent) == f"{root}/a"
    assert str(path.with_suffix("")) == f"{root}/a/b.tar"
    assert path.with_name("c") == as_path(f"{root}/a/c") == path.parent / "c"
    assert str(path.parent / "/x") == f"{root}/x"
    assert str(path.parent / "gs://other/x") == "gs://other/x"
    assert repr(path) == f"UriPath('{root}/a/b.tar.gz')"
    assert not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"0123456789")
    assert path.is_file()
    assert not path.is_dir()
    assert path.stat().st_size == 10
    assert [p.name for p in as_path(root).rglob("*")] == ["a", "b.tar.gz"]
    assert list(path.parent.glob("*.gz")) == [path]
    path.replace(path.with_name("c"))
    with pytest.raises(FileNotFoundError):
        path.read_bytes()
    path.unlink(missing_ok=True)
    with pytest.raises(OSError, match="mode 'r\\+b'"):
        path.open("r+b")
    assert (folder / "a" / "c").read_bytes() == b"0123456789"


def path_of(uri: str) -> UriPath:
    path = uri_of(as_path(uri))
    assert path is not None
    return path


def test_ranges_read_what_is_asked_for(
    shop: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, folder = shop
    (folder / "a").write_bytes(bytes(range(100)))
    ranges = Ranges(path_of(f"{root}/a"))
    assert len(ranges) == 100
    assert bytes(ranges[10:20]) == bytes(range(10, 20))
    assert bytes(ranges[90:]) == bytes(range(90, 100))
    (folder / "a").write_bytes(b"short")
    assert bytes(ranges[:10]) == bytes(range(10)), "parts that were read are kept"
    (folder / "b").write_bytes(bytes(range(100)))
    cut = Ranges(path_of(f"{root}/b"))
    (folder / "b").write_bytes(b"short")
    with pytest.raises(OSError, match="ended at byte 5"):
        cut[0:50]


def test_a_scheme_that_nobody_serves_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "stage", lambda _name: [])
    with pytest.raises(HostError, match="pip install drystone-fs-s3"):
        ds.load("s3://bucket/model")


def test_gfile_walks_what_was_saved(shop: tuple[str, Path]) -> None:
    root, folder = shop
    shutil.copytree(MODEL, folder / "model")
    found = sum(len(files) for _, _, files in gfile.walk(f"{root}/model"))
    assert found == sum(1 for p in MODEL.rglob("*") if p.is_file())
