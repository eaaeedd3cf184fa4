"""Cases of gradient rules: decompositions, recurrent cells, sparse tensors, patches."""

from __future__ import annotations

from typing import Any

import numpy as np
from gradient_cases import Case, Rng, apart, case, floats, ints, shape_of

__all__: list[str] = []


# ---- decompositions ------------------------------------------------------------------------------


@case("SelfAdjointEigV2")
def _eigen(rng: Rng, _: str) -> Case:
    """Differences are those of a symmetric matrix: see the test."""
    vectors = bool(rng.integers(2))
    x = floats(rng, 2, 4, 4)
    of = [0, 1] if vectors else [0]
    return Case([x + np.swapaxes(x, -1, -2)], {"compute_v": vectors}, of=of)


@case("SelfAdjointEig")
def _old_eigen(rng: Rng, _: str) -> Case:
    x = floats(rng, 2, 3, 3)
    return Case([x + np.swapaxes(x, -1, -2)])


@case("Qr")
def _qr(rng: Rng, _: str) -> Case:
    rows, columns = [(5, 3), (3, 5), (4, 4)][int(rng.integers(3))]
    return Case([floats(rng, 2, rows, columns)])


@case("Svd")
def _svd(rng: Rng, _: str) -> Case:
    rows, columns = [(5, 3), (3, 5), (4, 4)][int(rng.integers(3))]
    vectors = bool(rng.integers(2))
    return Case(
        [floats(rng, 2, rows, columns)], {"compute_uv": vectors}, of=None if vectors else [0]
    )


# ---- cells ---------------------------------------------------------------------------------------


def _lstm(rng: Rng, *lead: int) -> list[Any]:
    """x, state, output, weights, three peepholes and the offset, of two units."""
    shapes = ((*lead, 2, 3), (2, 2), (2, 2), (5, 8), (2,), (2,), (2,), (8,))
    return [floats(rng, *shape, low=-0.5, high=0.5) for shape in shapes]


@case("LSTMBlockCell")
def _cell(rng: Rng, _: str) -> Case:
    peephole = bool(rng.integers(2))
    by = range(8) if peephole else [0, 1, 2, 3, 7]
    return Case(_lstm(rng), {"use_peephole": peephole}, of=[1, 6], loose=True, by=by)


@case("BlockLSTM", "BlockLSTMV2")
def _block(rng: Rng, _: str) -> Case:
    peephole = bool(rng.integers(2))
    by = range(1, 9) if peephole else [1, 2, 3, 4, 8]
    given = [np.int64(3), *_lstm(rng, 3)]
    return Case(given, {"use_peephole": peephole}, of=[1, 6], loose=True, by=by)


@case("GRUBlockCell")
def _gru(rng: Rng, _: str) -> Case:
    shapes = ((2, 3), (2, 2), (5, 4), (5, 2), (4,), (2,))
    return Case([floats(rng, *shape, low=-0.5, high=0.5) for shape in shapes], of=[3], loose=True)


# ---- sparse tensors ------------------------------------------------------------------------------


def _places(rng: Rng, *shape: int, count: int = 4) -> Any:
    """Indices in order, no two of them the same."""
    chosen = np.sort(rng.choice(int(np.prod(shape)), count, replace=False))
    return np.stack(np.unravel_index(chosen, shape), -1).astype(np.int64)


def _shape(*sizes: int) -> Any:
    return np.array(sizes, np.int64)


@case("SparseTensorDenseMatMul")
def _sparse_matmul(rng: Rng, _: str) -> Case:
    attrs = {k: bool(rng.integers(2)) for k in ("adjoint_a", "adjoint_b")}
    dense = floats(rng, 3 if attrs["adjoint_a"] else 4, 2)
    given = [_places(rng, 3, 4), floats(rng, 4), _shape(3, 4)]
    return Case([*given, dense.T if attrs["adjoint_b"] else dense], attrs)


@case("SparseReorder")
def _reorder(rng: Rng, _: str) -> Case:
    places = rng.permutation(_places(rng, 3, 4))
    return Case([places, floats(rng, 4), _shape(3, 4)])


