"""What inference knows of a graph, as the bytes that a plugin's optimizer reads.

The answer is a serialised ``OpPerformanceList``: for each node its name and the
``OpInfo.TensorProperties`` of its inputs and outputs. Source: TensorFlow's
``GraphProperties::InferStatically``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntFlag
from functools import lru_cache
from typing import Any, Final

import numpy as np

from drystone_abi.protos import OpInfo
from drystone_base.core.dtypes import RESOURCE, VARIANT, DType
from drystone_base.core.errors import DrystoneError
from drystone_base.core.tensor import to_proto
from drystone_base.core.wire import write_varint
from drystone_base.graph import Graph, Node, Output, parse_tensor_name
from drystone_base.graph.validate import Signatures
from drystone_base.inference.inference import Inference, infer
from drystone_base.ops.attrs import Shape

__all__ = ["Flags", "infer_properties", "properties_of"]

# Field numbers with wire type 2: OpPerformanceList.op_performance; OpPerformance.op and .node;
# OpInfo.inputs and .outputs; TensorProperties.value.
_ENTRY: Final = b"\x0a"
_OP: Final = b"\x0a"
_NODE: Final = b"\x2a"
_INPUT: Final = b"\x1a"
_OUTPUT: Final = b"\x2a"
_VALUE: Final = b"\x1a"
_HANDLES: Final = frozenset({RESOURCE, VARIANT})  # which hold no values that a proto could
_ANNOTATIONS: Final = "_output_shapes"


class Flags(IntFlag):
    """The four choices of ``TF_InferStatically``."""

    ASSUME_VALID_FEEDS = 1
    AGGRESSIVE = 2
    INPUT_VALUES = 4
    OUTPUT_VALUES = 8


def properties_of(data: bytes, feeds: Sequence[str], flags: int) -> bytes:
    """The answer for GraphDef bytes; raises as ``Graph.from_bytes``."""
    return infer_properties(Graph.from_bytes(data), feeds, Flags(flags))


def infer_properties(graph: Graph, feeds: Sequence[str], flags: Flags) -> bytes:
    """The answer for a graph of which ``feeds`` (tensor names) are fed."""
    given: dict[Output, Shape] = {}
    if not flags & Flags.ASSUME_VALID_FEEDS:
        given = {output: None for name in feeds for output in _fed(graph, name)}
    found = infer(graph, given=given)
    if flags & Flags.AGGRESSIVE:
        annotated = dict(_annotations(graph, found, given))
        if annotated:
            found = infer(graph, given=given | annotated)
    return b"".join(_entries(graph, found, flags))


def _fed(graph: Graph, name: str) -> Iterator[Output]:
    """The outputs that a feed covers: one tensor, or all that are known of a node."""
    if name in graph:
        yield from ((graph[name], k) for k in range(max(1, _output_count(graph[name]))))
        return
    node, index = parse_tensor_name(name)
    if node in graph:
        yield graph[node], index


def _output_count(node: Node) -> int:
    try:
        signature = Signatures().of(node)
    except DrystoneError:
        return 1
    types = signature.outputs if signature else None
    return 1 if types is None else len(types)


def _annotations(
    graph: Graph, found: Inference, given: dict[Output, Shape]
) -> Iterator[tuple[Output, Shape]]:
    """Shapes that nodes are annotated with, where inference found none and nothing is fed."""
    for node in graph:
        try:
            shapes = node.attrs.get(_ANNOTATIONS)
        except DrystoneError:
            continue
        for k, shape in enumerate(shapes if isinstance(shapes, list) else ()):
            output = (node, k)
            if output not in given and found.shape(output) is None and isinstance(shape, tuple):
                yield output, shape


def _entries(graph: Graph, found: Inference, flags: Flags) -> Iterator[bytes]:
    signatures = Signatures()
    for node in graph:
        inputs, outputs = _types(node, signatures, found)
        parts = [
            _field(_INPUT, _properties(found, source, dtype, bool(flags & Flags.INPUT_VALUES)))
            for source, dtype in zip(node.inputs, inputs, strict=True)
        ]
        parts += [
            _field(_OUTPUT, _properties(found, (node, k), dtype, bool(flags & Flags.OUTPUT_VALUES)))
            for k, dtype in enumerate(outputs)
        ]
        entry = _field(_OP, b"".join(parts)) + _field(_NODE, node.name.encode())
        yield _field(_ENTRY, entry)


def _types(
    node: Node, signatures: Signatures, found: Inference
) -> tuple[list[DType | None], list[DType | None]]:
    """Dtypes of inputs and outputs, None where the node's definition does not say."""
    try:
        signature = signatures.of(node)
        inputs: list[DType | None] = list(signature.inputs) if signature else []
        outputs: list[DType | None] = list(signature.outputs or ()) if signature else []
    except (DrystoneError, KeyError):
        inputs, outputs, signature = [], [], None
    if len(inputs) != len(node.inputs):
        inputs = [None] * len(node.inputs)
    if signature is None:
        known = found.known.get(node)
        outputs = [None] * (len(known.shapes) if known else 0)
    return inputs, outputs


def _properties(found: Inference, output: Output, dtype: DType | None, with_value: bool) -> bytes:
    body = _plain(dtype.base.number if dtype else 0, found.shape(output))
    if not with_value or (dtype is not None and dtype.base in _HANDLES):
        return body
    value = found.value(output)
    return body if value is None else body + _encoded(value)


@lru_cache(maxsize=1 << 14)
def _plain(dtype: int, shape: Shape) -> bytes:
    properties: Any = OpInfo.TensorProperties(dtype=dtype)  # type: ignore[arg-type]
    properties.shape.unknown_rank = shape is None
    for size in shape or ():
        properties.shape.dim.add(size=size)
    data: bytes = properties.SerializeToString(deterministic=True)
    return data


def _encoded(value: np.ndarray[Any, Any]) -> bytes:
    return _field(_VALUE, to_proto(value).SerializeToString(deterministic=True))


def _field(tag: bytes, body: bytes) -> bytes:
    return tag + write_varint(len(body)) + body
