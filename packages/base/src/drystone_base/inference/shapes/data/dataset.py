"""Shapes of dataset, iterator and optional ops. A dataset's elements have the declared shapes."""

from __future__ import annotations

from typing import Final

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape

_RANKS: Final[dict[str, tuple[int, ...]]] = {
    "scalar": (0,),
    "vector": (1,),
    "scalar or vector": (0, 1),
}

_FILES: Final = {"filenames": "scalar or vector", "compression_type": "scalar",
                 "buffer_size": "scalar"}  # fmt: skip
_CSV: Final = _FILES | {
    "header": "scalar", "field_delim": "scalar", "use_quote_delim": "scalar",
    "na_value": "scalar", "select_cols": "vector", "record_defaults": "scalar or vector",
}  # fmt: skip
_FIXED: Final = {"filenames": "scalar or vector", "header_bytes": "scalar",
                 "record_bytes": "scalar", "footer_bytes": "scalar",
                 "buffer_size": "scalar"}  # fmt: skip
_SEEDS: Final = {"seed": "scalar", "seed2": "scalar"}
_SHUFFLE: Final = {"buffer_size": "scalar", **_SEEDS}

_ARGS: Final[dict[str, dict[str, str]]] = {
    "AssertCardinalityDataset": {"cardinality": "scalar"},
    "AssertNextDataset": {"transformations": "vector"},
    "AssertPrevDataset": {"transformations": "vector"},
    "BatchDataset": {"batch_size": "scalar"},
    "BatchDatasetV2": {"batch_size": "scalar", "drop_remainder": "scalar"},
    "BytesProducedStatsDataset": {"tag": "scalar"},
    "CSVDataset": _CSV,
    "CSVDatasetV2": _CSV | {"exclude_cols": "vector"},
    "CacheDataset": {"filename": "scalar"},
    "CacheDatasetV2": {"filename": "scalar", "cache": "scalar"},
    "DenseToSparseBatchDataset": {"batch_size": "scalar", "row_shape": "vector"},
    "FixedLengthRecordDataset": _FIXED,
    "FixedLengthRecordDatasetV2": _FIXED,
    "LatencyStatsDataset": {"tag": "scalar"},
    "MapAndBatchDataset": {"batch_size": "scalar", "num_parallel_calls": "scalar",
                           "drop_remainder": "scalar"},
    "MatchingFilesDataset": {"patterns": "scalar or vector"},
    "PaddedBatchDataset": {"batch_size": "scalar"},
    "PaddedBatchDatasetV2": {"batch_size": "scalar", "drop_remainder": "scalar"},
    "ParallelBatchDataset": {"batch_size": "scalar", "num_parallel_calls": "scalar",
                             "drop_remainder": "scalar"},
    "PrefetchDataset": {"buffer_size": "scalar"},
    "RandomDataset": _SEEDS,
    "RandomDatasetV2": _SEEDS | {"seed_generator": "scalar"},
    "RangeDataset": {"start": "scalar", "stop": "scalar", "step": "scalar"},
    "RepeatDataset": {"count": "scalar"},
    "SamplingDataset": _SEEDS | {"rate": "scalar"},
    "ShardDataset": {"num_shards": "scalar", "index": "scalar"},
    "ShuffleAndRepeatDataset": _SHUFFLE | {"count": "scalar"},
    "ShuffleAndRepeatDatasetV2": _SHUFFLE | {"count": "scalar", "seed_generator": "scalar"},
    "ShuffleDataset": _SHUFFLE,
    "ShuffleDatasetV2": {"buffer_size": "scalar", "seed_generator": "scalar"},
    "ShuffleDatasetV3": _SHUFFLE | {"seed_generator": "scalar"},
    "SkipDataset": {"count": "scalar"},
    "SleepDataset": {"input_dataset": "scalar", "sleep_microseconds": "scalar"},
    "SlidingWindowDataset": {"window_size": "scalar", "window_shift": "scalar",
                             "window_stride": "scalar"},
    "TFRecordDataset": _FILES,
    "TFRecordDatasetV2": _FILES | {"byte_offsets": "scalar or vector"},
    "TakeDataset": {"count": "scalar"},
    "TextLineDataset": _FILES,
    "WindowDataset": {"size": "scalar", "shift": "scalar", "stride": "scalar",
                      "drop_remainder": "scalar"},
    "DatasetToSingleElement": {"dataset": "scalar"},
    "InitializeTableFromDataset": {"table_handle": "scalar", "dataset": "scalar"},
    "IteratorGetNext": {"iterator": "scalar"},
    "IteratorGetNextSync": {"iterator": "scalar"},
    "OptionalGetValue": {"optional": "scalar"},
    "MultiDeviceIteratorGetNextFromShard": {"multi_device_iterator": "scalar"},
    "ReduceDataset": {"input_dataset": "scalar"},
}  # fmt: skip
"""The arguments of each op whose rank is looked at; others may be anything."""


