"""Ops of datasets that pass elements on: some of them, several times, from several sources."""

from __future__ import annotations

import os

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import scalar_string
from drystone_base.kernels.data._datasets.base import Dataset, Unary, dataset_of, positive, scalar
from drystone_base.kernels.data._datasets.basic import (
    Cached,
    CacheStore,
    Counted,
    Directed,
    Joined,
    Repeated,
    Sharded,
    Skipped,
    Taken,
    Unfailing,
    Uniques,
    Zipped,
)
from drystone_base.kernels.data._datasets.seeds import SeedGenerator, actual_seeds, seeds_of
from drystone_base.kernels.data._datasets.shuffling import Sampled, Shuffled
from drystone_base.state.variables import ResourceHandle, handle_array, resource_of


@kernel(
    "RewriteDataset", "ModelDataset", "OptimizeDataset", "OptimizeDatasetV2", "OptionsDataset",
    "FinalizeDataset", "AssertNextDataset", "ExperimentalAssertNextDataset", "AssertPrevDataset",
    "NonSerializableDataset", "ExperimentalNonSerializableDataset",
    "MaxIntraOpParallelismDataset", "ExperimentalMaxIntraOpParallelismDataset",
    "PrivateThreadPoolDataset", "ExperimentalPrivateThreadPoolDataset", "ThreadPoolDataset",
    "ExperimentalThreadPoolDataset", "SleepDataset", "ExperimentalSleepDataset",
    "BytesProducedStatsDataset", "ExperimentalBytesProducedStatsDataset", "LatencyStatsDataset",
    "ExperimentalLatencyStatsDataset", "SetStatsAggregatorDataset",
    "ExperimentalSetStatsAggregatorDataset",
)  # fmt: skip
def same_elements(call: Call, source: Array, *_: Array) -> Array:
    """The elements of the source: what the op adds (threads, options, statistics) is not seen."""
    return handle_array(Unary(call, dataset_of(source)))


@kernel("PrefetchDataset")
def prefetch_dataset(call: Call, source: Array, buffer_size: Array) -> Array:
    """The elements of the source: nothing is read ahead."""
    size = scalar(call, "buffer_size", buffer_size)
    call.require(size >= -1, "a buffer must hold elements", found=size, needed="0 or more, or -1")
    return handle_array(Unary(call, dataset_of(source)))


@kernel("ZipDataset")
def zip_dataset(call: Call, *sources: Array) -> Array:
    """A dataset of tuples of the ``k``-th elements of all sources; the shortest ends it."""
    return handle_array(Zipped(call, [dataset_of(s) for s in sources]))


@kernel("ChooseFastestDataset", "ExperimentalChooseFastestDataset")
def choose_fastest_dataset(call: Call, source: Array, *_: Array) -> Array:
    """The first source: all have the same elements."""
    return handle_array(Unary(call, dataset_of(source)))


@kernel("ConcatenateDataset")
def concatenate_dataset(call: Call, first: Array, second: Array) -> Array:
    """The elements of ``first``, then those of ``second``.

    Raises ``KernelError`` for sources of other dtypes.
    """
    a, b = dataset_of(first), dataset_of(second)
    call.require(
        list(a.types) == list(b.types),
        "datasets must have the same types to be concatenated",
        found=f"{list(a.types)} and {list(b.types)}",
        needed="equal types",
    )
    return handle_array(Joined(call, a, b))


@kernel("RepeatDataset")
def repeat_dataset(call: Call, source: Array, count: Array) -> Array:
    """The source ``count`` times, an int64 scalar; without end if it is negative."""
    return handle_array(Repeated(call, dataset_of(source), scalar(call, "count", count)))


@kernel("TakeDataset")
def take_dataset(call: Call, source: Array, count: Array) -> Array:
    """The first ``count`` elements."""
    return handle_array(Taken(call, dataset_of(source), scalar(call, "count", count)))


@kernel("SkipDataset")
def skip_dataset(call: Call, source: Array, count: Array) -> Array:
    """All but the first ``count`` elements."""
    return handle_array(Skipped(call, dataset_of(source), scalar(call, "count", count)))


