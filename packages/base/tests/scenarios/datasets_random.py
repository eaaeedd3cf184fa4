"""Random chains of datasets."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from scenarios import Program, with_tensorflow
from scenarios.datasets import run_one

Rng = np.random.Generator
Step = Callable[[Any, Any, Rng], Any]


def _seed(rng: Rng) -> int:
    return int(rng.integers(1, 1000))


def _filter(_: Any, d: Any, rng: Rng) -> Any:
    limit = int(rng.integers(1, 4))
    return d.filter(lambda x: x % 4 < limit)


def _random(tf: Any, d: Any, rng: Rng) -> Any:
    seed = _seed(rng)
    return d.map(lambda x: x + tf.random.uniform([], 0, 9, tf.int64, seed=seed))


def _window(_: Any, d: Any, rng: Rng) -> Any:
    size, shift, stride = (int(v) for v in rng.integers(1, 4, 3))
    held = d.window(size, shift, stride, drop_remainder=bool(rng.integers(2)))
    return held.flat_map(lambda w: w)


def _batch(_: Any, d: Any, rng: Rng) -> Any:
    made = d.batch(int(rng.integers(1, 5)), drop_remainder=bool(rng.integers(2)))
    return made.map(lambda rows: rows * 2).unbatch()


def _rebatch(_: Any, d: Any, rng: Rng) -> Any:
    sizes = [int(v) for v in rng.integers(1, 4, int(rng.integers(1, 3)))]
    return d.batch(int(rng.integers(1, 5))).rebatch(sizes, bool(rng.integers(2))).unbatch()


def _inner(tf: Any, rng: Rng) -> Callable[[Any], Any]:
    """A function that makes a short dataset of a number; empty at times."""
    most = int(rng.integers(1, 4))
    return lambda x: tf.data.Dataset.range(x % most + 0).map(lambda k: k * 100 + x)


def _interleave(tf: Any, d: Any, rng: Rng) -> Any:
    cycle, block = (int(v) for v in rng.integers(1, 4, 2))
    calls = [None, 2][int(rng.integers(2))]
    return d.interleave(_inner(tf, rng), cycle, block, calls, deterministic=True)


def _group(_: Any, d: Any, rng: Rng) -> Any:
    keys, size = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    return d.group_by_window(
        lambda x: x % keys, lambda key, w: w.map(lambda x: x + key), window_size=size
    )


def _padded(tf: Any, d: Any, rng: Rng) -> Any:
    made = d.map(lambda x: tf.fill([x % 3], x))
    batches = made.padded_batch(int(rng.integers(1, 4)), [None], np.int64(-1))
    return batches.map(tf.reduce_sum)


def _directed(tf: Any, d: Any, rng: Rng) -> Any:
    other = tf.data.Dataset.range(int(rng.integers(0, 5)))
    weights = [float(v) for v in rng.integers(1, 5, 2)]
    stop = bool(rng.integers(2))
    return tf.data.Dataset.sample_from_datasets(
        [d, other], weights, _seed(rng), stop_on_empty_dataset=stop
    )


STEPS: dict[str, Step] = {
    "map": lambda _, d, __: d.map(lambda x: x * x + 1),
    "parallel": lambda _, d, __: d.map(lambda x: x + 3, num_parallel_calls=3, deterministic=True),
    "filter": _filter,
    "take": lambda _, d, rng: d.take(int(rng.integers(-1, 12))),
    "skip": lambda _, d, rng: d.skip(int(rng.integers(-1, 5))),
    "repeat": lambda _, d, rng: d.repeat(int(rng.integers(0, 4))),
    "shard": lambda _, d, rng: d.shard(2, int(rng.integers(2))),
    "shuffle": lambda _, d, rng: d.shuffle(
        int(rng.integers(1, 9)), _seed(rng), reshuffle_each_iteration=bool(rng.integers(2))
    ),
    "cache": lambda _, d, __: d.cache(),
    "concatenate": lambda tf, d, rng: d.concatenate(tf.data.Dataset.range(int(rng.integers(4)))),
    "zip": lambda tf, d, __: tf.data.Dataset.zip((d, d.skip(1))).map(lambda a, b: a * 10 + b),
    "enumerate": lambda _, d, __: d.enumerate().map(lambda k, x: k * 1000 + x),
    "scan": lambda _, d, __: d.scan(np.int64(1), lambda s, x: (s + x, s - x)),
    "take_while": lambda _, d, __: d.take_while(lambda x: x < 40),
    "unique": lambda _, d, __: d.unique(),
    "prefetch": lambda _, d, __: d.prefetch(2),
    "flat_map": lambda tf, d, rng: d.flat_map(_inner(tf, rng)),
    "random": _random,
    "interleave": _interleave,
    "window": _window,
    "batch": _batch,
    "rebatch": _rebatch,
    "group": _group,
    "padded": _padded,
    "directed": _directed,
}


@with_tensorflow(draws=48)
def chain(tf: Any, p: Program, rng: Rng) -> None:
    names = sorted(STEPS)
    dataset = tf.data.Dataset.range(int(rng.integers(0, 10)))
    for _ in range(int(rng.integers(2, 6))):
        dataset = STEPS[names[int(rng.integers(len(names)))]](tf, dataset, rng)
    dataset = dataset.take(40)
    p.step(tf.data.experimental.cardinality(dataset))
    run_one(tf, p, dataset, 9)
    total = dataset.reduce(np.int64(0), lambda s, x: s * 31 + x)
    p.step(total)