def _check(c: ShapeCall) -> None:
    for name, kind in _ARGS.get(c.op.removeprefix("Experimental"), {}).items():
        for given in c.shapes[c.input_slices[name]]:
            if given is not None and len(given) not in _RANKS[kind]:
                c.fail(f"{name} must be a {kind}", found=list(given), needed=kind)


@shape(
    "TensorDataset", "TensorSliceDataset", "SparseTensorSliceDataset", "ListDataset",
    "RangeDataset", "RandomDataset", "ExperimentalRandomDataset", "RandomDatasetV2",
    "GeneratorDataset", "PrefetchDataset", "RewriteDataset", "ModelDataset", "OptimizeDataset",
    "OptimizeDatasetV2", "OptionsDataset", "FinalizeDataset", "AssertNextDataset",
    "ExperimentalAssertNextDataset", "AssertPrevDataset", "NonSerializableDataset",
    "ExperimentalNonSerializableDataset", "MaxIntraOpParallelismDataset",
    "ExperimentalMaxIntraOpParallelismDataset", "PrivateThreadPoolDataset",
    "ExperimentalPrivateThreadPoolDataset", "ThreadPoolDataset", "ExperimentalThreadPoolDataset",
    "SleepDataset", "ExperimentalSleepDataset", "BytesProducedStatsDataset",
    "ExperimentalBytesProducedStatsDataset", "LatencyStatsDataset",
    "ExperimentalLatencyStatsDataset", "SetStatsAggregatorDataset",
    "ExperimentalSetStatsAggregatorDataset", "ZipDataset", "ConcatenateDataset", "RepeatDataset",
    "TakeDataset", "SkipDataset", "ShardDataset", "AutoShardDataset",
    "ExperimentalAutoShardDataset", "CacheDataset", "CacheDatasetV2", "AssertCardinalityDataset",
    "IgnoreErrorsDataset", "ExperimentalIgnoreErrorsDataset", "UniqueDataset",
    "ExperimentalUniqueDataset", "DirectedInterleaveDataset",
    "ExperimentalDirectedInterleaveDataset", "ShuffleDataset", "ShuffleDatasetV2",
    "ShuffleDatasetV3", "ShuffleAndRepeatDataset", "ShuffleAndRepeatDatasetV2", "SamplingDataset",
    "DummySeedGenerator", "DummyMemoryCache", "BatchDataset", "BatchDatasetV2",
    "ParallelBatchDataset", "PaddedBatchDataset", "PaddedBatchDatasetV2",
    "DenseToSparseBatchDataset", "ExperimentalDenseToSparseBatchDataset", "UnbatchDataset",
    "ExperimentalUnbatchDataset", "RebatchDataset", "ExperimentalRebatchDataset",
    "RebatchDatasetV2", "WindowDataset", "SlidingWindowDataset",
    "ExperimentalSlidingWindowDataset", "MapAndBatchDataset", "ExperimentalMapAndBatchDataset",
    "MapDataset", "ExperimentalMapDataset", "ParallelMapDataset", "ParallelMapDatasetV2",
    "FilterDataset", "ParallelFilterDataset", "FilterByLastComponentDataset", "TakeWhileDataset",
    "ExperimentalTakeWhileDataset", "ScanDataset", "ExperimentalScanDataset", "FlatMapDataset",
    "InterleaveDataset", "ParallelInterleaveDatasetV2", "ParallelInterleaveDatasetV3",
    "ParallelInterleaveDatasetV4", "ParallelInterleaveDataset",
    "ExperimentalParallelInterleaveDataset", "LegacyParallelInterleaveDatasetV2",
    "GroupByWindowDataset", "ExperimentalGroupByWindowDataset", "GroupByReducerDataset",
    "ExperimentalGroupByReducerDataset", "TextLineDataset", "TFRecordDataset",
    "TFRecordDatasetV2", "FixedLengthRecordDataset", "FixedLengthRecordDatasetV2",
    "MatchingFilesDataset", "ExperimentalMatchingFilesDataset", "CSVDataset", "CSVDatasetV2",
    "ExperimentalCSVDataset", "ParseExampleDataset", "ParseExampleDatasetV2",
    "ExperimentalParseExampleDataset", "ChooseFastestDataset", "ExperimentalChooseFastestDataset",
)  # fmt: skip
def dataset(c: ShapeCall) -> list[Shape]:
    """A scalar."""
    _check(c)
    return [()]


