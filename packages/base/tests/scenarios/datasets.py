"""Pipelines of datasets with iterators in the graph, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from stateful import f32, i64

from scenarios import Program, with_tensorflow

__all__ = ["run_all", "run_one"]


def run_one(tf: Any, p: Program, dataset: Any, count: int) -> None:
    """``count`` steps that each take an element from an iterator of its own."""
    iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
    p.step(iterator.initializer)
    parts = tf.nest.flatten(iterator.get_next(), expand_composites=True)
    for _ in range(count):
        p.step(*parts)


def run_all(tf: Any, p: Program, datasets: list[Any], count: int) -> None:
    """Each dataset's cardinality, then its elements."""
    for dataset in datasets:
        p.step(tf.data.experimental.cardinality(dataset))
        run_one(tf, p, dataset, count)


def _data(tf: Any) -> Any:
    return tf.data.Dataset


@with_tensorflow()
def sources(tf: Any, p: Program) -> None:
    d = _data(tf)
    sparse = tf.sparse.SparseTensor([[0, 1], [0, 3], [2, 0]], [1.0, 2.0, 3.0], [4, 5])
    run_all(
        tf,
        p,
        [
            d.from_tensors((f32([1, 2]), b"text")),
            d.from_tensor_slices({"a": np.arange(6).reshape(3, 2), "b": [b"x", b"", b"z"]}),
            d.from_tensor_slices(sparse),
            d.range(3),
            d.range(10, 0, -4),
            d.range(0, 5, 2, output_type=tf.float32),
            d.range(5, 0),
            d.from_tensors(1).repeat(0),
        ],
        5,
    )


@with_tensorflow()
def one_shot(tf: Any, p: Program) -> None:
    dataset = _data(tf).range(4).map(lambda x: x * 2).batch(3)
    following = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    for _ in range(4):
        p.step(following)


@with_tensorflow()
def passing(tf: Any, p: Program) -> None:
    d = _data(tf)
    five = d.range(5)
    run_all(
        tf,
        p,
        [
            d.zip((five, d.range(10, 13))),
            five.concatenate(d.range(2)),
            five.concatenate(d.range(2).repeat()),
            d.range(2).repeat(3),
            d.range(2).repeat(),
            d.range(0).repeat(),
            five.take(2),
            five.take(-1),
            five.take(9),
            five.skip(3),
            five.skip(9),
            five.skip(-1),
            five.shard(2, 1),
            five.shard(3, 0),
            five.cache(),
            five.cache().repeat(2),
            five.prefetch(2),
            d.from_tensor_slices([3, 1, 3, 2, 1]).unique(),
            five.apply(tf.data.experimental.assert_cardinality(5)),
            five.apply(tf.data.experimental.assert_cardinality(4)),
            five.apply(tf.data.experimental.assert_cardinality(6)),
            five.filter(lambda x: x % 2 == 0),
            five.take_while(lambda x: x < 3),
            five.enumerate(start=7),
            five.repeat().skip(-1).take(0),
            five.unique().skip(-1),
            five.unique().take(0),
            five.repeat().skip(-1),
            five.repeat().take(-1),
            five.scan(np.int64(10), lambda s, x: (s + x, s * x)),
        ],
        8,
    )


@with_tensorflow()
def batches(tf: Any, p: Program) -> None:
    d = _data(tf)
    seven = d.range(7)
    ragged = d.range(1, 6).map(lambda x: tf.fill([x], x))
    texts = d.from_tensor_slices([b"a", b"bb", b"ccc"]).map(
        lambda t: (t, tf.strings.bytes_split(t))
    )
    run_all(
        tf,
        p,
        [
            seven.batch(3),
            seven.batch(3, drop_remainder=True),
            seven.batch(9),
            seven.batch(9, drop_remainder=True),
            seven.batch(3, num_parallel_calls=2),
            ragged.batch(2),
            ragged.padded_batch(2, [None]),
            ragged.padded_batch(2, [6], np.int64(-1), drop_remainder=True),
            ragged.padded_batch(2, [3]),
            texts.padded_batch(2, ([], [None]), (b"", b"-")),
            seven.batch(3).unbatch(),
            seven.batch(3).rebatch(2),
            seven.batch(3).rebatch([1, 2], drop_remainder=True),
            seven.batch(4).batch(2),
            seven.window(3, drop_remainder=True).flat_map(lambda w: w.batch(3)),
            seven.window(3, shift=2, stride=2).flat_map(lambda w: w.batch(3)),
            seven.window(2, shift=4).flat_map(lambda w: w.batch(3)),
            ragged.apply(tf.data.experimental.dense_to_ragged_batch(2)),
        ],
        5,
    )


