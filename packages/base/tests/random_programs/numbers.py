"""Pieces of programs that compute values from values: numbers, shapes, strings."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from drystone_base.core.dtypes import BOOL, COMPLEX64, COMPLEX128, FLOAT32, INT32, INT64, STRING
from drystone_base.ops.defs import op_def
from random_programs.scope import FLOATS, INTEGERS, NUMBERS, Scope, Shape, Value

__all__ = ["PIECES"]

BINARY = ("AddV2", "Add", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference", "FloorDiv",
          "FloorMod", "RealDiv", "BitwiseAnd", "LeftShift", "DivNoNan")  # fmt: skip
COMPARE = ("Less", "LessEqual", "Greater", "Equal", "NotEqual")
UNARY = ("Neg", "Abs", "Square", "Sign", "Floor", "Ceil", "Rint", "Relu", "Relu6", "ZerosLike",
         "OnesLike", "Invert", "Sqrt", "Conj")  # fmt: skip
INEXACT = ("Tanh", "Exp", "Sigmoid", "Softmax", "LogSoftmax", "Erf", "Rsqrt", "Softplus")
REDUCE = ("Sum", "Prod", "Max", "Min", "Mean")


def takes(op: str, value: Value, attr: str = "T") -> bool:
    """Whether the op is defined for the value's dtype, and has a kernel for it."""
    if op.startswith("Floor") and value.dtype in (COMPLEX64, COMPLEX128):
        return False
    allowed = op_def(op).attrs[attr].allowed
    return allowed is None or value.dtype in allowed


def broadcast(a: Value, b: Value) -> Shape:
    """The shape of an element-wise result."""
    if a.shape is None or b.shape is None:
        return None
    try:
        return np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return None


def binary(scope: Scope) -> None:
    """Two values, element by element."""
    a = scope.of(*NUMBERS)
    b = scope.beside(a)
    op = scope.one_of([op for op in BINARY if takes(op, a)])
    if op.startswith(("Floor", "Truncate")) and a.dtype in INTEGERS and scope.chance(0.9):
        b = scope.constant(3, a.dtype)  # or the division by zero is an error
    if op == "LeftShift":
        b = scope.constant(2, a.dtype)
    if scope.chance(0.5):
        a, b = (b, a) if not op.startswith(("Floor", "Truncate", "Left")) else (a, b)
    scope.put(scope.node(op, a, b, T=a.dtype), a.dtype, broadcast(a, b))


def unary(scope: Scope) -> None:
    """One value, element by element."""
    a = scope.of(*NUMBERS)
    op = scope.one_of([op for op in UNARY if takes(op, a)])
    scope.put(scope.node(op, a, T=a.dtype), a.dtype, a.shape)


def inexact(scope: Scope) -> None:
    """A function whose last bits are a kernel's own matter."""
    a = scope.having(lambda v: v.dtype in FLOATS[:2] and v.shape in ((3,), (2, 3)))
    if a is not None:
        op = scope.one_of(INEXACT)
        scope.put(scope.node(op, a, T=a.dtype), a.dtype, a.shape, last=True)


def compare(scope: Scope) -> None:
    """A relation, or what logic makes of two."""
    a = scope.of(BOOL, *NUMBERS)
    b = scope.beside(a)
    if a.dtype is BOOL:
        node = scope.node(scope.one_of(("LogicalAnd", "LogicalOr")), a, b)
    else:
        node = scope.node(scope.one_of([op for op in COMPARE if takes(op, a)]), a, b, T=a.dtype)
    scope.put(node, BOOL, broadcast(a, b))


def choose(scope: Scope) -> None:
    """One or the other, element by element."""
    a = scope.of(FLOAT32, INT32, INT64, STRING)
    b = scope.having(lambda v: v.dtype is a.dtype and v.shape == a.shape) or a
    condition = scope.having(lambda v: v.dtype is BOOL and v.shape in ((), a.shape))
    condition = condition or scope.predicate()
    scope.put(scope.node("SelectV2", condition, a, b, T=a.dtype), a.dtype, broadcast(a, condition))


def cast(scope: Scope) -> None:
    """Another dtype: of values that every dtype has."""
    a = scope.of(FLOAT32, INT32, INT64, BOOL)
    target = scope.one_of((*NUMBERS, BOOL))
    if a.dtype is not BOOL:
        low, high = scope.constant(0, a.dtype), scope.constant(100, a.dtype)
        clipped = scope.node("ClipByValue", a, low, high, T=a.dtype)
        a = Value((clipped, 0), a.dtype, a.shape)
    node = scope.node("Cast", a, SrcT=a.dtype, DstT=target)
    scope.put(node, target, a.shape)


def reduce(scope: Scope) -> None:
    """One axis or all, folded."""
    a = scope.having(lambda v: v.dtype in NUMBERS and v.shape in ((3,), (2, 3), (1, 3)))
    if a is None:
        a = scope.fresh(FLOAT32, (2, 3))
    assert a.shape is not None
    op, keep = scope.one_of([op for op in REDUCE if takes(op, a)]), scope.chance(0.3)
    axis = scope.below(len(a.shape))
    axes = scope.constant([axis], INT32)
    node = scope.node(op, a, axes, T=a.dtype, Tidx=INT32, keep_dims=keep)
    shape = list(a.shape)
    shape[axis : axis + 1] = [1] if keep else []
    exact = op in ("Max", "Min") or a.dtype in INTEGERS
    scope.put(node, a.dtype, tuple(shape), last=not exact)