@case("SparseReduceSum")
def _reduce_sum(rng: Rng, _: str) -> Case:
    axes = [ints(0), ints(-1), ints(0, 2), ints(1)][int(rng.integers(4))]
    given = [_places(rng, 3, 2, 4, count=7), floats(rng, 7), _shape(3, 2, 4), axes]
    return Case(given, {"keep_dims": bool(rng.integers(2))})


@case("SparseSoftmax")
def _softmax(rng: Rng, _: str) -> Case:
    return Case([_places(rng, 3, 4, count=7), floats(rng, 7), _shape(3, 4)])


@case("SparseTensorDenseAdd")
def _dense_add(rng: Rng, _: str) -> Case:
    return Case([_places(rng, 3, 4), floats(rng, 4), _shape(3, 4), floats(rng, 3, 4)])


@case("SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv")
def _by_elements(rng: Rng, _: str) -> Case:
    dense = [(3, 4), (3, 1), (4,), (1,)][int(rng.integers(4))]
    given = [_places(rng, 3, 4), floats(rng, 4), _shape(3, 4)]
    return Case([*given, floats(rng, *dense, low=0.5, high=2)])


@case("SparseToDense")
def _to_dense(rng: Rng, _: str) -> Case:
    indices, shape = [(_places(rng, 3, 4), (3, 4)), (_places(rng, 6)[:, 0], (6,))][
        int(rng.integers(2))
    ]
    values = floats(rng, 4) if rng.integers(2) else floats(rng)
    return Case([indices, _shape(*shape), np.asarray(values), np.asarray(floats(rng))])


@case("SparseAdd")
def _sparse_add(rng: Rng, _: str) -> Case:
    pair = [(_places(rng, 3, 4), floats(rng, 4, low=0.5), _shape(3, 4)) for _ in range(2)]
    return Case([*pair[0], *pair[1], np.zeros(())], by=[1, 4])


@case("SparseSlice")
def _sparse_slice(rng: Rng, _: str) -> Case:
    given = [_places(rng, 3, 4, count=8), floats(rng, 8), _shape(3, 4)]
    return Case([*given, _shape(1, 0), _shape(2, 3)])


@case("SparseFillEmptyRows")
def _fill_empty_rows(rng: Rng, _: str) -> Case:
    return Case([_places(rng, 6, 4), floats(rng, 4), _shape(6, 4), np.asarray(floats(rng))])


@case("SparseSegmentSumWithNumSegments", "SparseSegmentMeanWithNumSegments",
      "SparseSegmentSqrtNWithNumSegments")  # fmt: skip
def _segments(rng: Rng, _: str) -> Case:
    indices = rng.integers(0, 5, 4, dtype=np.int32)
    return Case([floats(rng, 5, 2), indices, ints(0, 0, 2, 2), ints(4)[0]])


# ---- images, pools, elements ---------------------------------------------------------------------


@case("ExtractImagePatches")
def _patches(rng: Rng, _: str) -> Case:
    attrs = {"ksizes": [1, 2, 3, 1], "strides": [1, 2, 1, 1], "rates": [1, 1, 2, 1]}
    padding = "SAME" if rng.integers(2) else "VALID"
    return Case([floats(rng, 2, 5, 6, 2)], attrs | {"padding": padding})


@case("ExtractVolumePatches")
def _volumes(rng: Rng, _: str) -> Case:
    attrs = {"ksizes": [1, 2, 1, 2, 1], "strides": [1, 1, 2, 1, 1], "padding": "SAME"}
    return Case([floats(rng, 2, 3, 4, 3, 2)], attrs)


@case("ScaleAndTranslate")
def _scale(rng: Rng, _: str) -> Case:
    scale, shift = (np.array(v, np.float32) for v in ([1.5, 0.75], [0.25, -0.5]))
    given = [floats(rng, 1, 5, 6, 2).astype(np.float32), ints(6, 4), scale, shift]
    return Case(given, {"antialias": bool(rng.integers(2))}, by=[0], loose=True)


