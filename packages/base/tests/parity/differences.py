"""Where we answer otherwise than TensorFlow on purpose, and why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import oracle
from oracle import Case

from drystone_base.core.dtypes import as_dtype
from drystone_base.ops.defs import op_def
from parity.difference import Difference, answers, has, not_finite, says
from parity.extreme_differences import EXTREMES
from parity.subnormals import has_subnormal, without_subnormals

__all__ = ["DIFFERENCES", "known_difference"]


def _dilated(item: Case, want: Any) -> bool:
    return isinstance(want, str) and any(n > 1 for n in item.attrs["dilations"])


def _complex(item: Case, _: Any) -> bool:
    return any(np.asarray(v).dtype.kind == "c" for v in item.inputs)


def _integers(item: Case, _: Any) -> bool:
    return np.asarray(item.inputs[0]).dtype.kind in "iu"


def _zero_where_it_differs(item: Case, want: Any) -> bool:
    """We leave zero what TensorFlow never writes; all else agrees."""
    got = oracle.ours(item)
    if isinstance(got, str) or isinstance(want, str):
        return False
    ours = np.asarray(got[0]).astype(np.float64)
    theirs = want[0].astype(np.float64)
    same_shape = ours.shape == theirs.shape
    return same_shape and oracle.difference(ours, np.where(ours == 0, 0, theirs)) < 0.05


def _nothing_looked_up(item: Case, _: Any) -> bool:
    return not np.size(item.inputs[1])


def _nothing_to_do(item: Case, want: Any) -> bool:
    """No indices, or an empty tensor to take from or change."""
    return answers(item, want) and not all(np.size(v) for v in (*item.inputs[:2], want[0]))


def _beyond_integers(item: Case, _: Any) -> bool:
    given = np.asarray(item.inputs[0])
    target = np.dtype(as_dtype(str(item.attrs.get("DstT", item.attrs.get("T")))).np)
    if given.dtype.kind not in "fcV" or target.kind not in "iu":
        return False
    with np.errstate(all="ignore"):
        wide = given.astype(np.complex128).real
    bounds = np.iinfo(target)
    return not bool(((wide >= bounds.min) & (wide <= bounds.max)).all())


def _next_to_zero_in_16_bits(item: Case, want: Any) -> bool:
    got = oracle.ours(item)
    if isinstance(want, str) or isinstance(got, str) or want[0].dtype.itemsize != 2:
        return False
    wide = [np.asarray(v).astype(np.float64) for v in (got[0], want[0])]
    return wide[0].shape == wide[1].shape and bool((np.abs(wide[0] - wide[1]) < 1e-2).all())


def _not_its_maxima(item: Case, want: Any) -> bool:
    shape = {k: v for k, v in item.attrs.items() if k in ("ksize", "strides", "padding")}
    pool = "MaxPool3D" if "3D" in item.op else "MaxPool"
    maxima = oracle.ours(Case(pool, item.inputs[:1], shape))
    differ = oracle.difference(np.asarray(maxima[0]), item.inputs[1])
    return not isinstance(want, str) and differ > 0


def _skipping(item: Case, want: Any) -> bool:
    """SAME padding where windows leave out elements between them."""
    if isinstance(want, str) or item.attrs["padding"] != "SAME":
        return False
    sizes = item.attrs.get("ksize") or [1, *np.shape(item.inputs[1])[:3], 1]
    return any(s > k for s, k in zip(item.attrs["strides"], sizes, strict=True))


def _subnormal(item: Case, want: Any) -> bool:
    """With zeros for subnormal numbers we answer as TensorFlow does with them."""
    if not has_subnormal(item):
        return False
    got = oracle.ours(without_subnormals(item))
    if isinstance(got, str) or isinstance(want, str):
        return got == (oracle._STATUS.get(want, want) if isinstance(want, str) else None)
    return len(got) >= len(want) and all(
        oracle.difference(np.asarray(a), b) < 0.05 for a, b in zip(got, want, strict=False)
    )


DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        "Conv2DBackpropFilter Conv2DBackpropInput Conv3D Conv3DBackpropFilterV2 "
        "Conv3DBackpropInputV2",
        "TensorFlow's CPU kernel takes no dilation here; ours does",
        _dilated,
    ),
    Difference(
        "ClipByValue Max Min Maximum Minimum",
        "complex numbers have no order: what TensorFlow's kernel leaves is an accident",
        _complex,
    ),
    Difference(
        "Round",
        "integers are already round; TensorFlow gives zeros for some of them",
        _integers,
    ),
    Difference(
        "BesselY0 BesselY1 BesselK0 BesselK0e BesselK1 BesselK1e Zeta Digamma Lgamma Polygamma",
        "at a pole TensorFlow gives NaN or an infinity, depending on the element's place in a "
        "vector register; we give the infinity",
        lambda item, _: any(
            (np.abs(np.asarray(v).astype(np.float64)) < 1e-20).any() for v in item.inputs
        ),
    ),
    Difference(
        "DepthwiseConv2dNativeBackpropFilter",
        "TensorFlow never writes the gradient of filter elements that meet only padding",
        _zero_where_it_differs,
    ),
    Difference(
        "SparseSegmentSumGrad SparseSegmentMeanGrad SparseSegmentSqrtNGrad",
        "TensorFlow leaves its output unwritten where nothing is looked up",
        _nothing_looked_up,
    ),
    Difference(
        "AvgPoolGrad AvgPool3DGrad MaxPool3DGrad ResizeBilinearGrad ResizeBicubicGrad",
        "TensorFlow does not compare the gradient's shape with the input's, and reads or writes "
        "beyond the tensor; we refuse",
        answers,
    ),
    Difference(
        "DataFormatDimMap",
        "an axis out of range: TensorFlow reads beyond its table; we refuse",
        answers,
    ),
    Difference(
        "SparseReduceSum SparseReduceSumSparse SparseReduceMax SparseReduceMaxSparse "
        "SetSize SparseReorder SparseReshape SparseSoftmax SparseSlice SparseSplit SparseToDense "
        "SparseConcat DenseToSparseSetOperation SparseToSparseSetOperation SparseFillEmptyRows",
        "coordinates outside the sparse tensor's shape: TensorFlow does not look; we refuse",
        answers,
    ),
    Difference(
        "GatherV2 Gather GatherNd",
        "indices out of range, but nothing is gathered: TensorFlow does not look; we refuse",
        _nothing_to_do,
    ),
    Difference(
        "RaggedGather RaggedTensorToSparse RaggedTensorToTensor RaggedBincount RaggedCross",
        "row splits that do not end at the number of values: TensorFlow does not look; we refuse",
        answers,
    ),
    Difference(
        "InplaceAdd InplaceSub InplaceUpdate",
        "rows of an empty tensor, booleans: TensorFlow does not look; we refuse",
        _nothing_to_do,
    ),
    Difference(
        "MatrixDiagV2 MatrixDiagV3",
        "diagonals without elements: TensorFlow does not look where they lie; we refuse",
        lambda item, want: answers(item, want) and not np.size(item.inputs[0]),
    ),
    Difference(
        "SoftmaxCrossEntropyWithLogits",
        "vectors: refused when a graph is made with TensorFlow, but not op by op",
        answers,
    ),
    Difference(
        "SqrtGrad RsqrtGrad SigmoidGrad TanhGrad InvGrad ReciprocalGrad",
        "different shapes of equally many elements, where TensorFlow does not look but the shape "
        "function refuses; NaN and infinities, which TensorFlow multiplies or divides in another "
        "order",
        lambda item, want: (
            np.shape(item.inputs[0]) != np.shape(item.inputs[1]) or not_finite(item, want)
        ),
    ),
    Difference(
        "Conv3D AvgPool3D MaxPool3D",
        "SAME with strides beyond the window: without its oneDNN kernels TensorFlow centres the "
        "windows; with them, which is the rule, it starts at the first element, as we do",
        _skipping,
    ),
    Difference(
        "CumulativeLogsumexp",
        "NaN and infinities: TensorFlow's scan drops NaN or makes it of infinities",
        not_finite,
    ),
    Difference(
        "Polygamma Zeta",
        "arguments of 0 and below, where TensorFlow's series means nothing, beyond 1e15, where its "
        "float32 powers vanish early, and orders beyond 30, where its float32 factorials overflow",
        lambda item, _: bool(
            (np.asarray(item.inputs[1]) <= 0).any()
            or (np.asarray(item.inputs[1]) > 1e15).any()
            or (np.isfinite(item.inputs[0]) & (np.asarray(item.inputs[0]) > 30)).any()
        ),
    ),
    Difference(
        "StatelessRandomNormalV2 StatelessRandomUniformV2 StatelessTruncatedNormalV2 "
        "StatelessRandomUniformFullIntV2 StatelessRandomUniformIntV2 StatelessShuffle",
        "a counter of one number: TensorFlow reads beyond it; we refuse",
        answers,
    ),
    Difference(
        "StatelessRandomUniformV2 StatelessRandomUniformFullIntV2 StatelessRandomUniformIntV2 "
        "StatelessRandomNormalV2 StatelessTruncatedNormalV2",
        "ThreeFry: TensorFlow's CPU kernels leave it to XLA, whose numbers these are",
        lambda item, want: isinstance(want, str) and 2 in np.asarray(item.inputs[3]),
    ),
    Difference(
        "RaggedCountSparseOutput SparseBincount",
        "no values, or none in a vector: TensorFlow does not look at shapes; we refuse",
        answers,
    ),
    Difference(
        "Expint Spence",
        "TensorFlow gives NaN where the integral is infinite, or overflows",
        lambda item, _: bool((np.asarray(item.inputs[0]).astype(np.float64) > 80).any()),
    ),
    Difference(
        "TensorStridedSliceUpdate",
        "a value of another rank with equally many elements: TensorFlow does not look; we refuse",
        answers,
    ),
    Difference(
        "UnsortedSegmentSum UnsortedSegmentProd UnsortedSegmentMax UnsortedSegmentMin",
        "ids out of range of rows without elements: TensorFlow does not look; we refuse",
        lambda item, want: answers(item, want) and not np.size(item.inputs[0]),
    ),
    Difference(
        "SparseMatMul",
        "zeros meet NaN and infinities: TensorFlow skips some zeros of what may be sparse",
        not_finite,
    ),
    Difference(
        "MaxPool MaxPoolV2 UnravelIndex",
        "empty batches with strides over the batch, negative positions: TensorFlow does not look; "
        "we refuse",
        answers,
    ),
    Difference(
        "Cast QuantizeV2",
        "floats beyond the integers' range: the answer is the machine's accident, and other for an "
        "element's place in a vector register",
        _beyond_integers,
    ),
    Difference(
        "SegmentMin SegmentMax SegmentMinV2 SegmentMaxV2 UnsortedSegmentMin UnsortedSegmentMax",
        "NaN: TensorFlow keeps it or drops it depending on the order of the elements; we keep it",
        has(np.nan),
    ),
    Difference(
        "BesselJ0 BesselJ1 BesselY0 BesselY1 FresnelSin FresnelCos",
        "beyond 1e6 float32 does not tell the phase of the waves: both answers are noise",
        lambda item, _: bool((np.abs(np.asarray(item.inputs[0]).astype(np.float64)) > 1e6).any()),
    ),
    Difference(
        "Substr",
        "a negative length: TensorFlow's status depends on the unit; we give an empty string",
        lambda item, want: (
            says("out of range for string")(item, want)
            and bool((np.asarray(item.inputs[2]) < 0).any())
        ),
    ),
    Difference(
        "SparseSoftmaxCrossEntropyWithLogits SoftmaxCrossEntropyWithLogits",
        "losses next to zero in 16 bits: TensorFlow adds up the exponentials in 16 bits, where the "
        "small ones vanish beside 1",
        _next_to_zero_in_16_bits,
    ),
    Difference(
        "TopK TopKV2",
        "unsorted: TensorFlow gives the elements in the order of its heap",
        lambda item, want: not item.attrs["sorted"] and not isinstance(want, str),
    ),
    Difference(
        "MaxPoolGradGrad MaxPoolGradGradV2 MaxPool3DGradGrad",
        "an output that is not the input's maxima: TensorFlow looks for it in the input, we for "
        "the maxima",
        _not_its_maxima,
    ),
    Difference("NthElement TopK TopKV2", "NaN has no place in an order", has(np.nan)),
    Difference(
        "Erf",
        "TensorFlow's vector code for float64 gives NaN at infinity",
        has(np.inf, -np.inf),
    ),
    Difference("", "TensorFlow's CPU kernels take subnormal numbers for zero", _subnormal),
    Difference(
        "",
        "complex numbers of which a part is infinite or NaN: which parts of a product or quotient "
        "are NaN then depends on the order of multiplications",
        lambda item, want: (
            _complex(item, want) and not_finite(item, want) and not isinstance(want, str)
        ),
    ),
    Difference(
        "DecodeCompressed",
        "data that ends too soon: TensorFlow gives what there is; we refuse",
        answers,
    ),
    Difference(
        "Dilation2D Dilation2DBackpropInput Dilation2DBackpropFilter",
        "an empty batch: TensorFlow does not look whether the window fits; we refuse",
        answers,
    ),
    Difference(
        "FractionalAvgPoolGrad",
        "pooling sequences that are no windows of the input: TensorFlow does not look; we refuse",
        answers,
    ),
    Difference(
        "FusedPadConv2D FusedResizeAndPadConv2D",
        "several images, or steps over rows beyond the filter: TensorFlow reads other rows than "
        "MirrorPad and Conv2D do; ours gives what these give",
        lambda item, _: len(item.inputs[0]) > 1 or item.attrs["strides"][1] > len(item.inputs[-1]),
    ),
    Difference(
        "SparseAdd",
        "coordinates outside the shape: TensorFlow merges them unsorted",
        lambda item, _: any(
            np.asarray(item.inputs[k]).min(initial=0) < 0
            or bool((np.asarray(item.inputs[k]) >= np.asarray(item.inputs[k + 2])).any())
            for k in (0, 3)
        ),
    ),
    Difference(
        "SparseSliceGrad",
        "a gradient that is not used up: TensorFlow gives an internal error",
        says("aren't all propagated"),
    ),
    Difference(
        "SparseCountSparseOutput",
        "no rows: TensorFlow refuses; we give no counts",
        says("Cannot allocate 0 batches"),
    ),
    Difference(
        "DenseCountSparseOutput",
        "no rows or no columns: TensorFlow refuses; we give no counts",
        says("Shapes dimension cannot be 0"),
    ),
    Difference(
        "ReverseSequence",
        "more than 5 dimensions: TensorFlow has no kernel",
        says("Unhandled input dimensions"),
    ),
    Difference(
        "GatherNd TensorScatterUpdate TensorScatterAdd TensorScatterSub TensorScatterMin "
        "TensorScatterMax ScatterNd ScatterNdNonAliasingAdd",
        "index vectors of other lengths than TensorFlow has kernels for",
        says("indices.shape[-1] values between"),
    ),
    Difference(
        "QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 QuantizeAndDequantizeV4",
        "scalars: TensorFlow takes its own default axis, -1, for a wrong one",
        says("Axis requested is larger"),
    ),
    Difference(
        "DecodeJSONExample",
        "lists of numbers are written packed, as the message's definition says; TensorFlow writes "
        "them unpacked, and reads both",
        lambda _, want: not isinstance(want, str),
    ),
    Difference(
        "StringFormat",
        "empty tensors: TensorFlow writes the brackets of some rows only",
        lambda item, _: any(not np.size(v) for v in item.inputs),
    ),
    Difference(
        "SplitV",
        "one output whose size is left open (-1), of an empty tensor: TensorFlow refuses",
        says("If there is only one output"),
    ),
    Difference(
        "Dequantize",
        "to bfloat16 TensorFlow has only MIN_COMBINED; we have every mode",
        says("When output type is bfloat16"),
    ),
    *EXTREMES,
)


def known_difference(item: Case, want: Any) -> Difference | None:
    """The documented difference that a case falls under."""
    definition = op_def(item.op)
    read = {arg.type_attr for arg in definition.inputs}  # off the inputs, where it is not given
    defaults = {
        n: a.default for n, a in definition.attrs.items() if a.has_default and n not in read
    }
    item = replace(item, attrs=defaults | item.attrs)
    rows = (d for d in DIFFERENCES if not d.ops or item.op in d.ops.split())
    return next((d for d in rows if d.when(item, want)), None)
