"""Segments, counting, sets, sparse and ragged tensors."""

from typing import Any

import numpy as np

from parity.draft import Array, Draft, Drawer, Rule
from parity.drawers import below, choice, fixed, integers, scalar, shaped, some


def _cast(d: Draft, values: Any) -> Any:
    return np.asarray(values).astype(d.dtype(d.making).np)


def _sorted_ids(other: str) -> Drawer:
    def draw(d: Draft) -> Any:
        count = np.shape(d[other])[0] if np.ndim(d[other]) else 1
        out = np.sort(d.rng.integers(0, 5, count))
        if out.size and d.chance(0.05):
            out[-1] = d.pick(-1, 0)
        return _cast(d, out)

    return draw


def _ids(other: str) -> Drawer:
    def draw(d: Draft) -> Any:
        shape = np.shape(d[other])
        shape = shape[: d.size(min(1, len(shape)), len(shape))]
        return _cast(d, d.rng.integers(-1 if d.chance(0.2) else 0, 5, shape))

    return draw


def _lookups(d: Draft) -> Any:
    top = np.shape(d["data"])[0]
    out = d.rng.integers(0, max(top, 1), d.dim("lookups"))
    if out.size and d.chance(0.05):
        out[0] = d.pick(-1, top)
    return _cast(d, out)


def _grad_lookups(d: Draft) -> Any:
    return _cast(d, d.rng.integers(0, 4, d.dim("lookups")))


def _grad_ids(d: Draft) -> Any:
    top = np.shape(d["grad"])[0]
    return _cast(d, np.sort(d.rng.integers(0, max(top, 1), d.dim("lookups"))))


# Sparse tensors: indices, values and shape under the names that the op gives them


def coordinates(shape_name: str, most: int = 6) -> Drawer:
    """Sorted, distinct coordinates within a shape; now and then one outside."""

    def draw(d: Draft) -> Any:
        shape = [int(n) for n in d[shape_name]]
        total = int(np.prod(shape)) if shape else 0
        count = min(total, d.size(0, most))
        flat = np.sort(d.rng.permutation(total)[:count]) if total else np.zeros(0, np.int64)
        out = np.stack(np.unravel_index(flat, shape), -1) if shape else np.zeros((0, 0))
        if out.size and d.chance(0.04):
            out = out.copy()
            out.flat[-1] = d.pick(-1, 9)
        return _cast(d, out.reshape(-1, len(shape)))

    return draw


def values_at(indices: str, special: bool | None = None) -> Drawer:
    """One value per coordinate."""
    return lambda d: d.tensor(d.making, (len(d[indices]),), special)


def dense_shape(least: int = 1, most: int = 3) -> Drawer:
    """A shape of a rank from ``least`` to ``most`` without empty dimensions, as a vector."""
    return lambda d: _cast(d, [d.size(1, 4) for _ in range(d.size(least, most))])


def same_shape(other: str) -> Drawer:
    """The same shape vector as another input's."""
    return lambda d: _cast(d, np.array(d[other]))


def _sparse(indices: str, values: str, shape: str) -> dict[str, Drawer]:
    return {indices: coordinates(shape), values: values_at(indices), shape: dense_shape()}


def _sparse_axes(shape: str) -> Drawer:
    def draw(d: Draft) -> Any:
        rank = len(d[shape])
        return _cast(d, d.rng.permutation(rank)[: d.size(0, rank)] - rank * d.chance(0.3))

    return draw


def _of_shape(name: str) -> Drawer:
    return lambda d: d.tensor(d.making, [int(n) for n in d[name]])


def _reshaped(d: Draft) -> Any:
    total = int(np.prod([int(n) for n in d["input_shape"]]))
    return _cast(d, d.pick([total], [-1], [1, -1], [total, 1]))


def _matrix_rows(d: Draft) -> Any:
    wide = [int(n) for n in d["a_shape"]]
    inner = wide[0] if d["adjoint_a"] else wide[1]
    shape = (inner, d.dim("k"))
    return d.tensor("b", shape[::-1] if d["adjoint_b"] else shape, False)