@with_tensorflow()
def dense_to_sparse(tf: Any, p: Program) -> None:
    ragged = _data(tf).range(1, 6).map(lambda x: tf.fill([x, 2], x))
    transform = tf.data.experimental.dense_to_sparse_batch
    run_all(tf, p, [ragged.apply(transform(2, [6, 2])), ragged.apply(transform(2, [3, 2]))], 4)


@with_tensorflow()
def shuffles(tf: Any, p: Program) -> None:
    d = _data(tf)
    run_all(
        tf,
        p,
        [
            d.range(9).shuffle(4, seed=7),
            d.range(9).shuffle(100, seed=7),
            d.range(4).shuffle(3, seed=1).repeat(4),
            d.range(4).shuffle(3, seed=1, reshuffle_each_iteration=False).repeat(4),
            d.range(3).repeat(5).shuffle(4, seed=2),
            d.range(4).shuffle(2, seed=5).shuffle(3, seed=6).batch(2).repeat(2),
            d.range(0).shuffle(2, seed=5),
            d.range(2).apply(tf.data.experimental.shuffle_and_repeat(5, 4, seed=3)),
            d.range(2).apply(tf.data.experimental.shuffle_and_repeat(1, None, seed=3)),
            d.range(0).apply(tf.data.experimental.shuffle_and_repeat(3, None, seed=3)),
            d.random(seed=4).take(4),
            d.random(seed=4, rerandomize_each_iteration=True).take(3).repeat(2),
            d.sample_from_datasets([d.range(5), d.range(10, 15)], [0.3, 0.7], seed=11),
        ],
        17,
    )


@with_tensorflow()
def random_inside(tf: Any, p: Program) -> None:
    d = _data(tf)
    noisy = d.range(3).map(lambda _: tf.random.uniform([2], seed=5))
    run_all(tf, p, [noisy, noisy.repeat(2), noisy.shuffle(2, seed=3)], 7)


@with_tensorflow()
def interleaves(tf: Any, p: Program) -> None:
    d = _data(tf)
    four = d.range(1, 5)
    counts = d.from_tensor_slices(i64([3, 0, 5, 1, 2]))

    def repeated(x: Any) -> Any:
        return d.from_tensors(x).repeat(x)

    legacy = tf.data.experimental.parallel_interleave
    run_all(
        tf,
        p,
        [
            four.flat_map(repeated),
            four.interleave(repeated, cycle_length=2),
            four.interleave(repeated, cycle_length=2, block_length=2),
            four.interleave(repeated, cycle_length=3, block_length=3),
            counts.interleave(repeated, cycle_length=3, block_length=2),
            counts.interleave(repeated, cycle_length=9, block_length=1),
            four.interleave(
                repeated, cycle_length=2, block_length=2, num_parallel_calls=2, deterministic=True
            ),
            counts.interleave(
                repeated, cycle_length=3, block_length=2, num_parallel_calls=2, deterministic=True
            ),
            four.apply(legacy(repeated, cycle_length=2, block_length=2)),
            counts.apply(legacy(repeated, cycle_length=1, block_length=1)),
            d.choose_from_datasets(
                [d.range(3), d.range(10, 12)],
                d.from_tensor_slices(i64([0, 1, 1, 0, 1, 0, 0])),
                stop_on_empty_dataset=False,
            ),
            d.choose_from_datasets(
                [d.range(3), d.range(10, 12)],
                d.from_tensor_slices(i64([0, 1, 1, 0, 1, 0, 0])),
                stop_on_empty_dataset=True,
            ),
            d.choose_from_datasets([d.range(3)], d.from_tensor_slices(i64([0, 1]))),
        ],
        13,
    )


@with_tensorflow()
def groups(tf: Any, p: Program) -> None:
    d = _data(tf)
    ten = d.range(10)
    reducer = tf.data.experimental.Reducer(
        init_func=lambda key: (key, np.int64(0)),
        reduce_func=lambda state, x: (state[0], state[1] + x),
        finalize_func=lambda key, total: (key, total),
    )
    run_all(
        tf,
        p,
        [
            ten.group_by_window(lambda x: x % 3, lambda _, w: w.batch(4), window_size=2),
            ten.group_by_window(
                lambda x: -(x % 3),
                lambda k, w: w.map(lambda v: v * 10 + k),
                window_size_func=lambda k: 2 - k,
            ),
            ten.apply(tf.data.experimental.group_by_reducer(lambda x: x % 3, reducer)),
            d.range(1, 7)
            .map(lambda x: tf.fill([x], x))
            .bucket_by_sequence_length(tf.size, [3, 5], [2, 2, 2]),
        ],
        12,
    )


