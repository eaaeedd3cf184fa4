"""Building graphs: nodes whose inputs say most of their attributes.

Importers of other formats, gradients and front ends add nodes by :class:`Builder`;
:meth:`Graph.add <drystone_base.Graph.add>` is for what has all attributes already.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from drystone_base.core.arguments import explaining
from drystone_base.core.dtypes import FLOAT32, INT32, STRING, DType, as_dtype, from_numpy
from drystone_base.core.errors import GraphError, near_matches
from drystone_base.core.payloads import at_node
from drystone_base.core.printable import described
from drystone_base.core.tensor import as_strings
from drystone_base.graph.graph import Graph
from drystone_base.graph.node import Node, Output
from drystone_base.graph.validate import output_dtypes, validate
from drystone_base.ops.attrs import FunctionRef, Placeholder, TensorAttr
from drystone_base.ops.defs import ArgDef, OpDef, find, op_def

__all__ = ["Builder"]

Input: TypeAlias = "Output | Node"
_OF_PYTHON: Final = {"i": INT32, "f": FLOAT32}
"""Dtypes of Python's numbers, by NumPy's kind of them: those that TensorFlow gives them."""


@explaining("__init__", "__call__", "node", "const", "like", "shape", "dtype")
class Builder:
    """Adds nodes to a graph; attributes for dtypes and lengths are read off the inputs.

    Each node is checked against its op's definition when it is added: a node that does not fit is
    not left in the graph. ``scope`` is what generated names begin with: ``"encoder"`` makes
    ``encoder/MatMul``, ``encoder/MatMul_1``.
    """

    def __init__(self, graph: Graph, scope: str = "") -> None:
        if not isinstance(graph, Graph) or not isinstance(scope, str):
            raise TypeError("no graph, or no text")
        self.graph, self.scope = graph, scope

    def __call__(self, op: str, /, *inputs: Input | Sequence[Input], **attrs: Any) -> Output:
        """The first output of a node that :meth:`node` adds; raises as that does."""
        return self.node(op, *inputs, **attrs), 0

    def node(
        self,
        op: str,
        /,
        *inputs: Input | Sequence[Input],
        name: str = "",
        controls: Sequence[Node] = (),
        device: str = "",
        **attrs: Any,
    ) -> Node:
        """Add a node of an op, or of a function of the graph.

        There is one input for each argument of the op; where the op takes a list, it is a list. A
        node stands for its output 0. Attributes that neither the inputs nor a default give must be
        given. Dtypes may be spelled as :func:`~drystone_base.as_dtype` takes them, shapes as
        lists and with None for unknown sizes, tensors as arrays, functions by their names.

        Raises ``UnsupportedOp`` (``op-unknown``) and ``GraphError`` (``wrong-fan-in``,
        ``missing-attr``, ``bad-attr``, ``bad-dtype``, ``dtype-mismatch``, ``bad-output-index``,
        ``bad-function-call``, ``duplicate-node``, ``bad-node-name``, ``foreign-node``).
        """
        definition = self._definition(op)
        known = {key: _value(definition, key, value) for key, value in attrs.items()}
        flat: list[Output] = []
        for arg, given in zip(definition.inputs, _counted(definition, inputs), strict=True):
            outputs = _outputs(definition, arg, given)
            self._infer(arg, outputs, known)
            flat += outputs
        chosen = name or self._name(op)
        node = self.graph.add(op, chosen, flat, controls=controls, device=device, attrs=known)
        try:
            validate(self.graph, [node])
        except GraphError as error:
            self.graph.remove([node])
            raise _refused(
                definition, error.code, error.check, error.found, error.needed
            ) from error
        return node

    def const(self, value: Any, dtype: DType | str | None = None, *, name: str = "") -> Output:
        """A constant.

        Without ``dtype`` an array keeps its own; of Python's numbers, whole ones are ``int32`` and
        others ``float32``, as TensorFlow has them. An array is not copied: it must not be changed
        afterwards.

        Raises ``GraphError``: ``bad-dtype``; ``bad-attr`` for a value that the dtype cannot hold.
        """
        array, chosen = _tensor(value, None if dtype is None else as_dtype(dtype))
        attrs = {"dtype": chosen, "value": TensorAttr(array=array)}
        return self.graph.add("Const", name or self._name("Const"), attrs=attrs), 0

    def like(self, value: float, output: Input) -> Output:
        """A scalar constant of an output's dtype; raises as :meth:`const` and :meth:`dtype` do."""
        return self.const(value, self.dtype(output))

    def shape(self, output: Input) -> Output:
        """The shape of an output, as ``int32``."""
        return self("Shape", output, out_type=INT32)

    def dtype(self, output: Input) -> DType:
        """The dtype of an output; where it is a reference, that of what it refers to.

        Raises ``GraphError``: ``bad-output-index``, ``bad-dtype`` where the node does not say.
        """
        node, index = output if isinstance(output, tuple) else (output, 0)
        types = output_dtypes(node)
        if types is not None and 0 <= index < len(types):
            return types[index].base
        raise _no_dtype(node, index, types)

    def _definition(self, op: str) -> OpDef:
        function = None if find(op) else self.graph.functions.get(op)
        return function.signature if function else op_def(op)

    def _name(self, op: str) -> str:
        return self.graph.unique_name(f"{self.scope}/{op}" if self.scope else op)

    def _infer(self, arg: ArgDef, outputs: list[Output], attrs: dict[str, Any]) -> None:
        """Add the attributes that the outputs given for an argument say."""
        if arg.number_attr:
            attrs.setdefault(arg.number_attr, len(outputs))
        if arg.type_list_attr and arg.type_list_attr not in attrs:
            attrs[arg.type_list_attr] = [self.dtype(output) for output in outputs]
        if arg.type_attr and outputs and arg.type_attr not in attrs:
            attrs[arg.type_attr] = self.dtype(outputs[0])