@shape(
    "DatasetCardinality", "ExperimentalDatasetCardinality", "Iterator", "IteratorV2",
    "AnonymousIterator", "AnonymousIteratorV3", "OneShotIterator", "IteratorGetDevice",
    "ExperimentalIteratorGetDevice", "IteratorToStringHandle", "IteratorFromStringHandle",
    "IteratorFromStringHandleV2", "IteratorGetNextAsOptional", "OptionalFromValue",
    "OptionalNone", "OptionalHasValue", "WrapDatasetVariant", "UnwrapDatasetVariant",
    "MultiDeviceIterator", "AnonymousMultiDeviceIteratorV3", "MultiDeviceIteratorInit",
    "MultiDeviceIteratorToStringHandle", "MultiDeviceIteratorFromStringHandle",
    "ThreadPoolHandle", "ExperimentalThreadPoolHandle", "StatsAggregatorHandle",
    "StatsAggregatorHandleV2", "ExperimentalStatsAggregatorHandle",
)  # fmt: skip
def scalar(_: ShapeCall) -> list[Shape]:
    """A scalar."""
    return [()]


@shape(
    "AnonymousIteratorV2", "AnonymousSeedGenerator", "AnonymousRandomSeedGenerator",
    "AnonymousMemoryCache", "AnonymousMultiDeviceIterator",
)  # fmt: skip
def with_deleter(_: ShapeCall) -> list[Shape]:
    """Two scalars."""
    return [(), ()]


@shape(
    "IteratorGetNext", "IteratorGetNextSync", "OptionalGetValue", "DatasetToSingleElement",
    "ReduceDataset", "MultiDeviceIteratorGetNextFromShard",
)  # fmt: skip
def element(c: ShapeCall) -> list[Shape]:
    """As declared."""
    _check(c)
    shapes: list[Shape] = c.attrs["output_shapes"]
    if len(shapes) != c.output_count:
        c.fail("there must be a shape for each output", found=len(shapes), needed=c.output_count)
    return list(shapes)


@shape(
    "MakeIterator", "DeleteIterator", "DeleteSeedGenerator", "DeleteRandomSeedGenerator",
    "DeleteMemoryCache", "InitializeTableFromDataset", "DeleteMultiDeviceIterator",
    "DatasetToTFRecord", "ExperimentalDatasetToTFRecord",
)  # fmt: skip
def nothing(c: ShapeCall) -> list[Shape]:
    """Nothing."""
    _check(c)
    return []
