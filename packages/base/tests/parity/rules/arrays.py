"""Shapes, slices, gathers and the like."""

from typing import Any

import numpy as np

from parity.draft import Draft, Rule
from parity.drawers import axes_of, axis_of, below, choice, integers, scalar, shaped, some


def _vector(d: Draft, values: Any) -> Any:
    return np.asarray(values, np.int64).astype(d.dtype(d.making).np)


def _reshape(d: Draft) -> Any:
    """Factors of the size, perhaps with a -1."""
    left = int(np.size(d["tensor"]))
    out: list[int] = []
    while left > 1 and len(out) < 4:
        factor = d.pick(*[k for k in range(1, left + 1) if left % k == 0])
        out.append(factor)
        left //= factor
    out.append(left)
    if d.chance(0.4):
        out[d.size(0, len(out) - 1)] = -1
    return _vector(d, out)


def _perm(d: Draft) -> Any:
    rank = np.ndim(d["x"])
    out = d.rng.permutation(rank)
    if d.chance(0.1) and rank:
        out = out - rank * (d.rng.random(rank) < 0.5)
    if d.chance(0.05) and rank:
        out[0] = d.pick(rank, out[-1])
    return _vector(d, out)


def _wider(d: Draft) -> Any:
    shape = [d.pick(1, 2, 3) if n == 1 else n for n in np.shape(d["input"])]
    return _vector(d, [*d.pick([], [], [2], [0]), *shape])


def _one_squeezable(d: Draft) -> Any:
    rank = np.ndim(d["input"])
    ones = [k for k, n in enumerate(np.shape(d["input"])) if n == 1]
    chosen = [k - rank * d.chance(0.3) for k in ones if d.chance(0.6)]
    return [*chosen, d.pick(rank, 0)] if d.chance(0.06) else chosen


def _begin(d: Draft) -> Any:
    return _vector(d, [d.size(0, n) for n in np.shape(d["input"])])


def _slice_size(d: Draft) -> Any:
    ends = zip(np.shape(d["input"]), d["begin"], strict=True)
    return _vector(d, [d.pick(-1, d.size(0, n - int(b))) for n, b in ends])


def _strided(other: str, kind: str) -> Any:
    """One of begin, end, strides for a strided slice of an input."""

    def draw(d: Draft) -> Any:
        if "count" not in d.dims:
            d.dims["count"] = d.size(0, np.ndim(d[other]) + d.chance(0.2))
        if kind == "strides":
            return _vector(
                d,
                [
                    d.pick(1, 1, 1, 2, -1, -2, 0 if d.chance(0.1) else 3)
                    for _ in range(d.dims["count"])
                ],
            )
        return _vector(d, [d.size(-6, 6) for _ in range(d.dims["count"])])

    return draw


def _mask(share: float, bits: int = 4) -> Any:
    return lambda d: sum(1 << k for k in range(bits) if d.chance(share))


_ENDS = {k: _strided("input", k) for k in ("begin", "end")}
_MASKS = {
    "begin_mask": _mask(0.3),
    "end_mask": _mask(0.3),
    "ellipsis_mask": lambda d: d.pick(0, 0, 0, 1, 2, 4),
    "new_axis_mask": _mask(0.1),
    "shrink_axis_mask": _mask(0.1),
}


def _pads(other: str, most: int = 3) -> Any:
    def draw(d: Draft) -> Any:
        rank = np.ndim(d[other])
        out = d.rng.integers(0, most + 1, (rank, 2))
        if out.size and d.chance(0.05):
            out.flat[0] = -1
        return out.astype(d.dtype(d.making).np)

    return draw


def _mirror(d: Draft) -> Any:
    less = d["mode"] == "REFLECT"
    out = [[d.size(0, max(n - less, 0)) for _ in range(2)] for n in np.shape(d["input"])]
    return _vector(d, np.array(out, np.int64).reshape(-1, 2))


def _concat(d: Draft) -> Any:
    shape = list(d.any_shape(3)) or [2]
    axis = d.size(0, len(shape) - 1)
    d.dims["axis"] = axis - len(shape) * d.chance(0.3)
    out = []
    for _ in range(d["N"]):
        shape[axis] = d.size(0, 4)
        out.append(d.values(d.dtype("values"), shape))
    return out


def _concat_axis(d: Draft) -> Any:
    _ = d["values"]
    axis = d.dims["axis"] if not d.chance(0.05) else d.pick(5, -6)
    return _vector(d, axis)