def _counted(definition: OpDef, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs; raises ``GraphError`` unless there is one for each argument."""
    if len(inputs) != len(definition.inputs):
        check = "there must be an input for each argument; what takes a list is given one"
        needed = len(definition.inputs)
        raise _refused(definition, "wrong-fan-in", check, f"{len(inputs)} inputs", needed)
    return inputs


def _outputs(definition: OpDef, arg: ArgDef, given: Any) -> list[Output]:
    """The outputs that are given for an argument, which takes one or a list."""
    outputs = given if arg.is_list and isinstance(given, list | tuple) else [given]
    if not all(map(_is_input, outputs)) or (arg.is_list and outputs is not given):
        raise _refused(
            definition,
            "wrong-fan-in",
            f"argument {arg.name!r} must be given what it takes",
            described(given, 200),
            "a list of nodes and outputs" if arg.is_list else "a node, or (node, index)",
        )
    return [one if isinstance(one, tuple) else (one, 0) for one in outputs]


def _is_input(value: Any) -> bool:
    """Whether a value is a node or an output."""
    if isinstance(value, tuple):
        return len(value) == 2 and isinstance(value[0], Node) and isinstance(value[1], int)
    return isinstance(value, Node)


def _value(definition: OpDef, name: str, value: Any) -> Any:
    """An attribute's value, in the form that graphs hold."""
    declared = definition.attrs.get(name)
    if declared is None and not name.startswith("_"):
        near = near_matches(name, definition.attrs)
        needed = " or ".join(near) or "an attribute that the op has"
        check = "an attribute must be one that the op has"
        raise _refused(definition, "bad-attr", check, name, needed)
    if declared is None or isinstance(value, Placeholder):
        return value
    if declared.type.startswith("list(") and isinstance(value, list | tuple):
        return [_item(declared.type[5:-1], item) for item in value]
    return _item(declared.type, value)


def _item(kind: str, value: Any) -> Any:
    if kind == "type":
        return as_dtype(value)
    if kind == "shape" and isinstance(value, list | tuple):
        return tuple(-1 if size is None else size for size in value)
    if kind == "func" and isinstance(value, str):
        return FunctionRef(value)
    if kind == "tensor" and not isinstance(value, TensorAttr):
        return TensorAttr(array=_tensor(value, None)[0])
    return value


def _tensor(value: Any, dtype: DType | None) -> tuple[np.ndarray[Any, Any], DType]:
    """A value as an array, and its dtype; raises ``GraphError`` where it does not fit the dtype."""
    try:
        given = np.asarray(value)
        own = isinstance(value, np.ndarray | np.generic)
        chosen = dtype or (not own and _OF_PYTHON.get(given.dtype.kind)) or from_numpy(given.dtype)
        if chosen is STRING:
            return as_strings(value), chosen
        if given.dtype.kind == "c" and chosen.kind != "c":
            raise _not_held(value, chosen)
        with np.errstate(all="ignore"):
            array = np.asarray(given, chosen.np)
    except (TypeError, ValueError, OverflowError) as error:
        raise _not_held(value, dtype, error) from error
    narrowed = chosen.kind not in "fc" and not np.array_equal(array, given)
    if chosen.is_object or narrowed:
        raise _not_held(value, chosen)
    return array, chosen


def _no_dtype(node: Node, index: int, types: list[DType] | None) -> GraphError:
    found = f"{node.name}:{index}, of {described(node.op, 100)}"
    return GraphError(
        "the dtype of an input is not known",
        details=at_node(node.name, node.op),
        check="an input must be an output that its node has, of a dtype that the node says",
        found=found if types is None else f"{found}, which has {len(types)} outputs",
        needed="an op that is known, with its attributes" if types is None else "one of them",
        remedy="register the op, or give the dtypes as attributes"
        if types is None
        else "an index counts outputs from 0",
        code="bad-dtype" if types is None else "bad-output-index",
    )


def _not_held(value: Any, dtype: DType | None, inner: Exception | None = None) -> GraphError:
    return GraphError(
        f"a constant{f' of {dtype}' if dtype else ''} cannot hold this value",
        check="a constant must be of a dtype that holds its value",
        found=f"{type(value).__name__}: {described(value, 200)}",
        needed="numbers in the range of the dtype, texts for string",
        remedy="give another dtype, or convert the value first",
        code="bad-attr",
        inner=inner,
    )


def _refused(definition: OpDef, code: str, check: str, found: object, needed: object) -> GraphError:
    inputs = [f"[{arg.name}]" if arg.is_list else arg.name for arg in definition.inputs]
    attrs = [f"{name}=..." for name in definition.attrs]
    return GraphError(
        f"a node of {definition.name} cannot be added",
        check=check,
        found=found,
        needed=needed,
        remedy=f"it is called as {definition.name}({', '.join([*inputs, *attrs])})",
        code=code,
    )
