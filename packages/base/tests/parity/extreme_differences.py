"""Differences that NaN, infinities, empties and extreme integers show, and why they stay."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import oracle
from google.protobuf.message import DecodeError
from oracle import Case

from drystone_abi.protos import SummaryMetadata
from drystone_base.ops.defs import op_def
from parity.difference import Difference, answers, both, has, not_finite, values
from parity.quantized_differences import QUANTIZED
from parity.subnormals import finfo, has_subnormal

__all__ = ["EXTREMES"]


def _not_finite_but(*places: int) -> Callable[[Case, Any], bool]:
    """An input is not finite, other than those in these places."""

    def when(item: Case, want: Any) -> bool:
        others = tuple(v for k, v in enumerate(item.inputs) if k not in places)
        return not_finite(Case(item.op, others), want)

    return when


def _no_scalar(item: Case, want: Any) -> bool:
    """TensorFlow takes the first element of what is no scalar, or what lies beyond none."""
    return answers(item, want) and any(np.ndim(v) != 1 or np.size(v) <= 1 for v in item.inputs)


def _before_the_last_step(item: Case, want: Any) -> bool:
    """All steps that are computed agree; of the others TensorFlow writes cs and h only."""
    count = int(item.inputs[0])
    pairs = both(item, want)
    return bool(pairs) and all(oracle.difference(a[:count], b[:count]) < 0.05 for a, b in pairs)


def _is_row(item: Case) -> bool:
    """The updates have the shape of a row."""
    return bool(np.shape(item.inputs[2]) == np.shape(item.inputs[0])[1:])


def _only_blanks(item: Case, _: Any) -> bool:
    """An example of which no label is a class."""
    logits, indices, labels = (np.asarray(v) for v in item.inputs[:3])
    emitted = indices[labels < logits.shape[2] - 1, 0]
    return not np.isin(np.arange(logits.shape[1]), emitted).all()


def _zero_pivot(item: Case, _: Any) -> bool:
    factor = np.asarray(item.inputs[0])
    diagonal = np.diagonal(factor, axis1=-2, axis2=-1)
    return bool((np.abs(diagonal) < np.finfo(factor.dtype).tiny).any())


def _equal_scores(item: Case, want: Any) -> bool:
    """The same scores come out, for other boxes."""
    pairs = both(item, want)
    return bool(pairs) and all(oracle.difference(*pairs[k]) < 1e-5 for k in (1, 3))


def _subnormal_elements(item: Case, want: Any) -> bool:
    """Outputs differ only at elements of which an input is subnormal."""
    if not has_subnormal(item):
        return False
    values = [np.asarray(v) for v in item.inputs]
    floats = [v for v in values if "float" in v.dtype.name]
    try:
        np.broadcast_shapes(*(v.shape for v in floats))
    except ValueError:  # no element of one belongs to one of the other
        return False
    odd: Any = False
    for value in floats:
        wide = np.abs(value.astype(np.float64))
        odd = odd | ((wide > 0) & (wide < float(_tiny(value.dtype))))
    pairs = both(item, want)
    return bool(pairs) and all(
        a.shape == b.shape == np.shape(odd)
        and oracle.difference(np.where(odd, 0, a), np.where(odd, 0, b)) < 1e-3
        for a, b in pairs
    )


def _tiny(dtype: Any) -> Any:
    return finfo(dtype).smallest_normal


def _unsorted(item: Case, _: Any) -> bool:
    rows = np.asarray(item.inputs[0])
    return rows.ndim == 2 and bool((rows[:, 1:] < rows[:, :-1]).any())


def _is_beyond(item: Case) -> bool:
    """Whether a row of a pair of sparse tensors is outside of both shapes, but for its last."""
    lead = np.maximum(item.inputs[2], item.inputs[5])[:-1]
    rows = [np.asarray(item.inputs[k])[:, :-1] for k in (0, 3)]
    return any(bool(((v < 0) | (v >= lead)).any()) for v in rows)


def _disordered(indices: Any) -> bool:
    rows = np.asarray(indices).tolist()
    return any(a >= b for a, b in itertools.pairwise(rows))


def _is_root(item: Case, want: Any) -> bool:
    """Ours is a root where TensorFlow's is NaN."""
    pairs = both(item, want)
    if not pairs or not np.isnan(pairs[0][1]).any():
        return False
    ours = pairs[0][0]
    return bool(oracle.difference(ours @ ours, np.asarray(item.inputs[0])) < 1e-3)