def _offset_shapes(d: Draft) -> Any:
    rank = d.size(1, 4)
    base = [d.size(1, 5) for _ in range(rank)]
    axis = d.dims["axis"] = d.size(0, rank - 1)
    out = []
    for _ in range(d["N"]):
        base[axis] = d.size(0, 5)
        out.append(_vector(d, base))
    return out


def _offset_axis(d: Draft) -> Any:
    _ = d["shape"]
    return _vector(d, d.dims["axis"])


def _splittable(d: Draft) -> Any:
    shape = list(d.any_shape(3)) or [2]
    shape[d["split_dim"] if int(d["split_dim"]) < len(shape) else 0] = d.size(0, 3) * d["num_split"]
    return d.tensor("value", shape)


def _split_sizes(d: Draft) -> Any:
    value, count = d["value"], d["num_split"]
    axis = int(d["split_dim"])
    total = value.shape[axis] if -value.ndim <= axis < value.ndim else 3
    cuts = sorted(d.size(0, total) for _ in range(count - 1))
    out = np.diff([0, *cuts, total])
    if d.chance(0.3):
        out[d.size(0, count - 1)] = -1
    return _vector(d, out)


def _unpacked(d: Draft) -> Any:
    shape = list(d.any_shape(3))
    axis = d["axis"]
    if not -len(shape) <= axis < len(shape):
        shape = [2, 3]
    return d.tensor("value", shape)


def _num(d: Draft) -> int:
    value, axis = d["value"], d["axis"]
    inside = -value.ndim <= axis < value.ndim
    return int(value.shape[axis]) if inside and not d.chance(0.05) else 2


def _rows(other: str, wrong: float = 0.06) -> Any:
    """Indices into the first dimension of another input, of any shape."""

    def draw(d: Draft) -> Any:
        shape = np.shape(d[other])
        top = shape[0] if shape else 1
        out = d.rng.integers(0, max(top, 1), d.any_shape(2))
        if out.size and d.chance(wrong):
            out.flat[0] = d.pick(-1, top, top + 3)
        return _vector(d, out)

    return draw


def _along(d: Draft) -> Any:
    """Indices for GatherV2, whose leading dimensions match where batch_dims says so."""
    params, batch, axis = d["params"], d["batch_dims"], int(d["axis"])
    axis = axis + params.ndim if axis < 0 else axis
    top = params.shape[axis] if 0 <= axis < params.ndim else 1
    shape = (*params.shape[: max(batch, 0)], *d.any_shape(2))
    out = d.rng.integers(0, max(top, 1), shape)
    if out.size and d.chance(0.06):
        out.flat[0] = d.pick(-1, top)
    return _vector(d, out)


def _points(shape_of: Any, wrong: float = 0.06) -> Any:
    """Indices ``[..., depth]`` into a shape."""

    def draw(d: Draft) -> Any:
        shape = shape_of(d)
        depth = d.size(0 if d.chance(0.05) else min(1, len(shape)), len(shape))
        if "points" not in d.dims:
            d.dims["points"] = d.size(0, 4)
        lead = (d.dims["points"],)
        columns = [d.rng.integers(0, max(n, 1), lead) for n in shape[:depth]]
        out = np.stack(columns, -1) if columns else np.zeros((*lead, 0), np.int64)
        if out.size and d.chance(wrong):
            out.flat[0] = d.pick(-1, 9)
        return _vector(d, out)

    return draw


def _updates(shape_of: Any) -> Any:
    def draw(d: Draft) -> Any:
        indices = d["indices"]
        shape = (*indices.shape[:-1], *shape_of(d)[indices.shape[-1] :])
        return d.tensor("updates", shape)

    return draw


def _tensor_shape(name: str) -> Any:
    return lambda d: np.shape(d[name])


def _stored(d: Draft) -> Any:
    return [int(n) for n in d["shape"]]


def _inplace_rows(d: Draft) -> Any:
    top = d["x"].shape[0]
    return _vector(d, d.rng.integers(0, max(top, 1), d.size(0, 3)))


_SCATTER = {
    "indices": _points(_tensor_shape("tensor")),
    "updates": _updates(_tensor_shape("tensor")),
    "tensor": some(3, 1),
    "bad_indices_policy": choice("", "", "", "ERROR", "IGNORE"),
}