@with_tensorflow()
def failures(tf: Any, p: Program) -> None:
    d = _data(tf)

    def checked(x: Any) -> Any:
        with tf.control_dependencies([tf.debugging.assert_none_equal(x % 3, np.int64(1))]):
            return tf.identity(x)

    bad = d.range(6).map(checked)
    run_all(
        tf,
        p,
        [
            bad,
            bad.ignore_errors(),
            bad.filter(lambda x: x >= 0).batch(2),
            bad.take(4).ignore_errors().batch(2),
            bad.filter(lambda x: x > 0),
            d.range(6).batch(2).map(checked),
            bad.repeat(2),
            bad.shuffle(3, seed=1),
            bad.prefetch(1),
        ],
        9,
    )


REFUSED: list[tuple[str, Callable[[Any, Any], Any]]] = [
    ("batch", lambda d, x: d.range(3).batch(x)),
    ("shuffle", lambda d, x: d.range(3).shuffle(x)),
    ("window", lambda d, x: d.range(3).window(x).flat_map(lambda w: w)),
    ("shard", lambda d, x: d.range(3).shard(x, 0)),
    ("shard_index", lambda d, x: d.range(3).shard(2, 2 - x)),
    ("range", lambda d, x: d.range(0, 3, x)),
    ("interleave", lambda d, x: d.range(3).interleave(lambda v: d.from_tensors(v), x, 1)),
    ("block", lambda d, x: d.range(3).interleave(lambda v: d.from_tensors(v), 1, x)),
    ("prefetch", lambda d, x: d.range(3).prefetch(x - 2)),
    ("map", lambda d, x: d.range(3).map(lambda v: v, num_parallel_calls=x)),
]


@with_tensorflow()
def refused(tf: Any, p: Program) -> None:
    for _, build in REFUSED:
        zero = tf.compat.v1.placeholder_with_default(np.int64(0), [])
        dataset = build(_data(tf), zero)
        iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
        p.step(iterator.initializer)
        p.step(tf.data.experimental.cardinality(dataset))


@with_tensorflow()
def iterators(tf: Any, p: Program) -> None:
    d, v1 = _data(tf), tf.compat.v1
    first, second = d.range(3), d.range(10, 12)
    shared = v1.data.Iterator.from_structure(tf.int64, [])
    following = shared.get_next()
    p.step(following)
    for dataset in (first, second, first):
        p.step(shared.make_initializer(dataset))
        p.step(following)
        p.step(following)
    optional = tf.data.experimental.get_next_as_optional(shared)
    p.step(optional.has_value())
    p.step(following)
    p.step(optional.has_value())
    p.step(optional.get_value())
    text = v1.data.Iterator.from_string_handle(shared.string_handle(), tf.int64, [])
    p.step(shared.make_initializer(second))
    p.step(text.get_next())
    wrong = v1.data.Iterator.from_string_handle(shared.string_handle(), tf.float32, [])
    p.step(wrong.get_next())
    p.step(v1.data.Iterator.from_string_handle("none", tf.int64, []).get_next())
    p.step(d.range(7).reduce(np.int64(0), lambda a, b: a + b))
    p.step(d.range(5).batch(9).get_single_element())
    p.step(d.range(2).get_single_element())
    p.step(d.range(0).get_single_element())


@with_tensorflow()
def optionals(tf: Any, p: Program) -> None:
    make = tf.experimental.Optional
    some = make.from_value((tf.constant([1.0, 2.0]), tf.constant(b"x")))
    none = make.empty(some.element_spec)
    for optional in (some, none):
        p.step(optional.has_value())
        p.step(*optional.get_value())


@with_tensorflow()
def captured(tf: Any, p: Program) -> None:
    d, v1 = _data(tf), tf.compat.v1
    scale = v1.get_variable("scale", initializer=np.float32(2), use_resource=True)
    scaled = d.range(3).map(lambda x: tf.cast(x, tf.float32) * scale)
    iterator = v1.data.make_initializable_iterator(scaled)
    following = iterator.get_next()
    p.step(scale.initializer)
    p.step(iterator.initializer)
    p.step(following)
    p.step(following)
    p.step(scale.assign(5.0))
    p.step(iterator.initializer)
    p.step(following)
    p.step(following)


@with_tensorflow()
def generated(tf: Any, p: Program) -> None:
    dataset_ops = __import__("tensorflow.python.data.ops", fromlist=["from_generator_op"])
    made = dataset_ops.from_generator_op._GeneratorDataset(
        np.int64(3),
        lambda start: start * 2,
        lambda state: tf.cond(
            state > 100, lambda: tf.identity(state), lambda: tf.identity(state) + 1
        ),
        lambda state: state,
        tf.TensorSpec([], tf.int64),
    )
    run_one(tf, p, made.take(3), 4)