@case("FractionalMaxPool", "FractionalAvgPool")
def _fractional(rng: Rng, _: str) -> Case:
    attrs = {"pooling_ratio": [1.0, 1.5, 1.4, 1.0], "deterministic": True, "seed": 3, "seed2": 5}
    x = apart(rng, 1, 7, 7, 2)
    return Case([x], attrs | {"overlapping": bool(rng.integers(2))})


@case("MaxPoolGradV2")
def _max_pool_grad(rng: Rng, _: str) -> Case:
    x, sizes, steps = apart(rng, 1, 4, 4, 2), ints(1, 2, 2, 1), ints(1, 2, 2, 1)
    y = x.reshape(1, 2, 2, 2, 2, 2).max((2, 4))
    return Case([x, y, floats(rng, 1, 2, 2, 2), sizes, steps], {"padding": "VALID"}, by=[2])


@case("BatchNormWithGlobalNormalization")
def _global_normalization(rng: Rng, _: str) -> Case:
    rows = [floats(rng, 2), floats(rng, 2, low=0.5), floats(rng, 2), floats(rng, 2)]
    attrs = {"variance_epsilon": 0.1, "scale_after_normalization": bool(rng.integers(2))}
    by = range(5) if attrs["scale_after_normalization"] else range(4)
    return Case([floats(rng, 2, 2, 2, 2), *rows], attrs, loose=True, by=by)


@case("TensorScatterMax", "TensorScatterMin")
def _scatter(rng: Rng, _: str) -> Case:
    every = apart(rng, 8)
    return Case([every[:5], ints(0, 3, 3).reshape(3, 1), every[5:]])


@case("ScatterNdNonAliasingAdd")
def _scatter_add(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 5, 2), ints(0, 3, 3).reshape(3, 1), floats(rng, 3, 2)])


@case("TensorStridedSliceUpdate")
def _slice_update(rng: Rng, _: str) -> Case:
    value = floats(rng, 2, 2) if rng.integers(2) else floats(rng, 1, 2)
    return Case([floats(rng, 4, 5), ints(0, 1), ints(4, 5), ints(2, 2), value])


@case("MatrixDiagV2")
def _diagonals(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 3), ints(0), ints(3)[0], ints(3)[0], np.asarray(floats(rng))])


@case("MatrixDiagPartV2")
def _diagonal_part(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 3, 4), ints(-1, 1), np.asarray(floats(rng))])


@case("MatrixSetDiagV2")
def _set_diagonal(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 3, 4), floats(rng, 2, 3), ints(0)])


@case("NthElement")
def _nth(rng: Rng, _: str) -> Case:
    return Case([apart(rng, 3, 4), ints(2)[0]], {"reverse": bool(rng.integers(2))})


@case("Cross")
def _cross(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 3), floats(rng, 2, 3)])


@case("SparseMatMul")
def _float_matmul(rng: Rng, _: str) -> Case:
    first, second = bool(rng.integers(2)), bool(rng.integers(2))
    x, y = floats(rng, 2, 3), floats(rng, 3, 4)
    attrs = {"transpose_a": first, "transpose_b": second}
    return Case([x.T if first else x, y.T if second else y], attrs, loose=True)


@case("CheckNumericsV2", "DebugIdentityV2")
def _watched(rng: Rng, op: str) -> Case:
    attrs = {"message": "no"} if op == "CheckNumericsV2" else {}
    return Case([floats(rng, *shape_of(rng))], attrs)


@case("Print")
def _printed(rng: Rng, _: str) -> Case:
    return Case([floats(rng, *shape_of(rng)), [ints(1)]], {"first_n": 0}, by=[0])


@case("BesselJ0", "BesselJ1", "BesselY0", "BesselY1", "BesselK0", "BesselK1", "BesselK0e",
      "BesselK1e", "Spence")  # fmt: skip
def _bessel(rng: Rng, _: str) -> Case:
    return Case([floats(rng, *shape_of(rng), low=0.4, high=2.5)])


# ---- bands, triangular factors and roots ---------------------------------------------------------


