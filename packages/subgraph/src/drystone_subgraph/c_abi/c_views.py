"""Nodes and regions as the structs that a backend in C reads."""

from __future__ import annotations

import ctypes as c
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.graph import Body, FunctionLibrary, Node, topological_order
from drystone_base.graph.calls import calls_function
from drystone_base.graph.validate import output_dtypes
from drystone_base.host.tensors import HostTensor
from drystone_base.ops.attrs import Shape
from drystone_subgraph.c_abi.c_structs import NodeView, RegionView, ValueView, preset
from drystone_subgraph.regions.callees import called_functions

__all__ = ["End", "View", "node_view", "region_view"]


@dataclass
class View:
    """A struct, and what must live as long as it."""

    struct: Any
    kept: list[Any]

    @property
    def pointer(self) -> Any:
        """A pointer to the struct."""
        return c.pointer(self.struct)


@dataclass(frozen=True)
class End:
    """What goes into a region or comes out of it."""

    dtype: DType
    shape: Shape = None
    source: str = ""
    value: np.ndarray[Any, Any] | None = None
    is_weight: bool = False
    device: str = ""


def node_view(node: Node, inputs: Sequence[tuple[int, int]] | None = None) -> View:
    """``DS_SubgraphNode``; ``inputs``: the node of the region and the output, for each input."""
    data = node.to_proto().SerializeToString()
    types = [t.number for t in output_dtypes(node) or ()]
    flat = None if inputs is None else [k for pair in inputs for k in pair]
    pairs = None if flat is None else (c.c_int32 * len(flat))(*flat)
    numbers = (c.c_int * len(types))(*types)
    struct = preset(
        NodeView,
        name=node.name.encode(),
        op=node.op.encode(),
        device=node.device.encode(),
        node_def=data,
        node_def_size=len(data),
        num_inputs=len(node.inputs),
        num_outputs=len(types),
    )
    struct.output_types = c.cast(numbers, c.POINTER(c.c_int))
    if pairs is not None:
        struct.inputs = c.cast(pairs, c.POINTER(c.c_int32))
    return View(struct, [data, pairs, numbers])


def region_view(
    name: str,
    body: Body,
    inputs: Sequence[End],
    outputs: Sequence[End],
    threads: int = 0,
    attrs: bytes | None = None,
) -> View:
    """``DS_SubgraphRegion``."""
    ends = {*body.args, *body.results}
    nodes = [node for node in topological_order(body.graph) if node not in ends]
    place = {node: k for k, node in enumerate(nodes)}
    given = {node: k for k, node in enumerate(body.args)}

    def where(output: tuple[Node, int]) -> tuple[int, int]:
        node, slot = output
        return (-1, given[node]) if node in given else (place[node], slot)

    views = [node_view(node, [where(o) for o in node.inputs]) for node in nodes]
    into = [_value(end, (0, 0)) for end in inputs]
    out = [
        _value(end, where(result.inputs[0]))
        for end, result in zip(outputs, body.results, strict=True)
    ]
    functions = _functions(nodes, body.graph.functions)
    struct = preset(
        RegionView,
        name=name.encode(),
        num_nodes=len(views),
        num_inputs=len(into),
        num_outputs=len(out),
        threads=threads,
        functions=functions,
        functions_size=len(functions or b""),
        attrs=attrs,
        attrs_size=len(attrs or b""),
    )
    kept: list[Any] = [views, into, out, functions, attrs]
    for field, kind, list_ in (
        ("nodes", NodeView, views), ("inputs", ValueView, into), ("outputs", ValueView, out)
    ):  # fmt: skip
        pointers = (c.POINTER(kind) * len(list_))(*(view.pointer for view in list_))
        setattr(struct, field, c.cast(pointers, c.POINTER(c.POINTER(kind))))
        kept.append(pointers)
    return View(struct, kept)


def _functions(nodes: Sequence[Node], library: FunctionLibrary) -> bytes | None:
    """A serialised library of what the nodes call; None where that is nothing."""
    calls = [n.to_proto() for n in nodes if n.op in library or calls_function(n)]
    return called_functions(calls, library).SerializeToString(deterministic=True) or None


def _value(end: End, where: tuple[int, int]) -> View:
    dims = None if end.shape is None else (c.c_int64 * len(end.shape))(*end.shape)
    tensor = None if end.value is None else HostTensor.from_numpy(end.value, end.dtype)
    struct = preset(
        ValueView,
        source=end.source.encode(),
        dtype=end.dtype.number,
        rank=-1 if end.shape is None else len(end.shape),
        value=None if tensor is None else tensor.handle,
        is_weight=end.is_weight,
        node=where[0],
        output=where[1],
        device=end.device.encode(),
    )
    if dims is not None:
        struct.dims = c.cast(dims, c.POINTER(c.c_int64))
    return View(struct, [dims, tensor])
