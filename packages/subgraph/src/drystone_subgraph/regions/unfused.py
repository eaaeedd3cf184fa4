"""Fused layers taken apart again, for engines that know the plain ops and fuse by themselves."""

from __future__ import annotations

from typing import Any, Final

from drystone_base.graph import Graph, Node, Output

__all__ = ["FUSED", "unfuse"]

_PLAIN: Final = {
    "_FusedConv2D": "Conv2D",
    "_FusedDepthwiseConv2dNative": "DepthwiseConv2dNative",
    "_FusedMatMul": "MatMul",
}
FUSED: Final = frozenset(_PLAIN)
"""Ops that :func:`unfuse` takes apart."""

_ATTRS: Final = (
    "T", "strides", "padding", "explicit_paddings", "data_format", "dilations", "transpose_a",
    "transpose_b",
)  # fmt: skip
_ARGS: Final = {"BiasAdd": 1, "FusedBatchNorm": 4, "Add": 1}


def unfuse(graph: Graph, node: Node) -> None:
    """Put a layer and the ops after it in the place of a fused node; the last gets its name."""
    attrs = node.full_attrs()
    name, inputs = node.name, list(node.inputs)
    plain: dict[str, Any] = {k: attrs[k] for k in _ATTRS if k in attrs}
    if attrs.get("padding") != "EXPLICIT":
        plain.pop("explicit_paddings", None)
    last = _add(graph, name, _PLAIN[node.op], inputs[:2], plain)
    rest = inputs[2:]
    for op in attrs["fused_ops"]:
        count = _ARGS.get(op, 0)
        given, rest = rest[:count], rest[count:]
        last = _add(graph, name, *_op(op, [(last, 0), *given], attrs))
    graph.redirect((node, 0), (last, 0))
    graph.redirect_controls(node, last)
    graph.remove(node)
    graph.rename(last, name)


def _op(
    op: str, inputs: list[Output], attrs: dict[str, Any]
) -> tuple[str, list[Output], dict[str, Any]]:
    """The plain op for one of ``fused_ops``, with its inputs and attributes."""
    own: dict[str, Any] = {"T": attrs["T"]}
    if op in ("BiasAdd", "FusedBatchNorm"):
        own["data_format"] = attrs.get("data_format", "NHWC")
    if op == "FusedBatchNorm":
        own |= {"U": attrs["T"], "epsilon": attrs["epsilon"], "is_training": False}
        op = "FusedBatchNormV3"
    if op == "LeakyRelu":
        own["alpha"] = attrs["leakyrelu_alpha"]
    return "AddV2" if op == "Add" else op, inputs, own


def _add(graph: Graph, stem: str, op: str, inputs: list[Output], attrs: dict[str, Any]) -> Node:
    return graph.add(op, graph.unique_name(f"{stem}/{op}"), inputs, attrs=attrs)
