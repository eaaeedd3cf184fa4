"""Loops and branches by their ops, dataset ops by their older names; built by TensorFlow."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stateful import f32, i64

from scenarios import Program, with_tensorflow
from scenarios.datasets_files import Folder
from scenarios.datasets_ops import Ops


def function(tf: Any, body: Callable[..., Any], *specs: Any) -> Any:
    """The body as a function of the graph; its name as an attribute."""
    made = tf.function(body).get_concrete_function(*specs)
    made.add_to_graph()
    value = tf.compat.v1.AttrValue()
    value.func.name = made.name
    return value


def node(tf: Any, op: str, inputs: list[Any], kinds: list[Any], **attrs: Any) -> Any:
    """A node of an op that Python has no name for."""
    graph = tf.compat.v1.get_default_graph()
    name = graph.unique_name(op.removeprefix("_"))
    return graph.create_op(op, inputs, kinds, name=name, attrs=attrs)


def types(tf: Any, *kinds: Any) -> Any:
    value = tf.compat.v1.AttrValue()
    value.list.type.extend(k.as_datatype_enum for k in kinds)
    return value


@with_tensorflow()
def one_of_several(tf: Any, p: Program) -> None:
    spec = tf.TensorSpec([2], tf.float32)
    bodies = [tf.function(f).get_concrete_function(spec)
              for f in (lambda x: x + 1, lambda x: x * 3, lambda x: -x)]  # fmt: skip
    index = tf.compat.v1.placeholder("int32", [])
    out = tf.raw_ops.Case(branch_index=index, input=[tf.constant([1.0, 2.0])],
                          Tout=[tf.float32], branches=bodies)  # fmt: skip
    for k in (0, 1, 2, 3, -1):
        p.step(out[0], feeds={index: k})


@with_tensorflow()
def loops_by_name(tf: Any, p: Program) -> None:
    whole, real = tf.TensorSpec([], tf.int32), tf.TensorSpec([2], tf.float32)
    x, k = tf.constant([1.0, 2.0]), tf.compat.v1.placeholder("int32", [])
    again = tf.function(lambda i, _: i < 3).get_concrete_function(whole, real)
    body = tf.function(lambda i, v: (i + 1, v * 2)).get_concrete_function(whole, real)
    out = tf.raw_ops.While(input=[k, x], cond=again, body=body)
    plain = node(tf, "_While", [k, x], [tf.int32, tf.float32],
                 T=types(tf, tf.int32, tf.float32),
                 cond=function(tf, lambda i, _: i < 3, whole, real),
                 body=function(tf, lambda i, v: (i + 1, v * 2), whole, real))  # fmt: skip
    for start in (0, 2, 7):
        p.step(*out, feeds={k: start})
        p.step(*plain.outputs, feeds={k: start})
    add = tf.function(lambda i, v: v + tf.cast(i, tf.float32)).get_concrete_function(whole, real)
    delta = tf.compat.v1.placeholder("int32", [])
    summed = tf.raw_ops.For(start=k, limit=6, delta=delta, input=[x], body=add)
    for start, step in ((0, 1), (1, 2), (9, -1), (6, 1), (0, -1), (0, 0)):
        p.step(summed[0], feeds={k: start, delta: step})


@with_tensorflow()
def branches_by_name(tf: Any, p: Program) -> None:
    spec = tf.TensorSpec([2], tf.float32)
    flag = tf.compat.v1.placeholder("bool", [])
    x = tf.constant([1.0, 2.0])
    kinds = types(tf, tf.float32)
    plain = node(tf, "_If", [flag, x], [tf.float32], Tin=kinds, Tout=kinds,
                 Tcond=tf.compat.v1.AttrValue(type=tf.bool.as_datatype_enum),
                 then_branch=function(tf, lambda v: v + 1, spec),
                 else_branch=function(tf, lambda v: -v, spec))  # fmt: skip
    for given in (True, False):
        p.step(plain.outputs[0], feeds={flag: given})


@with_tensorflow()
def passing_on(tf: Any, p: Program) -> None:
    ops = Ops(tf, p)
    raw, given = ops.raw, {"input_dataset": ops.range(4), **ops.one}
    none = tf.constant([], tf.string)
    ops(raw.AutoShardDataset(num_workers=i64(1), index=i64(0), **given), 5)
    ops(raw.ExperimentalAssertNextDataset(transformations=none, **given), 5)
    ops(raw.AssertPrevDataset(transformations=none, **given), 5)
    ops(raw.OptimizeDatasetV2(optimizations_enabled=none, optimizations_disabled=none,
                              optimizations_default=none, **given), 5)  # fmt: skip
    pool = {"num_threads": 1, "display_name": "pool", "shared_name": "pool"}
    ops(raw.ThreadPoolDataset(thread_pool=raw.ThreadPoolHandle(**pool), **given), 5)
    old = raw.ExperimentalThreadPoolHandle(**pool)
    ops(raw.ExperimentalThreadPoolDataset(thread_pool=old, **given), 5)


@with_tensorflow()
def counting(tf: Any, p: Program) -> None:
    ops = Ops(tf, p)
    raw, given = ops.raw, {"input_dataset": ops.range(4), **ops.one}
    tags: dict[str, Any] = {"tag": "t", "counter_prefix": ""}
    made = raw.StatsAggregatorHandle()
    ops(raw.SetStatsAggregatorDataset(stats_aggregator=made, **tags, **given), 5)
    made = raw.StatsAggregatorHandleV2()
    ops(raw.SetStatsAggregatorDataset(stats_aggregator=made, **tags, **given), 5)
    made = raw.ExperimentalStatsAggregatorHandle()
    ops(raw.ExperimentalSetStatsAggregatorDataset(stats_aggregator=made, **tags, **given), 5)


@with_tensorflow()
def fastest(tf: Any, p: Program) -> None:
    ops = Ops(tf, p)
    several = [ops.range(3), ops.range(3)]
    chosen = ops.raw.ExperimentalChooseFastestDataset(
        input_datasets=several, num_experiments=2, **ops.one
    )
    ops(chosen, 4)


@with_tensorflow()
def calling(tf: Any, p: Program) -> None:
    ops = Ops(tf, p)
    raw = ops.raw
    given = {"input_dataset": ops.range(5), "other_arguments": [], **ops.one}
    ranges = ops.function(lambda x: ops.range_to(x))
    buffers = {"buffer_output_elements": i64(1), "prefetch_input_elements": i64(0)}
    ops(raw.ExperimentalParallelInterleaveDataset(
        f=ranges, sloppy=False, cycle_length=i64(1), block_length=i64(2), **buffers, **given,
    ), 11)  # fmt: skip
    window: dict[str, Any] = {f"{n}_func": ops.function(f) for n, f in (
        ("key", lambda x: x % 2), ("window_size", lambda k: k + 2))}  # fmt: skip
    variant = tf.TensorSpec([], tf.variant)
    window["reduce_func"] = tf.function(
        lambda _, d: raw.SkipDataset(input_dataset=d, count=i64(1), **ops.one)
    ).get_concrete_function(tf.TensorSpec([], tf.int64), variant)
    window |= {f"{n}_func_other_arguments": [] for n in ("key", "reduce", "window_size")}
    ops(raw.ExperimentalGroupByWindowDataset(input_dataset=ops.range(9), **window, **ops.one), 8)


@with_tensorflow()
def sparse_batches(tf: Any, p: Program) -> None:
    ops = Ops(tf, p)
    raw = ops.raw
    vectors = raw.MapDataset(input_dataset=ops.range(3), other_arguments=[],
                             f=ops.function(lambda n: tf.range(n)),
                             output_types=[tf.int64], output_shapes=[[None]])  # fmt: skip
    spec: dict[str, Any] = {"output_types": [tf.variant], "output_shapes": [None]}
    batches = raw.ExperimentalDenseToSparseBatchDataset(
        input_dataset=vectors, batch_size=i64(2), row_shape=i64([4]),
        **spec,
    )  # fmt: skip
    handle = raw.IteratorV2(shared_name="sparse", container="", **spec)
    p.step(raw.MakeIterator(dataset=batches, iterator=handle))
    (packed,) = raw.IteratorGetNextSync(iterator=handle, **spec)
    parts = raw.DeserializeSparse(serialized_sparse=packed, dtype=tf.int64)
    for _ in range(3):
        p.step(*parts)


@with_tensorflow()
def slices_of_a_sparse_tensor(tf: Any, p: Program) -> None:
    ops = Ops(tf, p)
    made = ops.raw.SparseTensorSliceDataset(
        indices=i64([[0, 1], [0, 2], [2, 0]]), values=f32([1, 2, 3]), dense_shape=i64([4, 3])
    )
    spec: dict[str, Any] = {"output_types": [tf.int64, tf.float32, tf.int64],
                            "output_shapes": [None, None, None]}  # fmt: skip
    ops(made, 5, **spec)


@with_tensorflow()
def device_of_an_iterator(tf: Any, p: Program) -> None:
    ops = Ops(tf, p)
    handle = ops.raw.IteratorV2(shared_name="here", container="", **ops.one)
    p.step(ops.raw.MakeIterator(dataset=ops.range(2), iterator=handle))
    device = ops.raw.ExperimentalIteratorGetDevice(resource=handle)
    p.step(tf.strings.regex_full_match(device, ".*CPU:0"))


@with_tensorflow()
def files(tf: Any, p: Program) -> None:
    file, ops = Folder(tf, p), Ops(tf, p)
    texts: dict[str, Any] = {"output_types": [tf.string], "output_shapes": [[]]}
    some = file("b.csv", b"1")
    ops(ops.raw.MatchingFilesDataset(patterns=some), 2, **texts)
    words = ops.raw.TensorSliceDataset(components=[tf.constant(["one", "two"])],
                                       output_shapes=[[]])  # fmt: skip
    out = file("out", None)
    p.step(ops.raw.ExperimentalDatasetToTFRecord(
        input_dataset=words, filename=out, compression_type=""))  # fmt: skip
    p.step(tf.io.read_file(out))


@with_tensorflow()
def parsed(tf: Any, p: Program) -> None:
    ops = Ops(tf, p)
    example = tf.train.Example()
    example.features.feature["a"].int64_list.value.append(7)
    text = tf.constant([[example.SerializeToString(deterministic=True)]])
    source = ops.raw.TensorSliceDataset(components=[text], output_shapes=[[1]])
    made = ops.raw.ExperimentalParseExampleDataset(
        input_dataset=source, num_parallel_calls=i64(1), dense_defaults=[i64([])],
        sparse_keys=[], dense_keys=["a"], sparse_types=[], dense_shapes=[[1]],
        output_types=[tf.int64], output_shapes=[[1, 1]],
    )  # fmt: skip
    ops(made, 2)
