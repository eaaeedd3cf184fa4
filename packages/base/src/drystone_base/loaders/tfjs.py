"""TensorFlow.js graph models: ``model.json`` with the topology, and shards with the weights.

The topology is a GraphDef in the JSON form of protobuf whose ``Const`` nodes have no values; these
lie in the shards, one after another in the order of the manifest, and belong to a node by its name.
Source: the converter of TensorFlow.js.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np
from google.protobuf import json_format

from drystone_abi.protos import GraphDef, MetaGraphDef, NodeDef, TensorInfo, TensorProto
from drystone_base.core.dtypes import STRING, from_number
from drystone_base.core.errors import BadModelFile, DrystoneError, GraphError
from drystone_base.core.tensor import string_array, to_proto
from drystone_base.files.access import Access
from drystone_base.files.local import map_file
from drystone_base.graph import Graph
from drystone_base.graph.validate import output_dtypes
from drystone_base.loaders._default_signature import default_signature
from drystone_base.loaders._foreign import refuse_foreign
from drystone_base.loaders._loaded import InitStep, LoadedModel, Signature
from drystone_base.loaders._meta import leaves_folder, signatures
from drystone_base.loaders._source import GraphSource
from drystone_base.loaders._tfjs_functions import drop_uncalled, join_functions
from drystone_base.loaders._tfjs_ops import join_initializer, settle_ops

__all__ = ["load_tfjs"]

_Json = dict[str, Any]
_STORED: Final = {
    name: np.dtype(kind).newbyteorder("<")
    for name, kind in {
        **{n: n for n in ("float32", "int32", "complex64", "float16", "uint8", "uint16")},
        "bool": "uint8",
    }.items()
}
_MOST: Final = 1 << 48  # elements; zeros aside
_RANK: Final = 32
_UNFIT: Final = (TypeError, ValueError, OverflowError)
_LENGTH: Final = 4  # bytes before each string
_VALUES: Final = frozenset({"dtype", "tensor_shape", "version_number"})
# What protobuf raises for JSON of another shape; SystemError for text with lone surrogates.
_UNPARSED: Final = (
    json_format.ParseError,
    *(TypeError, ValueError, OverflowError, AttributeError, RecursionError, SystemError),
)


def load_tfjs(path: Path, access: Access | None = None) -> LoadedModel:
    """The graph model whose ``model.json`` is ``path``, with its weights as constants.

    Quantized weights are brought back to the dtype of their node. ``access``: where links among its
    files may lead, beside its own folder. Raises ``BadModelFile``
    (``bad-tfjs-model``, ``unsafe-asset``, ``file-not-found``, ``format-not-supported``),
    ``GraphError``.
    """
    model = _read(path)
    reached = (access or Access()).with_read(path.parent)
    shards: list[Path] = []
    weights: dict[str, np.ndarray[Any, Any]] = {}
    for group in _items(path, model, "weightsManifest"):
        files = [_shard(path, name, reached) for name in _items(path, group, "paths")]
        weights.update(_group(path, group, files))
        shards += files
    proto = _graph(path, model["modelTopology"], weights)
    stated = _stated(model)
    steps: list[InitStep] = []
    if model.get("modelInitializer"):
        tables = _graph(path, model["modelInitializer"], weights)
        inputs, outputs = _infos(stated, "inputs"), _infos(_made(model), "outputs")
        for name in join_functions(proto, tables):
            raise _bad(path, "functions of one name must be the same in both graphs", name)
        sinks, fed = join_initializer(proto, tables, inputs, outputs)
        if fed:
            stated = {**stated, "inputs": {k: v for k, v in inputs.items() if k not in fed}}
        steps = [(sinks, {})]
    graph = Graph.from_proto(proto)
    found = _signature(path, stated, graph)
    size = sum(p.stat().st_size for p in {path, *shards})
    return LoadedModel(
        GraphSource.of(graph), {found.name: found}, path, "tfjs", init_steps=steps, size=size
    )


def _graph(path: Path, topology: Any, weights: Mapping[str, np.ndarray[Any, Any]]) -> GraphDef:
    """The graph of a topology, with its weights, in TensorFlow's own ops."""
    proto: GraphDef = _message(path, topology, GraphDef())
    drop_uncalled(proto)
    for nodes in (proto.node, *(f.node_def for f in proto.library.function)):
        _fill(path, nodes, weights)
        settle_ops(nodes)
    return proto


def _bad(path: Path, check: str, found: object, needed: object = "") -> BadModelFile:
    return BadModelFile(
        f"{path} is not a complete TensorFlow.js model",
        check=check,
        found=found,
        needed=needed or "model.json of a TensorFlow.js graph model, with its shards",
        remedy="copy or download model.json and every shard again, or convert the model again",
        code="bad-tfjs-model",
    )