def _singular(item: Case, _: Any) -> bool:
    wide = np.asarray(item.inputs[0]).astype(np.complex128)
    return bool((np.linalg.matrix_rank(wide) < wide.shape[-1]).any())


def _broken_metadata(item: Case, _: Any) -> bool:
    try:
        SummaryMetadata.FromString(bytes(np.asarray(item.inputs[2]).item()))
    except DecodeError:
        return True
    return False


def _memory_or_sense(item: Case, want: Any) -> bool:
    """Both refuse, one of them for the size."""
    if not isinstance(want, str):
        return False
    got = oracle.ours(item)
    statuses = {got if isinstance(got, str) else "", oracle._STATUS.get(want, want)}
    return statuses == {"RESOURCE_EXHAUSTED", "INVALID_ARGUMENT"}


def _nothing_to_convolve(item: Case) -> bool:
    """An image, a filter (which may be told by its sizes) or a gradient has no elements."""
    given = [np.asarray(v) for v in item.inputs]
    return any(not (v.all() if v.ndim == 1 else v.size) for v in given)


def _gives_zeros(item: Case) -> bool:
    got = oracle.ours(item)
    return not isinstance(got, str) and not np.asarray(got[0]).any()


def _bytes(item: Case) -> bytes:
    """All strings of the inputs, one behind the other."""
    strings = (np.asarray(v) for v in item.inputs if np.asarray(v).dtype.kind == "O")
    return b" ".join(bytes(s) for v in strings for s in v.reshape(-1).tolist())


def _repeated_keys(item: Case, _: Any) -> bool:
    """A key occurs twice."""
    definition = op_def(item.op)
    slices = definition.input_slices(oracle._counts(item))
    parts = [item.inputs[slices[a.name]] for a in definition.inputs if a.name.endswith("_keys")]
    keys = [key for part in parts for v in part for key in np.asarray(v).reshape(-1).tolist()]
    return len(set(keys)) < len(keys)


