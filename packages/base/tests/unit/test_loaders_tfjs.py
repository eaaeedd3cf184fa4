"""TensorFlow.js graph models: read from hand-written JSON and shards; what is wrong is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf.json_format import MessageToDict

from drystone_abi.protos import DataType
from drystone_base.dtypes import FLOAT32, INT64, STRING, DType
from drystone_base.errors import DrystoneError
from drystone_base.graph import Graph
from drystone_base.loaders import TensorSpec, load_model
from drystone_base.model import load

W = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
X = np.array([[1, 0, 2]], np.float32)
Edit = Callable[[dict[str, Any]], object]


def hollow(name: str, dtype: str) -> dict[str, Any]:
    """A constant as the converter leaves it: its dtype, and no value."""
    tensor = {"dtype": dtype, "tensorShape": {}}
    return {
        "name": name,
        "op": "Const",
        "attr": {"dtype": {"type": dtype}, "value": {"tensor": tensor}},
    }


def model_json() -> dict[str, Any]:
    """``y = x @ w``."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (-1, 3)})
    w = graph.add("Placeholder", "w", attrs={"dtype": FLOAT32})
    graph.add("MatMul", "y", [x, w], attrs={"T": FLOAT32})
    topology = MessageToDict(graph.to_proto())
    topology["node"][1] = hollow("w", "DT_FLOAT")
    dims = [{"size": "-1"}, {"size": "3"}]
    given = {"name": "x:0", "dtype": "DT_FLOAT", "tensorShape": {"dim": dims}, "resourceId": 1}
    return {
        "format": "graph-model",
        "modelTopology": topology,
        "signature": {"inputs": {"in": given}, "outputs": {"out": {"name": "y:0", "dtype": 1}}},
        "weightsManifest": [manifest("w", "float32", [3, 2])],
    }


def manifest(name: str, dtype: str, shape: list[int], **more: Any) -> dict[str, Any]:
    return {
        "paths": ["a.bin"],
        "weights": [{"name": name, "dtype": dtype, "shape": shape, **more}],
    }


def written(folder: Path, model: Any, **shards: bytes) -> Path:
    for name, data in (shards or {"a": W.tobytes()}).items():
        (folder / f"{name}.bin").write_bytes(data)
    (folder / "model.json").write_text(json.dumps(model))
    return folder


def error_of(code: str, path: Path) -> str:
    with pytest.raises(DrystoneError) as caught:
        load_model(path)
    assert caught.value.code == code, caught.value
    return str(caught.value)


def constant(tmp_path: Path, dtype: DType, label: str, raw: bytes, *args: Any, **more: Any) -> Any:
    """The value that a lone constant gets from its weight."""
    graph = Graph()
    c = graph.add("Placeholder", "c", attrs={"dtype": dtype})
    graph.add("Identity", "y", [c], attrs={"T": dtype})
    topology = MessageToDict(graph.to_proto())
    topology["node"][0] = hollow("c", DataType.Name(dtype.number))
    model = {"modelTopology": topology, "weightsManifest": [manifest("c", label, *args, **more)]}
    return load(written(tmp_path, model, a=raw)).run("y:0")


def test_a_graph_model_runs_from_its_folder(tmp_path: Path) -> None:
    model = load(written(tmp_path, model_json()))
    assert model.loaded.kind == "tfjs"
    spec = model.signatures["serving_default"].signature
    assert spec.inputs == {"in": TensorSpec("x:0", FLOAT32, (-1, 3))}
    assert model(X)["out"].tolist() == [[11, 14]]
    assert load_model(tmp_path / "model.json").size == 24 + len(
        (tmp_path / "model.json").read_bytes()
    )


def test_weights_run_on_from_shard_to_shard_and_group_to_group(tmp_path: Path) -> None:
    model = model_json()
    model["weightsManifest"][0]["paths"] = ["a.bin", "sub.bin"]
    model["weightsManifest"].append({"paths": ["b.bin"], "weights": []})
    raw = W.tobytes()
    written(tmp_path, model, a=raw[:7], sub=raw[7:], b=b"")
    assert load(tmp_path)(X)["out"].tolist() == [[11, 14]]


def test_older_files_keep_the_signature_elsewhere_or_have_none(tmp_path: Path) -> None:
    model = model_json()
    model["userDefinedMetadata"] = {"signature": model.pop("signature")}
    assert list(load(written(tmp_path, model))(X)) == ["out"]
    del model["userDefinedMetadata"]
    assert list(load(written(tmp_path, model))(X)) == ["y"]


@pytest.mark.parametrize("kind", ["uint8", "uint16"])
def test_scaled_weights_are_scaled_back(tmp_path: Path, kind: str) -> None:
    raw = np.array([0, 1, 255], kind).tobytes()
    scaling = {"dtype": kind, "scale": 0.5, "min": -3.25}
    found = constant(tmp_path, FLOAT32, "float32", raw, [3], quantization=scaling)
    assert found.dtype == np.float32
    assert found.tolist() == [-3.25, -2.75, 124.25]


