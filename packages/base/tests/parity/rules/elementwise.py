"""Element by element: most ops need no rule."""

from typing import Any

from parity.draft import Draft, Rule
from parity.drawers import choice, fixed, like, some, unit

_CAST = (
    "float32",
    "int32",
    "uint8",
    "int64",
    "float64",
    "complex64",
    "int8",
    "uint16",
    "int16",
    "float16",
    "bfloat16",
    "uint32",
    "bool",
    "uint64",
    "complex128",
)

RULES: dict[str, Rule] = {
    "InvGrad ReciprocalGrad RsqrtGrad SigmoidGrad SqrtGrad TanhGrad": Rule({"dy": like("y")}),
    "EluGrad SeluGrad": Rule({"outputs": like("gradients")}),
    "LeakyReluGrad Relu6Grad ReluGrad SoftplusGrad SoftsignGrad": Rule(
        {"features": like("gradients")}
    ),
    "Complex": Rule({"Tout": lambda d: {"float64": "complex128"}.get(d["T"], "complex64")}),
    "Angle ComplexAbs Imag Real": Rule(
        {"Tout": lambda d: {"complex128": "float64"}.get(d["T"], "float32")}
    ),
    "ApproximateEqual": Rule({"y": like("x"), "tolerance": choice(1e-5, 0.5, 2.0)}),
    "AddN": Rule({"N": choice(1, 2, 3, 9)}),
    "AccumulateNV2": Rule({"N": choice(1, 2, 3), "shape": lambda d: d.dims.get("none", ())}),
    "Atanh Acos Asin Erfinv": Rule({"x": lambda d: _within(d, -1.1, 1.1)}),
    "Ndtri": Rule({"x": lambda d: _within(d, -0.1, 1.1)}),
    "Betainc": Rule(
        {
            "a": lambda d: _within(d, 0.1, 6.0),
            "b": lambda d: _like(d, "a", 0.1, 6.0),
            "x": lambda d: _like(d, "a", -0.05, 1.05),
        },
        tol=10,
        why="TensorFlow's float32 series stops early",
    ),
    "Igamma Igammac": Rule(
        {"a": lambda d: _within(d, 0.0, 6.0)},
        tol=10,
        why="TensorFlow's float32 series stops early",
    ),
    "Polygamma": Rule({"a": lambda d: _orders(d)}, tol=10, why="differences of gamma functions"),
    "Zeta": Rule({"x": lambda d: _within(d, 1.0, 5.0)}, tol=10),
    "Lgamma Digamma": Rule(tol=100, why="zeros of the function between float32 values"),
    "ClipByValue": Rule(
        {"clip_value_min": lambda d: _bound(d), "clip_value_max": lambda d: _bound(d)}
    ),
    "Select": Rule({"t": some(3), "e": like("t"), "condition": lambda d: _condition(d)}),
    "Cast": Rule({"DstT": lambda d: d.pick(*_CAST)}),
    "NextAfter": Rule(tol=0),
    "Cross": Rule({"a": lambda d: d.tensor("a", (*d.any_shape(3), 3)), "b": like("a")}),
    "BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift": Rule(),
    "Bitcast": Rule({"type": lambda d: d.pick(*_CAST[:12])}),
    "LinSpace": Rule(
        {
            "start": unit("", -9, 9),
            "stop": unit("", -9, 9),
            "num": lambda d: d.rng.integers(0, 9, ()).astype(d.dtype("num").np),
        }
    ),
    "Range": Rule(
        {"start": lambda d: _end(d), "limit": lambda d: _end(d), "delta": lambda d: _end(d)}
    ),
    "InvertPermutation": Rule(
        {"x": lambda d: d.rng.permutation(d.size(0, 6)).astype(d.dtype("x").np)}
    ),
    "Conj": Rule({"T": fixed("complex64")}),
}


def _within(d: Draft, low: float, high: float) -> Any:
    shape = d.any_shape(3)
    return d.rng.uniform(low, high, shape).astype(d.dtype(d.making).np)


def _like(d: Draft, other: str, low: float, high: float) -> Any:
    return d.rng.uniform(low, high, d[other].shape).astype(d.dtype(d.making).np)


def _orders(d: Draft) -> Any:
    return d.rng.integers(0, 4, d.any_shape(3)).astype(d.dtype("a").np)


def _bound(d: Draft) -> Any:
    shape = () if d.chance(0.5) else d["t"].shape
    return d.tensor(d.making, shape)


def _condition(d: Draft) -> Any:
    shape = d["t"].shape
    return d.tensor("condition", d.pick(shape, shape, (), shape[:1]))


def _end(d: Draft) -> Any:
    value = d.size(-9, 20) / d.pick(1, 1, 2, 4)
    return d.rng.permutation([value])[0].astype(d.dtype(d.making).np)