EXTREMES: tuple[Difference, ...] = (
    Difference(
        "MaxPool MaxPoolV2 MaxPool3D FractionalMaxPool MaxPool3DGrad MaxPool3DGradGrad "
        "MaxPoolGradGrad MaxPoolGradGradV2 ApproxTopK",
        "NaN: TensorFlow's maximum keeps or drops it by its place in a vector register; we keep it",
        has(np.nan),
    ),
    Difference(
        "Conv2D Conv3D DepthwiseConv2dNative",
        "filters that are not finite, where windows reach beyond the image: TensorFlow multiplies "
        "the zeros there, which gives NaN; drystone-cpu leaves them out",
        values(_not_finite_but(0)),
        only="cpu",
    ),
    Difference(
        "Conv2DBackpropFilter Conv3DBackpropFilterV2 Conv2DBackpropInput Conv3DBackpropInputV2 "
        "DepthwiseConv2dNativeBackpropInput DepthwiseConv2dNativeBackpropFilter MaxPool3DGrad",
        "numbers that are not finite, where windows reach beyond the image or leave elements out: "
        "zeros are multiplied, or left out, in other places than in TensorFlow",
        values(not_finite),
    ),
    Difference(
        "Cholesky CholeskyGrad Qr Svd SelfAdjointEig SelfAdjointEigV2 XlaSvd XlaSelfAdjointEig "
        "MatrixInverse MatrixDeterminant LogMatrixDeterminant MatrixLogarithm MatrixSquareRoot "
        "MatrixSolve MatrixTriangularSolve MatrixSolveLs Lu TridiagonalSolve BandedTriangularSolve",
        "matrices that are not finite: which elements of a factor are NaN, and whether that is an "
        "error, depends on the order of eliminations",
        not_finite,
    ),
    Difference(
        "AdjustHue AdjustSaturation AdjustContrastv2 RGBToHSV HSVToRGB",
        "colours that are not finite: TensorFlow's vector code makes other comparisons of NaN",
        not_finite,
    ),
    Difference(
        "LRN LRNGrad",
        "numbers that are not finite: TensorFlow sums windows by a product with a band of ones, "
        "whose zeros make NaN of them in all channels",
        not_finite,
    ),
    Difference(
        "KMC2ChainInitialization KmeansPlusPlusInitialization NearestNeighbors",
        "points that are not finite: they have no distance, and what is chosen is an accident",
        not_finite,
    ),
    Difference(
        "",
        "an input that asks for more memory than there is, and is wrong besides: which of the two "
        "is told depends on what is looked at first",
        _memory_or_sense,
    ),
    Difference(
        "",
        "subnormal numbers: TensorFlow's functions of single numbers take them for zero, or for "
        "others nearby; we compute with them",
        _subnormal_elements,
    ),
    Difference(
        "RealDiv Div Xdivy Reciprocal Inv",
        "complex numbers divided by zero: TensorFlow gives NaN or infinities, depending on the "
        "element's place in a vector register; we give infinities",
        values(
            lambda item, _: (
                np.asarray(item.inputs[-1]).dtype.kind == "c" and not np.all(item.inputs[-1])
            )
        ),
    ),
    Difference(
        "AudioSpectrogram",
        "sounds that are not finite: which frequencies are NaN and which infinite depends on the "
        "order of the transform's additions",
        values(not_finite),
    ),
    Difference(
        "BlockLSTM BlockLSTMV2",
        "steps from seq_len_max on: TensorFlow leaves gates unwritten; we give zeros",
        _before_the_last_step,
    ),
    Difference(
        "BlockLSTMGrad BlockLSTMGradV2",
        "outputs and gradients of the cell in another shape than its state: TensorFlow does not "
        "look, and reads beyond them; we refuse",
        answers,
    ),
    Difference(
        "CTCLoss",
        "an example of which all labels are blanks: TensorFlow reads before the beginning of its "
        "table; we give the loss of no labels",
        values(_only_blanks),
    ),
    Difference(
        "CholeskyGrad MatrixTriangularSolve",
        "zeros on a triangle's diagonal: which elements are NaN and which infinite depends on the "
        "order of eliminations",
        values(_zero_pivot),
    ),
    Difference(
        "Cholesky",
        "matrices that are not positive definite: TensorFlow leaves what is above their triangle "
        "of NaN unwritten; we give zeros",
        lambda item, want: bool(
            (pairs := both(item, want))
            and oracle.difference(*map(np.tril, pairs[0])) < 1e-3
            and np.isnan(pairs[0][0]).any()
        ),
    ),
    Difference(
        "ExtractGlimpse ExtractGlimpseV2",
        "noise like images without pixels: TensorFlow makes some of numbers that it never wrote; "
        "we refuse",
        lambda item, want: answers(item, want) and not np.size(item.inputs[0]),
    ),
    Difference(
        "CombinedNonMaxSuppression",
        "equal scores: TensorFlow's heap and sort put their boxes in an order of their own; ours "
        "come as they are given",
        _equal_scores,
    ),
    Difference(
        "EncodeProto",
        "negative numbers of values: TensorFlow takes them for 0; we refuse",
        lambda item, want: answers(item, want) and bool((np.asarray(item.inputs[0]) < 0).any()),
    ),
    Difference(
        "FractionalMaxPoolGrad",
        "a gradient in another shape than the output: TensorFlow does not look; we refuse",
        lambda item, want: (
            answers(item, want) and np.shape(item.inputs[1]) != np.shape(item.inputs[2])
        ),
    ),
    Difference(
        "RFFT RFFT2D RFFT3D IRFFT IRFFT2D IRFFT3D",
        "no samples or frequencies: TensorFlow leaves its output unwritten; we give zeros",
        lambda item, want: not isinstance(want, str) and not np.size(item.inputs[0]),
    ),
    Difference(
        "KmeansPlusPlusInitialization KMC2ChainInitialization",
        "numbers of tries that would never end: TensorFlow begins; we refuse",
        answers,
    ),
    Difference(
        "HistogramSummary ScalarSummary ImageSummary AudioSummaryV2 TensorSummaryV2",
        "tags that are no UTF-8: TensorFlow writes a message that others cannot read; we refuse",
        lambda item, want: answers(item, want) and b"\xff" in _bytes(item),
    ),
    Difference(
        "ResourceScatterAdd ResourceScatterSub ResourceScatterMul ResourceScatterDiv "
        "ResourceScatterMin ResourceScatterMax ResourceScatterUpdate",
        "variables without rows or elements, no indices or updates, or updates for a scalar index "
        "that are no row: TensorFlow does not look at them; we refuse",
        lambda item, want: (
            answers(item, want)
            and not (
                np.ndim(item.inputs[0])
                and all(np.size(v) for v in item.inputs)
                and (np.ndim(item.inputs[1]) or _is_row(item))
            )
        ),
    ),
    Difference(
        "Conv2DBackpropFilter DepthwiseConv2dNativeBackpropInput",
        "images, filters or gradients without elements: TensorFlow never writes what it gives of "
        "them; we give zeros",
        values(lambda item, _: _nothing_to_convolve(item)),
    ),
    Difference(
        "Conv2DBackpropInput Conv3DBackpropFilterV2",
        "filters without elements: TensorFlow's product of matrices, or its check, refuses some of "
        "them; we give zeros, as for the others",
        lambda item, want: (
            isinstance(want, str) and _nothing_to_convolve(item) and _gives_zeros(item)
        ),
    ),
    Difference(
        "SparseCountSparseOutput",
        "matrices without elements: TensorFlow looks at their rows alone; we refuse columns below "
        "0 and beyond 64 bits",
        lambda item, want: answers(item, want) and not np.size(item.inputs[1]),
    ),
    Difference(
        "SparseCountSparseOutput",
        "2^31 rows and more: TensorFlow counts them in 32 bits; we refuse",
        lambda item, want: answers(item, want) and bool(np.any(item.inputs[2] >= 1 << 31)),
    ),
    Difference(
        "SparseSegmentSumWithNumSegments SparseSegmentMeanWithNumSegments "
        "SparseSegmentSqrtNWithNumSegments",
        "2^31 segments and more: TensorFlow takes the lower 32 bits of their number; we refuse",
        lambda item, want: answers(item, want) and bool(np.any(item.inputs[3] >= 1 << 31)),
    ),
    Difference(
        "EditDistance",
        "indices outside of the shape whose place in memory is inside: TensorFlow gives the "
        "distance of another cell; we refuse",
        lambda item, want: answers(item, want) and _is_beyond(item),
    ),
    Difference(
        "SparseSplit",
        "dimensions of 2^31 and more: TensorFlow splits what is left of them in 32 bits; we split "
        "them",
        lambda item, _: bool(np.any(item.inputs[3] >= 1 << 31)),
    ),
    Difference(
        "ResourceApplyAddSign ResourceApplyPowerSign",
        "sign_decay in a vector of one: TensorFlow does not look; we refuse",
        lambda item, want: answers(item, want) and bool(np.ndim(item.inputs[4])),
    ),
    Difference(
        "ResourceApplyAdamWithAmsgrad",
        "vhat in another shape than the variable: TensorFlow does not look, and reads and writes "
        "beyond it; we refuse",
        lambda item, want: (
            answers(item, want) and np.shape(item.inputs[3]) != np.shape(item.inputs[0])
        ),
    ),
    Difference(
        "ResourceSparseApplyCenteredRMSProp ResourceSparseApplyRMSProp",
        "averages that are infinite: for rows TensorFlow weighs both sides; we move by their "
        "difference, as it does for whole variables",
        values(not_finite),
    ),
    Difference(
        "SparseSegmentSumGradV2 SparseSegmentMeanGradV2 SparseSegmentSqrtNGradV2",
        "rows without elements, or none at all: TensorFlow does not look which are named; we "
        "refuse those outside",
        lambda item, want: (
            answers(item, want) and not (np.size(item.inputs[0]) and np.all(item.inputs[3]))
        ),
    ),
    Difference(
        "ResizeNearestNeighborGrad ScaleAndTranslateGrad",
        "gradients or images without channels: we refuse, as where nothing is resized back",
        lambda item, want: answers(item, want) and not all(map(np.size, item.inputs[:2])),
    ),
    Difference(
        "HistogramSummary",
        "subnormal numbers: TensorFlow takes them for zero; they are counted for themselves",
        values(lambda item, _: has_subnormal(item)),
    ),
    Difference(
        "StatelessRandomBinomial",
        "numbers of tries that are not finite: what is drawn depends on the precision that "
        "TensorFlow computes in",
        values(not_finite),
    ),
    Difference(
        "MaxPool3D",
        "windows of nothing but minus infinity: we give the lowest finite number, as MaxPool does",
        values(has(-np.inf)),
    ),
    Difference(
        "SparseAdd SparseSparseMaximum SparseSparseMinimum",
        "indices that are not sorted, or occur twice: TensorFlow merges both lists as they come; "
        "we sort them, and the last element of a place counts",
        values(lambda item, _: any(map(_disordered, (item.inputs[0], item.inputs[3])))),
    ),
    Difference(
        "SparseAddGrad",
        "indices that are not sorted, or occur twice: TensorFlow walks through the lists as they "
        "come, and misses some; we look each up",
        values(lambda item, _: any(map(_disordered, item.inputs[1:]))),
    ),
    Difference(
        "ShardedFilename ShardedFilespec",
        "a zero byte in the name: TensorFlow stops there; we go on",
        values(lambda item, _: b"\0" in _bytes(item)),
    ),
    Difference(
        "LowerBound UpperBound",
        "rows that are not sorted: what is found depends on the order of the search",
        values(_unsorted),
    ),
    Difference(
        "MatrixLogarithm",
        "singular matrices have no logarithm: what comes out is the rounding of their eigenvalues",
        values(_singular),
    ),
    Difference(
        "MatrixSquareRoot",
        "several eigenvalues of 0: TensorFlow divides 0 by 0; we give a root where there is one",
        _is_root,
    ),
    Difference(
        "ParseExample ParseExampleV2 ParseSequenceExample ParseSequenceExampleV2",
        "a key that is asked for twice: TensorFlow's table takes none then, and features are "
        "missing; we give them twice",
        _repeated_keys,
    ),
    Difference(
        "MaxPoolV2 MaxPoolGradV2 MaxPoolGradGradV2",
        "windows and strides that are four numbers, but no vector: TensorFlow does not look; we "
        "refuse",
        lambda item, want: answers(item, want) and any(np.ndim(v) != 1 for v in item.inputs[-2:]),
    ),
    Difference(
        "StringLower StringUpper",
        "a zero byte in UTF-8: TensorFlow stops there; we go on",
        lambda item, want: (
            not isinstance(want, str)
            and bool(item.attrs.get("encoding"))
            and any(b"\0" in v for v in np.asarray(item.inputs[0], object).reshape(-1).tolist())
        ),
    ),
    Difference(
        "StringNGrams",
        "no splits: TensorFlow gives as many empty strings as there are tokens; we give none",
        lambda item, want: not isinstance(want, str) and not np.size(item.inputs[1]),
    ),
    Difference(
        "TensorSummaryV2",
        "metadata that is no message: TensorFlow keeps the bytes; we write none",
        values(_broken_metadata),
    ),
    *QUANTIZED,
)
