"""Kernels that take long: the op, its inputs and attributes, for a size that takes seconds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from drystone_base import Graph
from drystone_base.core import dtypes
from drystone_base.core.dtypes import DType, from_numpy
from drystone_base.ops.attrs import TensorAttr
from drystone_base.ops.defs import op_def

__all__ = ["SMALL", "TABLE", "Long"]

Array = np.ndarray[Any, Any]


class Long(NamedTuple):
    """One node: what it is fed, its attributes, and which of its inputs are constants."""

    op: str
    inputs: Callable[[], Sequence[Any]]
    attrs: Mapping[str, Any] = MappingProxyType({})
    constant: bool = False

    def graph(self) -> tuple[Graph, dict[str, Array]]:
        """A graph of the node, named "long", and the feeds of its placeholders."""
        graph, feeds, given = Graph(), dict[str, Array](), []
        for k, array in enumerate(map(np.asarray, self.inputs())):
            dtype = self._dtype(k, array)
            if self.constant or array.ndim == 0 or array.size < 16:
                attrs = {"dtype": dtype, "value": TensorAttr(array=array)}
                given.append(graph.add("Const", f"c{k}", attrs=attrs))
                continue
            attrs = {"dtype": dtype, "shape": None}
            given.append(graph.add("Placeholder", f"x{k}", attrs=attrs))
            feeds[f"x{k}:0"] = array
        graph.add(self.op, "long", given, attrs=self._all_attrs(given))
        return graph, feeds

    def _dtype(self, k: int, array: Array) -> DType:
        """An input's: what an attribute says, or else the array's."""
        args = op_def(self.op).inputs
        stated = args[k].type_attr if k < len(args) and not args[k].number_attr else ""
        found: DType | None = self.attrs.get(stated)
        return found or _dtype_of(array)

    def _all_attrs(self, given: list[Any]) -> dict[str, Any]:
        """The attributes, with the dtypes that inputs say."""
        attrs = dict(self.attrs)
        for arg, node in zip(op_def(self.op).inputs, given, strict=False):
            if arg.type_attr and arg.type_attr not in attrs and not arg.number_attr:
                attrs[arg.type_attr] = node.attrs["dtype"]
        return attrs


def _dtype_of(array: Array) -> DType:
    return dtypes.STRING if array.dtype == object else from_numpy(array.dtype)


def _normal(*shape: int, dtype: Any = np.float32) -> Array:
    return np.random.default_rng(1).standard_normal(shape, np.float32).astype(dtype)


def _ints(most: int, *shape: int, dtype: Any = np.int64) -> Array:
    return np.random.default_rng(2).integers(0, most, shape).astype(dtype)


def _words(count: int, length: int, text: bytes = b"ab, c.d ") -> Array:
    out = np.empty(count, object)
    out[:] = [(text * (length // len(text) + 1))[:length]] * count
    return out


def _word(text: bytes) -> Array:
    return np.array(text, object)


def _symmetric(size: int, batch: int = 1) -> Array:
    x = _normal(batch, size, size)
    return x @ x.transpose(0, 2, 1) + size * np.eye(size, dtype=np.float32)


def _shape(*dims: int) -> Array:
    return np.array(dims, np.int32)


_SEED = np.array([1, 2], np.int32)
_CONV = {"strides": [1, 1, 1, 1], "padding": "SAME"}
_CONV3D = {"strides": [1, 1, 1, 1, 1], "padding": "SAME"}

PRODUCTS = {
    "MatMul": Long("MatMul", lambda: [_normal(8000, 8000)] * 2),
    "MatMul transposed": Long(
        "MatMul", lambda: [_normal(8000, 8000)] * 2, {"transpose_a": True, "transpose_b": True}
    ),
    "MatMul of constants": Long("MatMul", lambda: [_normal(8000, 8000)] * 2, constant=True),
    "MatMul int32": Long("MatMul", lambda: [_ints(9, 4000, 4000, dtype=np.int32)] * 2),
    "MatMul float64": Long("MatMul", lambda: [_normal(6000, 6000, dtype=np.float64)] * 2),
    "MatMul complex64": Long("MatMul", lambda: [_normal(4000, 4000, dtype=np.complex64)] * 2),
    "MatMul half": Long("MatMul", lambda: [_normal(8000, 8000, dtype=np.float16)] * 2),
    "BatchMatMulV2": Long("BatchMatMulV2", lambda: [_normal(64, 2000, 2000)] * 2),
    "BatchMatMulV2 small": Long("BatchMatMulV2", lambda: [_normal(100_000, 64, 64)] * 2),
    "SparseMatMul": Long("SparseMatMul", lambda: [_normal(6000, 6000)] * 2),
    "SparseTensorDenseMatMul": Long(
        "SparseTensorDenseMatMul",
        lambda: [_ints(3000, 2_000_000, 2), _normal(2_000_000), np.array([3000, 3000]),
                 _normal(3000, 300)],
    ),
    "Einsum": Long(
        "Einsum",
        lambda: [_normal(40, 1500, 1500)] * 2,
        {"equation": "bij,bkj->bik", "N": 2, "T": dtypes.FLOAT32},
    ),
    "Einsum of one sum": Long(
        "Einsum",
        lambda: [_normal(200, 2500)] * 2,
        {"equation": "ij,kj->ki", "N": 2, "T": dtypes.FLOAT32},
    ),
    "Conv2D": Long("Conv2D", lambda: [_normal(64, 224, 224, 64), _normal(3, 3, 64, 128)], _CONV),
    "Conv2D constant": Long(
        "Conv2D", lambda: [_normal(16, 224, 224, 64), _normal(7, 7, 64, 128)], _CONV, constant=True
    ),
    "Conv2DBackpropFilter": Long(
        "Conv2DBackpropFilter",
        lambda: [_normal(64, 224, 224, 64), _shape(3, 3, 64, 64), _normal(64, 224, 224, 64)],
        _CONV,
    ),
    "Conv2DBackpropInput": Long(
        "Conv2DBackpropInput",
        lambda: [_shape(64, 224, 224, 64), _normal(3, 3, 64, 64), _normal(64, 224, 224, 64)],
        _CONV,
    ),
    "DepthwiseConv2dNative": Long(
        "DepthwiseConv2dNative", lambda: [_normal(64, 224, 224, 64), _normal(9, 9, 64, 2)], _CONV
    ),
    "Conv3D": Long(
        "Conv3D", lambda: [_normal(4, 48, 96, 96, 32), _normal(3, 3, 3, 32, 64)], _CONV3D
    ),
    "Conv3DBackpropFilterV2": Long(
        "Conv3DBackpropFilterV2",
        lambda: [_normal(4, 48, 96, 96, 32), _shape(3, 3, 3, 32, 32), _normal(4, 48, 96, 96, 32)],
        _CONV3D,
    ),
    "Conv3DBackpropInputV2": Long(
        "Conv3DBackpropInputV2",
        lambda: [_shape(4, 48, 96, 96, 32), _normal(3, 3, 3, 32, 32), _normal(4, 48, 96, 96, 32)],
        _CONV3D,
    ),
    "Dilation2D": Long(
        "Dilation2D",
        lambda: [_normal(16, 224, 224, 32), _normal(9, 9, 32)],
        {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "SAME"},
    ),
    "QuantizedMatMul": Long(
        "QuantizedMatMul",
        lambda: [
            *[_ints(255, 9000, 9000, dtype=np.uint8)] * 2,
            *(np.float32(v) for v in (0, 1, 0, 1)),
        ],
        {"T1": dtypes.QUINT8, "T2": dtypes.QUINT8, "Toutput": dtypes.QINT32},
    ),
}  # fmt: skip

SORTS = {
    "TopKV2": Long("TopKV2", lambda: [_normal(50_000_000), np.int32(25_000_000)]),
    "TopKV2 of many": Long("TopKV2", lambda: [_normal(2000, 20_000), np.int32(20_000)]),
    "NthElement": Long("NthElement", lambda: [_normal(20, 10_000_000), np.int32(5_000_000)]),
    "InTopKV2": Long(
        "InTopKV2", lambda: [_normal(5000, 50_000), _ints(50_000, 5000), np.int64(40_000)]
    ),
    "Unique": Long("Unique", lambda: [_ints(1 << 40, 30_000_000)]),
    "UniqueV2 strings": Long("UniqueV2", lambda: [_words(6_000_000, 20), np.array([0])]),
    "UniqueWithCounts": Long("UniqueWithCounts", lambda: [_ints(1 << 40, 30_000_000)]),
    "ListDiff": Long("ListDiff", lambda: [_ints(1 << 40, 15_000_000), _ints(1 << 39, 15_000_000)]),
    "LowerBound": Long(
        "LowerBound", lambda: [np.sort(_normal(1, 20_000_000)), _normal(1, 40_000_000)]
    ),
    "RandomShuffle": Long("RandomShuffle", lambda: [_ints(9, 100_000_000)]),
    "Cumsum": Long("Cumsum", lambda: [_normal(20_000, 20_000), np.int32(0)]),
    "Cumprod": Long("Cumprod", lambda: [_normal(400_000_000), np.int32(0)]),
    "CumulativeLogsumexp": Long("CumulativeLogsumexp", lambda: [_normal(100_000_000), np.int32(0)]),
    "Where": Long("Where", lambda: [_ints(2, 20_000, 20_000, dtype=bool)]),
    "Bincount": Long(
        "Bincount", lambda: [_ints(1000, 200_000_000, dtype=np.int32), np.int32(1000), _normal(0)]
    ),
    "Transpose": Long("Transpose", lambda: [_normal(800, 800, 800), _shape(2, 1, 0)]),
    "Dedupe of sets": Long(
        "DenseToDenseSetOperation",
        lambda: [_ints(1 << 30, 2, 8_000_000), _ints(1 << 30, 2, 8_000_000)],
        {"set_operation": "intersection"},
    ),
}

SIGNALS = {
    "FFT": Long("FFT", lambda: [_normal(1 << 26, dtype=np.complex64)]),
    "FFT of a prime": Long("FFT", lambda: [_normal(49_999_991, dtype=np.complex64)]),
    "FFT2D": Long("FFT2D", lambda: [_normal(8192, 8192, dtype=np.complex64)]),
    "RFFT": Long("RFFT", lambda: [_normal(1 << 27), _shape(1 << 27)]),
    "IFFT3D": Long("IFFT3D", lambda: [_normal(400, 400, 400, dtype=np.complex64)]),
    "ResizeBicubic": Long("ResizeBicubic", lambda: [_normal(1, 500, 500, 64), _shape(4000, 4000)]),
    "AdjustHue": Long("AdjustHue", lambda: [_normal(20, 2000, 2000, 3), np.float32(0.3)]),
    "Betainc": Long("Betainc", lambda: [np.abs(_normal(20_000_000)) % 1 + np.float32(0.01)] * 3),
    "Igamma": Long("Igamma", lambda: [np.abs(_normal(20_000_000)) + np.float32(0.1)] * 2),
    "Zeta": Long("Zeta", lambda: [np.abs(_normal(20_000_000)) + np.float32(1.1)] * 2),
    "MaxPool": Long(
        "MaxPool", lambda: [_normal(32, 224, 224, 64)],
        {"ksize": [1, 31, 31, 1], "strides": [1, 1, 1, 1], "padding": "SAME", "T": dtypes.FLOAT32},
    ),
    "LRN": Long("LRN", lambda: [_normal(64, 224, 224, 64)], {"depth_radius": 30}),
}  # fmt: skip

STRINGS = {
    "RegexReplace": Long(
        "RegexReplace",
        lambda: [_words(300, 200_000), _word(b"(a|b)+(,| )?"), _word(b"<\\1>")],
    ),
    "StaticRegexReplace": Long(
        "StaticRegexReplace", lambda: [_words(1, 60_000_000)],
        {"pattern": "(a|b)+(,| )?", "rewrite": "<\\1>"},
    ),
    "StaticRegexFullMatch": Long(
        "StaticRegexFullMatch", lambda: [_words(300, 200_000)], {"pattern": "(x|ab, c.d |y)*z?"}
    ),
    "StringSplitV2": Long(
        "StringSplitV2", lambda: [_words(400, 100_000), np.array(b",", object)]
    ),
    "StringJoin": Long(
        "StringJoin", lambda: [_words(8_000_000, 40)] * 2, {"N": 2, "separator": "-"}
    ),
    "StringUpper": Long("StringUpper", lambda: [_words(2000, 400_000)], {"encoding": "utf-8"}),
    "StringStrip": Long("StringStrip", lambda: [_words(20_000_000, 30)]),
    "StringToHashBucketStrong": Long(
        "StringToHashBucketStrong", lambda: [_words(2000, 1_000_000)],
        {"num_buckets": 100, "key": [1, 2]},
    ),
    "StringToNumber": Long("StringToNumber", lambda: [_words(20_000_000, 20, b"1.2345678901")],
                           {"out_type": dtypes.FLOAT32}),
    "AsString": Long("AsString", lambda: [_normal(20_000_000)]),
    "ReduceJoin": Long("ReduceJoin", lambda: [_words(20_000_000, 30), np.int32(0)]),
    "UnicodeTranscode": Long(
        "UnicodeTranscode", lambda: [_words(400, 400_000)],
        {"input_encoding": "UTF-8", "output_encoding": "UTF-16-BE"},
    ),
    "DecodeBase64": Long("DecodeBase64", lambda: [_words(2000, 400_000, b"abcd")]),
    "EditDistance": Long(
        "EditDistance",
        lambda: [_line(40_000), _ints(4, 40_000), np.array([1, 40_000]),
                 _line(40_000), _ints(5, 40_000), np.array([1, 40_000])],
    ),
}  # fmt: skip


def _line(count: int) -> Array:
    return np.stack([np.zeros(count, np.int64), np.arange(count)], 1)


_GROUPS = {"Tindices": dtypes.INT64}
SEGMENTS = {
    "UnsortedSegmentSum": Long(
        "UnsortedSegmentSum",
        lambda: [_normal(200_000_000), _ints(1000, 200_000_000), np.int32(1000)],
    ),
    "UnsortedSegmentMax": Long(
        "UnsortedSegmentMax",
        lambda: [_normal(4_000_000, 64), _ints(1000, 4_000_000), np.int32(1000)],
    ),
    "SegmentSum": Long(
        "SegmentSum", lambda: [_normal(200_000_000), np.sort(_ints(1000, 200_000_000))], _GROUPS
    ),
    "SegmentProd": Long(
        "SegmentProd", lambda: [_normal(8_000_000, 32), np.sort(_ints(9000, 8_000_000))], _GROUPS
    ),
    "SparseSegmentMean": Long(
        "SparseSegmentMean",
        lambda: [_normal(1000, 64), _ints(1000, 10_000_000), np.sort(_ints(900, 10_000_000))],
        {"Tidx": dtypes.INT64, "Tsegmentids": dtypes.INT64},
    ),
    "ScatterNd": Long(
        "ScatterNd", lambda: [_ints(1000, 60_000_000, 1), _normal(60_000_000), np.array([1000])]
    ),
    "GatherNd": Long("GatherNd", lambda: [_normal(1000, 1000), _ints(1000, 60_000_000, 2)]),
    "SparseReorder": Long(
        "SparseReorder",
        lambda: [_ints(1000, 20_000_000, 2), _normal(20_000_000), np.array([1000, 1000])],
    ),
}

MATRICES = {
    "Cholesky": Long("Cholesky", lambda: [_symmetric(6000)]),
    "Cholesky of many": Long("Cholesky", lambda: [_symmetric(16, 500_000)]),
    "MatrixInverse": Long("MatrixInverse", lambda: [_symmetric(4000)]),
    "MatrixSolve": Long("MatrixSolve", lambda: [_symmetric(6000), _normal(1, 6000, 50)]),
    "MatrixTriangularSolve": Long(
        "MatrixTriangularSolve", lambda: [_symmetric(6000), _normal(1, 6000, 3000)]
    ),
    "MatrixDeterminant": Long("MatrixDeterminant", lambda: [_symmetric(6000)]),
    "Lu": Long("Lu", lambda: [_symmetric(6000)]),
    "Qr": Long("Qr", lambda: [_normal(1, 3000, 3000)]),
    "Svd": Long("Svd", lambda: [_normal(1, 2000, 2000)]),
    "SelfAdjointEigV2": Long("SelfAdjointEigV2", lambda: [_symmetric(2500)]),
    "Eig": Long("Eig", lambda: [_normal(1, 1200, 1200)], {"Tout": dtypes.COMPLEX64}),
    "MatrixExponential": Long("MatrixExponential", lambda: [_symmetric(1500) / 2000]),
    "MatrixSquareRoot": Long("MatrixSquareRoot", lambda: [_symmetric(1000)]),
    "MatrixLogarithm": Long("MatrixLogarithm", lambda: [_symmetric(700).astype(np.complex64)]),
    "TridiagonalSolve": Long(
        "TridiagonalSolve", lambda: [_normal(1, 3, 20_000_000), _normal(1, 20_000_000, 1)]
    ),
}

RANDOM = {
    "RandomGamma": Long(
        "RandomGamma", lambda: [_shape(30_000_000), np.float32(0.5)], {"S": dtypes.INT32}
    ),
    "RandomPoissonV2": Long(
        "RandomPoissonV2", lambda: [_shape(30_000_000), np.float32(9.5)],
        {"S": dtypes.INT32, "R": dtypes.FLOAT32, "dtype": dtypes.FLOAT32},
    ),
    "StatelessRandomPoisson": Long(
        "StatelessRandomPoisson", lambda: [_shape(30_000_000), _SEED, np.float32(200)],
        {"Rtype": dtypes.FLOAT32, "dtype": dtypes.FLOAT32},
    ),
    "StatelessRandomGammaV2": Long(
        "StatelessRandomGammaV2", lambda: [_shape(30_000_000), _SEED, np.float32(3)]
    ),
    "StatelessRandomBinomial few": Long(
        "StatelessRandomBinomial",
        lambda: [_shape(30_000_000), _SEED, np.float32(9), np.float32(0.4)],
        {"dtype": dtypes.FLOAT32},
    ),
    "StatelessRandomBinomial many": Long(
        "StatelessRandomBinomial",
        lambda: [_shape(30_000_000), _SEED, np.float32(1e4), np.float32(0.4)],
        {"dtype": dtypes.FLOAT32},
    ),
    "RandomStandardNormal": Long(
        "RandomStandardNormal", lambda: [_shape(600_000_000)], {"dtype": dtypes.FLOAT32}
    ),
    "TruncatedNormal": Long(
        "TruncatedNormal", lambda: [_shape(500_000_000)], {"dtype": dtypes.FLOAT32}
    ),
    "ParameterizedTruncatedNormal": Long(
        "ParameterizedTruncatedNormal",
        lambda: [_shape(50_000_000), *(np.float32(v) for v in (0, 1, 3, 4))],
        {"dtype": dtypes.FLOAT32},
    ),
    "Multinomial": Long("Multinomial", lambda: [_normal(100, 10_000), np.int32(400_000)]),
    "KmeansPlusPlusInitialization": Long(
        "KmeansPlusPlusInitialization",
        lambda: [_normal(200_000, 8), np.int64(2000), np.int64(1), np.int64(5)],
    ),
}  # fmt: skip


def _boxes(count: int) -> Array:
    corner = np.abs(_normal(count, 2))
    return np.concatenate([corner, corner + np.float32(0.001)], 1)


OTHERS = {
    "NonMaxSuppressionV3": Long(
        "NonMaxSuppressionV3",
        lambda: [_boxes(200_000), _normal(200_000), np.int32(200_000), np.float32(0.5),
                 np.float32(-9)],
    ),
    "NonMaxSuppressionV5 soft": Long(
        "NonMaxSuppressionV5",
        lambda: [_boxes(60_000), _normal(60_000), np.int32(60_000), np.float32(0.5),
                 np.float32(-9), np.float32(0.5)],
    ),
    "CTCGreedyDecoder": Long(
        "CTCGreedyDecoder", lambda: [_normal(4000, 64, 200), np.full(64, 4000, np.int32)]
    ),
    "CTCBeamSearchDecoder": Long(
        "CTCBeamSearchDecoder", lambda: [_normal(2000, 8, 60), np.full(8, 2000, np.int32)],
        {"beam_width": 100, "top_paths": 1},
    ),
    "CTCLoss": Long(
        "CTCLoss",
        lambda: [_normal(4000, 16, 100),
                 np.stack([np.repeat(np.arange(16), 500), np.tile(np.arange(500), 16)], 1),
                 _ints(98, 8000, dtype=np.int32), np.full(16, 4000, np.int32)],
    ),
}  # fmt: skip

SMALL = Long("Neg", lambda: [_normal(20)])
"""What is over at once: it has modules imported."""
TABLE = {**PRODUCTS, **SORTS, **SIGNALS, **STRINGS, **SEGMENTS, **MATRICES, **RANDOM, **OTHERS}
