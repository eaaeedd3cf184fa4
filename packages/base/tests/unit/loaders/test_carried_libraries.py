"""Libraries that a SavedModel carries are named from its folder, wherever that is."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import drystone_base as ds
from drystone_abi.protos import FunctionDef
from drystone_base.files import access
from drystone_base.graph import Function


@pytest.fixture(autouse=True)
def names_a_library(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Of CheckNumerics the message is a path here."""
    with monkeypatch.context() as patch:
        patch.setitem(access.LIBRARY_ATTRS, "CheckNumerics", "message")
        yield


def model(folder: Path, path: str) -> Path:
    """A SavedModel that names a library in its graph and in a function."""
    graph = ds.Graph()
    b = ds.Builder(graph)
    x = b("Placeholder", dtype="float32", name="x")
    proto = FunctionDef()
    proto.signature.name = "checked"
    proto.signature.input_arg.add(name="x", type=1)  # type: ignore[arg-type]
    proto.signature.output_arg.add(name="y", type=1)  # type: ignore[arg-type]
    node = proto.node_def.add(name="n", op="CheckNumerics", input=["x"])
    node.attr["T"].type = 1  # type: ignore[assignment]
    node.attr["message"].s = path.encode()
    proto.ret["y"] = "n:output:0"
    graph.functions.add(Function(proto))
    y = b("CheckNumerics", x, message=path, name="y")
    b("PartitionedCall", [y], f="checked", Tin=["float32"], Tout=["float32"], name="z")
    ds.save(graph, folder, signatures={"serving_default": ({"x": "x:0"}, {"z": "z:0"})})
    return folder


def named(folder: Path) -> list[str]:
    graph = ds.load(folder).graph
    function = graph.functions["checked"].proto
    return [graph["y"].attrs["message"], function.node_def[0].attr["message"].s.decode()]


@pytest.mark.parametrize("again", [False, True])
def test_a_model_that_is_moved_finds_its_libraries(tmp_path: Path, again: bool) -> None:
    folder = model(tmp_path / "first", "assets.extra/tvm/k.so")
    if again:
        ds.load(folder)
    moved = Path(shutil.move(folder, tmp_path / "second"))
    assert named(moved) == [str(moved / "assets.extra" / "tvm" / "k.so")] * 2


def test_a_path_from_the_root_stays(tmp_path: Path) -> None:
    assert named(model(tmp_path / "model", "/lib/k.so")) == ["/lib/k.so"] * 2
