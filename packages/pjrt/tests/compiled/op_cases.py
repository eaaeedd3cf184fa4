"""Cases of ops that compute: element-wise, products, images, reductions."""

from __future__ import annotations

from typing import Final

import numpy as np
from hypothesis import strategies as st
from op_drawing import (
    FLOATS,
    WHOLE,
    Case,
    Draw,
    axes,
    broadcastable,
    case,
    numbers,
    shape,
    special,
    typed,
)

from drystone_base.core.dtypes import as_dtype

__all__: list[str] = []

# ---- element-wise --------------------------------------------------------------------------------


@case("Abs", "Neg", "Square", "Sign", "Relu", "Relu6", "Identity", "Snapshot", "StopGradient",
      "PreventGradient", "ZerosLike", "OnesLike")  # fmt: skip
def of_any(draw: Draw, _: str) -> Case:
    dtype = draw(st.sampled_from((*FLOATS, "int32", "int64")))
    return [special(draw, shape(draw), dtype)], typed(dtype), (), 1


@case("Ceil", "Cos", "Elu", "Erf", "Erfc", "Exp", "Expm1", "Floor", "IsFinite", "IsInf", "IsNan",
      "LeakyRelu", "Log", "Log1p", "Reciprocal", "Inv", "Rint", "Round", "Rsqrt", "Selu",
      "Sigmoid", "Sin", "Softplus", "Softsign", "Sqrt", "Tanh")  # fmt: skip
def of_float(draw: Draw, op: str) -> Case:
    dtype = draw(st.sampled_from(FLOATS))
    attrs = typed(dtype) | ({"alpha": 0.3} if op == "LeakyRelu" else {})
    return [special(draw, shape(draw), dtype)], attrs, (), 1


@case("Add", "AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference", "Equal", "NotEqual",
      "Less", "LessEqual", "Greater", "GreaterEqual")  # fmt: skip
def of_two(draw: Draw, _: str) -> Case:
    dtype = draw(st.sampled_from((*FLOATS, "int32", "int64")))
    return [special(draw, s, dtype) for s in broadcastable(draw)], typed(dtype), (), 1


@case("Atan2", "Div", "RealDiv", "DivNoNan", "MulNoNan", "Pow")
def of_two_floats(draw: Draw, _: str) -> Case:
    dtype = draw(st.sampled_from(("float32", "float64")))
    return [numbers(draw, s, dtype) for s in broadcastable(draw)], typed(dtype), (), 1


@case("BitwiseAnd", "BitwiseOr", "BitwiseXor")
def of_bits(draw: Draw, _: str) -> Case:
    dtype = draw(st.sampled_from(WHOLE))
    return [numbers(draw, s, dtype) for s in broadcastable(draw)], typed(dtype), (), 1


@case("Invert")
def of_bits_alone(draw: Draw, _: str) -> Case:
    dtype = draw(st.sampled_from(WHOLE))
    return [numbers(draw, shape(draw), dtype)], typed(dtype), (), 1


@case("LogicalAnd", "LogicalOr")
def of_truth(draw: Draw, _: str) -> Case:
    return [numbers(draw, s, "bool") for s in broadcastable(draw)], {}, (), 1


@case("LogicalNot")
def of_one_truth(draw: Draw, _: str) -> Case:
    return [numbers(draw, shape(draw), "bool")], {}, (), 1


@case("AddN")
def of_many(draw: Draw, _: str) -> Case:
    size, count = shape(draw), draw(st.integers(1, 4))
    given = [numbers(draw, size) for _ in range(count)]
    return given, typed("float32") | {"N": count}, (), 1


@case("BiasAdd", "BiasAddV1")
def of_bias(draw: Draw, op: str) -> Case:
    size = shape(draw, 2, 4)
    front = op == "BiasAdd" and len(size) == 4 and draw(st.booleans())
    bias = numbers(draw, (size[1 if front else -1],))
    attrs = typed("float32") | ({"data_format": "NCHW"} if front else {})
    return [numbers(draw, size), bias], attrs, (), 1