@with_tensorflow()
def tables(tf: Any, p: Program) -> None:
    pairs = _data(tf).from_tensor_slices(([b"a", b"b", b"c"], i64([1, 2, 3])))
    init = tf.data.experimental.DatasetInitializer(pairs)
    table = tf.lookup.StaticHashTable(init, np.int64(-1))
    p.step(tf.compat.v1.tables_initializer())
    p.step(table.lookup(tf.constant([b"c", b"x", b"a"])))
    p.step(table.size())


def _examples(tf: Any) -> list[bytes]:
    """Serialized examples; features are missing here and there."""

    def feature(value: Any) -> Any:
        if isinstance(value[0], bytes):
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=value))
        if isinstance(value[0], float):
            return tf.train.Feature(float_list=tf.train.FloatList(value=value))
        return tf.train.Feature(int64_list=tf.train.Int64List(value=value))

    rows: list[dict[str, Any]] = [
        {"z": [1.0, 2.0], "a": [b"x"], "m": [1, 2, 3], "r": [5, 6]},
        {"z": [3.0, 4.0], "m": [4]},
        {"z": [5.0, 6.0], "a": [b"y"], "r": [7]},
    ]
    return [
        tf.train.Example(
            features=tf.train.Features(feature={k: feature(v) for k, v in row.items()})
        ).SerializeToString(deterministic=True)
        for row in rows
    ]


def _unpacked(tf: Any, packed: Any) -> Any:
    """The parts of a sparse tensor in a variant."""
    return tuple(tf.raw_ops.DeserializeSparse(serialized_sparse=packed, dtype=tf.int64))


@with_tensorflow()
def examples(tf: Any, p: Program) -> None:
    io = tf.io
    parse = tf.data.experimental.parse_example_dataset
    source = _data(tf).from_tensor_slices(_examples(tf)).batch(2)
    some = {
        "z": io.FixedLenFeature([2], tf.float32),
        "a": io.FixedLenFeature([], tf.string, b"none"),
        "m": io.VarLenFeature(tf.int64),
        "r": io.RaggedFeature(tf.int64),
    }
    run_one(tf, p, source.apply(parse(some)), 3)
    strict = {"a": io.FixedLenFeature([], tf.string), "m": io.VarLenFeature(tf.float32)}
    run_one(tf, p, source.apply(parse(strict)), 3)
    old = tf.raw_ops.ParseExampleDataset(
        input_dataset=source._variant_tensor, num_parallel_calls=np.int64(1),
        dense_defaults=[tf.constant([], tf.float32)], sparse_keys=["m"], dense_keys=["z"],
        sparse_types=[tf.int64], dense_shapes=[[2]], output_types=[tf.variant, tf.float32],
        output_shapes=[[3], [None, 2]],
    )  # fmt: skip
    variants = tf.data.experimental.from_variant(
        old, (tf.TensorSpec([3], tf.variant), tf.TensorSpec([None, 2], tf.float32))
    )
    run_one(tf, p, variants.map(lambda m, z: (_unpacked(tf, m), z)), 3)
    padded = {"m": io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}
    run_one(tf, p, source.apply(parse(padded, num_parallel_calls=2)), 3)


@with_tensorflow()
def several_devices(tf: Any, p: Program) -> None:
    ops = __import__(
        "tensorflow.python.data.ops.multi_device_iterator_ops", fromlist=["MultiDeviceIterator"]
    )
    made = ops.MultiDeviceIterator(_data(tf).range(5), ["/cpu:0"], prefetch_buffer_size=0)
    (following,) = made.get_next()
    p.step(made.initializer)
    for _ in range(6):
        p.step(following)


@with_tensorflow()
def training(tf: Any, p: Program) -> None:
    """A regression whose data come from a shuffled, mapped, batched pipeline in the graph."""
    v1 = tf.compat.v1
    rng = np.random.default_rng(3)
    xs = rng.normal(size=(24, 3)).astype(np.float32)
    ys = (xs @ np.array([[1.0], [-2.0], [0.5]], np.float32)).astype(np.float32)
    dataset = _data(tf).from_tensor_slices((xs, ys)).shuffle(10, seed=5)
    dataset = dataset.map(lambda x, y: (x * 2.0, y)).repeat(2).batch(4).prefetch(1)
    x, y = v1.data.make_one_shot_iterator(dataset).get_next()
    weights = v1.get_variable("w", initializer=np.zeros((3, 1), np.float32), use_resource=True)
    loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - y))
    train = v1.train.MomentumOptimizer(0.02, 0.9).minimize(loss)
    p.step(v1.global_variables_initializer())
    for _ in range(13):
        p.step(loss, train)
    p.step(weights.value())
