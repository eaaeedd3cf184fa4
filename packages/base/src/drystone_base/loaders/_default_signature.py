"""The signature of a graph that states none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from drystone_base.graph import Graph, Node, conditional_nodes, placeholder_shape
from drystone_base.graph.node import held_tensor
from drystone_base.graph.validate import output_dtypes
from drystone_base.loaders._loaded import Signature, TensorSpec
from drystone_base.ops.properties import PLACEHOLDERS, SWITCHES

__all__ = ["default_signature", "with_optional"]

_PLACEHOLDERS: Final = frozenset({"Placeholder", "PlaceholderV2"})
_OPTIONAL: Final = "PlaceholderWithDefault"
# Their unread outputs are leftovers or state, never answers.
_NO_SINK: Final = PLACEHOLDERS | {"Const", "VariableV2", "Variable", "NoOp", "Assert"}
# Ops at which branches and loops of frames begin.
_OPENERS: Final = SWITCHES | {"Enter", "RefEnter"}


def default_signature(graph: Graph, *, ignore: frozenset[str] = frozenset()) -> Signature:
    """Placeholders as inputs (those with a default are optional), sinks as outputs, in their order.

    A sink is a node with outputs that no node reads or waits for and that depends on an input
    (where any must be given), but is no assignment and not inside a branch or a loop. Names are
    node names, with ``:k`` for outputs beyond the first. Placeholders that no node reads are left
    out, and so are nodes named in ``ignore``.
    """
    outputs: dict[str, TensorSpec] = {}
    users: dict[Node, list[Node]] = {}
    for node in graph:
        for source, _ in node.inputs:
            users.setdefault(source, []).append(node)
    waited_for = {source for node in graph for source in node.controls}
    heads = [n for n in graph if n.op in _PLACEHOLDERS and n in users and n.name not in ignore]
    may = [n for n in graph if n.op == _OPTIONAL and n in users and n.name not in ignore]
    inputs = {n.name: _placeholder_spec(n) for n in (*heads, *may)}
    reached = _downstream(heads, users) if heads else None
    inside = conditional_nodes(graph) if any(n.op in _OPENERS for n in graph) else set()
    for node in graph:
        sink = node not in users and node not in waited_for and node.op not in _NO_SINK
        named = node.name not in ignore and node not in inside
        if sink and named and (reached is None or node in reached):
            outputs.update(_sink_specs(node))
    return Signature("default", inputs, outputs)


def _downstream(heads: list[Node], users: dict[Node, list[Node]]) -> set[Node]:
    """Every node that data from ``heads`` can reach."""
    reached = set(heads)
    queue = list(heads)
    while queue:
        for user in users.get(queue.pop(), ()):
            if user not in reached:
                reached.add(user)
                queue.append(user)
    return reached


def _placeholder_spec(node: Node) -> TensorSpec:
    shape, optional = placeholder_shape(node), node.op == _OPTIONAL
    return TensorSpec(f"{node.name}:0", node.attr("dtype"), shape, optional)


def with_optional(signatures: Mapping[str, Signature], graph: Graph) -> dict[str, Signature]:
    """The signatures, in which inputs that the graph has a default for are marked as such.

    A signature's own defaults are left out where they are the graph's: passes see those.
    """
    return {
        name: replace(
            signature,
            inputs={n: _marked(s, graph) for n, s in signature.inputs.items()},
            defaults={
                n: v
                for n, v in signature.defaults.items()
                if not _has_default(graph, signature.inputs[n].tensor, v)
            },
        )
        for name, signature in signatures.items()
    }


def _has_default(graph: Graph, tensor: str, value: np.ndarray[Any, Any]) -> bool:
    """Whether the graph gives a placeholder this very value where it is not fed."""
    node = graph.get(tensor.partition(":")[0])
    if node is None or node.op != _OPTIONAL or not node.inputs:
        return False
    stated = held_tensor(node.inputs[0][0])
    if stated is None:
        return False
    own = stated.array
    same_kind = own.dtype == value.dtype and own.shape == value.shape
    return same_kind and bool(own.tolist() == value.tolist())


def _marked(spec: TensorSpec, graph: Graph) -> TensorSpec:
    node = graph.get(spec.tensor.partition(":")[0])
    return spec._replace(optional=True) if node is not None and node.op == _OPTIONAL else spec


def _sink_specs(node: Node) -> dict[str, TensorSpec]:
    stated = node.attrs.get("_output_shapes")
    shapes = stated if isinstance(stated, list) else []
    return {
        node.name if k == 0 else f"{node.name}:{k}": TensorSpec(
            f"{node.name}:{k}", dtype, shapes[k] if k < len(shapes) else None
        )
        for k, dtype in enumerate(output_dtypes(node) or [])
        if not dtype.ref and dtype.label not in ("resource", "variant")
    }
