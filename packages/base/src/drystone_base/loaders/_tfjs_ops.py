"""What TensorFlow.js graphs have that TensorFlow's do not: ops of the converter's own, tables.

A model with tables comes with a second graph that makes and fills them. Its outputs and the inputs
of the model that take them have the same ``resourceId``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from drystone_abi.protos import DataType, GraphDef, NodeDef

__all__ = ["join_initializer", "settle_ops"]

# The converter's own op for what TensorFlow has under another name with the same attrs.
_RENAMED: Final = {"FusedDepthwiseConv2dNative": "_FusedDepthwiseConv2dNative"}
_PREFIX: Final = "initializer"


def settle_ops(nodes: Any) -> None:
    """Bring the converter's ops to TensorFlow's; ``nodes`` is the node list of a graph."""
    taken = {node.name for node in nodes}
    added: list[NodeDef] = []
    for node in nodes:
        node.op = _RENAMED.get(node.op, node.op)
        if node.op == "Prelu" and len(node.input) >= 2:
            added += _prelu(node, node.input[0], node.input[1], taken)
        elif "fused_ops" in node.attr and node.attr["fused_ops"].list.s[-1:] == [b"Prelu"]:
            added += _without_prelu(node, taken)
    nodes.extend(added)
    for node in nodes:
        if node.op == "_FusedConv2D" and "TArgs" not in node.attr:
            count = min(node.attr["num_args"].i, len(node.input))
            node.attr["TArgs"].list.type.extend([node.attr["T"].type] * count)


def _fresh(name: str, taken: set[str]) -> str:
    """A name like ``name`` that no node has."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _without_prelu(node: NodeDef, taken: set[str]) -> list[NodeDef]:
    """Turn a fused node into its last part, Prelu; the rest, under another name, is added."""
    rest = NodeDef()
    rest.CopyFrom(node)
    rest.name = _fresh(f"{node.name}/fused", taken)
    inputs = [name for name in node.input if not name.startswith("^")]
    controls = [name for name in node.input if name.startswith("^")]
    del rest.input[:]
    rest.input.extend(inputs[:-1] + controls)
    alpha = inputs[-1] if inputs else ""  # which the graph's own check refuses
    del rest.attr["fused_ops"].list.s[-1]
    rest.attr["num_args"].i = max(node.attr["num_args"].i - 1, 0)
    return [rest, *_prelu(node, rest.name, alpha, taken)]


def _prelu(node: NodeDef, x: str, alpha: str, taken: set[str]) -> list[NodeDef]:
    """Make the node ``x < 0 ? alpha * x : x``, and give the nodes that it reads."""
    kind = node.attr["T"].type or DataType.DT_FLOAT
    controls = [name for name in node.input if name.startswith("^")]
    zero = NodeDef(name=_fresh(f"{node.name}/zero", taken), op="Const")
    zero.attr["dtype"].type = kind
    zero.attr["value"].tensor.dtype = kind  # lists nothing: zero
    below = NodeDef(name=_fresh(f"{node.name}/below", taken), op="Less", input=[x, zero.name])
    scaled = NodeDef(name=_fresh(f"{node.name}/scaled", taken), op="Mul", input=[alpha, x])
    for part in (below, scaled):
        part.attr["T"].type = kind
    node.op = "SelectV2"
    node.attr.clear()
    node.attr["T"].type = kind
    del node.input[:]
    node.input.extend([below.name, scaled.name, x, *controls])
    return [zero, below, scaled]


def join_initializer(
    graph: GraphDef, initializer: GraphDef, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
) -> tuple[list[str], set[str]]:
    """Put the nodes of ``initializer`` into ``graph`` and feed the tables that it makes.

    ``inputs`` and ``outputs`` are those of the two signatures, in JSON. Returns the nodes to run
    once, and the names of the inputs that are fed so.
    """
    taken = {node.name for node in graph.node}
    prefix = _fresh(_PREFIX, taken)
    read = {_producer(name) for node in initializer.node for name in node.input}
    sinks = [f"{prefix}/{node.name}" for node in initializer.node if node.name not in read]
    made = {_resource(info): str(info.get("name", "")) for info in _dicts(outputs)}
    nodes = {node.name: node for node in graph.node}
    fed = set()
    for key, info in inputs.items():
        source = made.get(_resource(info)) if isinstance(info, dict) else None
        node = nodes.get(_producer(str(info.get("name", key)))) if source else None
        if source and node is not None:
            _forward(node, f"{prefix}/{source}")
            fed.add(key)
    for node in initializer.node:
        node.name = f"{prefix}/{node.name}"
        names = [_prefixed(prefix, name) for name in node.input]
        del node.input[:]
        node.input.extend(names)
    graph.node.extend(initializer.node)
    return sinks, fed


def _dicts(infos: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    return (info for info in infos.values() if isinstance(info, dict))


def _resource(info: Mapping[str, Any]) -> str:
    return str(info.get("resourceId", info))


def _producer(name: str) -> str:
    return name.removeprefix("^").split(":")[0]


def _prefixed(prefix: str, name: str) -> str:
    return f"^{prefix}/{name[1:]}" if name.startswith("^") else f"{prefix}/{name}"


def _forward(node: NodeDef, source: str) -> None:
    """Turn a placeholder into what hands ``source`` on."""
    node.op = "Identity"
    node.attr.clear()
    node.attr["T"].type = DataType.DT_RESOURCE
    node.input.append(source)
