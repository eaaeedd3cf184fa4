"""Random graphs of what passes rewrite: constants that are neutral, shapes, transposes, layers."""

from __future__ import annotations

from typing import Any

import numpy as np
from random_drawing import Drawing

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32, FLOAT64, INT32
from drystone_base.graph import Output

__all__ = ["Arithmetic", "draw", "run"]

UNARY = (
    "Neg", "Abs", "Square", "Relu", "Relu6", "Tanh", "Exp", "Log", "Sqrt", "Reciprocal", "Identity",
    "Sign", "Floor", "StopGradient", "ZerosLike", "OnesLike", "Softmax",
)  # fmt: skip
BINARY = ("AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "SquaredDifference", "Pow", "Add")
VALUES = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, 0.1, 1e30, 1e-30)
F = {"T": FLOAT32}


class Arithmetic(Drawing):
    """A graph of float32 matrices; the shape of each value is known here, not always to it."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__(rng)
        self.values: list[tuple[Output, tuple[int, int]]] = []

    def ints(self, *value: int) -> Output:
        """A constant vector of ints."""
        self.serial += 1
        return self.m.const(f"i_{self.serial}", np.array(value, np.int32))

    def placeholder(self) -> None:
        """A matrix that is fed, with zeros of both signs, NaN and infinities now and then."""
        shape = (int(self.rng.integers(1, 4)), int(self.rng.integers(1, 4)))
        stated = tuple(-1 if self.rng.random() < 0.3 else d for d in shape)
        name = f"x{len(self.feeds)}"
        value = self.rng.normal(size=shape).round(1).astype(np.float32)
        if self.rng.random() < 0.4:
            value.flat[0] = self.one_of((0.0, -0.0, np.nan, np.inf, -np.inf))
        self.feeds[f"{name}:0"] = value
        self.values.append((self.m.x(name, stated), shape))

    def constant(self) -> None:
        """A matrix that is constant, often of one number."""
        shape = (int(self.rng.integers(1, 4)), int(self.rng.integers(1, 4)))
        item = self.one_of(VALUES)
        value = np.full(shape, item) if self.rng.random() < 0.6 else self.rng.normal(size=shape)
        self.serial += 1
        self.values.append((self.m.const(f"c_{self.serial}", value.astype(np.float32)), shape))

    def unary(self) -> None:
        """An element-wise op, on one of the last values most of the time."""
        data, shape = self.values[-1] if self.rng.random() < 0.6 else self.one_of(self.values)
        self.values.append((self.op(self.one_of(UNARY), data, **F), shape))

    def binary(self) -> None:
        """An op of two operands that broadcast."""
        a, left = self.one_of(self.values)
        fits = [v for v in self.values if all(p == q or 1 in (p, q)
                for p, q in zip(left, v[1], strict=True))]  # fmt: skip
        b, right = self.one_of(fits)
        shape = (max(left[0], right[0]), max(left[1], right[1]))
        pair = (a, b) if self.rng.random() < 0.5 else (b, a)
        self.values.append((self.op(self.one_of(BINARY), *pair, **F), shape))

    def scalar(self) -> None:
        """An op with a number."""
        data, shape = self.values[-1]
        self.serial += 1
        number = self.m.const(f"n_{self.serial}", np.float32(self.one_of(VALUES)))
        pair = (data, number) if self.rng.random() < 0.7 else (number, data)
        self.values.append((self.op(self.one_of(BINARY), *pair, **F), shape))

    def arrange(self) -> None:
        """An op that moves elements."""
        data, (rows, cols) = self.one_of(self.values[-3:])
        kind = int(self.rng.integers(7))
        if kind == 0:
            order = self.one_of(((0, 1), (1, 0)))
            made = self.op("Transpose", data, self.ints(*order), Tperm=INT32, **F)
            shape = (rows, cols) if order == (0, 1) else (cols, rows)
        elif kind == 1:
            shape = self.one_of(((rows, cols), (cols, rows), (1, rows * cols)))
            target = self.one_of((shape, (-1, shape[1])))
            made = self.op("Reshape", data, self.ints(*target), Tshape=INT32, **F)
        elif kind == 2:
            axis = int(self.rng.integers(-2, 2))
            reduce = self.one_of(("Sum", "Mean", "Max", "Min", "Prod"))
            made = self.op(reduce, data, self.ints(axis), keep_dims=True, Tidx=INT32, **F)
            shape = (1, cols) if axis % 2 == 0 else (rows, 1)
        elif kind == 3:
            count = int(self.rng.integers(2, 4))
            alike = [v for v, s in self.values if s == (rows, cols)]
            parts = [self.one_of(alike) for _ in range(count)]
            self.serial += 1
            at = int(self.rng.integers(-2, 2))
            last = self.m.const(f"a_{self.serial}", at)
            made = self.op("ConcatV2", *parts, last, N=count, Tidx=INT32, **F)
            shape = (rows * count, cols) if at % 2 == 0 else (rows, cols * count)
        elif kind == 4:
            begin = self.ints(0, int(self.rng.integers(0, 2)) if cols > 1 else 0)
            made = self.op("Slice", data, begin, self.ints(-1, 1), Index=INT32, **F)
            shape = (rows, 1)
        elif kind == 5:
            made = self.op("Tile", data, self.ints(1, 1), Tmultiples=INT32, **F)
            shape = (rows, cols)
        else:
            taken = self.op("Shape", data, out_type=INT32, **F)
            made = self.op("Fill", taken, self.m.const(f"f_{self.serial}", np.float32(2)), **F)
            shape = (rows, cols)
        self.values.append((made, shape))

    def parts(self) -> None:
        """A Split whose parts go through one op, or not, and are put together again."""
        data, (rows, cols) = self.one_of(self.values)
        axis = int(self.rng.integers(2))
        count = (rows, cols)[axis]
        if count < 2:
            return
        self.serial += 1
        at = self.m.const(f"p_{self.serial}", axis)
        node = self.op("Split", at, data, num_split=count, **F)[0]
        op = self.one_of(UNARY)
        ends = [self.op(op if self.rng.random() < 0.8 else "Neg", (node, k), **F)
                for k in range(count)]  # fmt: skip
        self.values.append((self.op("ConcatV2", *ends, at, N=count, Tidx=INT32, **F), (rows, cols)))

    def pack(self) -> None:
        """A Pack of one or two matrices of a shape, and one element of it.

        Along the first axis: products of what lies elsewhere in memory round otherwise.
        """
        data, shape = self.one_of(self.values)
        other = self.one_of([v for v, s in self.values if s == shape])
        axis = self.one_of((0, -3))
        packed = self.op("Pack", data, other, N=2, axis=axis, **F)
        at = axis % 3
        begin = [int(self.rng.integers(2)) if k == at else 0 for k in range(3)]
        size = [1 if k == at else -1 for k in range(3)]
        cut = self.op("Slice", packed, self.ints(*begin), self.ints(*size), Index=INT32, **F)
        flat = self.op("Reshape", cut, self.ints(*shape), Tshape=INT32, **F)
        self.values.append((flat, shape))

    def casts(self) -> None:
        """Through a wider type and back, and a move of elements between."""
        data, (rows, cols) = self.one_of(self.values)
        wide = self.op("Cast", data, SrcT=FLOAT32, DstT=FLOAT64)
        moved = self.op("Transpose", wide, self.ints(1, 0), T=FLOAT64, Tperm=INT32)
        narrow = self.op("Cast", moved, SrcT=FLOAT64, DstT=FLOAT32)
        self.values.append((narrow, (cols, rows)))

    def factors(self) -> None:
        """A sum of two products with a factor in common."""
        data, shape = self.one_of(self.values)
        alike = [v for v, s in self.values if s == shape]
        one, other = self.one_of(alike), self.one_of(alike)
        a, b = self.op("Mul", data, one, **F), self.op("Mul", other, data, **F)
        self.values.append((self.op("AddV2", a, b, **F), shape))

    def layer(self) -> None:
        """A product with constant weights, a bias, an activation."""
        data, (rows, cols) = self.values[-1]
        out = int(self.rng.integers(1, 4))
        self.serial += 1
        weights = self.m.const(f"w_{self.serial}", self.rng.normal(size=(cols, out)).astype("f4"))
        made = self.op("MatMul", data, weights, **F)
        if self.rng.random() < 0.7:
            bias = self.m.const(f"b_{self.serial}", self.rng.normal(size=out).astype("f4"))
            made = self.op(self.one_of(("BiasAdd", "AddV2")), made, bias, **F)
        if self.rng.random() < 0.5:
            made = self.op("Relu", made, **F)
        self.values.append((made, (rows, out)))


def draw(seed: int) -> tuple[Arithmetic, list[str]]:
    """The graph of a seed, and what to fetch."""
    rng = np.random.default_rng(seed)
    made = Arithmetic(rng)
    for _ in range(int(rng.integers(1, 3))):
        made.placeholder()
    made.constant()
    pieces = [made.unary] * 4 + [made.binary] * 4 + [made.scalar] * 4 + [made.arrange] * 5
    pieces += [made.layer] * 2 + [made.constant]
    pieces += [made.parts, made.pack, made.casts, made.factors]
    for _ in range(int(rng.integers(3, 25))):
        made.one_of(pieces)()
    chosen = {made.values[-1][0][0].name, made.one_of(made.values)[0][0].name}
    return made, [f"{name}:0" for name in sorted(chosen)]


def run(made: Arithmetic, fetches: list[str], optimizer: Any) -> list[Any]:
    """The fetches with this optimizer, on the reference executor."""
    config = SessionConfig(executor="reference", optimizer=optimizer)
    with np.errstate(all="ignore"):
        found: list[Any] = Session(made.m.graph, config).run(fetches, made.feeds)
    return found
