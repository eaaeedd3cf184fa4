"""Checks of nodes against their op definitions: fan-in, attributes, dtypes along edges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Generic, NoReturn, TypeVar

from drystone_base.core.arguments import explained
from drystone_base.core.dtypes import DType
from drystone_base.core.errors import DrystoneError, GraphError
from drystone_base.core.gc_pause import paused_gc
from drystone_base.core.payloads import at_node
from drystone_base.graph.graph import Graph
from drystone_base.graph.node import Node
from drystone_base.graph.seams import mismatch
from drystone_base.ops.attrs import FunctionRef, Placeholder, TensorAttr
from drystone_base.ops.defs import AttrDef, OpDef, find

__all__ = ["Signature", "Signatures", "definition_of", "output_dtypes", "validate"]

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


_Value = TypeVar("_Value")


class _Once(Generic[_Value]):
    """A property that is worked out when first read; after that it is a plain attribute.

    Without the lock that ``functools.cached_property`` takes in Python 3.11.
    """

    def __init__(self, function: Callable[[Any], _Value]) -> None:
        self._function, self.__doc__ = function, function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, owner: Any, kind: type | None = None) -> _Value:
        found: _Value = self._function(owner)
        owner.__dict__[self._name] = found
        return found


class Signature:
    """An op definition with the attributes of a node: the node's dtypes, worked out once.

    ``attrs`` has the definition's defaults filled in; it must not be changed. ``checked``: the
    attributes are known to be such as the definition asks for. ``given``: for inference, the
    outputs' shapes by those of the inputs where nothing else decides about them.
    """

    def __init__(self, definition: OpDef, attrs: Mapping[str, Any]) -> None:
        self.definition, self.attrs = definition, attrs
        self.checked = False
        self.given: dict[Any, list[Any]] = {}

    @_Once
    def has_integers(self) -> bool:
        """Whether an input or output is a plain integer; raises ``KeyError`` as ``inputs`` does."""
        return any(t.base.is_integer for t in (*self.inputs, *(self.outputs or ())))

    @_Once
    def has_objects(self) -> bool:
        """Whether an input or output is text, a resource or a variant; raises as ``inputs``."""
        return any(t.is_object for t in (*self.inputs, *(self.outputs or ())))

    @_Once
    def inputs(self) -> list[DType]:
        """Dtype of each input; raises ``KeyError`` as ``OpDef.input_types`` does."""
        return self.definition.input_types(self.attrs)

    @_Once
    def input_slices(self) -> dict[str, slice]:
        """Where each argument lies in the inputs; raises ``KeyError`` likewise."""
        return self.definition.input_slices(self.attrs)

    @_Once
    def outputs(self) -> list[DType] | None:
        """Dtype of each output; None when the attributes do not say."""
        try:
            return self.definition.output_types(self.attrs)
        except (DrystoneError, KeyError):
            return None


class Signatures:
    """The signatures of nodes while they do not change; ``forget`` those that do.

    Nodes of one op with equal attributes share one: a large graph has few different ones.
    """

    def __init__(self) -> None:
        self._of_node: dict[Node, Signature | None] = {}
        self._shared: dict[Any, Signature] = {}

    def of(self, node: Node) -> Signature | None:
        """The signature of a node, None when its op is unknown.

        Raises ``GraphError`` for attributes that cannot be decoded.
        """
        try:
            return self._of_node[node]
        except KeyError:
            found = self._of_node[node] = self._find(node)
            return found

    def forget(self, node: Node) -> None:
        """Work out the signature of a node again when it is next asked for."""
        self._of_node.pop(node, None)

    def _find(self, node: Node) -> Signature | None:
        # 1, 1.0 and True are equal, and so are 0.0 and -0.0, but they are not the same attribute.
        attrs = node.attrs
        values = attrs.values()
        kinds = tuple(map(type, values))
        if _PLAIN.issuperset(kinds):
            key = (node.op, kinds, *attrs, *values)
        else:
            key = (node.op, kinds, *attrs, *map(_comparable, values))
        try:
            found = self._shared.get(key)
        except TypeError:  # a tensor or a function: such nodes share nothing
            return _signature(node)
        if found is None and (found := _signature(node)) is not None:
            self._shared[key] = found
        return found


_PLAIN: Final = frozenset({int, bool, str, tuple, DType})


def _comparable(value: Any) -> Any:
    if value.__class__ in _PLAIN:
        return value
    if isinstance(value, float):
        return repr(value)
    if not isinstance(value, list):
        return value
    kinds = tuple(map(type, value))
    return (kinds, *(value if _PLAIN.issuperset(kinds) else map(_comparable, value)))


def _signature(node: Node) -> Signature | None:
    definition = definition_of(node)
    return Signature(definition, node.full_attrs()) if definition else None


def output_dtypes(node: Node) -> list[DType] | None:
    """Dtypes of a node's outputs; None when its op is unknown or its attributes do not say."""
    return _outputs(node, Signatures())