@kernel("ShardDataset")
def shard_dataset(call: Call, source: Array, num_shards: Array, index: Array) -> Array:
    """Every ``num_shards``-th element."""
    shards, at = positive(call, "num_shards", num_shards), scalar(call, "index", index)
    _check_share(call, at, shards)
    return handle_array(Sharded(call, dataset_of(source), shards, at))


def _check_share(call: Call, index: int, shards: int) -> None:
    call.require(
        0 <= index < shards,
        "the index must name one of the shards",
        found=index,
        needed=f"0 <= index < {shards}",
    )


@kernel("AutoShardDataset", "ExperimentalAutoShardDataset")
def auto_shard_dataset(call: Call, source: Array, num_workers: Array, index: Array) -> Array:
    """The share of one worker, which is everything where there is one; or every n-th element."""
    workers, at = positive(call, "num_workers", num_workers), scalar(call, "index", index)
    _check_share(call, at, workers)
    policy = call.attrs["auto_shard_policy"]
    if workers == 1 or policy == _SHARD_OFF:
        return handle_array(Unary(call, dataset_of(source)))
    call.require(
        policy == _SHARD_DATA,
        "files are not shared out among several workers",
        found=f"{workers} workers, auto_shard_policy {policy}",
        needed="one worker, or the policy DATA or OFF",
        status="UNIMPLEMENTED",
    )
    return handle_array(Sharded(call, dataset_of(source), workers, at))


_SHARD_OFF = -1
_SHARD_DATA = 2


@kernel("CacheDataset", "CacheDatasetV2")
def cache_dataset(call: Call, source: Array, filename: Array, *cache: Array) -> Array:
    """The source, kept in memory or in a file once it was read to its end."""
    name = scalar_string(call, filename, "the file name")
    if name:
        from drystone_base.kernels.data._datasets.caching import FileCached  # brings the loaders

        return handle_array(FileCached(call, dataset_of(source), os.fsdecode(name)))
    held = getattr(cache[0].item(), "resource", None) if cache else None
    store = held if isinstance(held, CacheStore) else CacheStore()
    return handle_array(Cached(call, dataset_of(source), store))


@kernel("AssertCardinalityDataset")
def assert_cardinality_dataset(call: Call, source: Array, cardinality: Array) -> Array:
    """The source, which must have that many elements."""
    count = scalar(call, "cardinality", cardinality)
    return handle_array(Counted(call, dataset_of(source), count))


@kernel("IgnoreErrorsDataset", "ExperimentalIgnoreErrorsDataset")
def ignore_errors_dataset(call: Call, source: Array) -> Array:
    """The elements that do not fail."""
    return handle_array(Unfailing(call, dataset_of(source)))


@kernel("UniqueDataset", "ExperimentalUniqueDataset")
def unique_dataset(call: Call, source: Array) -> Array:
    """Elements that did not come before."""
    made = dataset_of(source)
    call.require(
        len(made.types) == 1,
        "elements must have one component to be compared",
        found=len(made.types),
        needed=1,
    )
    return handle_array(Uniques(call, made))


@kernel("DirectedInterleaveDataset", "ExperimentalDirectedInterleaveDataset")
def directed_interleave_dataset(call: Call, selector: Array, *sources: Array) -> Array:
    """Elements of several datasets in the order that another one states."""
    chosen: list[Dataset] = [dataset_of(s) for s in sources]
    return handle_array(Directed(call, dataset_of(selector), chosen))


# ---- random order ------------------------------------------------------------------------------

_ALL = -2
"""A buffer size: room for every element."""


def _buffer(call: Call, size: Array) -> int:
    found = scalar(call, "buffer_size", size)
    call.require(
        found > 0 or found == _ALL,
        "a shuffle buffer must hold elements",
        found=found,
        needed=f"1 or more, or {_ALL} for room for all",
    )
    return found


def _seeds(call: Call, seed: Array, seed2: Array) -> tuple[int, int]:
    return scalar(call, "seed", seed), scalar(call, "seed2", seed2)