def _concat_parts(kind: str) -> Drawer:
    def draw(d: Draft) -> Any:
        d.parts = d.parts or [_part(d) for _ in range(d["N"])]
        return [p[kind] for p in d.parts]

    return draw


def _part(d: Draft) -> dict[str, Array]:
    shape = [d.dim("a"), d.size(1, 3)]
    count = d.size(0, shape[0] * shape[1])
    flat = np.sort(d.rng.permutation(shape[0] * shape[1])[:count])
    found = np.stack(np.unravel_index(flat, shape), -1).astype(np.int64)
    return {
        "indices": found,
        "values": d.values(d.dtype("values"), (count,)),
        "shapes": np.array(shape, np.int64),
    }


def _splits(top: int = 4) -> Drawer:
    """Row splits over the values."""

    def draw(d: Draft) -> Any:
        count = len(d["values"])
        cuts = sorted(d.size(0, count) for _ in range(d.size(0, top)))
        return _cast(d, [0, *cuts, count])

    return draw


def _weights(values: str) -> Drawer:
    return lambda d: d.tensor(d.making, d.pick((0,), np.shape(d[values])), False)


def _small(spec: str) -> Drawer:
    return integers(spec, 0, 5)


_SEGMENT = {"data": some(3, 1), "segment_ids": _sorted_ids("data")}
_UNSORTED = {"data": some(3, 1), "segment_ids": _ids("data"), "num_segments": scalar(3, 6)}
_LOOKUP = {
    "data": some(3, 1, False),
    "indices": _lookups,
    "segment_ids": lambda d: _cast(d, np.sort(d.rng.integers(0, 4, d.dim("lookups")))),
    "num_segments": scalar(4, 6),
}
_LOOKUP_GRAD = {
    "grad": some(3, 1, False),
    "indices": _grad_lookups,
    "segment_ids": _grad_ids,
    "output_dim0": fixed(np.array(4, np.int32)),
    "dense_output_dim0": fixed(np.array(4, np.int32)),
}
_SIZES = {"lookups": (0, 6)}
_COUNTS = {"minlength": choice(-1, 0, 3, 8), "maxlength": choice(-1, 2, 8)}
_SETS = {
    "set_operation": choice("a-b", "b-a", "intersection", "union"),
    "T": choice("int32", "int64", "string", "int8"),
}
_A = _sparse("a_indices", "a_values", "a_shape")
_B = {
    "b_indices": coordinates("b_shape"),
    "b_values": values_at("b_indices"),
    "b_shape": same_shape("a_shape"),
}
_INPUT = _sparse("input_indices", "input_values", "input_shape")
_PLAIN = _sparse("indices", "values", "dense_shape")