@case("ClipByValue")
def of_bounds(draw: Draw, _: str) -> Case:
    low, high = np.float32(-0.5), np.float32(0.5)
    return [numbers(draw, shape(draw)), low, high], typed("float32"), (), 1


@case("Select")
def of_rows(draw: Draw, _: str) -> Case:
    size = shape(draw, 1)
    where = numbers(draw, size[:1] if draw(st.booleans()) else size, "bool")
    return [where, numbers(draw, size), numbers(draw, size)], typed("float32"), (), 1


@case("SelectV2")
def of_choice(draw: Draw, _: str) -> Case:
    one, two = broadcastable(draw)
    return (
        [numbers(draw, one, "bool"), numbers(draw, two), numbers(draw, one)],
        typed("float32"),
        (),
        1,
    )


@case("Cast")
def of_types(draw: Draw, _: str) -> Case:
    every = st.sampled_from((*FLOATS, *WHOLE, "bool"))
    source, target = draw(every), draw(every)
    value = np.abs(numbers(draw, shape(draw), source))
    attrs = {"SrcT": as_dtype(source), "DstT": as_dtype(target)}
    return [value.astype(as_dtype(source).np)], attrs, (), 1


# ---- products ------------------------------------------------------------------------------------


@case("MatMul")
def of_matrices(draw: Draw, _: str) -> Case:
    n, k, m = (draw(st.integers(1, 5)) for _ in range(3))
    a, b = draw(st.booleans()), draw(st.booleans())
    dtype = draw(st.sampled_from(("float32", "float64", "int32", "bfloat16")))
    left, right = (k, n) if a else (n, k), (m, k) if b else (k, m)
    attrs = typed(dtype) | {"transpose_a": a, "transpose_b": b}
    return [numbers(draw, left, dtype), numbers(draw, right, dtype)], attrs, (), 1


