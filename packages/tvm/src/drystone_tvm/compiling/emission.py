"""A body of nodes as tensor expressions: arguments in, results out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base import Graph, Node, Shapes
from drystone_base.graph import Output, held_tensor, topological_order
from drystone_base.graph.topology import reachable
from drystone_tvm.compiling import elements, layout, products, reductions
from drystone_tvm.compiling.rules import DTYPES, RULES, Call, Dims, Refusal, Value, why_not

__all__ = ["Argument", "Expressions", "distinct", "emit"]

_RULES_OF: Final = (elements, layout, products, reductions)
"""Modules that are imported for the rules that they register."""
_FIRST_SYMBOL: Final = -(1 << 40)
"""Of sizes of arguments; inference counts down from -2 for those that it finds itself."""
_MOST_HELD: Final = 64
"""Elements of a constant that becomes part of the code."""


class Argument(NamedTuple):
    """What goes in: where it is in the graph, and its sizes, below 0 symbols.

    Where a constant is there, the code has that in it, and the argument is not read.
    """

    output: Output
    name: str
    dtype: str
    dims: Dims


class Expressions(NamedTuple):
    """Placeholders of all arguments, and the results with their sizes and dtypes."""

    arguments: list[Any]
    results: list[Value]


@cache
def language() -> Any:
    """The modules of TVM that rules use."""
    from tvm import te, tirx

    return SimpleNamespace(te=te, tirx=tirx)


def distinct(arguments: Sequence[Argument]) -> list[Argument]:
    """The arguments with other symbols, which no inference gives to what it does not know."""
    found = dict.fromkeys(d for a in arguments for d in a.dims if d < 0)
    symbols = {d: _FIRST_SYMBOL - k for k, d in enumerate(found)}
    return [a._replace(dims=tuple(symbols.get(d, d) for d in a.dims)) for a in arguments]


def emit(graph: Graph, arguments: Sequence[Argument], results: Sequence[Output]) -> Expressions:
    """The expressions of ``results``; raises ``Refusal`` for a node that has none."""
    work = _Emission(graph, arguments)
    return Expressions([p.tensor for p in work.given], work.results(results))


class _Emission:
    def __init__(self, graph: Graph, arguments: Sequence[Argument]) -> None:
        self.lang = language()
        read = [a for a in arguments if held_tensor(a.output[0]) is None]
        self.shapes = Shapes(graph, {a.output: a.dims for a in read})
        self.symbols: dict[int, Any] = {}
        for size in dict.fromkeys(d for a in arguments for d in a.dims if d < 0):
            self.symbols[size] = self.lang.te.var(f"n{len(self.symbols)}", "int64")
        self.given = [self._placeholder(a) for a in arguments]
        values = zip(arguments, self.given, strict=True)
        self.known: dict[Output, Value] = {a.output: v for a, v in values if a in read}

    def _placeholder(self, a: Argument) -> Value:
        if a.dtype not in DTYPES:
            raise Refusal(a.output[0], f"regions take no {a.dtype}")
        sizes = self.sizes(a.output[0], a.dims)
        return Value(self.lang.te.placeholder(sizes, a.dtype, a.name), a.dims, a.dtype)

    def sizes(self, node: Node, dims: Dims) -> tuple[Any, ...]:
        """The expressions of sizes."""
        unknown = any(d < 0 and d not in self.symbols for d in dims)
        if unknown:
            raise Refusal(node, "a size is known in a run only, and is none of an argument's")
        return tuple(self.symbols[d] if d < 0 else self.lang.tirx.const(d, "int64") for d in dims)

    def value(self, output: Output) -> Value:
        """The expression of an output, and of all that it is made of."""
        if output not in self.known:
            limits = set(self.known)
            for node in topological_order(reachable([output[0]], fed=limits)):
                if (node, 0) not in self.known:
                    self._compute(node)
        found = self.known.get(output)
        if found is None:
            raise Refusal(output[0], f"there is no rule for its output {output[1]}")
        return found

    def _compute(self, node: Node) -> None:
        held = held_tensor(node)
        if held is not None:
            self.known[node, 0] = self._constant(node, held.array)
            return
        reason = why_not(node)
        if reason:
            raise Refusal(node, reason)
        inputs = [self.known.get(o) for o in node.inputs]
        missing = next((o for o, v in zip(node.inputs, inputs, strict=True) if v is None), None)
        if missing is not None:
            raise Refusal(missing[0], f"there is no rule for its output {missing[1]}")
        given: Any = inputs
        call = Call(node, given, self.shapes, self.sizes, self.lang)
        made = RULES[node.op].rule(call)
        for k, tensor in enumerate(made if isinstance(made, list) else [made]):
            self.known[node, k] = Value(tensor, call.dims(k), str(tensor.dtype))

    def _constant(self, node: Node, array: np.ndarray[Any, Any]) -> Value:
        dtype = str(array.dtype)
        if dtype not in DTYPES:
            raise Refusal(node, f"regions take no {dtype}")
        if array.size > _MOST_HELD:
            raise Refusal(
                node,
                f"a constant of {array.size} elements, more than {_MOST_HELD}: make it an input",
            )
        t, flat = self.lang.tirx, array.reshape(-1)
        consts = [_number(t, x.item(), dtype) for x in flat]

        def body(*at: Any) -> Any:
            place = t.const(0, "int64")
            for i, size in zip(at, array.shape, strict=True):
                place = place * size + i
            found = consts[-1] if consts else t.const(0, dtype)
            for k in reversed(range(len(consts) - 1)):
                found = t.Select(place == k, consts[k], found)
            return found

        sizes = self.sizes(node, array.shape)
        return Value(self.lang.te.compute(sizes, body, name="Const"), array.shape, dtype)

    def results(self, outputs: Sequence[Output]) -> list[Value]:
        """Expressions of the outputs, each one of its own."""
        found: list[Value] = []
        for output in outputs:
            value = self.value(output)
            taken = [v.tensor for v in (*self.given, *found)]
            if any(value.tensor.same_as(tensor) for tensor in taken):
                value = value._replace(tensor=self._copy(value))
            found.append(value)
        return found

    def _copy(self, value: Value) -> Any:
        sizes = [self.symbols[d] if d < 0 else d for d in value.dims]
        return self.lang.te.compute(sizes, lambda *at: value.tensor(*at), name="result")


def _number(t: Any, value: Any, dtype: str) -> Any:
    """A number in code; a zero of floats as a root, since TVM has ``x * 0`` and ``0 / x`` be 0.

    For NaN and infinities they are NaN; the root of a zero is that zero, with its sign, and what
    makes machine code of it knows that.
    """
    found = t.const(value, dtype)
    return t.sqrt(found) if dtype.startswith("float") and value == 0 else found