def _refused(path: Path, found: str, remedy: str) -> BadModelFile:
    return BadModelFile(
        f"{path} is {found}, which cannot be loaded",
        check="a TensorFlow.js model must be a graph model",
        found=found,
        needed='"format": "graph-model"',
        remedy=remedy,
        code="format-not-supported",
        status="UNIMPLEMENTED",
    )


def _read(path: Path) -> _Json:
    """The JSON object of a graph model; refuses layers models."""
    data = map_file(path)
    try:
        model = json.loads(bytes(data))
    except (ValueError, RecursionError) as error:
        refuse_foreign(data, path)
        raise _bad(path, "the file must be JSON", error) from error
    topology = model.get("modelTopology") if isinstance(model, dict) else None
    if not isinstance(topology, dict):
        raise _bad(path, "modelTopology must be an object", type(topology).__name__)
    if model.get("format") == "layers-model" or "model_config" in topology:
        convert = "tensorflowjs_converter --input_format=tfjs_layers_model"
        remedy = f"convert it: {convert} --output_format=tfjs_graph_model model.json FOLDER"
        raise _refused(path, "a TensorFlow.js layers model (Keras layers, no graph)", remedy)
    checked: _Json = model
    return checked


def _items(path: Path, owner: object, key: str) -> list[Any]:
    """A list of the manifest; its absence counts as empty."""
    value = owner.get(key, []) if isinstance(owner, dict) else owner
    if not isinstance(value, list):
        raise _bad(path, f"{key} must be a list", repr(value)[:80])
    return value


def _message(path: Path, value: Any, message: Any) -> Any:
    """Fill a protobuf message from its JSON form; newer fields are passed over."""
    try:
        return json_format.ParseDict(value, message, ignore_unknown_fields=True)
    except _UNPARSED as error:
        name = message.DESCRIPTOR.name
        raise _bad(path, f"the JSON must be a {name}", error, name) from error


# ---- weights -----------------------------------------------------------------------------------


def _shard(path: Path, name: object, access: Access) -> Path:
    if not isinstance(name, str) or not name or leaves_folder(name):
        _unsafe(path, repr(name)[:200], "a plain file name")
    shard = path.parent / name
    if not access.may_read(shard):
        _unsafe(path, f"{name!r}, a link to {shard.resolve()}", "a file in the model's folder")
    return shard


def _unsafe(path: Path, found: str, needed: str) -> NoReturn:
    raise BadModelFile(
        f"a shard of {path} has an unsafe name",
        check="a shard's path must be relative and stay inside the model's folder, links followed",
        found=found,
        needed=needed,
        remedy="do not use this model unless you trust its origin; then convert it again, or open "
        "the folder that a link leads to: --allow-read FOLDER",
        code="unsafe-asset",
        status="INVALID_ARGUMENT",
    )


def _group(
    path: Path, group: _Json, files: list[Path]
) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """The named arrays of one group, which share the bytes of its shards."""
    maps = [map_file(file) for file in files]
    data = maps[0] if len(maps) == 1 else memoryview(b"".join(maps))
    position = 0
    for weight in _items(path, group, "weights"):
        if not isinstance(weight, dict) or not isinstance(weight.get("name"), str):
            raise _bad(path, "every weight must have a name", repr(weight)[:80])
        array, position = _weight(path, weight, data, position)
        yield weight["name"], array
    if position != len(data):
        check = "the shards must hold the weights of the manifest and nothing else"
        raise _bad(path, check, f"{len(data)} bytes", f"{position} bytes")


def _weight(
    path: Path, weight: _Json, data: memoryview, start: int
) -> tuple[np.ndarray[Any, Any], int]:
    """One weight as it is stored at ``start``, dequantized, and where it ends."""
    sizes = _shape(path, weight)
    if weight.get("dtype") == "string":
        return _strings(path, weight, data, start)
    scaling = weight.get("quantization") or {}
    if not isinstance(scaling, dict):
        check = f"the quantization of weight {weight['name']!r} must be an object"
        raise _bad(path, check, repr(scaling)[:80])
    label = scaling.get("dtype")
    stored = _STORED.get(str(label or weight.get("dtype")))
    if stored is None:
        check = f"weight {weight['name']!r} must have a known dtype"
        raise _bad(path, check, repr(label or weight.get("dtype"))[:80], ", ".join(_STORED))
    stop = start + math.prod(sizes) * stored.itemsize
    if stop > len(data):
        raise _short(path, weight, len(data), stop)
    array = np.frombuffer(data[start:stop], stored).reshape(sizes)
    return _dequantized(path, weight, array) if scaling else _plain(weight, array), stop


def _shape(path: Path, weight: _Json) -> tuple[int, ...]:
    shape = weight.get("shape")
    sizes = shape if isinstance(shape, list) and len(shape) <= _RANK else [None]
    sound = all(type(d) is int and 0 <= d < _MOST for d in sizes)
    if sound and math.prod(d or 1 for d in sizes) < _MOST:
        return tuple(sizes)
    raise _bad(path, f"weight {weight['name']!r} must have a shape", repr(shape)[:80])


