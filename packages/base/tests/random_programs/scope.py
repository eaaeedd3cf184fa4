"""Scopes of a program that is drawn: the graph, the body of a function, one side of a branch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from drystone_base.core import dtypes
from drystone_base.core.dtypes import DType
from drystone_base.graph import Graph, Node, Output
from drystone_base.ops.attrs import TensorAttr

__all__ = ["EVERY", "FLOATS", "INTEGERS", "NUMBERS", "Scope", "Shape", "Shared", "Value", "sample"]

Shape = tuple[int, ...] | None

FLOATS = (dtypes.FLOAT32, dtypes.FLOAT64, dtypes.FLOAT16, dtypes.BFLOAT16)
INTEGERS = (
    dtypes.INT8, dtypes.INT16, dtypes.INT32, dtypes.INT64,
    dtypes.UINT8, dtypes.UINT16, dtypes.UINT32, dtypes.UINT64,
)  # fmt: skip
NUMBERS = (*FLOATS, *INTEGERS, dtypes.COMPLEX64, dtypes.COMPLEX128)
LIKELY = (dtypes.FLOAT32,) * 8 + (dtypes.INT32,) * 3 + (dtypes.STRING,) * 2
EVERY = (*LIKELY, *NUMBERS, dtypes.BOOL)
SHAPES: tuple[tuple[int, ...], ...] = ((), (3,), (3,), (2, 3), (1, 3), (0,), (2, 0))
WORDS = (b"", b"a", b"drystone", b"7", b"-2.5", b"Two Words", b"\xc3\xa9", b"\xff\x00z", b"x" * 40)


class Value(NamedTuple):
    """A tensor with what is known of it; nothing is computed from a ``last`` one.

    That is one whose last bits may differ between kernels: a sum of floats, a tangent.
    """

    output: Output
    dtype: DType
    shape: Shape
    last: bool = False


def sample(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Values whose sums and products are exact: small multiples of a quarter, or words."""
    if dtype is dtypes.STRING:
        out = np.empty(shape, object)
        for at in np.ndindex(*shape):
            out[at] = WORDS[int(rng.integers(len(WORDS)))]
        return out
    low = 0 if dtype.np in (np.uint8, np.uint16, np.uint32, np.uint64, np.bool_) else -8
    numbers = rng.integers(low, 2 if dtype is dtypes.BOOL else 9, shape)
    scale = 0.25 if dtype in (*FLOATS, dtypes.COMPLEX64, dtypes.COMPLEX128) else 1
    return np.asarray(numbers * scale).astype(dtype.np)


@dataclass
class Shared:
    """What all scopes of a program have in common.

    ``functions`` holds the library. ``failing``: a piece that fails was drawn; there is at most
    one, so that there is no question which failure a run reports.
    """

    functions: Graph
    pieces: Sequence[Callable[[Scope], None]]
    serial: int = 0
    failing: bool = True
    inits: list[Node] = field(default_factory=list)


