"""Checkpoints of several data files, and of more than 2 GB, behind schemes. S2-filesystems."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem

import drystone_base as ds
from drystone_base.checkpoint.bundle import BundleReader
from drystone_base.checkpoint.writer import BundleWriter, merge
from drystone_base.core.dtypes import FLOAT32
from drystone_base.host import filesystem as host
from drystone_base.host.open_files import Readable, Writable
from drystone_filesystem import gfile, native
from drystone_filesystem.native import serve_library

FAR = (5 << 30) + 3
"""Beyond what 32 bits hold, signed or not."""


@pytest.fixture(params=["fsspec", "ram", "posix"])
def place(request: pytest.FixtureRequest, root: str, tmp_path: Path) -> str:
    """An empty folder that can be written to."""
    if request.param == "fsspec":
        found = f"{root}/here"
    elif not native.library().is_file():
        pytest.skip("a source tree in which the library was not built")
    else:
        serve_library(request.param, native.library())
        found = f"ram://{root[4:]}/here" if request.param == "ram" else f"posix://{tmp_path}/here"
    gfile.makedirs(found)
    return found


def two_variables() -> ds.Session:
    """A session whose ``v`` and ``w`` are 1 and 2, and 3 and 4."""
    graph, kind = ds.Graph(), {"dtype": FLOAT32, "shape": (2,)}
    x = graph.add("Placeholder", "x", attrs=kind)
    for name in ("v", "w"):
        handle = graph.add("VarHandleOp", name, attrs={**kind, "shared_name": name})
        graph.add("AssignVariableOp", f"put_{name}", [handle, x], attrs={"dtype": FLOAT32})
        graph.add("ReadVariableOp", f"got_{name}", [handle], attrs={"dtype": FLOAT32})
    session = ds.Session(graph)
    session.run("put_v", {"x": np.array([1, 2], np.float32)})
    session.run("put_w", {"x": np.array([3, 4], np.float32)})
    return session


def test_a_saved_model_of_several_data_files(place: str) -> None:
    """As training on several machines leaves it: parts are written apart, then merged."""
    signatures: dict[str, Any] = {"get": ({}, {"v": "got_v:0", "w": "got_w:0"})}
    ds.save(two_variables(), f"{place}/model", signatures=signatures)
    whole = f"{place}/model/variables/variables"
    before = BundleReader(whole)
    parts = []
    for k, name in enumerate(before.keys()):
        parts.append(f"{place}/part{k}")
        with BundleWriter(parts[-1]) as writer:
            writer.add(name, before.tensor(name) + 10)
    for name in gfile.listdir(f"{place}/model/variables"):
        gfile.remove(f"{place}/model/variables/{name}")
    merge(parts, whole)
    names = gfile.listdir(f"{place}/model/variables")
    assert [name for name in names if "data" in name] == [
        f"variables.data-{k:05d}-of-{len(parts):05d}" for k in range(len(parts))
    ]
    answer = ds.load(f"{place}/model").signatures["get"]()
    np.testing.assert_array_equal(answer["v"], [11, 12])
    np.testing.assert_array_equal(answer["w"], [13, 14])
    ds.save(ds.load(f"{place}/model").session, f"{place}/again", signatures=signatures)
    np.testing.assert_array_equal(ds.load(f"{place}/again").signatures["get"]()["w"], [13, 14])


@pytest.fixture
def far(serve: Callable[[object], str], tmp_path: Path) -> tuple[Path, list[str]]:
    """A folder, and what to write before a path in it: of a store in Python, and of the system."""
    roots = [f"{serve(DirFileSystem(str(tmp_path), LocalFileSystem()))}"]
    if native.library().is_file():
        serve_library("posix", native.library())
        roots.append(f"posix://{tmp_path}/")
    return tmp_path, roots


def test_bytes_beyond_four_gigabytes(far: tuple[Path, list[str]]) -> None:
    folder, roots = far
    with (folder / "sparse").open("wb") as file:
        file.truncate(FAR)
        file.seek(FAR)
        file.write(b"0123456789")
    for root in roots:
        path = f"{root}sparse"
        assert gfile.stat(path).length == FAR + 10
        assert host.read_range(path, FAR + 2, 5) == b"23456"
        with Readable(path) as open_file:
            room = bytearray(20)
            assert open_file.read_into(FAR - 10, memoryview(room)) == 20
            assert room == bytes(10) + b"0123456789"
        with gfile.GFile(path, "rb") as stream:
            stream.seek(FAR + 7)
            assert (stream.read(), stream.tell()) == (b"789", FAR + 10)
    if len(roots) == 2:
        with Writable(f"{roots[1]}sparse", append=True) as writing:
            assert writing.tell() == FAR + 10
            writing.append(b"end")
        assert (folder / "sparse").stat().st_size == FAR + 13


def test_a_tensor_beyond_four_gigabytes(far: tuple[Path, list[str]]) -> None:
    """Only it is read of a checkpoint whose data are larger than memory might be."""
    folder, roots = far
    with BundleWriter(folder / "ckpt") as writer:
        writer._draft.file.seek(FAR)
        writer._offset = FAR
        writer.add("v", np.array([5, 6], np.float32))
    for root in roots:
        reader = BundleReader(f"{root}ckpt")
        np.testing.assert_array_equal(reader.tensor("v"), [5, 6])
