"""Ops of datasets that put elements together, or take them apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.data._datasets.base import Function, dataset_of, part, positive, scalar
from drystone_base.kernels.data._datasets.batching import (
    Batched,
    MapBatched,
    Padded,
    Rebatched,
    Sparse,
    Split,
    Unbatched,
)
from drystone_base.kernels.data._datasets.grouping import Sliding, Windowed, WindowSpec
from drystone_base.state.variables import handle_array


@kernel("BatchDataset")
def batch_dataset(call: Call, source: Array, batch_size: Array) -> Array:
    """Batches; the last may be smaller."""
    size = positive(call, "batch_size", batch_size)
    return handle_array(Batched(call, dataset_of(source), size, False))


@kernel("BatchDatasetV2")
def batch_dataset_v2(call: Call, source: Array, batch_size: Array, drop: Array) -> Array:
    """Batches; a smaller last one may be dropped."""
    size = positive(call, "batch_size", batch_size)
    return handle_array(Batched(call, dataset_of(source), size, bool(drop)))


@kernel("ParallelBatchDataset")
def parallel_batch_dataset(
    call: Call, source: Array, batch_size: Array, _calls: Array, drop: Array
) -> Array:
    """As BatchDatasetV2; elements are made one after another here."""
    size = positive(call, "batch_size", batch_size)
    return handle_array(Batched(call, dataset_of(source), size, bool(drop)))


@kernel("PaddedBatchDataset", "PaddedBatchDatasetV2")
def padded_batch_dataset(call: Call, *inputs: Array) -> Array:
    """Batches of elements padded to equal shapes."""
    source = dataset_of(inputs[0])
    size = positive(call, "batch_size", inputs[1])
    shapes = [tuple(int(d) for d in s) for s in part(call, "padded_shapes", inputs)]
    fills = part(call, "padding_values", inputs)
    for fill in fills:
        call.require(fill.ndim == 0, "padding values must be scalars", found=list(fill.shape))
    call.require(
        len(shapes) == len(source.types) == len(fills),
        "there must be a padded shape and a value for each component",
        found=f"{len(shapes)} shapes, {len(fills)} values",
        needed=len(source.types),
    )
    drop = call.op.endswith("V2") and bool(part(call, "drop_remainder", inputs)[0])
    return handle_array(Padded(call, source, size, drop, shapes, fills))


@kernel("DenseToSparseBatchDataset", "ExperimentalDenseToSparseBatchDataset")
def dense_to_sparse_batch_dataset(
    call: Call, source: Array, batch_size: Array, row_shape: Array
) -> Array:
    """Batches of dense elements of several shapes as sparse tensors."""
    size, held = positive(call, "batch_size", batch_size), dataset_of(source)
    call.require(
        len(held.types) == 1,
        "elements must have one component to become sparse",
        found=len(held.types),
        needed=1,
    )
    return handle_array(Sparse(call, held, size, [int(d) for d in row_shape]))


@kernel("UnbatchDataset", "ExperimentalUnbatchDataset")
def unbatch_dataset(call: Call, source: Array) -> Array:
    """A dataset of the rows: an element ``[n, ...]`` gives ``n`` elements ``[...]``."""
    return handle_array(Unbatched(call, dataset_of(source)))


@kernel("RebatchDatasetV2")
def rebatch_dataset_v2(call: Call, source: Array, sizes: Array, drop: Array) -> Array:
    """Batches of the given sizes, in turn."""
    call.require(sizes.ndim <= 1, "batch_sizes must be a vector", found=list(sizes.shape))
    found = [int(s) for s in np.atleast_1d(sizes)]
    call.require(
        bool(found) and min(found) >= 0 and (sizes.ndim or min(found) > 0),
        "batch sizes must not be negative",
        found=found,
        needed="sizes",
    )
    return handle_array(Rebatched(call, dataset_of(source), found, bool(drop)))


@kernel("RebatchDataset", "ExperimentalRebatchDataset")
def rebatch_dataset(call: Call, source: Array, num_replicas: Array) -> Array:
    """Each batch in ``num_replicas`` parts."""
    count = positive(call, "num_replicas", num_replicas)
    return handle_array(Split(call, dataset_of(source), count))


@kernel("WindowDataset")
def window_dataset(
    call: Call, source: Array, size: Array, shift: Array, stride: Array, drop: Array
) -> Array:
    """Windows, each component a dataset."""
    spec = _window(call, [size, shift, stride], bool(drop))
    return handle_array(Windowed(call, dataset_of(source), spec))


@kernel("SlidingWindowDataset", "ExperimentalSlidingWindowDataset")
def sliding_window_dataset(
    call: Call, source: Array, size: Array, shift: Array, stride: Array
) -> Array:
    """Windows of ``size`` elements, stacked to ``[size, ...]``.

    Int64 scalars: the next window begins ``shift`` elements later, and takes every ``stride``-th.
    """
    spec = _window(call, [size, shift, stride], call.attrs.get("drop_remainder", True))
    return handle_array(Sliding(call, dataset_of(source), spec))


def _window(call: Call, values: Sequence[Array], drop: bool) -> WindowSpec:
    names = ("window size", "window shift", "window stride")
    size, shift, stride = (positive(call, n, v) for n, v in zip(names, values, strict=True))
    return WindowSpec(size, shift, stride, drop)


@kernel("MapAndBatchDataset", "ExperimentalMapAndBatchDataset")
def map_and_batch_dataset(call: Call, *inputs: Array) -> Array:
    """Batches of a function of each element."""
    function = Function.of(call, "f", part(call, "other_arguments", inputs))
    size = positive(call, "batch_size", part(call, "batch_size", inputs)[0])
    calls = scalar(call, "num_parallel_calls", part(call, "num_parallel_calls", inputs)[0])
    call.require(
        calls > 0 or calls == -1,
        "num_parallel_calls must be positive",
        found=calls,
        needed="1 or more, or -1",
    )
    drop = bool(part(call, "drop_remainder", inputs)[0])
    return handle_array(MapBatched(call, dataset_of(inputs[0]), function, size, drop))