@dataclass
class Scope:
    """What is known at one place: values to draw from, and the last user of each resource.

    ``pivot``: a node that nodes without inputs must wait for, so that they are in the frame and on
    the side that the scope stands for. ``resources``: handles with what they hold, by name.
    """

    rng: np.random.Generator
    graph: Graph
    shared: Shared
    depth: int = 0
    pivot: Node | None = None
    values: list[Value] = field(default_factory=list)
    resources: dict[str, Value] = field(default_factory=dict)
    users: dict[str, list[Node]] = field(default_factory=dict)

    def inside(self, graph: Graph, pivot: Node | None = None) -> Scope:
        """A scope within this one."""
        return Scope(self.rng, graph, self.shared, self.depth + 1, pivot)

    def fill(self, count: int) -> None:
        """Draw pieces."""
        for _ in range(count):
            self.one_of(self.shared.pieces)(self)

    # ---- chances -------------------------------------------------------------------------------

    def chance(self, probability: float) -> bool:
        """Whether it happens."""
        return bool(self.rng.random() < probability)

    def below(self, count: int) -> int:
        """A number from 0."""
        return int(self.rng.integers(count))

    def one_of(self, things: Sequence[Any]) -> Any:
        """One of them."""
        return things[self.below(len(things))]

    # ---- nodes ---------------------------------------------------------------------------------

    def node(self, op: str, *inputs: Value | Output, controls: Any = (), **attrs: Any) -> Node:
        """A node, with a name that no other graph of the program has."""
        outputs = [v.output if isinstance(v, Value) else v for v in inputs]
        waits = [*controls] if outputs or self.pivot is None else [self.pivot, *controls]
        name = self.new_name(op)
        return self.graph.add(op, name, outputs, controls=waits, attrs=attrs)

    def new_name(self, stem: str) -> str:
        """A name for a node, a function, a frame or a resource."""
        self.shared.serial += 1
        return f"{stem}_{self.shared.serial}"

    def put(
        self, node: Node, dtype: DType, shape: Shape, *, index: int = 0, last: bool = False
    ) -> Value:
        """Remember a node's output, to be drawn from and fetched."""
        self.values.append(Value((node, index), dtype, shape, last))
        return self.values[-1]

    def constant(self, value: Any, dtype: DType) -> Value:
        """A constant, which is not drawn from."""
        array = np.asarray(value, dtype.np)
        node = self.node("Const", dtype=dtype, value=TensorAttr(array=array))
        return Value((node, 0), dtype, array.shape)

    def fresh(self, dtype: DType | None = None, shape: tuple[int, ...] | None = None) -> Value:
        """A new constant to draw from."""
        kind = dtype or self.one_of(EVERY)
        size = self.one_of(SHAPES) if shape is None else shape
        value = self.constant(sample(self.rng, kind, size), kind)
        self.values.append(value)
        return value

    # ---- drawing from what there is ------------------------------------------------------------

    def having(self, fits: Callable[[Value], bool]) -> Value | None:
        """One of the values that fit."""
        found = [v for v in self.values if not v.last and fits(v)]
        return self.one_of(found) if found else None

    def of(self, *kinds: DType, shape: tuple[int, ...] | None = None) -> Value:
        """A value of one of these dtypes, and of this shape."""
        fits = self.having(lambda v: v.dtype in kinds and shape in (None, v.shape))
        return fits or self.fresh(self.one_of(kinds), shape)

    def any(self) -> Value:
        """A value of any dtype that may be fetched."""
        return self.having(lambda v: v.dtype in EVERY) or self.fresh()

    def beside(self, value: Value) -> Value:
        """A value of the same dtype that broadcasts with it; rarely one that does not."""
        rare = self.chance(0.01)
        found = self.having(lambda v: v.dtype is value.dtype and (rare or _broadcasts(v, value)))
        return found or self.fresh(value.dtype, ())

    def predicate(self) -> Value:
        """A scalar that is true or false."""
        given = self.having(lambda v: v.dtype is dtypes.BOOL and v.shape == ())
        if given is not None and self.chance(0.5):
            return given
        value = self.of(dtypes.FLOAT32, dtypes.INT32)
        axes = self.constant([0], dtypes.INT32)
        flat = self.node("Reshape", value, self.constant([-1], dtypes.INT32), T=value.dtype,
                         Tshape=dtypes.INT32)  # fmt: skip
        most = self.node("Max", (flat, 0), axes, T=value.dtype, Tidx=dtypes.INT32)
        bound = self.fresh(value.dtype, ())
        return self.put(self.node("Less", (most, 0), bound, T=value.dtype), dtypes.BOOL, ())

    # ---- order of what has state ---------------------------------------------------------------

    def use(self, resource: str) -> list[Node]:
        """What the next user of a resource must wait for: all before it, as one may be fed."""
        return self.users.get(resource) or ([] if self.pivot is None else [self.pivot])

    def used(self, resources: Iterable[str], node: Node) -> None:
        """The node is done with these resources when all before it are."""
        for name in resources:
            self.users.setdefault(name, []).append(node)

    def every_user(self) -> list[Node]:
        """All that used resources so far."""
        return list(dict.fromkeys(node for used in self.users.values() for node in used))

    def touch(self, resource: str, op: str, *inputs: Value | Output, **attrs: Any) -> Node:
        """A node that does something to a resource, after what was done before."""
        node = self.node(op, *inputs, controls=self.use(resource), **attrs)
        self.used([resource], node)
        return node

    def finish(self, value: Value) -> Node:
        """A value that is there when all that was done to resources in this scope is done."""
        return self.node("Identity", value, controls=self.every_user(), T=value.dtype)


def _broadcasts(a: Value, b: Value) -> bool:
    if a.shape is None or b.shape is None:
        return a.shape == b.shape
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return False
    return True