def product(scope: Scope) -> None:
    """A product of matrices."""
    a, b = scope.of(FLOAT32, shape=(2, 3)), scope.of(FLOAT32, shape=(2, 3))
    node = scope.node("MatMul", a, b, T=FLOAT32, transpose_b=True)
    scope.put(node, FLOAT32, (2, 2), last=True)


def reshape(scope: Scope) -> None:
    """The same elements in other shapes and places."""
    a = scope.any()
    kind = scope.below(6)
    if kind == 0 and a.shape is not None:
        node = scope.node("ExpandDims", a, scope.constant(0, INT32), T=a.dtype, Tdim=INT32)
        scope.put(node, a.dtype, (1, *a.shape))
    elif kind == 1:
        to = scope.constant([-1], INT32)
        node = scope.node("Reshape", a, to, T=a.dtype, Tshape=INT32)
        scope.put(node, a.dtype, None if a.shape is None else (int(np.prod(a.shape)),))
    elif kind == 2 and a.shape is not None and a.shape[:1] == (3,):
        order = scope.constant([2, 0, 1, 1], INT32)
        node = scope.node("GatherV2", a, order, scope.constant(0, INT32),
                          Tparams=a.dtype, Tindices=INT32, Taxis=INT32)  # fmt: skip
        scope.put(node, a.dtype, (4, *a.shape[1:]))
    elif kind == 3 and a.shape == (2, 3):
        node = scope.node("Transpose", a, scope.constant([1, 0], INT32), T=a.dtype, Tperm=INT32)
        scope.put(node, a.dtype, (3, 2))
    elif kind == 4 and a.shape == (3,):
        begin, size = scope.constant([1], INT32), scope.constant([scope.below(3)], INT32)
        node = scope.node("Slice", a, begin, size, T=a.dtype, Index=INT32)
        scope.put(node, a.dtype, None)
    else:
        node = scope.node(scope.one_of(("Identity", "StopGradient", "Snapshot")), a, T=a.dtype)
        scope.put(node, a.dtype, a.shape)


def join(scope: Scope) -> None:
    """Several values in one, or one in several."""
    a = scope.any()
    if a.shape is None:
        return
    b = scope.having(lambda v: v.dtype is a.dtype and v.shape == a.shape) or a
    kind = scope.below(4)
    if kind == 0:
        node = scope.node("Pack", a, b, a, T=a.dtype, N=3, axis=0)
        scope.put(node, a.dtype, (3, *a.shape))
    elif kind == 1 and a.shape:
        node = scope.node("ConcatV2", a, b, scope.constant(0, INT32), T=a.dtype, N=2, Tidx=INT32)
        scope.put(node, a.dtype, (2 * a.shape[0], *a.shape[1:]))
    elif kind == 2 and a.shape[:1] == (2,):
        node = scope.node("Unpack", a, T=a.dtype, num=2, axis=0)
        scope.put(node, a.dtype, a.shape[1:], index=scope.below(2))
    else:
        node = scope.node("IdentityN", a, b, T=[a.dtype, a.dtype])
        scope.put(node, a.dtype, a.shape, index=scope.below(2))


def facts(scope: Scope) -> None:
    """What is known of a value: shape, size, rank."""
    a = scope.any()
    rank = None if a.shape is None else len(a.shape)
    kind = scope.below(3)
    if kind == 0:
        node = scope.node("Shape", a, T=a.dtype, out_type=INT32)
        scope.put(node, INT32, None if rank is None else (rank,))
    elif kind == 1:
        scope.put(scope.node("Size", a, T=a.dtype, out_type=INT64), INT64, ())
    else:
        scope.put(scope.node("Rank", a, T=a.dtype), INT32, ())


def search(scope: Scope) -> None:
    """What has as many elements as it happens to have, and what sorts."""
    a = scope.of(INT32, INT64, FLOAT32, shape=(3,))
    kind = scope.below(3)
    if kind == 0:
        node = scope.node("Unique", a, T=a.dtype, out_idx=INT32)
        scope.put(node, a.dtype, None)
        scope.put(node, INT32, (3,), index=1)
    elif kind == 1:
        scope.put(scope.node("Where", a, T=a.dtype), INT64, None)
    else:
        k = scope.constant(2, INT32)
        node = scope.node("TopKV2", a, k, T=a.dtype, Tk=INT32, index_type=INT32)
        scope.put(node, a.dtype, (2,))
        scope.put(node, INT32, (2,), index=1)


def text(scope: Scope) -> None:
    """Strings from strings and numbers, and back."""
    a = scope.of(STRING)
    kind = scope.below(5)
    if kind == 0:
        b = scope.having(lambda v: v.dtype is STRING and v.shape == a.shape) or a
        scope.put(scope.node("StringJoin", a, b, N=2, separator="/"), STRING, a.shape)
    elif kind == 1:
        node = scope.node("StringToHashBucketFast", a, num_buckets=1000)
        scope.put(node, INT64, a.shape)
    elif kind == 2:
        node = scope.node("StringLength", a, unit="BYTE")
        scope.put(node, INT32, a.shape)
    elif kind == 3:
        number = scope.of(INT32, INT64, BOOL)
        scope.put(scope.node("AsString", number, T=number.dtype), STRING, number.shape)
    else:
        scope.put(scope.node("StringLower", a, encoding=""), STRING, a.shape)


PIECES: tuple[Callable[[Scope], None], ...] = (
    binary, binary, binary, unary, unary, inexact, compare, choose, cast, reduce, product,
    reshape, join, facts, search, text,
)  # fmt: skip