@case("TridiagonalMatMul")
def _tridiagonal_product(rng: Rng, _: str) -> Case:
    rows = [floats(rng, 2, 1, 4) for _ in range(3)]
    return Case([*rows, floats(rng, 2, 4, 3)])


@case("TridiagonalSolve")
def _tridiagonal_solve(rng: Rng, _: str) -> Case:
    diagonals = floats(rng, 2, 3, 4)
    diagonals[:, 1] += 5
    return Case([diagonals, floats(rng, 2, 4, 3)], {"partial_pivoting": bool(rng.integers(2))})


@case("BandedTriangularSolve")
def _banded(rng: Rng, _: str) -> Case:
    lower, adjoint = (bool(rng.integers(2)) for _ in range(2))
    bands = floats(rng, 1, 2, 4)
    bands[:, 0 if lower else -1] += 4
    return Case([bands, floats(rng, 3, 4, 2)], {"lower": lower, "adjoint": adjoint})


@case("Lu")
def _lu(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 4, 4)], of=[0])


@case("MatrixSquareRoot")
def _root(rng: Rng, _: str) -> Case:
    x = floats(rng, 2, 3, 3)
    return Case([x @ np.swapaxes(x, -1, -2) + 2 * np.eye(3) + 0.2 * floats(rng, 2, 3, 3)])


# ---- ragged tensors ------------------------------------------------------------------------------


@case("RaggedTensorToSparse")
def _ragged_to_sparse(rng: Rng, _: str) -> Case:
    splits = [np.array([0, 2, 2, 3], np.int64), np.array([0, 1, 3, 4], np.int64)]
    return Case([splits, floats(rng, 4)])


@case("RaggedFillEmptyRows")
def _ragged_fill(rng: Rng, _: str) -> Case:
    return Case([np.array([0, 0, 2], np.int64), floats(rng, 3), np.int64(4), floats(rng)])


@case("RaggedGather")
def _ragged_gather(rng: Rng, _: str) -> Case:
    given = [[np.array([0, 2, 2, 5], np.int64)], floats(rng, 5, 2), ints(2, 0, 2)]
    return Case(given, {"OUTPUT_RAGGED_RANK": 1})


@case("RaggedTensorToTensor")
def _ragged_to_tensor(rng: Rng, _: str) -> Case:
    default = floats(rng) if rng.integers(2) else floats(rng, 2)
    shape = np.array([3, 2, 2] if rng.integers(2) else [-1, -1, 2], np.int64)
    given = [shape, floats(rng, 5, 2), default, [np.array([0, 3, 3, 5], np.int64)]]
    return Case(given, {"row_partition_types": ["ROW_SPLITS"]})


@case("SparseSparseMaximum", "SparseSparseMinimum")
def _of_two(rng: Rng, _: str) -> Case:
    values = apart(rng, 8)
    sides = [[_places(rng, 3, 4), v, _shape(3, 4)] for v in (values[:4], values[4:])]
    return Case([*sides[0], *sides[1]])


# ---- others --------------------------------------------------------------------------------------


@case("RGBToHSV")
def _hsv(rng: Rng, _: str) -> Case:
    return Case([rng.permuted(np.tile([0.2, 0.5, 0.8], (3, 4, 1)), axis=-1) + floats(
        rng, 3, 4, 3, low=-0.05, high=0.05)])  # fmt: skip


@case("IsotonicRegression")
def _isotonic(rng: Rng, _: str) -> Case:
    return Case([apart(rng, 2, 6)], {"output_dtype": "float64"}, of=[0])


@case("XlaEinsum")
def _einsum_of_two(rng: Rng, _: str) -> Case:
    return Case([floats(rng, 2, 3), floats(rng, 3, 4)], {"equation": "ij,jk->ki"}, loose=True)


@case("MatrixSolveLs")
def _least_squares(rng: Rng, _: str) -> Case:
    rows, columns = [(5, 3), (3, 5), (4, 4)][int(rng.integers(3))]
    weight = 0.5 * int(rng.integers(2))
    given = [floats(rng, 2, rows, columns), floats(rng, 2, rows, 2), np.array(weight)]
    return Case(given, {"fast": True}, by=[0, 1])
