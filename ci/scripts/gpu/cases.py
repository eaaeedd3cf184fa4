"""Single ops for the backend ``gpu``: inputs with NaN, infinities and odd shapes, by dtype."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from drystone_base import Graph, as_dtype
from drystone_base.core.dtypes import DType, from_numpy
from drystone_base.ops.attrs import TensorAttr

__all__ = ["OpCase", "op_cases"]

Array = np.ndarray[Any, Any]
FLOATS: Final = ("float32", "bfloat16", "float16")
UNARY: Final = (
    "Neg", "Abs", "Sign", "Square", "Sqrt", "Rsqrt", "Reciprocal", "Exp", "Expm1", "Log", "Log1p",
    "Sin", "Cos", "Tanh", "Sigmoid", "Erf", "Relu", "Relu6", "Elu", "Selu", "Softplus", "Softsign",
    "Floor", "Ceil", "Rint", "Round", "LeakyRelu",
)  # fmt: skip
BINARY: Final = (
    "AddV2", "Sub", "Mul", "RealDiv", "DivNoNan", "Maximum", "Minimum", "Pow", "SquaredDifference",
    "FloorDiv", "FloorMod",
)  # fmt: skip
COMPARING: Final = ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual")
ODD: Final = (np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, 1.5, -2.5, 100.0, -100.0, 3e38, 1e-40)
EQUATIONS: Final[tuple[tuple[Any, ...], ...]] = (
    ("ij,jk->ik", (5, 7), (7, 3)),
    ("ij,kj->ki", (5, 7), (3, 7)),
    ("ji,jk->ik", (7, 5), (7, 3)),
    ("abc,cde->abde", (2, 5, 8), (8, 3, 4)),
    ("abcd,cde->abe", (2, 5, 3, 4), (3, 4, 8)),
    ("btnh,bsnh->bnts", (2, 5, 3, 8), (2, 7, 3, 8)),
    ("bnts,bsnh->btnh", (2, 3, 5, 7), (2, 7, 3, 8)),
    ("...ij,...jk->...ik", (5, 1, 2, 6), (4, 6, 3)),
    ("...a,...b->...ab", (2, 1, 4), (3, 5)),
    ("ij,ij->j", (6, 3), (6, 3)),
    ("i,i->", (8,), (8,)),
    ("ij,ij->ij", (3, 4), (3, 4)),
    ("iij,jk->ik", (4, 4, 3), (3, 5)),
    ("abc,dc->bd", (3, 4, 5), (6, 5)),
    ("ij,jk->iik", (3, 4), (4, 5)),
    ("ijk->kij", (2, 3, 4)),
    ("ijk->j", (2, 3, 4)),
    ("ii->i", (4, 4)),
    ("ij,jk->ik", (3, 0), (0, 4)),
)
"""Equations of Einsum, with the shapes of their operands."""
TOLERANCES: Final = {"float32": 1e-5, "bfloat16": 1.6e-2, "float16": 2e-3}
"""How far results may be off, relative to their size; 16-bit types round once more or once less."""


@dataclass
class OpCase:
    """One op. ``feeds`` come with the run, ``constants`` are in the graph; None of a list: either.

    ``sums``: of how many products a result is the sum, for tolerances.
    """

    op: str
    inputs: Sequence[Array]
    fixed: Sequence[int] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)
    sums: int = 1
    outputs: int = 1

    @property
    def title(self) -> str:
        """The op with the dtype and shapes of its inputs."""
        shapes = " ".join(str(list(a.shape)).replace(" ", "") for a in self.inputs)
        own = self.inputs[0].dtype if self.inputs else ""
        said = "".join(f" {k}={v}" for k, v in self.attrs.items() if not isinstance(v, DType))
        return f"{self.op} {own} {shapes}{said}"

    @property
    def tolerance(self) -> float:
        """Relative to the size of results."""
        return float(self.sums**0.5) * TOLERANCES.get(str(self.inputs[0].dtype), 1e-5)

    def graph(self) -> tuple[Graph, list[str], dict[str, Array]]:
        """The graph, what to fetch, and what to feed."""
        graph, ends, feeds = Graph(), [], {}
        for k, array in enumerate(self.inputs):
            dtype = from_numpy(array.dtype)
            if k in self.fixed:
                attrs = {"dtype": dtype, "value": TensorAttr(array=array)}
                ends.append(graph.add("Const", f"in{k}", attrs=attrs))
            else:
                shape = tuple(array.shape)
                end = graph.add("Placeholder", f"in{k}", attrs={"dtype": dtype, "shape": shape})
                ends.append(end)
                feeds[f"in{k}:0"] = array
        graph.add(self.op, "op", ends, attrs=dict(self.attrs))
        return graph, [f"op:{k}" for k in range(self.outputs)], feeds


def op_cases(seed: int = 0) -> Iterator[OpCase]:
    """All of them; the same seed gives the same."""
    rng = np.random.default_rng(seed)
    for family in (_elementwise, _selecting, _moving, _joining, _layers):
        yield from family(rng)


def _draw(rng: np.random.Generator, dtype: str, *shape: int, odd: bool = False) -> Array:
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype.startswith("int"):
        return rng.integers(-9, 9, shape).astype(dtype)
    values = rng.standard_normal(shape) * 2
    if odd and values.size >= len(ODD):
        values.ravel()[: len(ODD)] = ODD
    with np.errstate(all="ignore"):
        return values.astype(as_dtype(dtype).np)


def _typed(dtype: str) -> dict[str, Any]:
    return {"T": as_dtype(dtype)}


def _elementwise(rng: np.random.Generator) -> Iterator[OpCase]:
    for dtype in FLOATS:
        for op in UNARY:
            yield OpCase(op, [_draw(rng, dtype, 5, 31, odd=True)], attrs=_typed(dtype))
        for op in (*BINARY, *COMPARING):
            yield from _broadcasts(rng, op, dtype)
    for dtype in ("float32", "bfloat16"):  # more than one thread's share
        yield OpCase("Relu", [_draw(rng, dtype, 70001, odd=True)], attrs=_typed(dtype))
        for shape in ((64, 1, 1028), (4, 1, 1, 1028), (64, 4, 1), (1, 4, 1028), (1,)):
            pair = [_draw(rng, dtype, 64, 4, 1028), _draw(rng, dtype, *shape)]
            yield OpCase("Sub", pair, attrs=_typed(dtype))
    yield OpCase("Mul", [_draw(rng, "float32", 64, 1025), _draw(rng, "float32", 1025)],
                 attrs=_typed("float32"))  # fmt: skip
    for dtype in ("int32", "int64"):
        for op in ("AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference", *COMPARING):
            yield from _broadcasts(rng, op, dtype)
        for op in ("Neg", "Abs", "Sign", "Square"):
            yield OpCase(op, [_draw(rng, dtype, 7, 3)], attrs=_typed(dtype))
    big = np.array([2**31 - 1, -(2**31), 65536, -7], np.int32)
    yield OpCase("Mul", [big, big], attrs=_typed("int32"))
    yield OpCase("AddV2", [big, big], attrs=_typed("int32"))
    for op in ("LogicalAnd", "LogicalOr"):
        yield OpCase(op, [_draw(rng, "bool", 4, 5), _draw(rng, "bool", 5)])
    yield OpCase("LogicalNot", [_draw(rng, "bool", 9)])
    for op in ("IsNan", "IsFinite"):
        yield OpCase(op, [_draw(rng, "float32", 40, odd=True)], attrs=_typed("float32"))


def _broadcasts(rng: np.random.Generator, op: str, dtype: str) -> Iterator[OpCase]:
    odd = op not in ("FloorMod", "FloorDiv", "Pow")
    for left, right in (((4, 5), (4, 5)), ((3, 4, 5), (5,)), ((3, 1, 5), (4, 1)), ((), (6,)),
                        ((2, 3, 1, 5), (3, 7, 1)), ((0, 3), (3,))):  # fmt: skip
        pair = [_draw(rng, dtype, *left, odd=odd), _draw(rng, dtype, *right)]
        if op == "Pow":
            pair[0] = np.abs(pair[0])
        if op.startswith("Floor"):
            pair[1] = (np.abs(pair[1]) + 1).astype(pair[1].dtype)
        yield OpCase(op, pair, attrs=_typed(dtype))


def _selecting(rng: np.random.Generator) -> Iterator[OpCase]:
    types = ("float32", "bfloat16", "float16", "int32", "int64", "bool", "uint8")
    for source in types:
        for target in types:
            values = np.array([0, 1, 2.6, -3.7, 100, 7, 0.2]) if source != "bool" else [0, 1, 1]
            if source == "uint8":
                values = np.abs(values)
            array = np.asarray(values).astype(as_dtype(source).np)
            if target == "uint8":
                array = np.abs(array.astype(np.float32)).astype(array.dtype)
            attrs = {"SrcT": as_dtype(source), "DstT": as_dtype(target)}
            yield OpCase("Cast", [array], attrs=attrs)
    for dtype in ("float32", "bfloat16", "int32"):
        pair = [_draw(rng, dtype, 4, 6, odd=True), _draw(rng, dtype, 6)]
        yield OpCase("SelectV2", [_draw(rng, "bool", 4, 1), *pair], attrs=_typed(dtype))
        same = [_draw(rng, dtype, 3, 5), _draw(rng, dtype, 3, 5)]
        yield OpCase("Select", [_draw(rng, "bool", 3, 5), *same], attrs=_typed(dtype))
        rows = [_draw(rng, "bool", 3), *same]
        yield OpCase("Select", rows, attrs=_typed(dtype))
        adds = [_draw(rng, dtype, 3, 5) for _ in range(4)]
        yield OpCase("AddN", adds, attrs=_typed(dtype) | {"N": 4})
    limits = [np.float32(-1), np.float32(1.5)]
    clipped = _draw(rng, "float32", 30, odd=True)
    yield OpCase("ClipByValue", [clipped, *map(np.asarray, limits)], attrs=_typed("float32"))
    pair = [_draw(rng, "float32", 2, 3, 8), _draw(rng, "float32", 8)]
    yield OpCase("BiasAdd", pair, attrs=_typed("float32"))


def _whole(*values: int) -> Array:
    return np.array(values, np.int32)


def _moving(rng: np.random.Generator) -> Iterator[OpCase]:
    for dtype in ("float32", "bfloat16", "int64", "bool"):
        x, own = _draw(rng, dtype, 3, 4, 5), _typed(dtype)
        yield OpCase("Transpose", [x, _whole(2, 0, 1)], [1], own)
        yield OpCase("Transpose", [x, _whole(0, 2, 1)], [1], own)
        yield OpCase("Reshape", [x, _whole(-1, 6)], [1], own)
        yield OpCase("Slice", [x, _whole(1, 0, 2), _whole(2, -1, 3)], [1, 2],
                     own | {"Index": as_dtype("int32")})  # fmt: skip
        yield OpCase("ConcatV2", [x, x[:, :1], _whole(1)[0]], [2], own | {"N": 2})
        yield OpCase("Pack", [x, x], attrs=own | {"N": 2, "axis": -1})
        yield OpCase("Unpack", [x], attrs=own | {"num": 4, "axis": 1}, outputs=4)
        yield OpCase("Split", [_whole(2)[0], _draw(rng, dtype, 2, 3, 6)], [0],
                     own | {"num_split": 3}, outputs=3)  # fmt: skip
        yield OpCase("SplitV", [x, _whole(1, -1, 2), _whole(2)[0]], [1, 2],
                     own | {"num_split": 3, "Tlen": as_dtype("int32")}, outputs=3)  # fmt: skip
        yield OpCase("Tile", [x, _whole(2, 1, 3)], [1], own)
        yield OpCase("BroadcastTo", [x[:, :1], _whole(2, 3, 4, 5)], [1], own)
        yield OpCase("Pad", [x, np.array([[1, 0], [0, 2], [1, 1]], np.int32)], [1], own)
        yield OpCase("GatherV2", [x, _whole(3, 0, 3), _whole(1)[0]], [2], _gathers(dtype))
        yield OpCase("ReverseV2", [x, _whole(0, 2)], [1], own)
        yield OpCase("ZerosLike", [x], attrs=own)
        yield OpCase("OnesLike", [x], attrs=own)
        yield OpCase("ExpandDims", [x, _whole(-1)[0]], [1], own)
        yield OpCase("Squeeze", [x[:1]], attrs=own | {"squeeze_dims": [0]})
    yield from _moving_more(rng)


def _gathers(dtype: str, batch: int = 0) -> dict[str, Any]:
    whole = as_dtype("int32")
    return {"Tparams": as_dtype(dtype), "Tindices": whole, "Taxis": whole, "batch_dims": batch}


def _moving_more(rng: np.random.Generator) -> Iterator[OpCase]:
    x, own = _draw(rng, "float32", 4, 6, 5), _typed("float32")
    edges = np.array([[1, 2], [0, 1], [2, 0]], np.int32)
    for mode in ("REFLECT", "SYMMETRIC"):
        yield OpCase("MirrorPad", [x, edges], [1], own | {"mode": mode})
    yield OpCase("PadV2", [x, edges, np.asarray(np.float32(7))], [1, 2], own)
    yield OpCase("Fill", [_whole(2, 3), np.asarray(np.float32(1.5))], [0],
                 own | {"index_type": as_dtype("int32")})  # fmt: skip
    indices = rng.integers(0, 5, (4, 6, 2)).astype(np.int32)
    yield OpCase("GatherV2", [x, indices, _whole(2)[0]], [2], _gathers("float32", 2))
    hot = {"T": as_dtype("float32"), "TI": as_dtype("int32"), "axis": 1}
    places = [_whole(1, 3, -1, 9), _whole(4)[0], np.float32(5), np.float32(-1)]
    yield OpCase("OneHot", [np.asarray(p) for p in places], [1], hot)
    for begin, end, step, masks in (
        ((1, 0, 0), (3, 6, 5), (1, 2, 1), {}),
        ((0, -1, 0), (0, -5, 0), (1, -2, 1), {"begin_mask": 5, "end_mask": 5}),
        ((1, 2), (2, 3), (1, 1), {"shrink_axis_mask": 2, "end_mask": 1}),
        ((0, 0, -2), (0, 0, -1), (1, 1, 1), {"ellipsis_mask": 1, "new_axis_mask": 2}),
    ):
        attrs = own | {"Index": as_dtype("int32")} | masks
        yield OpCase("StridedSlice", [x, _whole(*begin), _whole(*end), _whole(*step)], [1, 2, 3],
                     attrs)  # fmt: skip
    picture = _draw(rng, "float32", 2, 4, 6, 8)
    for op in ("DepthToSpace", "SpaceToDepth"):
        yield OpCase(op, [picture], attrs=own | {"block_size": 2})


def _joining(rng: np.random.Generator) -> Iterator[OpCase]:
    for dtype in FLOATS:
        x = _draw(rng, dtype, 3, 40, 70)
        for op in ("Sum", "Mean", "Max", "Min"):
            for axes, keep in (((2,), False), ((0, 1), True), ((1,), False), ((0, 1, 2), False)):
                attrs = _typed(dtype) | {"keep_dims": keep}
                count = 1 if op in ("Max", "Min") else 60
                yield OpCase(op, [x, _whole(*axes)], [1], attrs, sums=count)
        for length in (130, 128, 2052, 20000):
            yield OpCase("Softmax", [_draw(rng, dtype, 9, length)], attrs=_typed(dtype))
        yield OpCase("LogSoftmax", [_draw(rng, dtype, 4, 5, 7)], attrs=_typed(dtype))
    odd = _draw(rng, "float32", 8, 100, odd=True)
    for op in ("Max", "Min", "Sum", "Mean", "Prod"):
        yield OpCase(op, [odd, _whole(1)], [1], _typed("float32"), sums=60)
    with np.errstate(all="ignore"):
        yield OpCase("Softmax", [odd], attrs=_typed("float32"))
    for op in ("Sum", "Max", "Min", "Prod"):
        yield OpCase(op, [_draw(rng, "int32", 4, 7), _whole(0)], [1], _typed("int32"))
    for op in ("All", "Any"):
        yield OpCase(op, [_draw(rng, "bool", 6, 3), _whole(1)], [1])
    for op in ("ArgMax", "ArgMin"):
        for axis, to in ((1, "int64"), (0, "int32")):
            attrs = _typed("float32") | {"output_type": as_dtype(to), "Tidx": as_dtype("int32")}
            yield OpCase(op, [_draw(rng, "float32", 5, 9), _whole(axis)[0]], [1], attrs)


def _layers(rng: np.random.Generator) -> Iterator[OpCase]:
    for dtype in FLOATS:
        yield from _products(rng, dtype)
        yield from _pictures(rng, dtype)
    for align, half in ((False, False), (True, False), (False, True)):
        for op in ("ResizeBilinear", "ResizeNearestNeighbor"):
            attrs = _typed("float32") | {"align_corners": align, "half_pixel_centers": half}
            x = _draw(rng, "float32", 2, 5, 7, 3)
            yield OpCase(op, [x, _whole(9, 4)], [1], attrs)


def _products(rng: np.random.Generator, dtype: str) -> Iterator[OpCase]:
    for m, k, n in ((5, 7, 3), (64, 128, 96), (1, 300, 17)):
        for a, b in ((False, False), (True, False), (False, True)):
            pair = [_draw(rng, dtype, *((k, m) if a else (m, k))),
                    _draw(rng, dtype, *((n, k) if b else (k, n)))]  # fmt: skip
            attrs = _typed(dtype) | {"transpose_a": a, "transpose_b": b}
            yield OpCase("MatMul", pair, attrs=attrs, sums=k)
    for left, right, flips in (
        ((3, 4, 6, 8), (3, 4, 8, 5), {}),
        ((2, 6, 8), (2, 5, 8), {"adj_y": True}),
        ((2, 8, 6), (8, 5), {"adj_x": True}),
        ((7, 2, 8), (8, 16), {}),
        ((2, 1, 6, 8), (3, 8, 5), {}),
        ((1, 3, 8, 6), (2, 1, 5, 8), {"adj_x": True, "adj_y": True}),
    ):
        pair = [_draw(rng, dtype, *left), _draw(rng, dtype, *right)]
        yield OpCase("BatchMatMulV2", pair, attrs=_typed(dtype) | flips, sums=8)
    for equation, *shapes in EQUATIONS:
        given = [_draw(rng, dtype, *shape) for shape in shapes]
        attrs = _typed(dtype) | {"N": len(given), "equation": equation}
        yield OpCase("Einsum", given, attrs=attrs, sums=64)


def _pictures(rng: np.random.Generator, dtype: str) -> Iterator[OpCase]:
    x = _draw(rng, dtype, 2, 13, 12, 8)
    for shape, stride, padding, dilation in (
        ((3, 3, 8, 16), 1, "SAME", 1), ((3, 3, 8, 16), 2, "SAME", 1),
        ((1, 1, 8, 24), 1, "VALID", 1), ((1, 1, 8, 24), 2, "VALID", 1),
        ((5, 3, 8, 8), 1, "VALID", 1), ((3, 3, 8, 8), 1, "SAME", 2),
        ((3, 3, 4, 16), 1, "SAME", 1), ((7, 7, 8, 16), 2, "VALID", 1),
    ):  # fmt: skip
        attrs = (
            _typed(dtype) | _strides(stride, padding) | {"dilations": [1, dilation, dilation, 1]}
        )
        case = [x, _draw(rng, dtype, *shape)]
        yield OpCase("Conv2D", case, [1], attrs, sums=int(np.prod(shape[:3])))
    for shape, stride in (((3, 3, 8, 1), 1), ((3, 3, 8, 2), 2), ((5, 5, 8, 1), 1)):
        attrs = _typed(dtype) | _strides(stride, "SAME")
        case = [x, _draw(rng, dtype, *shape)]
        yield OpCase("DepthwiseConv2dNative", case, [1], attrs, sums=shape[0] * shape[1])
        sizes, given = _whole(2, 13, 12, 8), _draw(rng, dtype, 2, *_along(stride), 8 * shape[3])
        yield OpCase("DepthwiseConv2dNativeBackpropInput", [sizes, case[1], given], [0], attrs,
                     sums=shape[0] * shape[1] * shape[3])  # fmt: skip
    sizes, given = _whole(2, 13, 12, 8), _draw(rng, dtype, 2, 7, 6, 6)
    attrs = _typed(dtype) | _strides(2, "SAME")
    grouped = [sizes, _draw(rng, dtype, 3, 3, 4, 6), given]
    yield OpCase("Conv2DBackpropInput", grouped, [0], attrs, sums=27)
    given = given[..., :5]
    transposed = [sizes, _draw(rng, dtype, 3, 3, 8, 5), given]
    yield OpCase("Conv2DBackpropInput", transposed, [0, 1], attrs, sums=45)
    for op in ("MaxPool", "AvgPool"):
        for padding in ("SAME", "VALID"):
            attrs = _typed(dtype) | _strides(2, padding) | {"ksize": [1, 3, 3, 1]}
            yield OpCase(op, [x], attrs=attrs)
            yield OpCase(op, [x[..., :3]], attrs=attrs)
    if dtype != "float16":
        own = [np.abs(_draw(rng, "float32", 8)) + 0.5 for _ in range(4)]
        attrs = _typed(dtype) | {"U": as_dtype("float32"), "is_training": False, "epsilon": 1e-3}
        op = "FusedBatchNormV3"
        yield OpCase(op, [x, *(a.astype(np.float32) for a in own)], attrs=attrs)


def _along(stride: int) -> tuple[int, int]:
    """The size of a picture of 13 by 12 behind a window of zeros around it."""
    return -(-13 // stride), -(-12 // stride)


def _strides(stride: int, padding: str) -> dict[str, Any]:
    return {"strides": [1, stride, stride, 1], "padding": padding}