def _short(path: Path, weight: _Json, size: int, stop: int) -> BadModelFile:
    check = f"the shards must hold all of weight {weight['name']!r}"
    return _bad(path, check, f"{size} bytes", f"{stop} bytes at least")


def _plain(weight: _Json, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array != 0 if weight["dtype"] == "bool" else array


def _dequantized(path: Path, weight: _Json, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """``array * scale + min`` in float64, rounded to the weight's own dtype; float16 is widened."""
    scaling, target = weight["quantization"], weight.get("dtype")
    name = weight["name"]
    if target not in ("float32", "int32"):
        raise _bad(path, f"weight {name!r} must be quantized from float32 or int32", repr(target))
    if array.dtype == np.float16:
        return array.astype(target)
    factors = [scaling.get("scale"), scaling.get("min")]
    if array.dtype.kind != "u" or not all(map(_is_number, factors)):
        check = f"weight {name!r} must have a scale and a minimum"
        raise _bad(path, check, repr(scaling)[:120], "numbers, for uint8 or uint16")
    values = array * np.float64(factors[0]) + np.float64(factors[1])
    return (np.round(values) if target == "int32" else values).astype(target)


def _is_number(value: object) -> bool:
    return type(value) is float or (type(value) is int and abs(value) < 1 << 1000)


def _strings(
    path: Path, weight: _Json, data: memoryview, start: int
) -> tuple[np.ndarray[Any, Any], int]:
    """Strings, each after its length; an empty tensor still takes one length."""
    shape = _shape(path, weight)
    count = math.prod(shape)
    values: list[bytes] = []
    for _ in range(max(count, 1)):
        size = int.from_bytes(data[start : start + _LENGTH], "little")
        stop = start + _LENGTH + size
        if stop > len(data):
            raise _short(path, weight, len(data), stop)
        values.append(bytes(data[start + _LENGTH : stop]))
        start = stop
    return string_array(values[:count], shape), start


# ---- graph -------------------------------------------------------------------------------------


def _fill(
    path: Path, nodes: Iterable[NodeDef], weights: Mapping[str, np.ndarray[Any, Any]]
) -> None:
    """Give constants their values, in the dtype that the node states."""
    for node in nodes:
        if node.op != "Const":
            continue
        array = weights.get(node.name)
        tensor = node.attr["value"].tensor
        if array is not None:
            tensor.CopyFrom(_tensor(path, node, array))
        elif all(field.name in _VALUES for field, _ in tensor.ListFields()):
            check = "every constant must have a weight of its name"
            raise _bad(path, check, f"no weight {node.name!r}")


def _tensor(path: Path, node: NodeDef, array: np.ndarray[Any, Any]) -> TensorProto:
    """The weight of a node; the converter stores int64 as int32 and float64 as float32."""
    try:
        dtype = from_number(node.attr["dtype"].type)
        if (dtype is STRING) != (array.dtype == object):
            raise TypeError(f"the node has {dtype.label}")
        return to_proto(array.astype(dtype.np, copy=False))
    except (DrystoneError, *_UNFIT) as error:
        check = f"the weight of {node.name!r} must fit the node's dtype"
        raise _bad(path, check, array.dtype, str(error).splitlines()[0]) from error


def _stated(model: _Json) -> _Json:
    """The signature that the converter wrote; empty when it wrote none."""
    metadata = model.get("userDefinedMetadata")
    older = metadata.get("signature") if isinstance(metadata, dict) else None
    return model.get("signature") or older or {}


def _made(model: _Json) -> _Json:
    """The signature of the graph that makes tables."""
    metadata = model.get("userDefinedMetadata")
    older = metadata.get("initializerSignature") if isinstance(metadata, dict) else None
    return model.get("initializerSignature") or older or {}


def _infos(signature: object, part: str) -> _Json:
    found = signature.get(part) if isinstance(signature, dict) else None
    return found if isinstance(found, dict) else {}


def _signature(path: Path, stated: _Json, graph: Graph) -> Signature:
    """The stated signature, else placeholders and sinks."""
    if not stated:
        return default_signature(graph)
    meta = MetaGraphDef()
    proto = _message(path, stated, meta.signature_def["serving_default"])
    for info in [*proto.inputs.values(), *proto.outputs.values()]:
        _complete(info, graph)
    found = signatures(meta, str(path))["serving_default"]
    if found.inputs and found.outputs:
        return found
    whole = default_signature(graph)
    return replace(found, inputs=whole.inputs) if found.outputs else whole


def _complete(info: TensorInfo, graph: Graph) -> None:
    """Give a tensor of a signature that states no dtype the one that it has in the graph."""
    if info.dtype or not info.name:
        return
    with suppress(GraphError):
        node, index = graph.output(info.name)
        types = output_dtypes(node) or []
        if index < len(types):
            number: Any = types[index].base.number
            info.dtype = number
