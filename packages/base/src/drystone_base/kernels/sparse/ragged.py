"""Ragged tensors: nested row splits and flat values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from drystone_base.kernels._indices import check_below, int_vector, is_rising
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.sparse._sparse import check_splits, fill_order, repeated

__all__: list[str] = []


@kernel("RaggedRange")
def ragged_range(call: Call, starts: Array, limits: Array, deltas: Array) -> tuple[Array, Array]:
    """One range per row: its splits, and the numbers of all ranges one after the other."""
    parts = (starts, limits, deltas)
    sizes = {x.size for x in parts if x.ndim}
    call.require(
        all(x.ndim <= 1 for x in parts) and len(sizes) <= 1,
        "starts, limits and deltas must be scalars or vectors of one length",
        found=[list(x.shape) for x in parts],
        needed="equal lengths",
    )
    count = sizes.pop() if sizes else 1
    first, last, step = (np.broadcast_to(x, (count,)) for x in parts)
    call.require(not (step == 0).any(), "deltas must not be 0", found=0, needed="another number")
    wide = np.float64 if starts.dtype.kind not in "iu" else object
    spans = (last.astype(wide) - first.astype(wide)) / step.astype(wide)
    if wide is object:
        spans = -((first.astype(wide) - last.astype(wide)) // step.astype(wide))
    lengths = [max(int(np.ceil(n)), 0) for n in spans]
    check_size(call, (sum(lengths),), starts.dtype)
    splits = np.array([0, *itertools.accumulate(lengths)], call.attrs["Tsplits"].np)
    within = np.concatenate([np.arange(n) for n in lengths]) if lengths else np.arange(0)
    values = np.repeat(first, lengths) + within.astype(starts.dtype) * np.repeat(step, lengths)
    return splits, values.astype(starts.dtype)


def _check_nested(call: Call, nested: Sequence[Array], values: Array) -> None:
    """Fail unless each level of splits deals out the next one, and the last the values."""
    call.require(
        values.ndim >= 1, "the values must not be a scalar", found=[], needed="rank 1 or more"
    )
    for splits, inner in itertools.pairwise(nested):
        check_splits(call, splits, inner.size - 1)
    check_splits(call, nested[-1], len(values))


@kernel("RaggedGather")
def ragged_gather(call: Call, *args: Array) -> list[Array]:
    """Rows of a ragged tensor at ``indices``, of which all dimensions but the first turn ragged."""
    nested = list(args[call.input_slices["params_nested_splits"]])
    values, indices = args[-2], args[-1]
    _check_nested(call, nested, values)
    check_below(call, indices, nested[0].size - 1)
    call.require(
        call.attrs["OUTPUT_RAGGED_RANK"] == len(nested) + indices.ndim - 1,
        "OUTPUT_RAGGED_RANK must be the rank of indices and that of params, less one",
        found=call.attrs["OUTPUT_RAGGED_RANK"],
        needed=len(nested) + indices.ndim - 1,
    )
    out = [
        np.arange(int(np.prod(indices.shape[:k])) + 1, dtype=nested[0].dtype) * indices.shape[k]
        for k in range(1, indices.ndim)
    ]
    rows = indices.reshape(-1)
    for splits in nested:
        lengths = splits[rows + 1] - splits[rows]
        out.append(np.concatenate([[0], np.cumsum(lengths)]).astype(splits.dtype))
        within = np.arange(int(lengths.sum())) - np.repeat(out[-1][:-1], lengths)
        rows = np.repeat(splits[rows], lengths) + within
    return [*out, values[rows]]


@kernel("RaggedTensorToSparse")
def ragged_to_sparse(call: Call, *args: Array) -> tuple[Array, Array, Array]:
    """The elements with their index vectors, and the smallest dense shape that holds them."""
    nested, values = args[:-1], args[-1]
    _check_nested(call, nested, values)
    columns = [np.arange(nested[0].size - 1, dtype=np.int64)]
    dims = [nested[0].size - 1]
    for splits in nested:
        lengths = np.diff(splits)
        within = np.arange(int(splits[-1])) - np.repeat(splits[:-1], lengths)
        columns = [np.repeat(column, lengths) for column in columns] + [within]
        dims.append(int(lengths.max(initial=0)))
    cells = math.prod(values.shape[1:])
    inner = np.indices(values.shape[1:]).reshape(values.ndim - 1, cells)
    rows = [np.repeat(column, cells) for column in columns]
    rows += [np.tile(column, len(values)) for column in inner]
    shape = np.array([*dims, *values.shape[1:]], np.int64)
    return np.stack(rows, -1).astype(np.int64), values.reshape(-1), shape


def _places(call: Call, kind: str, partition: Array, count: int | None) -> tuple[Array, Array]:
    """Row and place in that row of each element that a partition deals out, ``count`` if known."""
    call.require(
        kind in ("ROW_SPLITS", "VALUE_ROWIDS"),
        "a row partition must be of a kind that is defined",
        found=kind,
        needed="ROW_SPLITS or VALUE_ROWIDS, FIRST_DIM_SIZE only in front",
    )
    numbers = np.array(int_vector(call, partition, "a row partition"), np.int64)
    if kind == "ROW_SPLITS":
        check_splits(call, numbers, int(numbers[-1]) if numbers.size else 0)
        lengths = np.diff(numbers)
        if count is not None:
            _check_dealt(call, int(numbers[-1]), count)
        check_size(call, (int(lengths.sum()),), np.dtype(np.int64))
        rows = np.repeat(np.arange(lengths.size), lengths)
        return rows, np.arange(rows.size) - np.repeat(numbers[:-1], lengths)
    call.require(
        not numbers.size or (numbers[0] >= 0 and is_rising(numbers)),
        "row ids must rise from 0 or more",
        found=numbers[:10].tolist(),
        needed="rising numbers",
    )
    return numbers, np.arange(numbers.size) - np.searchsorted(numbers, numbers, side="left")


def _check_dealt(call: Call, found: int, count: int) -> None:
    call.require(
        found == count,
        "the innermost partition must deal out every value",
        found=found,
        needed=count,
    )


def _coordinates(
    call: Call, kinds: Sequence[str], partitions: Sequence[Array], count: int
) -> tuple[list[Array], list[int]]:
    """Places of ``count`` values in each ragged dimension, and these dimensions' natural sizes."""
    if kinds[0] == "FIRST_DIM_SIZE":
        rows, kinds, partitions = int(partitions[0].reshape(-1)[0]), kinds[1:], partitions[1:]
    else:
        rows = partitions[0].size - 1
    counts = [*[None] * (len(kinds) - 1), count]
    levels = [_places(call, *one) for one in zip(kinds, partitions, counts, strict=False)]
    sizes = [rows]
    for above, level in zip([rows, *(lv[0].size for lv in levels)], levels, strict=False):
        check_below(call, level[0], above, "row numbers")
        sizes.append(int(level[1].max(initial=-1)) + 1)
    if levels:
        _check_dealt(call, levels[-1][0].size, count)
    parents = np.arange(count)
    coordinates: list[Array] = []
    for above_rows, within in reversed(levels):
        coordinates.insert(0, within[parents])
        parents = above_rows[parents]
    return [parents, *coordinates], sizes


