"""TensorFlow.js graph models: read from hand-written JSON and shards; what is wrong is said."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf.json_format import MessageToDict

from drystone_abi.protos import DataType
from drystone_base.api.model import load
from drystone_base.core.dtypes import FLOAT32, INT64, STRING, DType
from drystone_base.core.errors import BadModelFile, DrystoneError
from drystone_base.files.access import Access
from drystone_base.graph import Graph
from drystone_base.loaders import TensorSpec, load_model

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


@pytest.mark.parametrize("inputs", [{"in": {"name": "x:0"}}, {}])
def test_a_signature_of_names_takes_the_rest_from_the_graph(tmp_path: Path, inputs: Any) -> None:
    model = model_json()
    model["signature"] = {"inputs": inputs, "outputs": {"out": {"name": "y"}}}
    found = load(written(tmp_path, model))
    signature = found.default_signature().signature
    assert [s.dtype for s in (*signature.inputs.values(), signature.outputs["out"])] == [
        FLOAT32
    ] * 2
    assert found(X)["out"].tolist() == [[11, 14]]


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


def test_a_shard_that_is_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    model = written(tmp_path / "model", model_json())
    shard = next(path for path in model.rglob("*.bin"))
    shard.rename(tmp_path / "elsewhere.bin")
    shard.symlink_to(tmp_path / "elsewhere.bin")
    assert "a link to" in error_of("unsafe-asset", model)
    access = Access().with_read(tmp_path)
    assert len(load_model(model, access=access).graph)


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
    for raw in (b"", b"{", b"[]", b"\xff\xff", b"[" * 100_000, b"1"):
        (tmp_path / "model.json").write_bytes(raw)
        assert "is not a complete TensorFlow.js model" in error_of("bad-tfjs-model", tmp_path)


def test_layers_models_are_refused(tmp_path: Path) -> None:
    layers = {"format": "layers-model", "modelTopology": {"model_config": {}}}
    text = error_of("format-not-supported", written(tmp_path, layers))
    assert "layers model" in text
    assert "--output_format=tfjs_graph_model" in text


def node(name: str, op: str, *inputs: str, **attrs: Any) -> dict[str, Any]:
    return {"name": name, "op": op, "input": list(inputs), "attr": attrs}


FLOAT = {"type": "DT_FLOAT"}
PRELU = {"list": {"s": [base64.b64encode(v).decode() for v in (b"BiasAdd", b"Prelu")]}}


def with_nodes(*nodes: dict[str, Any], **shapes: list[int]) -> dict[str, Any]:
    """A model of ``x`` and further nodes, the last of which is its output; weights by shape."""
    model = model_json()
    x = model["modelTopology"]["node"][0]
    constants = [hollow(name, "DT_FLOAT") for name in shapes]
    model["modelTopology"]["node"] = [x, *constants, *nodes]
    weights = [{"name": n, "dtype": "float32", "shape": s} for n, s in shapes.items()]
    model["weightsManifest"] = [{"paths": ["a.bin"], "weights": weights}]
    model["signature"]["outputs"] = {"out": {"name": f"{nodes[-1]['name']}:0", "dtype": 1}}
    return model


def test_prelu_of_the_converter(tmp_path: Path) -> None:
    alpha = np.array([0.5, 2, -1], np.float32)
    taken = node("p/zero", "Identity", "x", T=FLOAT)
    last = node("p", "Prelu", "x", "alpha", "^p/zero", T=FLOAT)
    written(tmp_path, with_nodes(taken, last, alpha=[3]), a=alpha.tobytes())
    x = np.array([[1, -2, -3], [np.nan, -0.0, -np.inf]], np.float32)
    out = load(tmp_path)(x)["out"]
    np.testing.assert_array_equal(out, np.where(x < 0, alpha * x, x))


@pytest.mark.parametrize("op", ["_FusedMatMul", "_FusedConv2D", "FusedDepthwiseConv2dNative"])
def test_prelu_at_the_end_of_a_fused_node(tmp_path: Path, op: str) -> None:
    bias, alpha = np.array([1, -20], np.float32), np.array([0.5, 2], np.float32)
    attrs: dict[str, Any] = {"T": FLOAT, "fused_ops": PRELU, "num_args": {"i": "2"}}
    first, shape = "x", [3, 2]
    parts: list[dict[str, Any]] = []
    if op != "_FusedMatMul":
        kind = {"type": "DT_INT32"}
        dims = {"dim": [{"size": "4"}]}
        tensor = {"dtype": "DT_INT32", "tensorShape": dims, "intVal": [-1, 1, 1, 3]}
        size = {"tensor": tensor}
        parts = [
            node("size", "Const", dtype=kind, value=size),
            node("image", "Reshape", "x", "size", T=FLOAT, Tshape=kind),
        ]
        attrs |= {"strides": {"list": {"i": ["1"] * 4}}, "padding": {"s": "U0FNRQ=="}}
        first, shape = "image", [1, 1, 3, 2]
    if op.startswith("FusedDepthwise"):
        bias = np.array([1, -20, 3, 1, 0, 0], np.float32)
        alpha = np.full(6, 0.5, np.float32)
    last = node("y", op, first, "w", "bias", "alpha", **attrs)
    data = W.tobytes() + bias.tobytes() + alpha.tobytes()
    sizes = {"w": shape, "bias": [bias.size], "alpha": [alpha.size]}
    written(tmp_path, with_nodes(*parts, last, **sizes), a=data)
    out = load(tmp_path)(X)["out"]
    plain = (X[0, :, None] * W).reshape(-1) if op.startswith("FusedDepthwise") else (X @ W)[0]
    plain = plain + bias
    np.testing.assert_array_equal(out.reshape(-1), np.where(plain < 0, alpha * plain, plain))


def with_tables() -> dict[str, Any]:
    """A model that looks words up in a table, which a second graph makes."""
    text, number = {"type": "DT_STRING"}, {"type": "DT_INT64"}
    types = {"key_dtype": text, "value_dtype": number}
    find = {"Tin": text, "Tout": number}
    model: dict[str, Any] = {
        "format": "graph-model",
        "modelTopology": {
            "node": [
                node("table", "Placeholder", dtype={"type": "DT_RESOURCE"}),
                node("words", "Placeholder", dtype=text),
                hollow("default", "DT_INT64"),
                node("found", "LookupTableFindV2", "table", "words", "default", **find),
            ]
        },
        "modelInitializer": {
            "node": [
                node("table", "HashTableV2", **types),
                hollow("keys", "DT_STRING"),
                hollow("values", "DT_INT64"),
                node("fill", "LookupTableImportV2", "table", "keys", "values", **find),
            ]
        },
        "signature": {
            "inputs": {
                "words": {"name": "words:0", "dtype": "DT_STRING"},
                "table": {"name": "table:0", "dtype": "DT_RESOURCE", "resourceId": 7},
            },
            "outputs": {"found": {"name": "found:0", "dtype": "DT_INT64"}},
        },
        "initializerSignature": {
            "outputs": {"t": {"name": "table", "dtype": "DT_RESOURCE", "resourceId": 7}}
        },
    }
    weights = [
        {"name": "default", "dtype": "int32", "shape": []},
        {"name": "keys", "dtype": "string", "shape": [2]},
        {"name": "values", "dtype": "int32", "shape": [2]},
    ]
    model["weightsManifest"] = [{"paths": ["a.bin"], "weights": weights}]
    return model


TABLE_DATA = (
    np.int32(-1).tobytes() + b"\3\0\0\0one\3\0\0\0two" + np.array([1, 2], np.int32).tobytes()
)


def test_tables_are_made_and_filled_once(tmp_path: Path) -> None:
    written(tmp_path, with_tables(), a=TABLE_DATA)
    model = load(tmp_path)
    assert list(model.loaded.signatures["serving_default"].inputs) == ["words"]
    words = np.array([b"two", b"three", b"one"], object)
    assert model(words)["found"].tolist() == [2, -1, 1]
    assert model(words)["found"].tolist() == [2, -1, 1]


def test_an_initializer_that_makes_nothing_for_the_model(tmp_path: Path) -> None:
    model = model_json() | {"modelInitializer": {"node": []}}
    assert load(written(tmp_path, model))(X)["out"].tolist() == (X @ W).tolist()
    signatures: list[Any] = [[], 3, {"outputs": 3}, {"outputs": {"t": 3}}]
    for signature in signatures:
        (tmp_path / "odd").mkdir(exist_ok=True)
        odd = with_tables() | {"initializerSignature": signature}
        found = load_model(written(tmp_path / "odd", odd, a=TABLE_DATA))
        assert "table" in found.signatures["serving_default"].inputs


def function(name: str, *nodes: dict[str, Any], ret: str) -> dict[str, Any]:
    """A function of the library that gives one float."""
    stated = {"name": name, "outputArg": [{"name": "o", "type": "DT_FLOAT"}]}
    return {"signature": stated, "nodeDef": list(nodes), "ret": {"o": ret}}


def calling(name: str, called: str) -> dict[str, Any]:
    types = {"list": {"type": ["DT_FLOAT"]}}
    return node(name, "StatefulPartitionedCall", f={"func": {"name": called}}, Tin={"list": {}},
                Tout=types)  # fmt: skip


def test_functions_that_nobody_calls_need_no_weights(tmp_path: Path) -> None:
    unused = function("unused", hollow("c", "DT_FLOAT"), calling("d", "deeper"), ret="c:output:0")
    deeper = function("deeper", hollow("e", "DT_FLOAT"), ret="e:output:0")
    for key in ("modelTopology", "modelInitializer"):
        model = model_json()
        part = model.setdefault(key, {"node": [node("init", "NoOp")]})
        part["library"] = {"function": [unused, deeper]}
        found = load(written(tmp_path, model))
        assert found(X)["out"].tolist() == (X @ W).tolist()
        assert len(found.graph.functions) == 0


def test_functions_that_somebody_calls_need_them(tmp_path: Path) -> None:
    outer = function("outer", calling("d", "deeper"), ret="d:output:0")
    deeper = function("deeper", hollow("e", "DT_FLOAT"), ret="e:output:0")
    model = model_json()
    model["modelInitializer"] = {"node": [calling("init", "outer")]}
    model["modelInitializer"]["library"] = {"function": [outer, deeper]}
    with pytest.raises(BadModelFile, match="no weight 'e'"):
        load(written(tmp_path, model))


def test_functions_of_the_initializer_are_there(tmp_path: Path) -> None:
    value = {"tensor": {"dtype": "DT_FLOAT", "tensorShape": {}, "floatVal": [7.0]}}
    full = node("e", "Const", dtype={"type": "DT_FLOAT"}, value=value)
    model = model_json()
    model["modelInitializer"] = {"node": [calling("init", "seven")]}
    model["modelInitializer"]["library"] = {"function": [function("seven", full, ret="e:output:0")]}
    found = load(written(tmp_path, model))
    assert found.run("initializer/init:0") == 7
    model["modelTopology"]["node"].append(calling("again", "seven"))
    other = function("seven", full, node("more", "NoOp"), ret="e:output:0")
    model["modelTopology"]["library"] = {"function": [other]}
    with pytest.raises(BadModelFile, match="must be the same in both graphs"):
        load(written(tmp_path, model))
