"""Every dataset op by itself, old versions too, as graphs of other writers may hold them."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

from typing import Any

from stateful import f32, i32, i64

from scenarios import Program, with_tensorflow


class Ops:
    """Raw ops, and the steps that take elements."""

    def __init__(self, tf: Any, p: Program) -> None:
        self.tf, self.p, self.raw = tf, p, tf.raw_ops
        self.one: dict[str, Any] = {"output_types": [tf.int64], "output_shapes": [[]]}
        self.many: dict[str, Any] = {"output_types": [tf.int64], "output_shapes": [None]}
        self.made = 0

    def __call__(self, dataset: Any, count: int, **spec: Any) -> None:
        """The cardinality and ``count`` elements."""
        spec = spec or self.many
        self.made += 1
        name = f"iterator{self.made}"
        # TensorFlow writes a pipeline as a graph to optimize it, which fails for some old ops.
        options = self.tf.data.Options()
        options.experimental_optimization.apply_default_optimizations = False
        options.autotune.enabled = False
        text = options._to_proto().SerializeToString(deterministic=True)
        dataset = self.raw.OptionsDataset(input_dataset=dataset, serialized_options=text, **spec)
        handle = self.raw.IteratorV2(shared_name=name, container="", **spec)
        self.p.step(self.raw.MakeIterator(dataset=dataset, iterator=handle))
        self.p.step(self.raw.DatasetCardinality(input_dataset=dataset))
        elements = self.raw.IteratorGetNextSync(iterator=handle, **spec)
        for _ in range(count):
            self.p.step(*elements)

    def range(self, *bounds: int) -> Any:
        """A range of constants."""
        start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else bounds
        return self.raw.RangeDataset(start=i64(start), stop=i64(stop), step=i64(step), **self.one)

    def range_to(self, stop: Any) -> Any:
        """The numbers below a tensor."""
        return self.raw.RangeDataset(start=i64(0), stop=stop, step=i64(1), **self.one)

    def function(self, body: Any, *specs: Any) -> Any:
        """The body as a function of the graph."""
        given = specs or [self.tf.TensorSpec([], self.tf.int64)]
        return self.tf.function(body).get_concrete_function(*given)


@with_tensorflow()
def passing_on(tf: Any, p: Program) -> None:
    ops = Ops(tf, p)
    raw, given = ops.raw, {"input_dataset": ops.range(4), **ops.one}
    ops(raw.NonSerializableDataset(**given), 5)
    ops(raw.ExperimentalNonSerializableDataset(**given), 5)
    ops(raw.MaxIntraOpParallelismDataset(max_intra_op_parallelism=i64(2), **given), 5)
    ops(raw.ExperimentalMaxIntraOpParallelismDataset(max_intra_op_parallelism=i64(1), **given), 5)
    ops(raw.PrivateThreadPoolDataset(num_threads=i64(2), **given), 5)
    ops(raw.ExperimentalPrivateThreadPoolDataset(num_threads=i64(2), **given), 5)
    ops(raw.SleepDataset(sleep_microseconds=i64(1), **given), 5)
    ops(raw.ExperimentalSleepDataset(sleep_microseconds=i64(1), **given), 5)
    ops(raw.BytesProducedStatsDataset(tag="a", **given), 5)
    ops(raw.ExperimentalBytesProducedStatsDataset(tag="a", **given), 5)
    ops(raw.LatencyStatsDataset(tag="a", **given), 5)
    ops(raw.ExperimentalLatencyStatsDataset(tag="a", **given), 5)
    ops(raw.ModelDataset(**given), 5)
    ops(raw.OptimizeDataset(optimizations=["noop_elimination"], **given), 5)
    ops(raw.FinalizeDataset(**given), 5)
    ops(raw.AssertNextDataset(transformations=tf.constant([], tf.string), **given), 5)
    wrapped = raw.WrapDatasetVariant(input_handle=ops.range(4))
    ops(raw.UnwrapDatasetVariant(input_handle=wrapped), 5)
    several = [ops.range(3), ops.range(3)]
    ops(raw.ChooseFastestDataset(input_datasets=several, num_experiments=2, **ops.one), 4)


@with_tensorflow()
def old_versions(tf: Any, p: Program) -> None:
    ops = Ops(tf, p)
    raw, given = ops.raw, {"input_dataset": ops.range(7), **ops.one}
    many = {"input_dataset": ops.range(7), **ops.many}
    ops(raw.BatchDataset(batch_size=i64(3), **many), 4)
    ops(raw.ExperimentalUniqueDataset(**given), 8)
    ops(raw.CacheDataset(filename="", **given), 8)
    ops(raw.ExperimentalIgnoreErrorsDataset(**given), 8)
    seeds = {"seed": i64(3), "seed2": i64(4)}
    ops(raw.ShuffleDataset(buffer_size=i64(3), **seeds, **given), 8)
    ops(raw.ShuffleDataset(buffer_size=i64(3), reshuffle_each_iteration=False, **seeds, **given), 8)
    ops(raw.ShuffleAndRepeatDataset(buffer_size=i64(9), count=i64(2), **seeds, **given), 15)
    generator, _ = raw.AnonymousSeedGenerator(reshuffle=True, **seeds)
    two = {"buffer_size": i64(9), "count": i64(2), "seed_generator": generator}
    ops(raw.ShuffleAndRepeatDatasetV2(**two, **seeds, **given), 15)
    again = raw.ShuffleAndRepeatDataset(
        buffer_size=i64(9), count=i64(2), reshuffle_each_iteration=False, **seeds, **given
    )
    ops(again, 15)
    ops(raw.ShuffleDatasetV2(buffer_size=i64(9), seed_generator=generator, **given), 8)
    ops(raw.ExperimentalRandomDataset(**seeds, **ops.one), 5)
    ops(raw.SamplingDataset(rate=f32(0.5), **seeds, **given), 8)
    ops(raw.SamplingDataset(rate=f32(0.9), **seeds, **given), 8)
    batches = raw.BatchDatasetV2(batch_size=i64(3), drop_remainder=False, **many)
    ops(raw.ExperimentalUnbatchDataset(input_dataset=batches, **ops.one), 8)
    ops(raw.ExperimentalRebatchDataset(input_dataset=batches, num_replicas=i64(2), **ops.many), 7)
    ops(raw.RebatchDataset(input_dataset=batches, num_replicas=i64(3), **ops.many), 10)
    padded = {"padded_shapes": [i64([4])], "padding_values": [i64(-1)], "output_shapes": [None]}
    ops(raw.PaddedBatchDataset(input_dataset=batches, batch_size=i64(2), **padded), 3)
    sizes = {"window_size": i64(3), "window_shift": i64(2), "window_stride": i64(1)}
    ops(raw.SlidingWindowDataset(**sizes, **many), 5)
    ops(raw.ExperimentalSlidingWindowDataset(**sizes, **many), 5)
    ops(raw.SlidingWindowDataset(drop_remainder=False, **sizes, **many), 5)
    ops(raw.ExperimentalAutoShardDataset(num_workers=i64(1), index=i64(0), **given), 8)


@with_tensorflow()
def calling(tf: Any, p: Program) -> None:
    ops = Ops(tf, p)
    raw, given = ops.raw, {"input_dataset": ops.range(7), "other_arguments": [], **ops.one}
    square, odd = ops.function(lambda x: x * x), ops.function(lambda x: x % 2 == 1)
    few = ops.function(lambda x: x < 3)
    ops(raw.ParallelMapDataset(f=square, num_parallel_calls=i32(2), **given), 8)
    ops(raw.MapDataset(f=square, preserve_cardinality=True, **given), 8)
    ops(raw.ParallelFilterDataset(
        predicate=odd, num_parallel_calls=i64(2), deterministic="true", **given), 8)  # fmt: skip
    ops(raw.ExperimentalTakeWhileDataset(predicate=few, **given), 8)
    many = {"input_dataset": ops.range(7), "other_arguments": [], **ops.many}
    batch = {"num_parallel_calls": i64(1), "batch_size": i64(3)}
    ops(raw.MapAndBatchDataset(f=square, drop_remainder=False, **batch, **many), 4)
    ops(raw.MapAndBatchDataset(f=square, drop_remainder=True, **batch, **many), 4)
    ops(raw.ExperimentalMapAndBatchDataset(f=square, drop_remainder=False, **batch, **many), 4)
    ends = ops.function(lambda x: _ending(tf, x, 4))
    ops(raw.MapDataset(f=ends, **given), 8)
    ops(raw.MapDataset(f=ends, preserve_cardinality=True, **given), 8)
    ops(raw.MapAndBatchDataset(f=ends, drop_remainder=False, **batch, **many), 4)
    turns = {"cycle_length": i64(2), "block_length": i64(2)}
    ranges = ops.function(lambda x: ops.range_to(x))
    calls = {"num_parallel_calls": i64(2), **turns}
    ops(raw.ParallelInterleaveDatasetV2(f=ranges, **calls, **given), 22)
    ops(raw.ParallelInterleaveDatasetV3(f=ranges, deterministic="true", **calls, **given), 22)
    buffers = {"buffer_output_elements": i64(1), "prefetch_input_elements": i64(0)}
    ops(raw.ParallelInterleaveDataset(f=ranges, sloppy=False, cycle_length=i64(1),
                                      block_length=i64(2), **buffers, **given), 22)  # fmt: skip
    states = {"initial_state": [i64(1)], "f": ops.function(_scan, *[_spec(tf)] * 2)}
    ops(raw.ExperimentalScanDataset(**states, **given), 8)


def _spec(tf: Any) -> Any:
    return tf.TensorSpec([], tf.int64)


def _scan(state: Any, x: Any) -> Any:
    return state + x, state * x


def _ending(tf: Any, x: Any, limit: int) -> Any:
    """The number; OUT_OF_RANGE inside of the function from ``limit`` on."""
    source = tf.data.Dataset.range(tf.cast(x < limit, tf.int64))
    iterator = iter(source)
    return next(iterator) + x


@with_tensorflow()
def grouping(tf: Any, p: Program) -> None:
    ops = Ops(tf, p)
    raw, one = ops.raw, _spec(tf)
    captured: dict[str, Any] = {
        f"{n}_func_other_arguments": [] for n in ("key", "init", "reduce", "finalize")
    }
    functions = {
        "key_func": ops.function(lambda x: x % 3),
        "init_func": ops.function(lambda key: key * 100),
        "reduce_func": ops.function(lambda state, x: state + x, one, one),
        "finalize_func": ops.function(lambda state: -state),
    }
    given = {"input_dataset": ops.range(8), **ops.one, **captured, **functions}
    ops(raw.GroupByReducerDataset(**given), 4)
    ops(raw.ExperimentalGroupByReducerDataset(**given), 4)


@with_tensorflow()
def listed(tf: Any, p: Program) -> None:
    ops = Ops(tf, p)
    raw, made = ops.raw, ops.range(4)
    tensors = [i64(1), i64(2), i64(3)]
    ops(raw.ListDataset(tensors=tensors, **ops.one), 4)
    selector = raw.TensorSliceDataset(components=[i64([1, 0, 1, 5])], output_shapes=[[]])
    datasets = {"selector_input_dataset": selector, "data_input_datasets": [made, ops.range(9)]}
    ops(raw.ExperimentalDirectedInterleaveDataset(**datasets, **ops.one), 5)
    p.step(raw.ExperimentalDatasetCardinality(input_dataset=made))


@with_tensorflow()
def iterators(tf: Any, p: Program) -> None:
    ops = Ops(tf, p)
    raw, spec = ops.raw, ops.one
    old = raw.Iterator(shared_name="old", container="", **spec)
    p.step(raw.IteratorGetNext(iterator=old, **spec)[0])
    p.step(raw.MakeIterator(dataset=ops.range(3), iterator=old))
    p.step(raw.IteratorGetNext(iterator=old, **spec)[0])
    text = raw.IteratorToStringHandle(resource_handle=old)
    found = raw.IteratorFromStringHandle(string_handle=text, **spec)
    p.step(raw.IteratorGetNext(iterator=found, **spec)[0])
    device = raw.IteratorGetDevice(resource=old)
    p.step(tf.strings.regex_full_match(device, ".*CPU:0"))
    for handle in (raw.AnonymousIterator(**spec), raw.AnonymousIteratorV3(**spec)):
        with tf.control_dependencies([raw.MakeIterator(dataset=ops.range(3), iterator=handle)]):
            p.step(raw.IteratorGetNext(iterator=handle, **spec)[0])
    shared = raw.Iterator(shared_name="old", container="", output_types=[tf.float32],
                          output_shapes=[[]])  # fmt: skip
    p.step(raw.IteratorGetNext(iterator=shared, output_types=[tf.float32], output_shapes=[[]])[0])
    wrong = {"output_types": [tf.int64], "output_shapes": [[2]]}
    p.step(raw.IteratorGetNext(iterator=old, **wrong)[0])
    cache, _ = raw.AnonymousMemoryCache()
    cached = raw.CacheDatasetV2(input_dataset=ops.range(3), filename="", cache=cache, **spec)
    ops(cached, 4)
    kept = raw.CacheDatasetV2(
        input_dataset=ops.range(2), filename="", cache=raw.DummyMemoryCache(), **spec
    )
    ops(kept, 3)


@with_tensorflow()
def shared(tf: Any, p: Program) -> None:
    """A shuffled dataset that two others read."""
    ops = Ops(tf, p)
    raw, one = ops.raw, ops.one
    seeds = {"seed": i64(3), "seed2": i64(4), "buffer_size": i64(3)}
    shuffled = raw.ShuffleDataset(input_dataset=ops.range(7), **seeds, **one)
    rest = raw.SkipDataset(input_dataset=shuffled, count=i64(1), **one)
    spec: dict[str, Any] = {"output_types": [tf.int64] * 2, "output_shapes": [[], []]}
    ops(raw.ZipDataset(input_datasets=[shuffled, rest], **spec), 7, **spec)
    both = raw.ConcatenateDataset(input_dataset=shuffled, another_dataset=shuffled, **one)
    ops(both, 15)
