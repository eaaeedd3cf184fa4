"""GraphDefs of any size, encoded node by node so that making them takes little memory."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from drystone_abi.protos import AttrValue, GraphDef, NodeDef, TensorShapeProto, VersionDef
from drystone_base.core.tensor import to_proto

__all__ = ["KINDS", "graph_bytes"]

KINDS = ("chain", "wide", "layered")
WIDTH = 100
"""Nodes in a layer of the layered graph."""
GROUP = 64
"""Nodes that one AddN of the wide graph adds up."""


def graph_bytes(kind: str, nodes: int) -> bytes:
    """A binary GraphDef of ``nodes`` float32 nodes; the same arguments give the same bytes.

    ``chain``: each reads the one before. ``wide``: one node is read by nearly all others, whose
    values are added up in groups of 64. ``layered``: layers of 100 that read two nodes of the layer
    before, with constants and control edges among them.
    """
    make = {"chain": _chain, "wide": _wide, "layered": _layered}[kind]
    encoded = bytearray()
    for node in make(nodes):
        body = node.SerializeToString(deterministic=True)
        encoded += b"\x0a" + _varint(len(body)) + body
    versions = GraphDef(versions=VersionDef(producer=1882, min_consumer=12))
    return bytes(encoded + versions.SerializeToString(deterministic=True))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _name(block: int, part: str, k: int) -> str:
    return f"encoder/layer_{block:05d}/attention/self/{part}_{k}/BiasAdd"


def _node(op: str, name: str, *inputs: str, **attrs: Any) -> NodeDef:
    node = NodeDef(op=op, name=name, input=inputs)
    for key, value in attrs.items():
        node.attr[key].CopyFrom(value)
    return node


FLOAT = AttrValue(type="DT_FLOAT")


def _input() -> NodeDef:
    dims = [TensorShapeProto.Dim(size=-1), TensorShapeProto.Dim(size=64)]
    shape = AttrValue(shape=TensorShapeProto(dim=dims))
    return _node("Placeholder", "input_1", dtype=FLOAT, shape=shape)


def _step(k: int, name: str, *sources: str) -> NodeDef:
    """An element-wise node: mostly binary, or unary where it has one source."""
    if len(sources) > 1:
        return _node(("AddV2", "Mul", "Maximum")[k % 3], name, *sources, T=FLOAT)
    return _node(("Relu", "Tanh", "Neg", "Sigmoid")[k % 4], name, *sources, T=FLOAT)


def _chain(nodes: int) -> Iterator[NodeDef]:
    yield _input()
    last = "input_1"
    for k in range(1, nodes):
        name = _name(k // 20, "query", k % 20)
        yield _step(k, name, last, *([last] if k % 2 else []))
        last = name


def _wide(nodes: int) -> Iterator[NodeDef]:
    yield _input()
    group: list[str] = []
    for k in range(1, nodes):
        name = _name(k // 20, "key", k % 20)
        if len(group) == GROUP or (k == nodes - 1 and group):
            yield _node("AddN", name, *group, N=AttrValue(i=len(group)), T=FLOAT)
            group = []
        else:
            yield _step(k, name, "input_1")
            group.append(name)


def _layered(nodes: int) -> Iterator[NodeDef]:
    choose = random.Random(1)
    yield _input()
    above, layer = ["input_1"], []
    for k in range(1, nodes):
        name = _name(k // WIDTH, "value", k % WIDTH)
        if k % 8 == 0:
            values = np.full(64, k / nodes, np.float32)
            yield _node("Const", name, dtype=FLOAT, value=AttrValue(tensor=to_proto(values)))
        else:
            wait = [f"^{choose.choice(above)}"] if k % 50 == 1 else []
            step = _step(k, name, choose.choice(above), choose.choice(above))
            step.input.extend(wait)
            yield step
        layer.append(name)
        if len(layer) == WIDTH:
            above, layer = layer, []