def _outputs(node: Node, signatures: Signatures) -> list[DType] | None:
    try:
        if node.op == "Const":  # it states what it gives; no two share a signature
            stated = node.attrs.get("dtype")
            if isinstance(stated, DType):
                return [stated]
        signature = signatures.of(node)
    except DrystoneError:
        return None
    return signature.outputs if signature else None


@explained
def validate(
    graph: Graph, nodes: Iterable[Node] | None = None, signatures: Signatures | None = None
) -> None:
    """Check nodes (all by default) against their op definitions; unknown ops are passed over.

    ``signatures``: those that are known already.

    Raises ``GraphError``: ``missing-attr``, ``bad-attr``, ``wrong-fan-in``, ``bad-output-index``,
    ``dtype-mismatch``, ``bad-function-call``.
    """
    signatures = signatures or Signatures()
    with paused_gc():
        for node in graph if nodes is None else nodes:
            signature = signatures.of(node)
            if signature is not None:
                _validate_node(node, signature, signatures)


def _validate_node(node: Node, signature: Signature, signatures: Signatures) -> None:
    if not signature.checked:
        for name, declared in signature.definition.attrs.items():
            _check_attr(node, name, declared, signature.attrs)
        signature.checked = True
    _check_constant(node, signature.attrs)
    _check_call(node)
    wanted = _input_types(node, signature)
    if len(wanted) != len(node.inputs):
        _fail(
            node,
            "wrong-fan-in",
            "the number of inputs must be what the op takes",
            f"{len(node.inputs)} inputs",
            f"{len(wanted)} inputs",
        )
    for index, (source, slot) in enumerate(node.inputs):
        _check_edge(node, index, source, slot, _outputs(source, signatures), wanted[index])


def _check_call(node: Node) -> None:
    found = mismatch(node)
    if found is not None:
        check = "a call must give what its function takes, and take what it gives"
        _fail(node, "bad-function-call", check, found.found, found.needed)


def _check_constant(node: Node, attrs: Mapping[str, Any]) -> None:
    value = attrs.get("value")
    if not isinstance(value, TensorAttr):
        return
    dtype = attrs.get("dtype")
    if isinstance(dtype, DType) and not value.is_of(dtype):
        _fail(
            node,
            "dtype-mismatch",
            "a constant must be of the dtype that its node states",
            f"a tensor of {value.dtype}",
            dtype,
        )


def _input_types(node: Node, signature: Signature) -> list[DType]:
    try:
        return signature.inputs
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
        if isinstance(item, DType) and item.ref:
            check = f"attribute {name!r} must not be a reference type"
            _fail(node, "bad-attr", check, item, item.base)
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
    if not 0 <= slot < len(types):
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
        details=at_node(node.name, node.op),
        check=check,
        found=found,
        needed=needed,
        remedy="the graph is corrupt or was edited wrongly: export the model again",
        code=code,
    )
