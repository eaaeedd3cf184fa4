"""Random graphs of layers as frameworks write them: normalizations, GELUs, attention, functions.

Most are what passes make one node of; some differ in one thing, so that they must stay.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pass_checks import unary_function
from random_drawing import Drawing

from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.graph import Output
from drystone_base.ops.attrs import FunctionRef

__all__ = ["Layers", "draw_layers"]

F: dict[str, Any] = {"T": FLOAT32}
_UNARY = ("Relu", "Neg", "Tanh", "Sigmoid", "Identity", "Square")
_SQUARES = ("SquaredDifference", "Square", "Mul")
# Ways to compute the same, to the bit, of one argument.
_ALIKE = (("Abs", "Abs"), ("Neg", "Neg"), ("Square", "Square"), ("Relu", "Relu"))
_DEVICES = ("/cpu:0", "/gpu:0", "")
_ROOT, _SLOPE = float(np.float32(np.sqrt(0.5))), float(np.float32(np.sqrt(2 / np.pi)))
_WRONG = 0.15


class Layers(Drawing):
    """A graph of float32 values of shape (examples, places, features)."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__(rng)
        self.sizes = (int(rng.integers(1, 4)), int(rng.integers(1, 5)))
        self.heads = int(rng.integers(1, 3))
        self.width = self.heads * int(rng.integers(1, 4))
        self.values: list[Output] = []
        self.inner: list[Output] = []

    def op(self, op: str, *inputs: Any, **attrs: Any) -> Output:
        """A node of floats with a name of its own."""
        return super().op(op, *inputs, **({"T": FLOAT32} | attrs))

    def either(self, op: str, a: Output, b: Output) -> Output:
        """An op whose operands may come in any order."""
        return self.op(op, *((a, b) if self.chance(0.5) else (b, a)))

    def last(self) -> Output:
        """One of the last values."""
        found: Output = self.one_of(self.values[-2:])
        return found

    def keep(self, made: Output, *inner: Output) -> None:
        """Let later layers read a value; what is inside of it is fetched now and then."""
        self.values.append(made)
        self.inner += inner

    def placeholder(self) -> None:
        """What is fed, often of unknown sizes."""
        shape = (*self.sizes, self.width)
        stated = tuple(-1 if self.chance(0.3) else d for d in shape[:2])
        name = f"x{len(self.feeds)}"
        self.feeds[f"{name}:0"] = self.rng.normal(size=shape).astype(np.float32)
        self.values.append(self.m.x(name, (*stated, self.width)))

    # ---- pieces --------------------------------------------------------------------------------

    def unary(self) -> None:
        """An element-wise op."""
        self.keep(self.op(self.one_of(_UNARY), self.last()))

    def residual(self) -> None:
        """A sum with an earlier value."""
        self.keep(self.either("AddV2", self.last(), self.one_of(self.values)))

    def dense(self) -> None:
        """A product with weights, with a bias or not."""
        self.keep(self.projected(self.last(), "BatchMatMulV2"))

    def projected(self, x: Output, op: str = "Einsum") -> Output:
        """The product of the last dimension with weights."""
        weights = self.weights(self.width, self.width)
        if op == "Einsum":
            made = self.op("Einsum", x, weights, equation="abc,cd->abd", N=2)
        else:
            made = self.op(op, x, weights)
        return self.op("AddV2", made, self.weights(self.width)) if self.chance(0.5) else made

    def layer_norm(self) -> None:
        """Moments over the last dimension, and one of the formulas; or over another one."""
        x = self.last()
        if self.chance(0.2):
            self.as_rows(x)
            return
        wrong, wide = self.chance(_WRONG), self.chance(_WRONG)
        axis = self.const([1, 2] if wide else [1] if wrong else [self.one_of((-1, 2))])
        mean = self.op("Mean", x, axis, keep_dims=True, Tidx=INT32)
        variance = self.op("Mean", self.squares(x, mean), axis, keep_dims=True, Tidx=INT32)
        if self.chance(_WRONG):
            variance = self.op("Sub", variance, self.op("Square", mean))
        shifted = self.either("AddV2", variance, self.const(np.float32(self.one_of((1e-3, 0.1)))))
        made = self.one_of((self.as_batch_normalization, self.as_written))(x, mean, shifted)
        self.keep(made, mean, shifted)

    def squares(self, x: Output, mean: Output) -> Output:
        """Of the differences from the mean."""
        kind = self.one_of(_SQUARES)
        if kind == "SquaredDifference":
            return self.op(kind, x, self.op("StopGradient", mean) if self.chance(0.5) else mean)
        less = self.op("Sub", x, mean)
        return self.op(kind, *([less] if kind == "Square" else [less, less]))

    def as_batch_normalization(self, x: Output, mean: Output, shifted: Output) -> Output:
        """``x f + (offset - mean f)``."""
        factor = self.op("Rsqrt", shifted)
        if self.chance(0.7):
            factor = self.either("Mul", factor, self.weights(self.width))
        rest = self.op("Mul", mean, factor)
        left = self.either("Mul", x, factor)
        if self.chance(0.3):
            return self.op("Sub", left, rest)
        return self.op("AddV2", left, self.op("Sub", self.weights(self.width), rest))

    def as_written(self, x: Output, mean: Output, shifted: Output) -> Output:
        """``(x - mean) / deviation * scale + offset``."""
        less = self.op("Sub", x, mean)
        if self.chance(0.5):
            made = self.op("RealDiv", less, self.op("Sqrt", shifted))
        else:
            made = self.either("Mul", less, self.op("Rsqrt", shifted))
        if self.chance(0.6):
            made = self.either("Mul", made, self.weights(self.width))
        return self.op("AddV2", made, self.weights(self.width)) if self.chance(0.6) else made

    def as_rows(self, x: Output) -> None:
        """As Keras 2 does: rows as channels of a batch normalization."""
        rows = self.op("Reshape", x, self.const([1, -1, self.width, 1]), Tshape=INT32)
        count = self.const([self.sizes[0] * self.sizes[1]])
        ones = self.op("Fill", count, self.const(np.float32(1)))
        zeros = self.op("Fill", count, self.const(np.float32(0)))
        none = self.const(np.zeros(0, np.float32))
        norm = self.op("FusedBatchNormV3", rows, ones, zeros, none, none, U=FLOAT32,
                       epsilon=0.01, data_format="NCHW", is_training=True)  # fmt: skip
        shape = self.op("Shape", x, out_type=INT32)
        made = self.op("Reshape", norm, shape, Tshape=INT32)
        if self.chance(0.7):
            made = self.either("Mul", made, self.weights(self.width))
        if self.chance(0.7):
            made = self.either("AddV2", made, self.weights(self.width))
        self.keep(made, norm)

    def gelu(self) -> None:
        """One of the formulas; now and then with another number in it."""
        x = self.last()
        inside = self.one_of((self.erf, self.erfc, self.tanh))(x)
        half = self.either("Mul", self.const(np.float32(0.4 if self.chance(_WRONG) else 0.5)), x)
        self.keep(self.either("Mul", half, inside), inside)

    def erf(self, x: Output) -> Output:
        """``1 + erf(x / sqrt(2))``."""
        if self.chance(0.5):
            scaled = self.op("RealDiv", x, self.const(np.float32(1 / _ROOT)))
        else:
            scaled = self.either("Mul", x, self.const(np.float32(_ROOT)))
        return self.either("AddV2", self.op("Erf", scaled), self.const(np.float32(1)))

    def erfc(self, x: Output) -> Output:
        """``erfc(-x sqrt(0.5))``."""
        minus = self.op("Neg", x)
        return self.op("Erfc", self.either("Mul", minus, self.const(np.float32(_ROOT))))

    def tanh(self, x: Output) -> Output:
        """``1 + tanh(s (x + 0.044715 x**3))``."""
        cube = self.op("Pow", x, self.const(np.float32(3)))
        bent = self.either("Mul", self.const(np.float32(0.044715)), cube)
        scaled = self.either("Mul", self.const(np.float32(_SLOPE)), self.op("AddV2", x, bent))
        return self.either("AddV2", self.op("Tanh", scaled), self.const(np.float32(1)))

    def attention(self) -> None:
        """Heads of three projections, as products or as Einsum."""
        x = self.last()
        sizes = self.const([-1, self.sizes[1], self.heads, self.width // self.heads])
        heads = [self.op("Reshape", self.projected(x), sizes, Tshape=INT32) for _ in range(3)]
        made = self.by_einsum(*heads) if self.chance(0.5) else self.by_products(*heads)
        flat = self.const([-1, self.sizes[1], self.width])
        self.keep(self.op("Reshape", made, flat, Tshape=INT32), made)

    def by_products(self, q: Output, k: Output, v: Output) -> Output:
        """Heads turned to the front and back; keys are transposed by the product or before."""
        flips = self.chance(0.5)
        orders = ([0, 2, 1, 3], [0, 2, 3, 1] if flips else [0, 2, 1, 3], [0, 2, 1, 3])
        q, k, v = (self.turned(x, order) for x, order in zip((q, k, v), orders, strict=True))
        weights = self.weighted(self.op("BatchMatMulV2", q, k, adj_y=not flips))
        return self.turned(self.op("BatchMatMulV2", weights, v), [0, 2, 1, 3])

    def by_einsum(self, q: Output, k: Output, v: Output) -> Output:
        """As Keras does."""
        scores = self.op("Einsum", k, q, equation="aecd,abcd->acbe", N=2)
        weights = self.weighted(scores)
        return self.op("Einsum", weights, v, equation="acbe,aecd->abcd", N=2)

    def turned(self, x: Output, order: list[int]) -> Output:
        """A Transpose."""
        return self.op("Transpose", x, self.const(order), Tperm=INT32)

    def weighted(self, scores: Output) -> Output:
        """The softmax of scaled and masked scores; now and then two things read the scores."""
        if self.chance(0.7):
            op, by = self.one_of((("Mul", 0.6), ("RealDiv", 1.7)))
            scores = self.op(op, scores, self.const(np.float32(by)))
        if self.chance(0.5):
            mask = self.rng.integers(0, 2, (1, 1, 1, self.sizes[1])).astype(np.float32) * -1e4
            scores = self.op("AddV2", scores, self.const(mask))
        if self.chance(_WRONG):
            self.inner.append(scores)
        return self.op("Softmax", scores)

    def function(self) -> None:
        """A call of one of two functions for a device each, that do the same."""
        self.serial += 1
        ops = self.one_of(_ALIKE)
        interface = f"does_{self.serial}"
        for name, device, op in zip("ab", ("CPU", "GPU"), ops, strict=True):
            said = {"api_implements": interface, "api_preferred_device": device}
            self.m.graph.functions.add(unary_function(f"{name}_{self.serial}", op, **said))
        callee, device = f"{self.one_of('ab')}_{self.serial}", self.one_of(_DEVICES)
        kind = self.one_of(("PartitionedCall", "StatefulPartitionedCall", callee))
        if kind == callee:
            made = self.m.op(callee, f"call_{self.serial}", self.last(), device=device)
        else:
            types: dict[str, Any] = {
                "Tin": [FLOAT32],
                "Tout": [FLOAT32],
                "f": FunctionRef(callee, {}),
            }
            made = self.m.op(kind, f"call_{self.serial}", self.last(), device=device, **types)
        self.keep(made)

    def case(self) -> None:
        """Branches for devices, which a DeviceIndex decides."""
        self.serial += 1
        names = [f"on_{device}_{self.serial}" for device in ("CPU", "GPU", "rest")]
        for name in names:  # alike: without a pass, the CPU's is taken
            self.m.graph.functions.add(unary_function(name, "Tanh"))
        index = self.m.op("DeviceIndex", f"index_{self.serial}", device_names=["CPU", "GPU"])
        branches = [FunctionRef(name, {}) for name in names]
        made = self.m.op("StatelessCase", f"case_{self.serial}", index, self.last(),
                         branches=branches, Tin=[FLOAT32], Tout=[FLOAT32], output_shapes=[None],
                         device=self.one_of(_DEVICES))  # fmt: skip
        self.keep(made)


def draw_layers(seed: int) -> tuple[Layers, list[str]]:
    """The graph of a seed, and what to fetch."""
    rng = np.random.default_rng(seed)
    made = Layers(rng)
    for _ in range(int(rng.integers(1, 3))):
        made.placeholder()
    pieces = [made.layer_norm] * 4 + [made.gelu] * 3 + [made.attention] * 3 + [made.dense] * 2
    pieces += [made.unary, made.residual, made.residual, made.function, made.case]
    for _ in range(int(rng.integers(1, 8))):
        made.one_of(pieces)()
    chosen = {made.values[-1][0].name, made.one_of(made.values)[0].name}
    if made.inner and made.chance(0.2):
        chosen.add(made.one_of(made.inner)[0].name)
    return made, [f"{name}:0" for name in sorted(chosen)]
