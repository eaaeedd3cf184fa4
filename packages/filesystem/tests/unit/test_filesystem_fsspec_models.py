"""SavedModels on filesystems of fsspec's: archives, memory, local caches, ones like GitHub's."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
from fsspec import AbstractFileSystem
from fsspec.implementations.dirfs import DirFileSystem

import drystone_base as ds
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import HostError
from drystone_filesystem import gfile, select

Serve = Callable[[Any], str]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, bytes]:
    """A SavedModel by names of files under ``a/m``."""
    graph = ds.Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (-1,)})
    graph.add("Neg", "y", [x], attrs={"T": FLOAT32})
    ds.save(graph, tmp_path / "source" / "a" / "m")
    found = (p for p in (tmp_path / "source").rglob("*") if p.is_file())
    return {p.relative_to(tmp_path / "source").as_posix(): p.read_bytes() for p in found}


class Hub(AbstractFileSystem):  # type: ignore[misc]
    """As GitHub's: only listings, of names without a slash before them."""

    cachable = False

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__()
        self.files = files

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        if path.startswith("/"):
            path = path[1:]
        if path in self.files:
            found = [{"name": path, "size": len(self.files[path]), "type": "file"}]
        else:
            found = list(self._below(f"{path}/" if path else ""))
        if not found:
            raise FileNotFoundError(path)
        return found if detail else [one["name"] for one in found]

    def _below(self, start: str) -> Iterator[dict[str, Any]]:
        names = {n[len(start) :].partition("/") for n in self.files if n.startswith(start)}
        for name, slash, _ in sorted(set(names)):
            size = 0 if slash else len(self.files[start + name])
            yield {"name": start + name, "size": size, "type": "directory" if slash else "file"}

    def _open(self, path: str, mode: str = "rb", **_: Any) -> Any:
        assert mode == "rb"
        return io.BytesIO(self.files[path.lstrip("/")])


def zipped(files: dict[str, bytes], folder: Path) -> str:
    with zipfile.ZipFile(folder / "m.zip", "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return str(folder / "m.zip")


def in_memory(files: dict[str, bytes]) -> AbstractFileSystem:
    memory = fsspec.filesystem("memory")
    for name, data in files.items():
        memory.pipe_file(f"/{name}", data)
    return memory


def of_tar(files: dict[str, bytes], folder: Path) -> AbstractFileSystem:
    with tarfile.open(folder / "m.tar", "w") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return fsspec.filesystem("tar", fo=str(folder / "m.tar"))


def cached(kind: str, target: str, folder: Path, **options: Any) -> AbstractFileSystem:
    storage = str(folder / "cache")
    return fsspec.filesystem(kind, target_protocol=target, target_options=options,
                             cache_storage=storage)  # fmt: skip


KINDS: dict[str, Callable[[dict[str, bytes], Path], AbstractFileSystem]] = {
    "memory": lambda files, _: in_memory(files),
    "zip": lambda files, at: fsspec.filesystem("zip", fo=zipped(files, at)),
    "tar": of_tar,
    "dir": lambda files, _: DirFileSystem("/", in_memory(files)),
    "simplecache of memory": lambda files, at: (
        in_memory(files) and cached("simplecache", "memory", at)
    ),
    "filecache of memory": lambda files, at: in_memory(files) and cached("filecache", "memory", at),
    "simplecache of zip": lambda files, at: cached("simplecache", "zip", at, fo=zipped(files, at)),
    "hub": lambda files, _: Hub(files),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("slash", ["", "/"])
def test_a_saved_model(
    serve: Serve, files: dict[str, bytes], tmp_path: Path, kind: str, slash: str
) -> None:
    root = serve(KINDS[kind](files, tmp_path))
    model = ds.load(f"{root}a/m{slash}")
    assert model(x=np.ones(2, np.float32))["y"].tolist() == [-1, -1]
    assert gfile.listdir(f"{root}a/m") == ["fingerprint.pb", "saved_model.pb"]


@pytest.mark.parametrize("name", ["simplecache", "no-such-filesystem"])
def test_what_fsspec_cannot_make_is_told(name: str) -> None:
    scheme = f"chosen-{name}"
    select(scheme, f"fsspec:{name}")
    with pytest.raises(HostError, match=f"fsspec cannot make the filesystem for {scheme}") as error:
        gfile.exists(f"{scheme}://a/b")
    assert error.value.code == "no-filesystem"
    assert "drystone_filesystem.register" in error.value.remedy
