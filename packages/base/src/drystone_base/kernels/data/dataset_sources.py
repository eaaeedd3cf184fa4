"""Ops that begin a pipeline of datasets."""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.data._datasets.base import Function, part, scalar
from drystone_base.kernels.data._datasets.seeds import SeedGenerator, seeds_of
from drystone_base.kernels.data._datasets.sources import (
    Generated,
    Items,
    RandomNumbers,
    Range,
    Slices,
    SparseSlices,
)
from drystone_base.state.variables import handle_array


@kernel("TensorDataset")
def tensor_dataset(call: Call, *components: Array) -> Array:
    """One element: the components."""
    return handle_array(Items(call, [list(components)]))


@kernel("TensorSliceDataset")
def tensor_slice_dataset(call: Call, *components: Array) -> Array:
    """A dataset whose element ``k`` holds ``component[k]`` of each component ``[n, ...]``.

    Raises ``KernelError`` for components that differ in ``n``.
    """
    return handle_array(Slices(call, components))


@kernel("SparseTensorSliceDataset")
def sparse_tensor_slice_dataset(
    call: Call, indices: Array, values: Array, dense_shape: Array
) -> Array:
    """The rows of a sparse tensor."""
    for name, value, rank in (("indices", indices, 2), ("values", values, 1),
                              ("dense_shape", dense_shape, 1)):  # fmt: skip
        call.require(value.ndim == rank, f"{name} must be of rank {rank}", found=list(value.shape))
    call.require(
        len(indices) == len(values) and indices.shape[1] == len(dense_shape) > 0,
        "indices, values and dense shape must fit together",
        found=[list(indices.shape), list(values.shape), list(dense_shape.shape)],
        needed="[n, rank], [n] and [rank]",
    )
    outside = bool(np.any(indices < 0) or np.any(indices >= dense_shape))
    call.require(
        not outside and bool(np.all(dense_shape >= 0)),
        "indices must lie in the dense shape",
        found=indices[np.any((indices < 0) | (indices >= dense_shape), axis=1)][:4].tolist(),
        needed=dense_shape.tolist(),
    )
    return handle_array(SparseSlices(call, indices, values, dense_shape))


@kernel("ListDataset")
def list_dataset(call: Call, *tensors: Array) -> Array:
    """Elements, given one after the other by their components."""
    size = len(call.attrs["output_types"])
    items = [list(tensors[k : k + size]) for k in range(0, len(tensors), size)]
    return handle_array(Items(call, items))


@kernel("RangeDataset")
def range_dataset(call: Call, start: Array, stop: Array, step: Array) -> Array:
    """Numbers from ``start`` to ``stop`` by ``step``."""
    names = zip(("start", "stop", "step"), (start, stop, step), strict=True)
    return handle_array(Range(call, *(scalar(call, n, v) for n, v in names)))


@kernel("RandomDataset", "ExperimentalRandomDataset")
def random_dataset(call: Call, seed: Array, seed2: Array) -> Array:
    """Random numbers, the same in each iteration."""
    seeds = scalar(call, "seed", seed), scalar(call, "seed2", seed2)
    return handle_array(RandomNumbers(call, SeedGenerator(*seeds, reshuffle=False)))


@kernel("RandomDatasetV2")
def random_dataset_v2(call: Call, seed: Array, seed2: Array, generator: Array) -> Array:
    """Random numbers; with ``rerandomize_each_iteration`` others in each iteration."""
    seeds = scalar(call, "seed", seed), scalar(call, "seed2", seed2)
    again = call.attrs["rerandomize_each_iteration"]
    return handle_array(RandomNumbers(call, seeds_of(generator, seeds, again)))


@kernel("GeneratorDataset")
def generator_dataset(call: Call, *inputs: Array) -> Array:
    """What ``next_func`` gives, call by call, for the state that ``init_func`` makes."""
    functions = [
        Function.of(call, f"{name}_func", part(call, f"{name}_func_other_args", inputs))
        for name in ("init", "next", "finalize")
    ]
    return handle_array(Generated(call, *functions))
