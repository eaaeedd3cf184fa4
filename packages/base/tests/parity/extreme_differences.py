"""Differences that NaN, infinities, empties and extreme integers show, and why they stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from oracle import Case

from parity.difference import Difference, answers, has, not_finite

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


def _values(when: Callable[[Case, Any], bool]) -> Callable[[Case, Any], bool]:
    return lambda item, want: not isinstance(want, str) and when(item, want)


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
        _values(_not_finite_but(0)),
        only="cpu",
    ),
    Difference(
        "Conv2DBackpropFilter Conv3DBackpropFilterV2 Conv2DBackpropInput Conv3DBackpropInputV2 "
        "DepthwiseConv2dNativeBackpropInput DepthwiseConv2dNativeBackpropFilter",
        "numbers that are not finite, where windows reach beyond the image or leave elements out: "
        "zeros are multiplied, or left out, in other places than in TensorFlow",
        _values(not_finite),
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
)
