"""What SavedModels and MetaGraphs share: parsing without copying the graph, signatures, assets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from google.protobuf import text_format
from google.protobuf.message import DecodeError, Message

from drystone_abi.protos import GraphDef, MetaGraphDef, SignatureDef, TensorInfo, TensorProto
from drystone_base.core.dtypes import INT64, from_number
from drystone_base.core.errors import BadModelFile, GraphError
from drystone_base.core.shown import shape_text
from drystone_base.core.tensor import from_proto
from drystone_base.core.wire import fields
from drystone_base.graph import Graph
from drystone_base.graph.pbtxt import spelled_out
from drystone_base.loaders._argument_order import argument_orders, order_of
from drystone_base.loaders._assets import asset_defs, path_tensor
from drystone_base.loaders._libraries import place_libraries
from drystone_base.loaders._loaded import Signature, TensorSpec
from drystone_base.ops.attrs import decode_shape

__all__ = [
    "MetaParts",
    "asset_feeds",
    "asset_files",
    "bad_file",
    "collection",
    "from_message",
    "hidden_signature",
    "leaves_folder",
    "parse_meta",
    "parse_text",
    "signatures",
    "split_field",
]

M = TypeVar("M", bound=Message)

_META_GRAPH_DEF = 2
_HIDDEN = re.compile(r"__saved_model_")
_UNSAFE = re.compile(r"[\x00\\]|^/|^[A-Za-z]:|(^|/)\.\.(/|$)")


class MetaParts(NamedTuple):
    """A MetaGraphDef without its graph, and the graph as bytes in the file or as a message.

    ``folder``: of a model that may carry libraries, which its nodes name from there.
    """

    meta: MetaGraphDef
    graph: memoryview | GraphDef
    folder: Path | None = None

    def load_graph(self) -> Graph:
        """The graph; raises as ``Graph.from_bytes`` does."""
        held = self.graph
        graph = Graph.from_proto(held) if isinstance(held, GraphDef) else Graph.from_bytes(held)
        if self.folder is not None:
            place_libraries(graph, self.folder)
        return graph


def bad_file(what: str, kind: str, error: object, inner: BaseException | None) -> BadModelFile:
    """The error for bytes that are not the message that they should be."""
    return BadModelFile(
        f"{what} cannot be read",
        check=f"the file must be a {kind}",
        found=error,
        needed=f"a complete {kind}, binary or text",
        remedy="the file is truncated or something else: copy or export it again",
        code="bad-meta-graph" if kind == "MetaGraphDef" else "bad-saved-model",
        inner=inner,
    )


def split_field(
    data: memoryview, number: int, what: str, kind: str
) -> tuple[bytes, list[memoryview]]:
    """A message without one length-delimited field, and the payloads of that field in place."""
    rest: list[bytes] = []
    payloads: list[memoryview] = []
    try:
        for tag, start, payload, stop in fields(data):
            if tag == number << 3 | 2:
                payloads.append(data[payload:stop])
            else:
                rest.append(bytes(data[start:stop]))
    except BadModelFile as error:
        raise bad_file(what, kind, error.found, error) from error
    return b"".join(rest), payloads


def parse_meta(data: memoryview, what: str, kind: str = "MetaGraphDef") -> MetaParts:
    """A binary MetaGraphDef; large constants of its graph stay where they are."""
    rest, graphs = split_field(data, _META_GRAPH_DEF, what, kind)
    try:
        meta = MetaGraphDef.FromString(rest)
    except DecodeError as error:
        raise bad_file(what, kind, error, error) from error
    # Protobuf merges a message that comes in several pieces: so does joining their bytes.
    return MetaParts(meta, graphs[0] if len(graphs) == 1 else memoryview(b"".join(graphs)))


def parse_text(data: memoryview, message: M, what: str, kind: str) -> M:
    """Fill a message from protobuf text; raises ``BadModelFile`` with line and column."""
    try:
        return text_format.Parse(
            spelled_out(bytes(data).decode()), message, allow_unknown_field=True
        )
    except (text_format.ParseError, ValueError, RecursionError) as error:
        raise bad_file(what, kind, error, error) from error


def from_message(meta: MetaGraphDef) -> MetaParts:
    """The parts of a parsed MetaGraphDef, which loses its graph."""
    graph = GraphDef()
    graph.CopyFrom(meta.graph_def)
    meta.ClearField("graph_def")
    return MetaParts(meta, graph)


def collection(meta: MetaGraphDef, key: str) -> list[str]:
    """Names of nodes in a collection; empty when there is none."""
    if key not in meta.collection_def:
        return []
    found = meta.collection_def[key]
    if found.WhichOneof("kind") == "bytes_list":
        return [v.decode("utf-8", "surrogateescape") for v in found.bytes_list.value]
    return list(found.node_list.value)


# ---- signatures --------------------------------------------------------------------------------


def signatures(meta: MetaGraphDef, what: str) -> dict[str, Signature]:
    """The signatures that a person may call, sorted by name; those for initialisation are left out.

    Raises ``BadModelFile`` (``bad-saved-model``) for a signature of impossible dtype or shape.
    """
    orders = argument_orders(meta.object_graph_def)
    try:
        return {
            name: _signature(name, meta.signature_def[name], orders)
            for name in sorted(meta.signature_def)
            if not hidden_signature(name)
        }
    except GraphError as error:
        raise bad_file(what, "SavedModel with sound signatures", error.found, error) from error


def hidden_signature(name: str) -> bool:
    """Whether a signature is no way to call the model but tells what runs when it is loaded."""
    return _HIDDEN.match(name) is not None


def _signature(name: str, proto: SignatureDef, orders: list[tuple[str, ...]]) -> Signature:
    inputs = _specs(proto.inputs)
    order = order_of(inputs, orders)
    defaults = {n: _default(n, inputs[n], v) for n, v in proto.defaults.items() if n in inputs}
    inputs |= {n: inputs[n]._replace(optional=True) for n in defaults}
    return Signature(name, inputs, _specs(proto.outputs), proto.method_name, order, defaults)


def _default(name: str, spec: TensorSpec, proto: TensorProto) -> np.ndarray[Any, Any]:
    """The value of an input that is not given; raises ``GraphError`` for one that does not fit."""
    value, shape = from_proto(proto), spec.shape
    fits = shape is None or (
        len(shape) == value.ndim
        and all(d < 0 or d == n for d, n in zip(shape, value.shape, strict=True))
    )
    if from_number(proto.dtype).base is not spec.dtype or not fits:
        raise GraphError(
            f"the default of input {name!r} does not fit",
            check="a default must have the dtype and shape of its input",
            found=f"a default of {name}: {from_number(proto.dtype)} {shape_text(value.shape)}",
            needed=f"{spec.dtype} {shape_text(shape)}",
            remedy="export the model again",
            code="bad-tensor",
        )
    return value


def _specs(infos: Mapping[str, TensorInfo]) -> dict[str, TensorSpec]:
    return dict(item for name in sorted(infos) for item in _expand(name, infos[name], 0))


def _expand(name: str, info: TensorInfo, depth: int) -> Iterator[tuple[str, TensorSpec]]:
    """The tensors of one argument: sparse and composite ones have several, named ``name/part``."""
    kind = info.WhichOneof("encoding")
    if kind == "coo_sparse":
        yield from _sparse(name, info)
    elif kind == "composite_tensor" and depth < 8:
        for k, component in enumerate(info.composite_tensor.components):
            yield from _expand(f"{name}/{k}", component, depth + 1)
    elif kind == "name":
        yield name, _spec(info.name, info)


def _spec(tensor: str, info: TensorInfo) -> TensorSpec:
    shape = decode_shape(info.tensor_shape) if info.HasField("tensor_shape") else None
    return TensorSpec(tensor, from_number(info.dtype).base, shape)


def _sparse(name: str, info: TensorInfo) -> Iterator[tuple[str, TensorSpec]]:
    sparse = info.coo_sparse
    shape = decode_shape(info.tensor_shape) if info.HasField("tensor_shape") else None
    rank = -1 if shape is None else len(shape)
    yield f"{name}/indices", TensorSpec(sparse.indices_tensor_name, INT64, (-1, rank))
    values = TensorSpec(sparse.values_tensor_name, from_number(info.dtype).base, (-1,))
    yield f"{name}/values", values
    yield f"{name}/dense_shape", TensorSpec(sparse.dense_shape_tensor_name, INT64, (rank,))


# ---- assets ------------------------------------------------------------------------------------


def asset_files(meta: MetaGraphDef, folder: Path) -> dict[str, Path]:
    """Asset tensors with the files whose paths they take.

    Raises ``BadModelFile`` (``unsafe-asset``) for a name that leaves the folder, ``missing-asset``.
    """
    found = asset_defs(meta, str(folder.parent))
    return {a.tensor_info.name: _asset(a.filename, folder) for a in found}


def leaves_folder(name: str) -> bool:
    """Whether a relative file name is absolute, climbs out of its folder or hides that it does."""
    return _UNSAFE.search(name) is not None


def _asset(filename: str, folder: Path) -> Path:
    if not filename or leaves_folder(filename):
        raise BadModelFile(
            f"an asset of {folder.parent} has an unsafe name",
            check="an asset's name must be relative and stay inside the assets folder",
            found=repr(filename),
            needed="a plain file name",
            remedy="do not use this model unless you trust its origin; export it again",
            code="unsafe-asset",
            status="INVALID_ARGUMENT",
        )
    path = folder / filename
    if not path.is_file():
        beside = sorted(os.listdir(folder))[:8] if folder.is_dir() else []
        raise BadModelFile(
            f"asset {path} does not exist",
            check="every asset that the model names must be present",
            found=", ".join(beside) or "no files in assets",
            needed=filename,
            remedy="copy the assets folder beside saved_model.pb",
            code="missing-asset",
            status="NOT_FOUND",
        )
    return path


def asset_feeds(assets: Mapping[str, Path], graph: Graph) -> dict[str, np.ndarray[Any, Any]]:
    """The feeds that tell a graph where its assets lie; tensors that are gone are passed over."""
    return {
        tensor: path_tensor(path)
        for tensor, path in assets.items()
        if tensor.rpartition(":")[0] in graph or tensor in graph
    }
