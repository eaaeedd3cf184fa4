"""Cases of ops that say where elements are, of running sums, other sizes, gradients, two parts."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from hypothesis import strategies as st
from op_cases import spread
from op_drawing import (
    COMPLEX,
    FLOATS,
    WHOLE,
    Case,
    Draw,
    broadcastable,
    case,
    numbers,
    shape,
    special,
    typed,
)

from drystone_base.core.dtypes import as_dtype

__all__: list[str] = []

FLOAT: Final = as_dtype("float32")
INDEX: Final = as_dtype("int32")
NUMBERS: Final = (*FLOATS, *WHOLE)


@case("ArgMax", "ArgMin")
def of_best(draw: Draw, _: str) -> Case:
    dtype, size = draw(st.sampled_from(NUMBERS)), shape(draw, 1)
    axis = draw(st.integers(-len(size), len(size) - 1))
    out = as_dtype(draw(st.sampled_from(("int32", "int64"))))
    attrs = typed(dtype) | {"Tidx": INDEX, "output_type": out}
    return [special(draw, size, dtype), np.int32(axis)], attrs, (1,), 1


@case("Cumsum", "Cumprod")
def of_running(draw: Draw, _: str) -> Case:
    dtype, size = draw(st.sampled_from((*NUMBERS, *COMPLEX))), shape(draw, 1, 3, 7)
    given = (
        special(draw, size, dtype)
        if dtype in ("float32", "float64")
        else numbers(draw, size, dtype)
    )
    axis = draw(st.integers(-len(size), len(size) - 1))
    attrs = {"exclusive": draw(st.booleans()), "reverse": draw(st.booleans()), "Tidx": INDEX}
    return [given, np.int32(axis)], typed(dtype) | attrs, (1,), 1


def vectors(draw: Draw, size: tuple[int, ...], least: int) -> tuple[Any, int]:
    """Indices into a shape, and how many numbers each has."""
    depth = draw(st.integers(1, len(size)))
    outer = shape(draw, least, 2)
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    kind = draw(st.sampled_from((np.int32, np.int64)))
    columns = [rng.integers(0, n, outer) for n in size[:depth]]
    return np.stack(columns, -1).astype(kind), depth


@case("GatherNd")
def of_vectors(draw: Draw, _: str) -> Case:
    dtype, size = draw(st.sampled_from((*NUMBERS, "bool", *COMPLEX))), shape(draw, 1)
    places, _depth = vectors(draw, size, 0)
    attrs = {"Tparams": as_dtype(dtype), "Tindices": as_dtype(str(places.dtype))}
    return [numbers(draw, size, dtype), places], attrs, (), 1


@case("ScatterNd", "TensorScatterAdd", "TensorScatterMax", "TensorScatterMin",
      "TensorScatterUpdate")  # fmt: skip
def of_changes(draw: Draw, op: str) -> Case:
    dtype, size = draw(st.sampled_from(("float32", "float64", "int32", "int64"))), shape(draw, 1)
    places, depth = vectors(draw, size, 1)
    kinds = typed(dtype) | {"Tindices": as_dtype(str(places.dtype))}
    updates = special(draw, (*places.shape[:-1], *size[depth:]), dtype)
    if op == "ScatterNd":
        return [places, updates, np.asarray(size, places.dtype)], kinds, (2,), 1
    return [numbers(draw, size, dtype), places, updates], kinds, (), 1


@case("ResizeBilinear", "ResizeNearestNeighbor")
def of_sizes(draw: Draw, op: str) -> Case:
    dtype = draw(st.sampled_from(("float32", "float64", "float16", "bfloat16", "uint8", "int32")))
    size = [draw(st.integers(1, k)) for k in (2, 6, 6, 3)]
    wanted = np.asarray([draw(st.integers(1, 9)) for _ in range(2)], np.int32)
    aligned = draw(st.booleans())
    attrs = typed(dtype) | {"align_corners": aligned,
                            "half_pixel_centers": not aligned and draw(st.booleans())}  # fmt: skip
    make = special if dtype == "float32" and op == "ResizeNearestNeighbor" else numbers
    return [make(draw, tuple(size), dtype), wanted], attrs, (1,), 1


@case("MirrorPad")
def of_mirrors(draw: Draw, _: str) -> Case:
    dtype, size = draw(st.sampled_from((*NUMBERS, *COMPLEX))), shape(draw, 0, 4)
    mode = draw(st.sampled_from(("REFLECT", "SYMMETRIC")))
    most = [max(n - (mode == "REFLECT"), 0) for n in size]
    around = [[draw(st.integers(0, n)), draw(st.integers(0, n))] for n in most]
    given = [special(draw, size, dtype), np.asarray(around, np.int32).reshape(-1, 2)]
    return given, typed(dtype) | {"Tpaddings": INDEX, "mode": mode}, (1,), 1


@case("Reverse")
def of_marks(draw: Draw, _: str) -> Case:
    dtype, size = draw(st.sampled_from((*NUMBERS, "bool", *COMPLEX))), shape(draw, 0, 4)
    return [numbers(draw, size, dtype), numbers(draw, (len(size),), "bool")], typed(dtype), (1,), 1


@case("Range")
def of_steps(draw: Draw, _: str) -> Case:
    start, count, step = draw(st.integers(-9, 9)), draw(st.integers(0, 9)), draw(st.integers(1, 4))
    step *= draw(st.sampled_from((1, -1)))
    dtype = draw(st.sampled_from(("int32", "int64")))
    given = [np.asarray(n, dtype) for n in (start, start + count * step, step)]
    return given, {"Tidx": as_dtype(dtype)}, (0, 1, 2), 1


@case("FloorDiv", "FloorMod")
def of_quotients(draw: Draw, op: str) -> Case:
    dtype = draw(st.sampled_from(("float32", "float64")))
    make = special if op == "FloorDiv" else numbers
    return [make(draw, s, dtype) for s in broadcastable(draw)], typed(dtype), (), 1


# ---- gradients -----------------------------------------------------------------------------------


@case("ReluGrad", "Relu6Grad", "SigmoidGrad", "TanhGrad")
def of_slopes(draw: Draw, _: str) -> Case:
    dtype, size = draw(st.sampled_from(FLOATS)), shape(draw)
    return [special(draw, size, dtype), special(draw, size, dtype)], typed(dtype), (), 1


@case("BiasAddGrad")
def of_channels(draw: Draw, _: str) -> Case:
    dtype, size = draw(st.sampled_from(FLOATS)), shape(draw, 2, 4)
    front = len(size) == 4 and draw(st.booleans())
    attrs = typed(dtype) | {"data_format": "NCHW" if front else "NHWC"}
    return [numbers(draw, size, dtype)], attrs, (), 1


@case("Conv2DBackpropInput", "Conv2DBackpropFilter", "Conv3DBackpropInputV2",
      "Conv3DBackpropFilterV2", "DepthwiseConv2dNativeBackpropInput",
      "DepthwiseConv2dNativeBackpropFilter")  # fmt: skip
def of_convolutions(draw: Draw, op: str) -> Case:
    places = 3 if op.startswith("Conv3D") else 2
    by_itself = op.startswith("Depthwise")
    groups = draw(st.integers(1, 2)) if op.startswith("Conv2D") else 1
    depth, out = draw(st.integers(1, 3)), groups * draw(st.integers(1, 3))
    image = [draw(st.integers(3, 7)) for _ in range(places)]
    window = [draw(st.integers(1, 3)) for _ in range(places)]
    step, apart = draw(st.integers(1, 2)), draw(st.integers(1, 2)) if places == 2 else 1
    apart = 1 if by_itself and step > 1 else apart
    if any((n - 1) * apart + 1 > size for n, size in zip(window, image, strict=True)):
        apart, window = 1, [1] * places
    padding = draw(st.sampled_from(("SAME", "VALID")))
    reach = [(n - 1) * apart for n in window]
    over = [-(-size // step) if padding == "SAME" else (size - r - 1) // step + 1
            for size, r in zip(image, reach, strict=True)]  # fmt: skip
    rank, where = places + 2, list(range(1, 1 + places))
    attrs = {
        "T": FLOAT, "padding": padding, "strides": spread(rank, where, [step] * places),
        "dilations": spread(rank, where, [apart] * places),
        "data_format": "NDHWC" if places == 3 else "NHWC",
    }  # fmt: skip
    attrs |= {"Tshape": INDEX} if op == "Conv3DBackpropInputV2" else {}
    batch = draw(st.integers(1, 2))
    x = (batch, *image, depth * groups)
    kernel = (*window, depth, out)
    slope = numbers(draw, (batch, *over, depth * out if by_itself else out))
    if "Input" in op:
        return [np.asarray(x, np.int32), numbers(draw, kernel), slope], attrs, (0,), 1
    return [numbers(draw, x), np.asarray(kernel, np.int32), slope], attrs, (1,), 1


# ---- numbers of two parts ------------------------------------------------------------------------


def parts(dtype: str) -> tuple[str, dict[str, Any]]:
    """The type of both parts, and the attributes."""
    part = "float32" if dtype == "complex64" else "float64"
    return part, {"T": as_dtype(dtype), "Tout": as_dtype(part)}


@case("Complex")
def of_parts(draw: Draw, _: str) -> Case:
    dtype = draw(st.sampled_from(COMPLEX))
    part, _attrs = parts(dtype)
    given = [special(draw, s, part) for s in broadcastable(draw)]
    return given, {"T": as_dtype(part), "Tout": as_dtype(dtype)}, (), 1


@case("Real", "Imag", "ComplexAbs", "Angle")
def of_complex(draw: Draw, _: str) -> Case:
    dtype = draw(st.sampled_from(COMPLEX))
    return [numbers(draw, shape(draw), dtype)], parts(dtype)[1], (), 1


@case("Conj")
def of_other_part(draw: Draw, _: str) -> Case:
    dtype = draw(st.sampled_from(COMPLEX))
    return [numbers(draw, shape(draw), dtype)], typed(dtype), (), 1
