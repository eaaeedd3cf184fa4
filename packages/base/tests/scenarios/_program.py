"""A small graph and the steps that run it, built without TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from drystone_base.core.dtypes import DType, as_dtype, from_numpy
from drystone_base.executor.testing import as_array
from drystone_base.graph import Graph, Node, Output
from drystone_base.graph.validate import output_dtypes
from drystone_base.ops.attrs import TensorAttr
from drystone_base.ops.defs import ArgDef, op_def

__all__ = ["Program", "Step"]

Value: TypeAlias = Any
"""A node (its output 0), an output ``(node, k)``, or what becomes a constant."""


class Step(NamedTuple):
    """One run: names of tensors or nodes, and what is fed."""

    fetches: list[str]
    feeds: dict[str, Any]


class Program:
    """``p("Op", input, ..., attr=value)`` adds a node; ``p.step(fetch, ..., feeds=...)`` a run.

    One positional value per argument of the op's definition, a list for a list argument; arrays and
    numbers become constants. Dtype and count attributes are read off the inputs unless given.
    """

    def __init__(self) -> None:
        self.graph = Graph()
        self.steps: list[Step] = []

    def __call__(
        self, op: str, *inputs: Value, controls: Sequence[Node] = (), name: str = "", **attrs: Any
    ) -> Node:
        """Add a node."""
        definition = op_def(op)
        given = {k: _attribute(definition.attrs[k].type, v) for k, v in attrs.items()}
        flat: list[Output] = []
        for arg, value in zip(definition.inputs, inputs, strict=True):
            many = list(value) if arg.is_list else [value]
            found = [self._output(v, arg, given) for v in many]
            _note_types(arg, [_dtype(o) for o in found], given)
            flat += found
        label = self.graph.unique_name(name or op)
        return self.graph.add(op, label, flat, controls=list(controls), attrs=given)

    def written_by(self, producer: int) -> None:
        """State another GraphDef version, for ops that newer ones may not hold."""
        proto = self.graph.to_proto()
        proto.versions.producer = producer
        proto.versions.min_consumer = 0
        assert not proto.node, "the version is stated before anything is added"
        self.graph = Graph.from_proto(proto)

    def const(self, value: Any, dtype: DType | str | None = None) -> Node:
        """A constant; float32 and int32 unless an array or ``dtype`` says otherwise."""
        if isinstance(value, np.ndarray | np.generic):
            array = np.asarray(value)
        else:
            array = as_array(value)
            narrow = {"f": np.dtype("f4"), "i": np.dtype("i4")}.get(array.dtype.kind)
            array = array if narrow is None else array.astype(narrow)
        kind = from_numpy(array.dtype) if dtype is None else as_dtype(dtype)
        array = array if kind.is_object else array.astype(kind.np)
        attrs = {"dtype": kind, "value": TensorAttr(array=array)}
        return self.graph.add("Const", self.graph.unique_name("Const"), attrs=attrs)

    def feed(self, dtype: DType | str, shape: Sequence[int] | None = None) -> Node:
        """A placeholder."""
        return self("Placeholder", dtype=dtype, shape=None if shape is None else tuple(shape))

    def step(self, *fetches: Node | Output, feeds: Mapping[Any, Any] | None = None) -> None:
        """Add a run of ``fetches``: an output, or a node, of which output 0 counts if it has any.

        In texts that are fed ``{tmp}`` stands for a folder of the run's own.
        """
        fed = {_name(k): as_array(v) for k, v in (feeds or {}).items()}
        self.steps.append(Step([_name(f) for f in fetches], fed))

    def _output(self, value: Value, arg: ArgDef, attrs: Mapping[str, Any]) -> Output:
        if isinstance(value, Node):
            return (value, 0)
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], Node):
            return value
        if isinstance(value, np.ndarray | np.generic):
            return (self.const(value), 0)
        return (self.const(value, arg.type or attrs.get(arg.type_attr)), 0)


def _note_types(arg: ArgDef, types: list[DType], attrs: dict[str, Any]) -> None:
    """Attributes that the inputs of one argument settle."""
    if arg.type_list_attr:
        attrs.setdefault(arg.type_list_attr, types)
    if arg.number_attr:
        attrs.setdefault(arg.number_attr, len(types))
    if arg.type_attr and types:
        attrs.setdefault(arg.type_attr, types[0])


def _dtype(output: Output) -> DType:
    types = output_dtypes(output[0])
    assert types is not None, f"{output[0].op} has no known dtypes"
    return types[output[1]].base


def _name(value: Any) -> str:
    """How a run names a node or an output."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return f"{value[0].name}:{value[1]}"
    if isinstance(value, Node):
        return f"{value.name}:0" if output_dtypes(value) else value.name
    return str(value.name)  # a tensor or operation of TensorFlow


def _attribute(kind: str, value: Any) -> Any:
    if kind == "type":
        return as_dtype(value)
    if kind == "list(type)":
        return [as_dtype(v) for v in value]
    if kind in ("list(shape)", "shape"):
        return _shape(value) if kind == "shape" else [_shape(v) for v in value]
    if kind == "tensor" and not isinstance(value, TensorAttr):
        return TensorAttr(array=as_array(value))
    return value


def _shape(value: Sequence[int | None] | None) -> tuple[int, ...] | None:
    return None if value is None else tuple(-1 if d is None else int(d) for d in value)
