"""Graphs without functions and without control flow, by number of nodes or so: values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from ci.scripts.growth.build import FLOAT, INT, Builder, Made

__all__ = ["PLAIN"]

Shape = Callable[[int], Made]
_AS_IT_IS: Final = {"transpose_a": False, "transpose_b": False}


def chain(n: int) -> Made:
    """Unary nodes, one after another."""
    b = Builder()
    last = b.x()
    for k in range(n):
        last = b.unary(f"n{k}", last, k)
    return b.made(last)


def ladder(n: int) -> Made:
    """Each node reads the one before twice."""
    b = Builder()
    last = b.x()
    for k in range(n):
        op = ("AddV2", "Mul", "Maximum", "Sub")[k % 4]
        last = b.add(op, f"n{k}", last, last, T=FLOAT)
    return b.made(last)


def diamonds(n: int) -> Made:
    """Two ways from each node to the next."""
    b = Builder()
    last = b.x()
    for k in range(n // 3):
        left, right = b.unary(f"l{k}", last, 0), b.unary(f"r{k}", last, 1)
        last = b.add("AddV2", f"n{k}", left, right, T=FLOAT)
    return b.made(last)


def sums(n: int) -> Made:
    """A chain of sums and products with constants."""
    b = Builder()
    last = b.x()
    for k in range(n // 2):
        value = b.const(f"c{k}", k % 7 + 1)
        last = b.add(("AddV2", "Mul", "Sub")[k % 3], f"n{k}", last, value, T=FLOAT)
    return b.made(last)


def identities(n: int) -> Made:
    """Nodes that pass on what they read."""
    b = Builder()
    last = b.x()
    for k in range(n):
        last = b.add("Identity", f"n{k}", last, T=FLOAT)
    return b.made(b.unary("y", last))


def inverses(n: int) -> Made:
    """Neg of Neg, and so on."""
    b = Builder()
    last = b.x()
    for k in range(n):
        last = b.add("Neg", f"n{k}", last, T=FLOAT)
    return b.made(last)


def fan_in(n: int) -> Made:
    """One node reads many different ones."""
    b = Builder()
    x = b.x()
    parts = [b.add("Mul", f"n{k}", x, b.const(f"c{k}", k), T=FLOAT) for k in range(n // 2)]
    return b.made(b.sum("y", *parts))


def fan_out(n: int) -> Made:
    """Many nodes read one, and are fetched."""
    b = Builder()
    last = b.unary("shared", b.x())
    made = [b.add("Pow", f"n{k}", last, b.const(f"c{k}", k), T=FLOAT) for k in range(n // 2)]
    return b.made(*made)


def equal_nodes(n: int) -> Made:
    """Equal nodes that one node reads."""
    b = Builder()
    x = b.x()
    return b.made(b.sum("y", *[b.add("Neg", f"n{k}", x, T=FLOAT) for k in range(n)]))


def equal_constants(n: int) -> Made:
    """Equal constants that one node reads, beside a value."""
    b = Builder()
    x, axis = b.x(), b.const("axis", 0, np.int32)
    parts = [x if k % 2 else b.const(f"c{k}", np.ones(4)) for k in range(n)]
    return b.made(b.add("ConcatV2", "y", *parts, axis, T=FLOAT, Tidx=INT, N=n))


def equal_chains(n: int) -> Made:
    """Equal chains of four, whose ends one node reads."""
    b = Builder()
    x = b.x()
    ends = []
    for k in range(n // 4):
        last = x
        for j in range(4):
            last = b.unary(f"n{k}_{j}", last, j)
        ends.append(last)
    return b.made(b.sum("y", *ends))


def concatenations(n: int) -> Made:
    """A concatenation of a concatenation, and so on."""
    b = Builder()
    last, axis = b.x(), b.const("axis", 0, np.int32)
    for k in range(n // 2):
        other = b.const(f"c{k}", [k % 3])
        last = b.add("ConcatV2", f"n{k}", last, other, axis, T=FLOAT, Tidx=INT, N=2)
    return b.made(last)


def unary_concatenation(n: int) -> Made:
    """A concatenation of equal ops on different inputs, of which each second one is fed."""
    b = Builder()
    x, axis = b.x(), b.const("axis", 0, np.int32)
    parts = []
    for k in range(n // 3):
        scaled = b.add("Mul", f"m{k}", x, b.const(f"c{k}", k), T=FLOAT)
        parts.append(b.add("Exp", f"n{k}", scaled, T=FLOAT))
    return b.made(b.add("ConcatV2", "y", *parts, axis, T=FLOAT, Tidx=INT, N=len(parts)))


def nested_sums(n: int) -> Made:
    """AddN of AddN, and so on."""
    b = Builder()
    x = last = b.x()
    for k in range(n):
        last = b.sum(f"n{k}", last, x, x)
    return b.made(last)


def splits(n: int) -> Made:
    """One split into many parts, each of which is changed and read by one node."""
    b = Builder()
    x, axis = b.x(dims=(n,)), b.const("axis", 0, np.int32)
    split = b.add("Split", "split", axis, x, T=FLOAT, num_split=n)
    parts = [b.unary(f"n{k}", f"{split}:{k}" if k else split) for k in range(n)]
    return b.made(b.sum("y", *parts))


def packs(n: int) -> Made:
    """Parts of one value, packed again."""
    b = Builder()
    x = b.x(dims=(n, 2))
    parts = b.add("Unpack", "parts", x, T=FLOAT, num=n, axis=0)
    changed = [b.unary(f"n{k}", f"{parts}:{k}" if k else parts) for k in range(n)]
    return b.made(b.add("Pack", "y", *changed, T=FLOAT, N=n, axis=0))


def pack_of_equal(n: int) -> Made:
    """One value, packed many times."""
    b = Builder()
    return b.made(b.add("Pack", "y", *[b.x()] * n, T=FLOAT, N=n, axis=0))


def shapes(n: int) -> Made:
    """Reshapes by shapes that are computed."""
    b = Builder()
    last = b.x(dims=(-1, 6))
    for k in range(n // 4):
        found = b.add("Shape", f"s{k}", last, T=FLOAT, out_type=INT)
        half = b.const(f"h{k}", [1, 1], np.int32)
        wanted = b.add("Mul", f"m{k}", found, half, T=INT)
        last = b.add("Reshape", f"n{k}", last, wanted, T=FLOAT, Tshape=INT)
    return b.made(last)


def transposes(n: int) -> Made:
    """Transposes and what is done between them."""
    b = Builder()
    last = b.x(dims=(2, 3))
    order = b.const("order", [1, 0], np.int32)
    for k in range(n):
        if k % 3:
            last = b.add("Transpose", f"n{k}", last, order, T=FLOAT, Tperm=INT)
        else:
            last = b.unary(f"n{k}", last, k)
    return b.made(last)


def reshapes(n: int) -> Made:
    """Reshapes, one after another."""
    b = Builder()
    last = b.x(dims=(2, 3))
    wanted = [b.const("a", [3, 2], np.int32), b.const("b", [6], np.int32)]
    for k in range(n):
        last = b.add("Reshape", f"n{k}", last, wanted[k % 2], T=FLOAT, Tshape=INT)
    return b.made(last)


def casts(n: int) -> Made:
    """There and back."""
    b = Builder()
    last, now, then = b.x(), FLOAT, INT
    for k in range(n):
        last = b.add("Cast", f"n{k}", last, SrcT=now, DstT=then)
        now, then = then, now
    return b.made(last)


def layers(n: int) -> Made:
    """Dense layers."""
    b = Builder()
    last = b.x(dims=(-1, 4))
    for k in range(n // 5):
        weights, bias = b.const(f"w{k}", np.eye(4) * k), b.const(f"b{k}", np.arange(4))
        last = b.add("MatMul", f"m{k}", last, weights, T=FLOAT, **_AS_IT_IS)
        last = b.add("BiasAdd", f"a{k}", last, bias, T=FLOAT, data_format="NHWC")
        last = b.add("Relu", f"n{k}", last, T=FLOAT)
    return b.made(last)


def convolutions(n: int) -> Made:
    """Convolutions with batch normalization."""
    b = Builder()
    last = b.x(dims=(1, 6, 6, 2))
    ones = b.const("ones", [1.0, 1.0])
    for k in range(n // 4):
        weights = b.const(f"w{k}", np.ones((3, 3, 2, 2)) * k)
        last = b.add("Conv2D", f"c{k}", last, weights, T=FLOAT, strides=[1, 1, 1, 1],
                     padding="SAME", data_format="NHWC", dilations=[1, 1, 1, 1])  # fmt: skip
        last = b.add("FusedBatchNormV3", f"b{k}", last, ones, ones, ones, ones, T=FLOAT, U=FLOAT,
                     epsilon=0.001, is_training=False, data_format="NHWC")  # fmt: skip
        last = b.add("Relu", f"n{k}", last, T=FLOAT)
    return b.made(last)


def products(n: int) -> Made:
    """Many products of one value with different constants."""
    b = Builder()
    x = b.x(dims=(2, 4))
    made = []
    for k in range(n // 3):
        weights = b.const(f"w{k}", np.eye(4) * k)
        made.append(b.add("MatMul", f"m{k}", x, weights, T=FLOAT, **_AS_IT_IS))  # fmt: skip
    return b.made(b.sum("y", *made))


def common_factors(n: int) -> Made:
    """A sum of products that share a factor."""
    b = Builder()
    x, other = b.x(), b.x("z")
    made = [b.add("Mul", f"m{k}", x, b.add("Pow", f"p{k}", other, b.const(f"c{k}", k), T=FLOAT),
                  T=FLOAT) for k in range(n // 3)]  # fmt: skip
    return b.made(b.sum("y", *made), feeds=("x:0", "z:0"))


def constants(n: int) -> Made:
    """What can all be computed before."""
    b = Builder()
    last = b.const("c", np.arange(4))
    for k in range(n // 2):
        last = b.add("AddV2", f"n{k}", last, b.const(f"c{k}", k), T=FLOAT)
    return b.made(b.add("AddV2", "y", last, b.x(), T=FLOAT))


def growing_constants(n: int) -> Made:
    """Constants that grow by each fold."""
    b = Builder()
    last, axis = b.const("c", [1.0]), b.const("axis", 0, np.int32)
    for k in range(n):
        other = b.const(f"c{k}", [k])
        last = b.add("ConcatV2", f"n{k}", last, other, axis, T=FLOAT, Tidx=INT, N=2)
    total = b.add("Sum", "s", last, axis, T=FLOAT, Tidx=INT, keep_dims=False)
    return b.made(b.add("AddV2", "y", total, b.x(), T=FLOAT))


def doubling(n: int) -> Made:
    """Constants that would double with each fold, all of which are read."""
    b = Builder()
    last, axis = b.const("c", np.ones(8)), b.const("axis", 0, np.int32)
    ends = []
    for k in range(n):
        last = b.add("ConcatV2", f"n{k}", last, last, axis, T=FLOAT, Tidx=INT, N=2)
        if k % 12 == 11:  # so that shapes stay within numbers
            ends.append(b.add("Sum", f"s{k}", last, axis, T=FLOAT, Tidx=INT, keep_dims=False))
            last = b.add("Reshape", f"r{k}", ends[-1], b.const(f"w{k}", [1], np.int32), T=FLOAT,
                         Tshape=INT)  # fmt: skip
    return b.made(b.sum("y", b.x(dims=()), *ends))


def fills(n: int) -> Made:
    """Small inputs whose outputs are as large as what is folded at most."""
    b = Builder()
    x = b.x()
    ends = []
    for k in range(n // 4):
        dims = b.const(f"d{k}", [50, 50], np.int32)
        filled = b.add("Fill", f"f{k}", dims, b.const(f"c{k}", k), T=FLOAT, index_type=INT)
        axes = b.const(f"a{k}", [0, 1], np.int32)
        ends.append(b.add("Sum", f"s{k}", b.add("Mul", f"m{k}", filled, filled, T=FLOAT), axes,
                          T=FLOAT, Tidx=INT, keep_dims=False))  # fmt: skip
    return b.made(b.add("AddV2", "y", b.sum("t", *ends), x, T=FLOAT))


_ALL: Final = (
    chain,
    ladder,
    diamonds,
    sums,
    identities,
    inverses,
    fan_in,
    fan_out,
    equal_nodes,
    equal_constants,
    equal_chains,
    concatenations,
    unary_concatenation,
    nested_sums,
    splits,
    packs,
    pack_of_equal,
    shapes,
    transposes,
    reshapes,
    casts,
    layers,
    convolutions,
    products,
    common_factors,
    constants,
    growing_constants,
    doubling,
    fills,
)
PLAIN: Final[dict[str, Shape]] = {made.__name__: made for made in _ALL}