def _sequence(d: Draft) -> Any:
    value = d["input"]
    top = value.shape[d["seq_dim"] % value.ndim]
    return _vector(d, d.rng.integers(0, top + 1, value.shape[d["batch_dim"] % value.ndim]))


def _partitions(d: Draft) -> Any:
    shape = np.shape(d["data"])
    out = d.rng.integers(0, max(d["num_partitions"], 1), shape[: d.size(0, len(shape))])
    if out.size and d.chance(0.05):
        out.flat[0] = d.pick(-1, 9)
    return out.astype(np.int32)


def _stitched(d: Draft) -> Any:
    count = d.size(0, 8)
    order = d.rng.permutation(count).astype(np.int32)
    cuts = sorted(d.size(0, count) for _ in range(d["N"] - 1))
    return np.split(order, cuts)


def _stitched_data(d: Draft) -> Any:
    tail = d.any_shape(2)
    return [d.values(d.dtype("data"), (*i.shape, *tail)) for i in d["indices"]]


def _sorted_rows(d: Draft) -> Any:
    return np.sort(d.tensor("sorted_inputs", d.shape("b n"), False), -1)


def _flags(d: Draft) -> Any:
    return d.rng.random(np.ndim(d["tensor"])) < 0.5


def _args_shape(d: Draft) -> Any:
    return _vector(d, d.any_shape(4))


def _pair_shape(d: Draft) -> Any:
    return _vector(d, d.pair_of([int(n) for n in d["s0"]]))