def test_scaled_integers_are_rounded_and_halves_widened(tmp_path: Path) -> None:
    scaling = {"dtype": "uint8", "scale": 0.9, "min": -2}
    found = constant(tmp_path, INT64, "int32", bytes([0, 1, 3]), [3], quantization=scaling)
    assert (found.dtype, found.tolist()) == (np.int64, [-2, -1, 1])
    halves = np.array([1.5, -0.25], "<f2").tobytes()
    scaling = {"dtype": "float16"}
    found = constant(tmp_path, FLOAT32, "float32", halves, [2], quantization=scaling)
    assert (found.dtype, found.tolist()) == (np.float32, [1.5, -0.25])


def test_strings_stand_after_their_lengths(tmp_path: Path) -> None:
    raw = b"\3\0\0\0one\0\0\0\0"
    assert constant(tmp_path, STRING, "string", raw, [2]).tolist() == [b"one", b""]
    with pytest.raises(DrystoneError, match="must hold all of weight 'c'"):
        constant(tmp_path, STRING, "string", raw[:5], [2])


def test_fused_ops_of_the_converter_are_settled(tmp_path: Path) -> None:
    model = model_json()
    types = {"T": {"type": "DT_FLOAT"}, "num_args": {"i": "1"}}
    nodes = model["modelTopology"]["node"]
    nodes.append({"name": "c", "op": "_FusedConv2D", "input": ["x", "w", "w"], "attr": types})
    nodes.append({"name": "d", "op": "FusedDepthwiseConv2dNative", "input": ["x", "w", "w"]})
    graph = load_model(written(tmp_path, model)).graph
    assert graph["c"].attr("TArgs") == [FLOAT32]
    assert graph["d"].op == "_FusedDepthwiseConv2dNative"


@pytest.mark.parametrize("name", ["../a.bin", "/etc/passwd", "b/../../a", "C:\\x", "", 7])
def test_shards_outside_the_folder_are_refused(tmp_path: Path, name: Any) -> None:
    model = model_json()
    model["weightsManifest"][0]["paths"] = [name]
    assert f"found: {name!r}" in error_of("unsafe-asset", written(tmp_path, model))


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    written(tmp_path, model_json(), b=b"")
    (tmp_path / "a.bin").unlink(missing_ok=True)
    assert "a.bin does not exist" in error_of("file-not-found", tmp_path)


WRONG: list[tuple[str, Edit]] = [
    ("needed: 28 bytes at least", lambda m: weight(m).update(shape=[7])),
    ("found: 24 bytes\n  needed: 20 bytes", lambda m: weight(m).update(shape=[5])),
    ("must have a shape", lambda m: weight(m).update(shape=[-1, 2])),
    ("must have a shape", lambda m: weight(m).update(shape=None)),
    ("must have a shape", lambda m: weight(m).update(shape=[0, 1 << 47, 4])),
    ("must have a shape", lambda m: weight(m).update(shape=[1] * 33)),
    ("must fit the node's dtype", lambda m: m["modelTopology"]["node"][1]["attr"].pop("dtype")),
    ("must have a known dtype\n  found: 'float8'", lambda m: weight(m).update(dtype="float8")),
    ("must have a scale", lambda m: weight(m).update(shape=[24], quantization={"dtype": "uint8"})),
    ("must be an object", lambda m: weight(m).update(quantization=[1])),
    ("must be a GraphDef", lambda m: m["modelTopology"]["node"][0].update(name="\ud800")),
    ("must have a name", lambda m: weight(m).pop("name")),
    ("no weight 'w'", lambda m: weight(m).update(name="v")),
    ("paths must be a list", lambda m: m["weightsManifest"][0].update(paths="a.bin")),
    ("modelTopology must be an object", lambda m: m.pop("modelTopology")),
    ("must be a GraphDef", lambda m: m["modelTopology"].update(node=[{"op": 3}])),
    ("must be a SignatureDef", lambda m: m.update(signature=[1])),
]


def weight(model: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = model["weightsManifest"][0]["weights"][0]
    return found


@pytest.mark.parametrize(("words", "edit"), WRONG)
def test_what_is_wrong_is_said(tmp_path: Path, words: str, edit: Edit) -> None:
    model = model_json()
    edit(model)
    assert words in error_of("bad-tfjs-model", written(tmp_path, model))


def test_files_that_are_no_json(tmp_path: Path) -> None:
    for raw in (b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b"1"):
        (tmp_path / "model.json").write_bytes(raw)
        assert "is not a complete TensorFlow.js model" in error_of("bad-tfjs-model", tmp_path)


def test_layers_models_and_tables_are_refused(tmp_path: Path) -> None:
    layers = {"format": "layers-model", "modelTopology": {"model_config": {}}}
    text = error_of("format-not-supported", written(tmp_path, layers))
    assert "layers model" in text
    assert "--output_format=tfjs_graph_model" in text
    tables = model_json() | {"modelInitializer": {"node": []}}
    assert "with tables to initialise" in error_of(
        "format-not-supported", written(tmp_path, tables)
    )
