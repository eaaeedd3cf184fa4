"""GraphDefs of any shape, node by node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from drystone_abi.protos import AttrValue, FunctionDef, GraphDef, NodeDef
from drystone_base.core.tensor import to_proto

__all__ = ["BOOL", "FLOAT", "INT", "RESOURCE", "STRING", "Builder", "Made", "attr_value"]

FLOAT: Final = AttrValue(type="DT_FLOAT")
INT: Final = AttrValue(type="DT_INT32")
BOOL: Final = AttrValue(type="DT_BOOL")
STRING: Final = AttrValue(type="DT_STRING")
RESOURCE: Final = AttrValue(type="DT_RESOURCE")


@dataclass(frozen=True)
class Made:
    """A graph with what a run of it fetches and feeds."""

    proto: GraphDef
    fetches: tuple[str, ...]
    feeds: tuple[str, ...] = ("x:0",)
    data: bytes = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", self.proto.SerializeToString())


def attr_value(value: Any) -> AttrValue:
    """An attribute of a plain value; AttrValues are taken as they are."""
    if isinstance(value, AttrValue):
        return value
    if isinstance(value, bool):
        return AttrValue(b=value)
    if isinstance(value, int):
        return AttrValue(i=value)
    if isinstance(value, float):
        return AttrValue(f=value)
    if isinstance(value, str | bytes):
        return AttrValue(s=value if isinstance(value, bytes) else value.encode())
    if isinstance(value, np.ndarray):
        return AttrValue(tensor=to_proto(value))
    return _list_value(value)


def _list_value(values: Sequence[Any]) -> AttrValue:
    made = AttrValue()
    made.list.SetInParent()
    for value in values:
        one = attr_value(value)
        kind = one.WhichOneof("value")
        assert kind is not None
        target = getattr(made.list, kind)
        if kind in ("shape", "tensor", "func"):
            target.add().CopyFrom(getattr(one, kind))
        else:
            target.append(getattr(one, kind))
    return made


class Builder:
    """Adds nodes to a GraphDef, or to the body of a function of it."""

    def __init__(self, proto: GraphDef | None = None, body: FunctionDef | None = None) -> None:
        self.proto = proto if proto is not None else GraphDef()
        self.body = body
        self.proto.versions.producer, self.proto.versions.min_consumer = 1882, 12
        self.device = ""

    def add(self, op: str, name: str, *inputs: str, **attrs: Any) -> str:
        """A node; its name."""
        nodes = self.proto.node if self.body is None else self.body.node_def
        node: NodeDef = nodes.add(op=op, name=name, input=inputs, device=self.device)
        for key, value in attrs.items():
            node.attr[key].CopyFrom(attr_value(value))
        return name

    def x(self, name: str = "x", dims: Sequence[int] = (4,), dtype: AttrValue = FLOAT) -> str:
        """A placeholder."""
        shape = AttrValue()
        shape.shape.SetInParent()
        for size in dims:
            shape.shape.dim.add(size=size)
        return self.add("Placeholder", name, dtype=dtype, shape=shape)

    def const(self, name: str, value: Any, dtype: Any = np.float32, *controls: str) -> str:
        """A constant."""
        array = np.asarray(value, dtype)
        held = to_proto(array)
        return self.add("Const", name, *controls, dtype=AttrValue(type=held.dtype), value=array)

    def unary(self, name: str, source: str, k: int = 0, *controls: str) -> str:
        """An element-wise node of one input."""
        op = ("Tanh", "Sigmoid", "Neg", "Relu", "Exp")[k % 5]
        return self.add(op, name, source, *controls, T=FLOAT)

    def sum(self, name: str, *inputs: str) -> str:
        """An AddN."""
        return self.add("AddN", name, *inputs, T=FLOAT, N=len(inputs))

    def function(self, name: str, args: int = 1, results: int = 1) -> Builder:
        """The body of a new function of floats; give its results with :meth:`returns`."""
        made = self.proto.library.function.add()
        made.signature.name = name
        for k in range(args):
            made.signature.input_arg.add(name=f"a{k}", type="DT_FLOAT")
        for k in range(results):
            made.signature.output_arg.add(name=f"r{k}", type="DT_FLOAT")
        return Builder(self.proto, made)

    def returns(self, *outputs: str) -> None:
        """State what the function gives."""
        assert self.body is not None
        for k, output in enumerate(outputs):
            self.body.ret[f"r{k}"] = output

    def call(self, name: str, function: str, *inputs: str, op: str = "PartitionedCall") -> str:
        """A call of a function of floats of one result."""
        held = AttrValue()
        held.func.name = function
        types = [FLOAT] * len(inputs)
        return self.add(op, name, *inputs, f=held, Tin=types, Tout=[FLOAT])

    def made(self, *fetches: str, feeds: Sequence[str] = ("x:0",)) -> Made:
        """The graph."""
        return Made(self.proto, fetches, tuple(feeds))
