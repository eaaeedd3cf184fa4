"""Which ops can be written: emitters by op, with the operands that must be known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.graph import Node
from drystone_pjrt.stablehlo.writer import Refused, Value, Writer

__all__ = ["EMITTERS", "Emitter", "Site", "complex_use", "emits"]

Array = np.ndarray[Any, Any]


_OF_COMPLEX: Final = frozenset(
    {"Add", "AddN", "AddV2", "Angle", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3",
     "BroadcastTo", "Cast", "Complex", "ComplexAbs", "ConcatV2", "Conj", "Const", "Cumprod",
     "Cumsum", "Einsum", "Equal", "ExpandDims", "Fill", "Gather", "GatherNd", "GatherV2",
     "Identity", "Imag", "MatMul", "MirrorPad", "Mul", "Neg", "NotEqual", "OnesLike", "Pack",
     "Pad", "PadV2", "Prod", "Rank", "Real", "Reshape", "Reverse", "ReverseV2", "ScatterNd",
     "Select", "SelectV2", "Shape", "ShapeN", "Size", "Slice", "Snapshot", "Split", "SplitV",
     "Square", "SquaredDifference", "Squeeze", "StopGradient", "StridedSlice", "Sub", "Sum",
     "TensorScatterAdd", "TensorScatterUpdate", "Tile", "Transpose", "Unpack", "ZerosLike"}
)  # fmt: skip
"""Ops that are written for complex numbers; others have branches and infinities of their own."""


def complex_use(op: str, dtypes: Iterable[np.dtype[Any]]) -> str:
    """Why an op of operands of these types is refused that is not for complex numbers, or ""."""
    found = next((dtype for dtype in dtypes if dtype.kind == "c"), None)
    return "" if found is None or op in _OF_COMPLEX else f"it is of {found.name}"


class Site:
    """One node that is being written: its inputs as values, and its attributes."""

    def __init__(self, writer: Writer, node: Node, inputs: Sequence[Value]) -> None:
        self.writer, self.node, self.inputs = writer, node, list(inputs)
        self.op = node.op
        self.attrs = node.full_attrs()

    def attr(self, name: str, default: Any = None) -> Any:
        """An attribute, with the default of the op's definition."""
        return self.attrs.get(name, default)

    def dtype(self, name: str) -> np.dtype[Any]:
        """An attribute that is a type."""
        found: DType = self.attrs[name]
        return found.np

    def array(self, k: int) -> Array:
        """Input ``k``, which must be known."""
        known = self.inputs[k].known
        if known is None:
            raise Refused(f"its input {k} is not constant")
        return known

    def integers(self, k: int) -> list[int]:
        """Input ``k`` as whole numbers."""
        return [int(number) for number in self.array(k).reshape(-1)]


Function = Callable[[Writer, Site], "Value | Sequence[Value]"]
F = TypeVar("F", bound=Function)


class Emitter(NamedTuple):
    """``write``: gives the node's outputs. ``static``: operands that must be known (from the end
    where below 0). ``check``: why a node cannot be written whatever its shapes, or ""."""

    write: Function
    static: tuple[int, ...] = ()
    check: Callable[[Node], str] = lambda _node: ""


EMITTERS: Final[dict[str, Emitter]] = {}


def emits(
    *ops: str, static: tuple[int, ...] = (), check: Callable[[Node], str] | None = None
) -> Callable[[F], F]:
    """Make a function the emitter of these ops."""

    def register(function: F) -> F:
        for op in ops:
            assert op not in EMITTERS, op
            EMITTERS[op] = Emitter(function, static, check or (lambda _node: ""))
        return function

    return register
