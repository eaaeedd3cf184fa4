"""Checks of nodes against their op definitions: fan-in, attributes, dtypes along edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NoReturn

from drystone_base.dtypes import DType
from drystone_base.errors import DrystoneError, GraphError
from drystone_base.graph.graph import Graph
from drystone_base.graph.node import Node
from drystone_base.ops.attrs import FunctionRef, Placeholder, TensorAttr
from drystone_base.ops.defs import AttrDef, OpDef, find

__all__ = ["definition_of", "output_dtypes", "validate", "validate_node"]

_PYTHON_TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "int": int,
    "float": (float, int),
    "bool": bool,
    "string": str,
    "type": DType,
    "shape": (tuple, type(None)),
    "tensor": TensorAttr,
    "func": FunctionRef,
}


def definition_of(node: Node) -> OpDef | None:
    """The op definition of a node; the signature when its op is a function of the graph."""
    found = find(node.op)
    if found is not None:
        return found
    function = node.graph.functions.get(node.op)
    return function.signature if function else None


def output_dtypes(node: Node) -> list[DType] | None:
    """Dtypes of a node's outputs; None when its op is unknown or its attributes do not say."""
    definition = definition_of(node)
    if definition is None:
        return None
    try:
        return list(definition.output_types(node.full_attrs()))
    except (DrystoneError, KeyError):
        return None


def validate(graph: Graph, nodes: Iterable[Node] | None = None) -> None:
    """Check nodes (all by default) against their op definitions; unknown ops are passed over.

    Raises ``GraphError``: ``missing-attr``, ``bad-attr``, ``wrong-fan-in``, ``bad-output-index``,
    ``dtype-mismatch``.
    """
    outputs: dict[Node, list[DType] | None] = {}
    for node in graph if nodes is None else nodes:
        validate_node(node, outputs)


def validate_node(node: Node, outputs: dict[Node, list[DType] | None]) -> None:
    """Check one node; ``outputs`` caches the output dtypes of nodes seen before."""
    definition = definition_of(node)
    if definition is None:
        return
    attrs = node.full_attrs()
    for name, declared in definition.attrs.items():
        _check_attr(node, name, declared, attrs)
    wanted = _input_types(node, definition, attrs)
    if len(wanted) != len(node.inputs):
        _fail(
            node,
            "wrong-fan-in",
            "the number of inputs must be what the op takes",
            f"{len(node.inputs)} inputs",
            f"{len(wanted)} inputs",
        )
    for index, (source, slot) in enumerate(node.inputs):
        if source not in outputs:
            outputs[source] = output_dtypes(source)
        _check_edge(node, index, source, slot, outputs[source], wanted[index])


def _input_types(node: Node, definition: OpDef, attrs: Mapping[str, Any]) -> list[DType]:
    try:
        return list(definition.input_types(attrs))
    except KeyError as error:
        _fail(
            node, "missing-attr", "attributes that set the fan-in must be given", "nothing", error
        )


def _check_attr(node: Node, name: str, declared: AttrDef, attrs: Mapping[str, Any]) -> None:
    if name not in attrs:
        _fail(
            node,
            "missing-attr",
            "an attribute without a default must be given",
            f"{name!r} is missing",
            f"a value of type {declared.type}",
        )
    value = attrs[name]
    if isinstance(value, Placeholder):
        return
    if declared.type.startswith("list("):
        kind, values = declared.type[5:-1], value
        if not isinstance(values, list):
            if values is None:
                return
            _wrong_type(node, name, declared, value)
    else:
        kind, values = declared.type, [value]
    expected = _PYTHON_TYPES.get(kind, object)
    for item in values:
        if not isinstance(item, expected) or (kind == "int" and isinstance(item, bool)):
            _wrong_type(node, name, declared, item)
    _check_limits(node, name, declared, value)


def _check_limits(node: Node, name: str, declared: AttrDef, value: Any) -> None:
    """The op definition's list of allowed values and its minimum."""
    items = value if isinstance(value, list) else [value]
    if declared.allowed:
        for item in items:
            plain = item.base if isinstance(item, DType) else item
            if plain not in declared.allowed:
                allowed = ", ".join(str(a) for a in declared.allowed)
                _fail(
                    node,
                    "bad-attr",
                    f"attribute {name!r} must be one of the values that the op allows",
                    plain,
                    allowed,
                )
    if declared.minimum is not None:
        size = len(items) if isinstance(value, list) else value
        if size < declared.minimum:
            _fail(
                node,
                "bad-attr",
                f"attribute {name!r} must not be below its minimum",
                size,
                f"{declared.minimum} or more",
            )


def _wrong_type(node: Node, name: str, declared: AttrDef, value: Any) -> NoReturn:
    _fail(
        node,
        "bad-attr",
        f"attribute {name!r} must be of its declared type",
        f"{value!r} ({type(value).__name__})",
        declared.type,
    )


def _check_edge(
    node: Node, index: int, source: Node, slot: int, types: list[DType] | None, wanted: DType
) -> None:
    if types is None:
        return
    if slot >= len(types):
        _fail(
            node,
            "bad-output-index",
            f"input {index} must read an output that its node has",
            f"{source.name}:{slot}",
            f"{source.op} has {len(types)} outputs",
        )
    found = types[slot]
    if found is wanted or (found.ref and found.base is wanted):
        return
    _fail(
        node,
        "dtype-mismatch",
        f"input {index} must have the dtype that the op takes",
        f"{found} from {source.name}:{slot}",
        wanted,
    )


def _fail(node: Node, code: str, check: str, found: object, needed: object) -> NoReturn:
    raise GraphError(
        f"node {node.name!r} ({node.op}) is not valid",
        check=check,
        found=found,
        needed=needed,
        remedy="the graph is corrupt or was edited wrongly: export the model again",
        code=code,
    )
