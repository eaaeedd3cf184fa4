"""Ops of datasets that call functions."""

from __future__ import annotations

import os

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.data._datasets.base import (
    Context,
    Function,
    check_element,
    dataset_of,
    part,
    positive,
    scalar,
)
from drystone_base.kernels.data._datasets.grouping import GroupReduced, GroupWindowed, Reducers
from drystone_base.kernels.data._datasets.mapping import (
    Filtered,
    FlatMapped,
    Interleaved,
    Mapped,
    Scanned,
    Until,
)
from drystone_base.state.variables import handle_array


def _function(call: Call, inputs: tuple[Array, ...], attr: str = "f") -> Function:
    return Function.of(call, attr, part(call, "other_arguments", inputs))


def _check_calls(call: Call, inputs: tuple[Array, ...], most: int = -1) -> None:
    if "num_parallel_calls" not in call.input_slices:
        return
    calls = scalar(call, "num_parallel_calls", part(call, "num_parallel_calls", inputs)[0])
    call.require(
        calls > 0 or calls == -1,
        "num_parallel_calls must be positive",
        found=calls,
        needed="1 or more, or -1",
    )
    call.require(
        most == -1 or calls <= most,
        "num_parallel_calls must not be above the number of datasets in turn",
        found=calls,
        needed=f"cycle_length, {most}, or less",
    )


@kernel("MapDataset", "ExperimentalMapDataset", "ParallelMapDataset", "ParallelMapDatasetV2")
def map_dataset(call: Call, *inputs: Array) -> Array:
    """A function of each element, in order."""
    _check_calls(call, inputs)
    return handle_array(Mapped(call, dataset_of(inputs[0]), _function(call, inputs)))


@kernel("FilterDataset", "ParallelFilterDataset")
def filter_dataset(call: Call, *inputs: Array) -> Array:
    """The elements for which the predicate holds."""
    _check_calls(call, inputs)
    predicate = _function(call, inputs, "predicate")
    return handle_array(Filtered(call, dataset_of(inputs[0]), predicate))


@kernel("FilterByLastComponentDataset")
def filter_by_last_component_dataset(call: Call, source: Array) -> Array:
    """The elements whose last component is true, without it."""
    return handle_array(Filtered(call, dataset_of(source), None))


@kernel("TakeWhileDataset", "ExperimentalTakeWhileDataset")
def take_while_dataset(call: Call, *inputs: Array) -> Array:
    """Elements until the predicate fails."""
    return handle_array(Until(call, dataset_of(inputs[0]), _function(call, inputs, "predicate")))


@kernel("ScanDataset", "ExperimentalScanDataset")
def scan_dataset(call: Call, *inputs: Array) -> Array:
    """A function of a running state and each element."""
    state = part(call, "initial_state", inputs)
    return handle_array(Scanned(call, dataset_of(inputs[0]), _function(call, inputs), state))


@kernel("FlatMapDataset")
def flat_map_dataset(call: Call, *inputs: Array) -> Array:
    """The datasets that a function makes, one after the other."""
    return handle_array(FlatMapped(call, dataset_of(inputs[0]), _function(call, inputs)))


@kernel(
    "InterleaveDataset", "ParallelInterleaveDataset", "ExperimentalParallelInterleaveDataset",
    "LegacyParallelInterleaveDatasetV2", "ParallelInterleaveDatasetV2",
    "ParallelInterleaveDatasetV3", "ParallelInterleaveDatasetV4",
)  # fmt: skip
def interleave_dataset(call: Call, *inputs: Array) -> Array:
    """The datasets that a function makes, several in turn."""
    given = scalar(call, "cycle_length", part(call, "cycle_length", inputs)[0])
    _check_calls(call, inputs, most=given)
    cycle = os.cpu_count() or 1 if given == -1 else given
    call.require(cycle > 0, "cycle_length must be positive", found=given, needed="1 or more, or -1")
    block = positive(call, "block_length", part(call, "block_length", inputs)[0])
    source, function = dataset_of(inputs[0]), _function(call, inputs)
    return handle_array(Interleaved(call, source, function, cycle, block))


@kernel("GroupByWindowDataset", "ExperimentalGroupByWindowDataset")
def group_by_window_dataset(call: Call, *inputs: Array) -> Array:
    """Windows of elements of equal keys, handed to a function that makes a dataset of each."""
    functions = [
        Function.of(call, f"{name}_func", part(call, f"{name}_func_other_arguments", inputs))
        for name in ("key", "reduce", "window_size")
    ]
    return handle_array(GroupWindowed(call, dataset_of(inputs[0]), *functions))


@kernel("GroupByReducerDataset", "ExperimentalGroupByReducerDataset")
def group_by_reducer_dataset(call: Call, *inputs: Array) -> Array:
    """One element for each key, reduced from all elements of that key."""
    functions = [
        Function.of(call, f"{name}_func", part(call, f"{name}_func_other_arguments", inputs))
        for name in ("key", "init", "reduce", "finalize")
    ]
    return handle_array(GroupReduced(call, dataset_of(inputs[0]), Reducers(*functions)))


@kernel("ReduceDataset")
def reduce_dataset(call: Call, *inputs: Array) -> list[Array]:
    """The state after a function of it and each element."""
    context = Context(call.runtime)
    invoke = _function(call, inputs).bind(context)
    state = list(part(call, "initial_state", inputs))
    for element in dataset_of(inputs[0]).elements(context):
        state = invoke(*state, *element)
        check_element(call, state, call.attrs["Tstate"], [None] * len(state))
    check_element(call, state, call.attrs["output_types"], call.attrs["output_shapes"])
    return state


@kernel("DatasetToSingleElement")
def dataset_to_single_element(call: Call, source: Array) -> list[Array]:
    """The only element of a dataset."""
    following = dataset_of(source).iterate(Context(call.runtime))
    element = following()
    call.require(
        element is not None and following() is None,
        "the dataset must have exactly one element",
        found="none" if element is None else "more than one",
        needed="one",
    )
    assert element is not None
    check_element(call, element, call.attrs["output_types"], call.attrs["output_shapes"])
    return element


@kernel("DatasetCardinality", "ExperimentalDatasetCardinality")
def dataset_cardinality(_: Call, source: Array) -> Array:
    """The number of elements; -1: no end, -2: not known without reading them."""
    return np.array(dataset_of(source).cardinality(), np.int64)