def _target(call: Call, shape: Array, natural: list[int], inner: tuple[int, ...]) -> list[int]:
    """The output's dimensions: those asked for, else the natural ones."""
    whole = [*natural, *inner]
    if not shape.ndim:
        call.require(int(shape) == -1, "a scalar shape must be -1", found=int(shape), needed=-1)
        return whole
    wanted = int_vector(call, shape, "shape")
    call.require(
        len(wanted) == len(whole)
        and all(w in (-1, d) for w, d in zip(wanted[len(natural) :], inner, strict=True)),
        "shape must fit the ragged tensor",
        found=list(wanted),
        needed=f"rank {len(whole)}, ending with {list(inner)}",
    )
    return [d if w == -1 else w for w, d in zip(wanted, whole, strict=True)]


@kernel("RaggedTensorToTensor")
def ragged_to_tensor(
    call: Call, shape: Array, values: Array, default: Array, *partitions: Array
) -> Array:
    """A dense tensor: rows cut, or filled up with ``default``, to one length."""
    kinds = call.attrs["row_partition_types"]
    call.require(
        len(kinds) == len(partitions) and values.ndim >= 1 and partitions[0].size,
        "there must be one partition for each kind, and values of rank 1 or more",
        found=f"{len(kinds)} kinds, {len(partitions)} partitions",
        needed="equal numbers",
    )
    coordinates, natural = _coordinates(call, kinds, partitions, len(values))
    inner = values.shape[1:]
    dims = check_size(call, _target(call, shape, natural, inner), values.dtype)
    call.require(
        default.ndim <= len(inner)
        and all(a in (1, b) for a, b in zip(default.shape[::-1], inner[::-1], strict=False)),
        "the default must broadcast to one value",
        found=list(default.shape),
        needed=list(inner),
    )
    out = np.empty(dims, values.dtype)
    out[...] = default
    stacked = np.stack(coordinates)
    inside = (stacked < np.array(dims[: len(stacked)])[:, None]).all(axis=0)
    out[tuple(stacked[:, inside])] = values[inside]
    return out


@kernel("RaggedFillEmptyRows")
def ragged_fill_empty_rows(
    call: Call, rows: Array, values: Array, nrows: Array, default: Array
) -> tuple[Array, Array, Array, Array]:
    """As ``SparseFillEmptyRows``, of a ragged tensor given by row numbers."""
    call.require(
        rows.ndim == 1 and rows.shape == values.shape and nrows.ndim == default.ndim == 0,
        "row numbers and values must be vectors of one length, nrows and the default scalars",
        found=f"{list(rows.shape)}, {list(values.shape)}, {list(nrows.shape)}",
        needed="[n], [n] and scalars",
    )
    empty, order, places = fill_order(call, rows, int(nrows))
    added = np.flatnonzero(empty)
    return (
        np.concatenate([rows, added])[order],
        np.concatenate([values, repeated(default, added.size)])[order],
        empty,
        places,
    )