@case("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def of_batches(draw: Draw, op: str) -> Case:
    n, k, m = (draw(st.integers(1, 4)) for _ in range(3))
    one, two = broadcastable(draw)
    if op == "BatchMatMul":
        two = one
    a, b = draw(st.booleans()), draw(st.booleans())
    left, right = (k, n) if a else (n, k), (m, k) if b else (k, m)
    kinds = {"Ta": FLOAT, "Tb": FLOAT, "Tout": FLOAT} if op[-1] == "3" else {"T": FLOAT}
    given = [numbers(draw, (*one, *left)), numbers(draw, (*two, *right))]
    return given, kinds | {"adj_x": a, "adj_y": b}, (), 1


@case("Einsum")
def of_labels(draw: Draw, _: str) -> Case:
    text = draw(st.sampled_from(("ab,bc->ac", "abc,cde->abde", "aecd,abcd->acbe", "ab,ab->ab",
                                 "acbe,aecd->abcd", "abcd,cde->abe", "ab,cb->ca")))  # fmt: skip
    sizes = {letter: draw(st.integers(1, 4)) for letter in "abcde"}
    given = [
        numbers(draw, tuple(sizes[t] for t in term)) for term in text[: text.index("-")].split(",")
    ]
    return given, {"T": FLOAT, "equation": text, "N": 2}, (), 1


# ---- images --------------------------------------------------------------------------------------

FLOAT: Final = as_dtype("float32")


def image(
    draw: Draw, places: int, channels: int, *, either: bool = False
) -> tuple[tuple[int, ...], str, list[int]]:
    """A shape, its layout, and where the places are; the reference has one layout of most ops."""
    sizes = [draw(st.integers(3, 7)) for _ in range(places)]
    front = either and draw(st.booleans())
    layout = {2: "NHWC", 3: "NDHWC"}[places]
    batch = draw(st.integers(1, 2))
    if front:
        return (batch, channels, *sizes), "NC" + layout[1:-1], list(range(2, 2 + places))
    return (batch, *sizes, channels), layout, list(range(1, 1 + places))


def spread(rank: int, where: list[int], values: list[int]) -> list[int]:
    found = [1] * rank
    for axis, value in zip(where, values, strict=True):
        found[axis] = value
    return found


@case("Conv2D", "Conv3D", "DepthwiseConv2dNative")
def of_images(draw: Draw, op: str) -> Case:
    places = 3 if op == "Conv3D" else 2
    groups = draw(st.integers(1, 2)) if op == "Conv2D" else 1
    depth, out = draw(st.integers(1, 3)), groups * draw(st.integers(1, 3))
    size, layout, where = image(draw, places, depth * groups)
    if layout.startswith("NC"):  # the reference has no other layout of some
        size, layout, where = (
            (size[0], *size[2:], size[1]),
            {2: "NHWC", 3: "NDHWC"}[places],
            [*range(1, 1 + places)],
        )
    window = [draw(st.integers(1, 3)) for _ in range(places)]
    step, apart = draw(st.integers(1, 2)), 1 if op == "Conv3D" else draw(st.integers(1, 2))
    if op == "DepthwiseConv2dNative" and step > 1:
        apart = 1
    if any((n - 1) * apart + 1 > size[k] for n, k in zip(window, where, strict=True)):
        apart, window = 1, [1] * places
    attrs = {
        "T": FLOAT, "data_format": layout, "padding": draw(st.sampled_from(("SAME", "VALID"))),
        "strides": spread(len(size), where, [step] * places),
        "dilations": spread(len(size), where, [apart] * places),
    }  # fmt: skip
    if op == "Conv2D" and draw(st.booleans()):
        around = [draw(st.integers(0, 2)) for _ in range(4)]
        attrs |= {"padding": "EXPLICIT", "explicit_paddings": [0, 0, *around, 0, 0]}
    kernel = numbers(draw, (*window, depth, out))
    return [numbers(draw, size), kernel], attrs, (), 1


@case("MaxPool", "AvgPool", "MaxPool3D", "AvgPool3D")
def of_windows(draw: Draw, op: str) -> Case:
    places = 3 if op.endswith("3D") else 2
    size, layout, where = image(draw, places, 2)
    if layout.startswith("NC"):
        size, layout, where = (
            (size[0], *size[2:], size[1]),
            {2: "NHWC", 3: "NDHWC"}[places],
            [*range(1, 1 + places)],
        )
    attrs = {
        "T": FLOAT, "data_format": layout, "padding": draw(st.sampled_from(("SAME", "VALID"))),
        "ksize": spread(len(size), where, [draw(st.integers(1, 3)) for _ in where]),
        "strides": spread(len(size), where, [draw(st.integers(1, 2)) for _ in where]),
    }  # fmt: skip
    return [numbers(draw, size)], attrs, (), 1


@case("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def of_batch_norms(draw: Draw, op: str) -> Case:
    size, layout, _ = image(draw, 2, 3, either=True)
    rest = [numbers(draw, (3,)) for _ in range(3)]
    attrs = {"T": FLOAT, "data_format": layout, "is_training": False, "epsilon": 1e-3}
    attrs |= {} if op == "FusedBatchNorm" else {"U": FLOAT}
    return [numbers(draw, size), *rest, np.abs(numbers(draw, (3,)))], attrs, (), 3


@case("Softmax", "LogSoftmax")
def of_rows_of_scores(draw: Draw, _: str) -> Case:
    dtype = draw(st.sampled_from(("float32", "float64", "float16")))
    return [numbers(draw, shape(draw, 1), dtype)], typed(dtype), (), 1


# ---- reductions ----------------------------------------------------------------------------------


@case("Sum", "Prod", "Max", "Min", "Mean", "All", "Any")
def of_axes(draw: Draw, op: str) -> Case:
    dtype = "float32" if op == "Mean" else draw(st.sampled_from(("float32", "float64", "int32")))
    dtype = "bool" if op in ("All", "Any") else dtype
    size = shape(draw)
    attrs = {"keep_dims": draw(st.booleans()), "Tidx": as_dtype("int32")}
    attrs |= {} if dtype == "bool" else typed(dtype)
    return [numbers(draw, size, dtype), axes(draw, len(size))], attrs, (1,), 1
