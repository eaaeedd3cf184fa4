"""GraphDef files: told by content, written and read back; other formats are named."""

from __future__ import annotations

import builtins
import os
from pathlib import Path

import numpy as np
import pytest
from model_files import const, model_graph

from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.core.errors import BadModelFile, BadRequest, DrystoneError
from drystone_base.files.local import is_text
from drystone_base.graph import Graph
from drystone_base.loaders import (
    _by_package,
    default_signature,
    load_model,
    read_graph,
    write_graph,
)


def small() -> Graph:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (-1, 2)})
    graph.add("Neg", "y", [x], attrs={"T": FLOAT32})
    return graph


def error_of(code: str, path: Path) -> str:
    with pytest.raises(DrystoneError) as caught:
        load_model(path)
    assert caught.value.code == code, caught.value
    return str(caught.value)


@pytest.mark.parametrize("name", ["g.pb", "g.pbtxt"])
def test_what_is_written_is_read_back(tmp_path: Path, name: str) -> None:
    graph = model_graph()
    write_graph(graph, tmp_path / name)
    assert is_text(memoryview((tmp_path / name).read_bytes())) == name.endswith("txt")
    assert read_graph(tmp_path / name).to_bytes() == graph.to_bytes()
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_content_decides_not_the_name(tmp_path: Path) -> None:
    write_graph(small(), tmp_path / "a.pbtxt")
    (tmp_path / "b.pb").write_bytes(b"# a comment\n\n" + (tmp_path / "a.pbtxt").read_bytes())
    (tmp_path / "c.pbtxt").write_bytes(small().to_bytes())
    for name in ("b.pb", "c.pbtxt"):
        assert [n.name for n in load_model(tmp_path / name).graph] == ["x", "y"]


def test_bytes_are_read_too() -> None:
    assert len(read_graph(small().to_bytes())) == 2
    assert len(read_graph(memoryview(b'node { name: "a" op: "NoOp" }'))) == 1


def test_large_constants_stay_in_the_file(tmp_path: Path) -> None:
    graph = Graph()
    const(graph, "big", np.arange(1 << 16, dtype=np.float32), FLOAT32)
    write_graph(graph, tmp_path / "g.pb")
    array = read_graph(tmp_path / "g.pb")["big"].attr("value").array
    assert array[-1] == (1 << 16) - 1
    owner = array
    while isinstance(owner, np.ndarray) and owner.base is not None:
        owner = owner.base
    assert isinstance(owner, memoryview)
    assert type(owner.obj).__name__ == "MappedFile"


def test_default_signature() -> None:
    graph = small()
    value = const(graph, "unread", [1], INT32)
    graph.add("Placeholder", "unread_input", attrs={"dtype": FLOAT32, "shape": ()})
    graph.add("Neg", "of_constant", [value], attrs={"T": INT32})
    graph.add("Unpack", "parts", [graph["x"]], attrs={"T": FLOAT32, "num": 2, "axis": 1})
    graph.add("Neg", "waited_for", [graph["x"]], attrs={"T": FLOAT32})
    graph.add("NoOp", "group", controls=[graph["waited_for"]])
    found = default_signature(graph)
    assert list(found.inputs) == ["x"]
    assert {n: s.tensor for n, s in found.outputs.items()} == {
        "y": "y:0",
        "parts": "parts:0",
        "parts:1": "parts:1",
    }


def test_without_inputs_every_sink_is_an_output() -> None:
    graph = Graph()
    value = const(graph, "c", [1], INT32)
    graph.add("Neg", "y", [value], attrs={"T": INT32})
    assert list(default_signature(graph).outputs) == ["y"]


@pytest.mark.parametrize(
    ("name", "raw", "words"),
    [
        ("m.tflite", b"\x1c\0\0\0TFL3" + b"\0" * 20, "a TensorFlow Lite model"),
        ("m.h5", b"\x89HDF\r\n\x1a\n" + b"\0" * 20, "an HDF5 file"),
        ("m.keras", b"PK\x03\x04" + b"\0" * 20 + b"metadata.json", "a Keras model"),
        ("m.tar.gz", b"\x1f\x8b\x08" + b"\0" * 20, "a gzip archive"),
        ("m.onnx", b"\x08\x07\x12\x07pytorch", "an ONNX model"),
        ("m.pb", b"\x08\x07\x12\x07pytorch", "an ONNX model"),
    ],
)
def test_other_formats_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, raw: bytes, words: str
) -> None:
    monkeypatch.setattr(_by_package, "points", lambda _: [])  # drystone-keras reads two of them
    (tmp_path / name).write_bytes(raw)
    text = error_of("format-not-supported", tmp_path / name)
    assert f"is {words}" in text
    assert ("export(FOLDER)" in text) == (name in ("m.h5", "m.keras"))


def test_paths_that_hold_no_model(tmp_path: Path) -> None:
    (tmp_path / "model.pb").write_bytes(small().to_bytes())
    assert "did you mean model.pb?" in error_of("file-not-found", tmp_path / "modle.pb")
    (tmp_path / "second.pb").write_bytes(small().to_bytes())
    assert "found: model.pb, second.pb" in error_of("no-model-found", tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "found: an empty folder" in error_of("no-model-found", empty)
    (empty / "m.pb").touch()
    assert "is empty" in error_of("bad-graphdef", empty)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a system with named pipes")
def test_a_path_that_is_no_file_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pb")
    assert "a plain file" in error_of("file-unreadable", tmp_path / "pipe.pb")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.pb").write_bytes(small().to_bytes())

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(builtins, "open", refuse)
    with pytest.raises(BadModelFile, match="Permission denied"):
        read_graph(tmp_path / "m.pb")


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "g.pb"
    write_graph(small(), path)
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(BadRequest, match="no space left"):
        write_graph(model_graph(), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