RULES: dict[str, Rule] = {
    "SegmentMax SegmentMin SegmentMean SegmentProd SegmentSum": Rule(_SEGMENT),
    "SegmentMaxV2 SegmentMinV2 SegmentProdV2 SegmentSumV2": Rule(
        _SEGMENT | {"num_segments": scalar(5, 7)}
    ),
    "UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum": Rule(_UNSORTED),
    "SparseSegmentMean SparseSegmentSqrtN SparseSegmentSum SparseSegmentMeanWithNumSegments "
    "SparseSegmentSqrtNWithNumSegments SparseSegmentSumWithNumSegments": Rule(_LOOKUP, _SIZES),
    "SparseSegmentMeanGrad SparseSegmentSqrtNGrad SparseSegmentSumGrad": Rule(_LOOKUP_GRAD, _SIZES),
    "SparseSegmentMeanGradV2 SparseSegmentSqrtNGradV2 SparseSegmentSumGradV2": Rule(
        _LOOKUP_GRAD, _SIZES
    ),
    "Bincount": Rule({"arr": _small("n"), "size": scalar(0, 7), "weights": _weights("arr")}),
    "DenseBincount": Rule(
        {
            "input": lambda d: _small(d.pick("n", "n m"))(d),
            "size": scalar(0, 7),
            "weights": _weights("input"),
        }
    ),
    "RaggedBincount": Rule(
        {
            "values": _small("n"),
            "splits": _splits(),
            "size": scalar(0, 7),
            "weights": _weights("values"),
        }
    ),
    "SparseBincount": Rule(
        {
            "indices": coordinates("dense_shape"),
            "dense_shape": dense_shape(1, 2),
            "values": lambda d: _cast(d, d.rng.integers(0, 6, len(d["indices"]))),
            "size": scalar(0, 7),
            "weights": _weights("values"),
        }
    ),
    "DenseCountSparseOutput": Rule(
        _COUNTS | {"values": lambda d: _small(d.pick("n", "n m"))(d), "weights": _weights("values")}
    ),
    "RaggedCountSparseOutput": Rule(
        _COUNTS | {"values": _small("n"), "splits": _splits(), "weights": _weights("values")}
    ),
    "SparseCountSparseOutput": Rule(
        _COUNTS
        | {
            "indices": coordinates("dense_shape"),
            "dense_shape": dense_shape(1, 2),
            "values": lambda d: _cast(d, d.rng.integers(0, 6, len(d["indices"]))),
            "weights": _weights("values"),
        }
    ),
    "HistogramFixedWidth": Rule(
        {"value_range": lambda d: _cast(d, d.pick([0, 5], [-3, 3], [2, 1])), "nbins": scalar(1, 7)},
        special=False,
    ),
    "Bucketize": Rule({"boundaries": choice([], [0.0], [-1.0, 0.0, 2.5], [2.0, 1.0])}),
    "DenseToDenseSetOperation": Rule(_SETS | {"set1": shaped("b n"), "set2": shaped("b m")}),
    "DenseToSparseSetOperation": Rule(
        _SETS
        | {
            "set1": lambda d: d.tensor("set1", (int(d["set2_shape"][0]), d.dim("n"))),
            "set2_shape": dense_shape(2, 2),
            "set2_indices": coordinates("set2_shape"),
            "set2_values": values_at("set2_indices"),
        }
    ),
    "SparseToSparseSetOperation": Rule(
        _SETS
        | {
            "set1_shape": dense_shape(2, 2),
            "set1_indices": coordinates("set1_shape"),
            "set1_values": values_at("set1_indices"),
            "set2_shape": same_shape("set1_shape"),
            "set2_indices": coordinates("set2_shape"),
            "set2_values": values_at("set2_indices"),
        }
    ),
    "SetSize": Rule(
        {
            "set_shape": dense_shape(2, 3),
            "set_indices": coordinates("set_shape"),
            "set_values": values_at("set_indices"),
        }
    ),
    "EditDistance": Rule(
        {
            "hypothesis_shape": dense_shape(2, 2),
            "hypothesis_indices": coordinates("hypothesis_shape"),
            "hypothesis_values": values_at("hypothesis_indices"),
            "truth_shape": same_shape("hypothesis_shape"),
            "truth_indices": coordinates("truth_shape"),
            "truth_values": values_at("truth_indices"),
        }
    ),
    "SparseAdd": Rule(
        _A | _B | {"thresh": choice(np.float32(0), np.float32(0.5)), "T": fixed("float32")}
    ),
    "SparseSparseMaximum SparseSparseMinimum": Rule(_A | _B),
    "SparseTensorDenseAdd": Rule(_A | {"b": _of_shape("a_shape")}),
    "SparseTensorDenseMatMul": Rule(
        _A
        | {
            "a_shape": dense_shape(2, 2),
            "b": _matrix_rows,
            "a_values": values_at("a_indices", False),
        },
        dims={"k": (1, 3)},
        tol=4,
        why="sums in another order",
    ),
    "SparseDenseCwiseAdd SparseDenseCwiseDiv SparseDenseCwiseMul": Rule(
        _sparse("sp_indices", "sp_values", "sp_shape") | {"dense": _of_shape("sp_shape")}
    ),
    "SparseSoftmax": Rule(
        _sparse("sp_indices", "sp_values", "sp_shape") | {"sp_shape": dense_shape(2, 3)},
        special=False,
    ),
    "SparseReduceMax SparseReduceMaxSparse SparseReduceSum SparseReduceSumSparse": Rule(
        _INPUT | {"reduction_axes": _sparse_axes("input_shape")}, special=False
    ),
    "SparseReorder": Rule(_INPUT),
    "SparseReshape": Rule(
        {
            "input_indices": coordinates("input_shape"),
            "input_shape": dense_shape(),
            "new_shape": _reshaped,
        }
    ),
    "SparseConcat": Rule(
        {
            "N": choice(2, 3),
            "concat_dim": choice(1, -1, 0, 1),
            "indices": _concat_parts("indices"),
            "values": _concat_parts("values"),
            "shapes": _concat_parts("shapes"),
        },
        dims={"a": (1, 3)},
        spoil=False,
    ),
    "SparseSlice": Rule(
        _sparse("indices", "values", "shape")
        | {
            "start": lambda d: _cast(d, [d.size(0, int(n)) for n in d["shape"]]),
            "size": lambda d: _cast(d, [d.size(0, 4) for n in d["shape"]]),
        }
    ),
    "SparseSplit": Rule(
        _sparse("indices", "values", "shape")
        | {"split_dim": scalar(0, 0), "num_split": choice(1, 2)}
    ),
    "SparseToDense": Rule(
        {
            "output_shape": dense_shape(),
            "sparse_indices": coordinates("output_shape"),
            "sparse_values": values_at("sparse_indices"),
            "default_value": shaped(""),
        }
    ),
    "SparseFillEmptyRows": Rule(
        _PLAIN | {"dense_shape": dense_shape(2, 2), "default_value": shaped("")}
    ),
    "SparseFillEmptyRowsGrad RaggedFillEmptyRowsGrad": Rule(
        {
            "reverse_index_map": lambda d: _cast(d, d.rng.permutation(len(d["grad_values"]))),
            "grad_values": shaped("n"),
        }
    ),
    "RaggedFillEmptyRows": Rule(
        {
            "value_rowids": lambda d: _cast(d, np.sort(d.rng.integers(0, 4, d.dim("n")))),
            "values": shaped("n"),
            "nrows": scalar(4, 5),
            "default_value": shaped(""),
        }
    ),
    "RaggedRange": Rule(
        {"starts": _small("n"), "limits": integers("n", 0, 9), "deltas": integers("n", 1, 3)}
    ),
    "RaggedGather": Rule(
        {
            "PARAMS_RAGGED_RANK": fixed(1),
            "OUTPUT_RAGGED_RANK": fixed(1),
            "params_nested_splits": lambda d: [np.array([0, 2, 2, 5]).astype(d["Tsplits"])],
            "params_dense_values": shaped("5 a"),
            "indices": below(3, "n"),
        }
    ),
    "RaggedTensorToSparse": Rule(
        {
            "RAGGED_RANK": fixed(1),
            "rt_nested_splits": lambda d: [
                np.array(d.pick([0, 2, 2, 5], [0, 5], [0, 1, 5])).astype(d["Tsplits"])
            ],
            "rt_dense_values": shaped("5"),
        }
    ),
    "RaggedTensorToTensor": Rule(
        {
            "num_row_partition_tensors": fixed(1),
            "row_partition_types": fixed(["ROW_SPLITS"]),
            "row_partition_tensors": lambda d: [
                np.array(d.pick([0, 2, 2, 5], [0, 5], [0, 1, 5])).astype(d["Tindex"])
            ],
            "values": shaped("5"),
            "default_value": shaped(""),
            "shape": lambda d: _cast(d, d.pick([-1, -1], [3, 4], [-1, 2], [2, -1])),
        }
    ),
    "SparseAddGrad": Rule(
        {
            "sum_indices": fixed(np.array([[0], [1], [3]], np.int64)),
            "a_indices": fixed(np.array([[0], [3]], np.int64)),
            "b_indices": fixed(np.array([[1], [3]], np.int64)),
            "backprop_val_grad": shaped("3"),
        },
        spoil=False,
    ),
    "SparseSliceGrad": Rule(
        {
            "input_indices": fixed(np.array([[0, 1], [1, 0], [1, 2]], np.int64)),
            "input_start": fixed(np.array([1, 0], np.int64)),
            "output_indices": fixed(np.array([[0, 0], [0, 2]], np.int64)),
            "backprop_val_grad": shaped("2"),
        }
    ),
}