@kernel("ShuffleDataset")
def shuffle_dataset(call: Call, source: Array, size: Array, seed: Array, seed2: Array) -> Array:
    """The elements in random order, another one in each iteration unless said otherwise."""
    again = call.attrs["reshuffle_each_iteration"]
    made = SeedGenerator(*_seeds(call, seed, seed2), reshuffle=again)
    return handle_array(Shuffled(call, dataset_of(source), _buffer(call, size), made))


@kernel("ShuffleDatasetV2")
def shuffle_dataset_v2(call: Call, source: Array, size: Array, generator: Array) -> Array:
    """The elements in random order, by the seeds of a generator."""
    made = resource_of(generator, SeedGenerator)
    return handle_array(Shuffled(call, dataset_of(source), _buffer(call, size), made))


@kernel("ShuffleDatasetV3")
def shuffle_dataset_v3(
    call: Call, source: Array, size: Array, seed: Array, seed2: Array, generator: Array
) -> Array:
    """The elements in random order, by a generator or by two seeds."""
    again = call.attrs["reshuffle_each_iteration"]
    made = seeds_of(generator, _seeds(call, seed, seed2), again)
    return handle_array(Shuffled(call, dataset_of(source), _buffer(call, size), made))


@kernel("ShuffleAndRepeatDataset", "ShuffleAndRepeatDatasetV2")
def shuffle_and_repeat_dataset(
    call: Call, source: Array, size: Array, seed: Array, seed2: Array, count: Array, *more: Array
) -> Array:
    """Epoch after epoch in random order, with one buffer for all."""
    epochs, seeds = scalar(call, "count", count), _seeds(call, seed, seed2)
    call.require(
        epochs > 0 or epochs == -1,
        "the count of epochs must be positive",
        found=epochs,
        needed="1 or more, or -1 for no end",
    )
    again = call.attrs["reshuffle_each_iteration"]
    made = seeds_of(more[0], seeds, again) if more else SeedGenerator(*seeds, reshuffle=again)
    return handle_array(Shuffled(call, dataset_of(source), _buffer(call, size), made, epochs))


@kernel("SamplingDataset")
def sampling_dataset(call: Call, source: Array, rate: Array, seed: Array, seed2: Array) -> Array:
    """Each element with probability ``rate``."""
    seeds = actual_seeds(*_seeds(call, seed, seed2))
    return handle_array(Sampled(call, dataset_of(source), float(rate), seeds))


@kernel(
    "DummySeedGenerator", "DummyMemoryCache", "ThreadPoolHandle", "ExperimentalThreadPoolHandle",
    "StatsAggregatorHandle", "StatsAggregatorHandleV2", "ExperimentalStatsAggregatorHandle",
)  # fmt: skip
def dummy(call: Call) -> Array:
    """A handle to nothing: threads and statistics change no element."""
    return handle_array(ResourceHandle(call.op, call.node, "", None))


def _with_deleter(call: Call, made: object) -> tuple[Array, Array]:
    return handle_array(ResourceHandle(call.op, call.node, "", made)), handle_array(made)


@kernel("AnonymousSeedGenerator")
def seed_generator(call: Call, seed: Array, seed2: Array, reshuffle: Array) -> tuple[Array, Array]:
    """A generator of seeds, and what deletes it."""
    seeds = _seeds(call, seed, seed2)
    return _with_deleter(call, SeedGenerator(*seeds, reshuffle=bool(reshuffle)))


@kernel("AnonymousRandomSeedGenerator")
def random_seed_generator(call: Call, seed: Array, seed2: Array) -> tuple[Array, Array]:
    """A generator of ever new seeds, and what deletes it."""
    return _with_deleter(call, SeedGenerator(*_seeds(call, seed, seed2), reshuffle=True))


@kernel("AnonymousMemoryCache")
def memory_cache(call: Call) -> tuple[Array, Array]:
    """A place for the elements of a cached dataset, and what deletes it."""
    return _with_deleter(call, CacheStore())


@kernel("DeleteSeedGenerator", "DeleteRandomSeedGenerator", "DeleteMemoryCache")
def delete(_: Call, handle: Array, _deleter: Array) -> tuple[()]:
    """Let go of what the handle refers to."""
    handle.item().resource = None
    return ()
