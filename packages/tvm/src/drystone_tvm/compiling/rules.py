"""Rules: what each op computes, as a tensor expression of TVM.

This module imports nothing of TVM: which ops there are rules for is known without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from drystone_base import Node, Shapes
from drystone_base.graph.validate import output_dtypes

__all__ = [
    "DTYPES",
    "FLOATS",
    "RULES",
    "Call",
    "Dims",
    "Refusal",
    "Value",
    "why_not",
]

Dims: TypeAlias = tuple[int, ...]
"""Sizes as inference has them: below 0 a symbol."""

FLOATS: Final = frozenset({"float32", "float64"})
DTYPES: Final = FLOATS | {"bool", "int8", "uint8", "int16", "int32", "int64"}
"""Dtypes that regions compute in."""


class Refusal(Exception):
    """Why a node cannot be compiled."""

    def __init__(self, node: Node, reason: str) -> None:
        super().__init__(f"{node.name} ({node.op}): {reason}")
        self.node, self.reason = node, reason


class Value(NamedTuple):
    """A tensor expression, with sizes as inference knows them."""

    tensor: Any
    dims: Dims
    dtype: str


class Call(NamedTuple):
    """A node to compile: its inputs as expressions, and what is known of it.

    ``sizes`` gives the expressions of sizes, ``lang`` the modules of TVM.
    """

    node: Node
    inputs: Sequence[Value]
    shapes: Shapes
    sizes: Callable[[Node, Dims], tuple[Any, ...]]
    lang: Any

    def attr(self, name: str) -> Any:
        """An attribute, or its default."""
        return self.node.full_attrs()[name]

    def refuse(self, reason: str) -> Refusal:
        """An error that says why this node cannot be compiled."""
        return Refusal(self.node, reason)

    def dims(self, index: int = 0) -> Dims:
        """The sizes of an output."""
        found = self.shapes.shape((self.node, index))
        if found is None:
            raise self.refuse("its rank is known in a run only")
        return found

    def constant(self, index: int, what: str) -> np.ndarray[Any, Any]:
        """The value of an input that must be known."""
        found = self.shapes.value(self.node.inputs[index])
        if found is None:
            raise self.refuse(f"{what} are known in a run only")
        return np.asarray(found)

    def static(self, dims: Dims, what: str) -> Dims:
        """Sizes that must be known."""
        if any(size < 0 for size in dims):
            raise self.refuse(f"{what} are known in a run only")
        return dims

    def is_float(self, index: int = 0) -> bool:
        """Whether an input is of floating point."""
        return self.inputs[index].dtype in FLOATS

    def compute(self, body: Callable[..., Any], dims: Dims | None = None) -> Any:
        """An expression for each element of the output."""
        wanted = self.dims() if dims is None else dims
        return self.lang.te.compute(self.sizes(self.node, wanted), body, name=self.node.op)

    def elements(self, body: Callable[..., Any], *values: Value) -> Any:
        """The output whose elements are made of those of inputs, which are broadcast."""
        given, out = values or tuple(self.inputs), self.dims()
        return self.compute(lambda *at: body(*(self.element(v, out, at) for v in given)))

    def element(self, value: Value, out: Dims, at: Sequence[Any]) -> Any:
        """The element of a tensor that is broadcast to ``out`` at an index."""
        skipped = len(out) - len(value.dims)
        index = []
        for size, wide, i in zip(value.dims, out[skipped:], at[skipped:], strict=True):
            if size not in (wide, 1):
                raise self.refuse("sizes are known in a run only, and may be broadcast then")
            index.append(i if size == wide else 0)
        return value.tensor(*index)


Rule: TypeAlias = "Callable[[Call], Any]"


class _Entry(NamedTuple):
    rule: Rule
    dtypes: frozenset[str]


class Rules(dict[str, _Entry]):
    """Rules by op."""

    def of(self, *ops: str, dtypes: frozenset[str] = DTYPES) -> Callable[[Rule], Rule]:
        """Register a rule for ops whose outputs are of these dtypes."""

        def register(rule: Rule) -> Rule:
            self.update(dict.fromkeys(ops, _Entry(rule, dtypes)))
            return rule

        return register


RULES: Final = Rules()


def _dtypes(node: Node) -> Iterator[str]:
    for source, index in node.inputs:
        types = output_dtypes(source)
        yield str(types[index]) if types is not None else "an unknown dtype"


def why_not(node: Node) -> str:
    """Why a node is no part of a region, as far as it says itself; "" where it may be."""
    entry = RULES.get(node.op)
    if entry is None:
        return f"there is no rule for {node.op}"
    given = next((d for d in _dtypes(node) if d not in DTYPES), None)
    if given is not None:
        return f"regions take no {given}"
    made = next((str(d) for d in output_dtypes(node) or () if str(d) not in entry.dtypes), None)
    return "" if made is None else f"there is no rule for {node.op} of {made}"