RULES: dict[str, Rule] = {
    "BroadcastArgs BroadcastGradientArgs": Rule({"s0": _args_shape, "s1": _pair_shape}),
    "BroadcastTo": Rule({"shape": _wider}),
    "Transpose ConjugateTranspose": Rule({"perm": _perm}),
    "ExpandDims": Rule({"dim": axis_of("input", 1)}),
    "Fill": Rule({"dims": lambda d: _vector(d, d.any_shape()), "value": shaped("")}),
    "Reshape": Rule({"shape": _reshape}),
    "Squeeze": Rule({"squeeze_dims": _one_squeezable}),
    "Tile TileGrad": Rule(
        {
            "multiples": lambda d: d.rng.integers(0, 4, np.ndim(d["input"])).astype(
                d.dtype("multiples").np
            )
        }
    ),
    "Slice": Rule({"begin": _begin, "size": _slice_size}),
    "StridedSlice": Rule({"strides": _strided("input", "strides"), **_ENDS} | _MASKS),
    "Concat": Rule({"N": choice(2, 3), "values": _concat, "concat_dim": _concat_axis}),
    "ConcatV2": Rule({"N": choice(2, 3), "values": _concat, "axis": _concat_axis}),
    "ConcatOffset": Rule({"N": choice(2, 3), "shape": _offset_shapes, "concat_dim": _offset_axis}),
    "Pack": Rule({"axis": axis_of("values", 1), "N": choice(1, 2, 3)}),
    "ParallelConcat": Rule(
        {
            "N": choice(1, 2, 3),
            "values": shaped("1 a b"),
            "shape": lambda d: (d["N"], *d.shape("a b")),
        },
        spoil=False,
    ),
    "Split": Rule({"split_dim": scalar(0, 1), "num_split": choice(1, 2, 3), "value": _splittable}),
    "SplitV": Rule(
        {
            "split_dim": axis_of("value"),
            "size_splits": _split_sizes,
            "num_split": choice(1, 2, 3),
            "value": some(4, 1),
        }
    ),
    "Unpack": Rule({"axis": choice(0, 0, 1, -1, -2), "value": _unpacked, "num": _num}),
    "EnsureShape": Rule(
        {"shape": lambda d: tuple(d.pick(n, n, n, -1) for n in np.shape(d["input"]))}
    ),
    "PlaceholderWithDefault": Rule({"shape": lambda _: None}),
    "Gather": Rule({"params": some(3, 1), "indices": _rows("params")}),
    "GatherV2": Rule(
        {
            "params": some(4, 1),
            "batch_dims": choice(0, 0, 0, 1),
            "indices": _along,
            "axis": axis_of("params"),
        }
    ),
    "GatherNd": Rule(
        {
            "params": some(3, 1),
            "indices": _points(_tensor_shape("params")),
            "bad_indices_policy": choice("", "", "", "ERROR", "IGNORE"),
        }
    ),
    "OneHot": Rule(
        {
            "indices": lambda d: d.rng.integers(
                0 if d["TI"] == "uint8" else -2, 6, d.any_shape(3)
            ).astype(d.dtype("indices").np),
            "depth": scalar(0, 5),
            "on_value": shaped(""),
            "off_value": shaped(""),
            "axis": axis_of("indices", 1),
        }
    ),
    "UnravelIndex": Rule(
        {"dims": integers("k", 1, 4), "indices": below("top", "n")},
        dims={"k": (1, 3), "top": (1, 2), "n": (0, 5)},
    ),
    "ScatterNd": Rule(
        {
            "shape": lambda d: _vector(d, (d.size(1, 4), *d.any_shape(2))),
            "indices": _points(_stored),
            "updates": _updates(_stored),
            "bad_indices_policy": choice("", "", "", "ERROR", "IGNORE"),
        }
    ),
    "ScatterNdNonAliasingAdd": Rule(
        {
            "input": some(3, 1),
            "indices": _points(_tensor_shape("input")),
            "updates": _updates(_tensor_shape("input")),
            "bad_indices_policy": choice("", "", "", "ERROR", "IGNORE"),
        }
    ),
    "TensorScatterAdd TensorScatterMax TensorScatterMin TensorScatterSub TensorScatterUpdate": Rule(
        _SCATTER
    ),
    "InplaceAdd InplaceSub InplaceUpdate": Rule(
        {
            "x": some(3, 1),
            "i": _inplace_rows,
            "v": lambda d: d.tensor("v", (d["i"].size, *d["x"].shape[1:])),
        },
        spoil=False,
    ),
    "Pad PadV2 MirrorPadGrad": Rule({"paddings": _pads("input"), "constant_values": shaped("")}),
    "MirrorPad": Rule({"input": some(4, 1), "paddings": _mirror}),
    "Reverse": Rule({"dims": _flags}),
    "ReverseV2": Rule({"axis": lambda d: np.atleast_1d(axes_of("tensor")(d))}),
    "ReverseSequence": Rule(
        {
            "input": some(4, 2),
            "seq_dim": choice(1, 1, 0),
            "batch_dim": choice(0, 0, 1),
            "seq_lengths": _sequence,
        }
    ),
    "Roll": Rule(
        {
            "input": some(4, 1),
            "axis": lambda d: axes_of("input")(d),
            "shift": lambda d: d.rng.integers(-7, 8, d["axis"].shape).astype(d.dtype("shift").np),
        }
    ),
    "TopK": Rule({"input": some(3, 1), "k": choice(0, 1, 1, 2)}),
    "TopKV2": Rule({"input": some(3, 1), "k": scalar(0, 2)}),
    "NthElement": Rule({"input": shaped("... n"), "n": scalar(0, 2)}, dims={"n": (3, 6)}),
    "LowerBound UpperBound": Rule({"sorted_inputs": _sorted_rows, "values": shaped("b m")}),
    "Unique UniqueWithCounts": Rule({"x": shaped("n")}),
    "UniqueV2 UniqueWithCountsV2": Rule(
        {"x": some(3, 1), "axis": lambda d: _vector(d, [d.size(0, np.ndim(d["x"]) - 1)])}
    ),
    "ListDiff": Rule({"x": shaped("n"), "y": shaped("m")}),
    "DynamicPartition": Rule({"partitions": _partitions, "num_partitions": choice(1, 2, 3)}),
    "DynamicStitch ParallelDynamicStitch": Rule(
        {"N": choice(1, 2, 3), "indices": _stitched, "data": _stitched_data}
    ),
    "DataFormatDimMap": Rule({"x": lambda d: d.rng.integers(-4, 4, d.any_shape(2)).astype(d["T"])}),
    "DataFormatVecPermute": Rule({"x": lambda d: d.tensor("x", d.pick((4,), (4, 2), (2,)))}),
    # With an int16 axis TensorFlow reads beyond it.
    "ArgMax ArgMin": Rule({"input": some(4, 1), "Tidx": choice("int32", "int64")}),
    "Cumsum Cumprod CumulativeLogsumexp": Rule({"axis": axis_of("x")}),
    "Max Min Sum Prod Mean EuclideanNorm All Any": Rule({"reduction_indices": axes_of("input")}),
    "ShapeN": Rule({"N": choice(1, 2, 3)}),
}
