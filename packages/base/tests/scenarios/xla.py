"""XLA's ops that call functions: reducers, comparators, branches and loops."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from scenarios import Program, with_tensorflow


def numbers(*pairs: tuple[int, list[int]]) -> bytes:
    """A message of integers: field numbers with their values, each below 128."""
    return bytes(b for n, values in pairs for v in values for b in (n << 3, v))


def _ops() -> Any:
    from tensorflow.compiler.tf2xla.ops import gen_xla_ops

    return gen_xla_ops


def _function(tf: Any, count: int, dtype: Any, body: Callable[..., Any]) -> Any:
    """A concrete function of so many scalars."""
    spec = tf.TensorSpec([], dtype)
    return tf.function(body).get_concrete_function(*[spec] * count)


def _values(rng: np.random.Generator, dtype: Any, shape: Any) -> Any:
    return rng.integers(-9, 9, shape).astype(dtype)


def _dtype(rng: np.random.Generator) -> Any:
    return [np.float32, np.float64, np.int32, np.int64][int(rng.integers(4))]


def _reducers(tf: Any) -> list[Any]:
    return [tf.add, tf.maximum, tf.minimum, tf.multiply]


@with_tensorflow(draws=12)
def reduce(tf: Any, p: Program, rng: np.random.Generator) -> None:
    dtype = _dtype(rng)
    shape = [int(n) for n in rng.integers(1, 5, 3)]
    body = _reducers(tf)[int(rng.integers(4))]
    axes = sorted(rng.permutation(3)[: int(rng.integers(0, 4))].tolist())
    x = tf.constant(_values(rng, dtype, shape))
    first = tf.constant(_values(rng, dtype, ()))
    f = _function(tf, 2, dtype, lambda a, b: body(a, b))
    p.step(_ops().xla_reduce(x, first, dimensions_to_reduce=axes, reducer=f))
    p.step(_ops().xla_variadic_reduce([x], [first], dimensions_to_reduce=axes, reducer=f)[0])


@with_tensorflow(draws=4)
def largest_with_place(tf: Any, p: Program, rng: np.random.Generator) -> None:
    x = rng.integers(-3, 3, (4, 7)).astype(np.float32)
    places = np.broadcast_to(np.arange(7, dtype=np.int32), (4, 7))

    def better(a: Any, i: Any, b: Any, j: Any) -> Any:
        take = tf.logical_or(a > b, tf.logical_and(tf.equal(a, b), i < j))
        return tf.where(take, a, b), tf.where(take, i, j)

    real, whole = tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int32)
    f = tf.function(better).get_concrete_function(real, whole, real, whole)
    inputs = [tf.constant(x), tf.constant(places)]
    first = [tf.constant(np.float32(-np.inf)), tf.constant(np.int32(0))]
    out = _ops().xla_variadic_reduce_v2(inputs, first, dimensions_to_reduce=[1], reducer=f)
    p.step(*out)


@with_tensorflow(draws=12)
def reduce_window(tf: Any, p: Program, rng: np.random.Generator) -> None:
    dtype = _dtype(rng)
    body = _reducers(tf)[int(rng.integers(3))]
    x = _values(rng, dtype, [1, 6, 7])
    f = _function(tf, 2, dtype, lambda a, b: body(a, b))
    sizes, strides = [1, int(rng.integers(1, 4)), 2], [1, int(rng.integers(1, 3)), 1]
    spread, rates = [1, int(rng.integers(1, 3)), 1], [1, 1, int(rng.integers(1, 3))]
    pads = [[0, 0], [int(rng.integers(0, 3)), 1], [0, int(rng.integers(0, 2))]]
    parts = [tf.constant(np.array(v, np.int32)) for v in (sizes, strides, spread, rates, pads)]
    first = tf.constant(_values(rng, dtype, ()))
    p.step(_ops().xla_reduce_window(tf.constant(x), first, *parts, computation=f))


@with_tensorflow(draws=8)
def select_and_scatter(tf: Any, p: Program, rng: np.random.Generator) -> None:
    x = rng.permutation(36).reshape(6, 6).astype(np.float32)
    size, stride = int(rng.integers(2, 4)), int(rng.integers(1, 3))
    pad = int(rng.integers(0, 2))
    count = (6 + 2 * pad - size) // stride + 1
    source = rng.integers(1, 9, (count, count)).astype(np.float32)
    select = _function(tf, 2, np.float32, lambda a, b: a >= b)
    scatter = _function(tf, 2, np.float32, lambda a, b: a + b)
    parts = [np.array([v, v], np.int32) for v in (size, stride)]
    pads = tf.constant(np.full((2, 2), pad, np.int32))
    out = _ops().xla_select_and_scatter(
        tf.constant(x), *map(tf.constant, parts), pads, tf.constant(source),
        tf.constant(np.float32(0)), select=select, scatter=scatter,
    )  # fmt: skip
    p.step(out)


@with_tensorflow(draws=10)
def scatter(tf: Any, p: Program, rng: np.random.Generator) -> None:
    dtype = _dtype(rng)
    x = _values(rng, dtype, [5, 4])
    f = _function(tf, 2, dtype, lambda a, b: (a + b) if rng.integers(2) else b)
    at = rng.integers(-1, 6, (3, 1)).astype(np.int32)
    rows = _values(rng, dtype, (3, 4))
    text = numbers((1, [1]), (2, [0]), (3, [0]), (4, [1]))
    attrs = {"update_computation": f, "indices_are_sorted": False}
    unique = rng.permutation(5)[:3].reshape(3, 1).astype(np.int32)
    for places in (at if dtype in (np.int32, np.int64) else unique, unique):
        out = _ops().xla_scatter(
            tf.constant(x), tf.constant(places), tf.constant(rows), dimension_numbers=text, **attrs
        )
        p.step(out)
    text = numbers((1, [1, 2]), (3, [0, 1]), (4, [1]))
    boxes = np.array([[0, 0], [2, 1], [3, 3]], np.int32)
    out = _ops().xla_scatter(
        tf.constant(x), tf.constant(boxes), tf.constant(_values(rng, dtype, (3, 2, 2))),
        dimension_numbers=text, **attrs,
    )  # fmt: skip
    p.step(out)


@with_tensorflow(draws=10)
def variadic_sort(tf: Any, p: Program, rng: np.random.Generator) -> None:
    shape = [int(n) for n in rng.integers(1, 9, 2)]
    keys = rng.integers(-3, 3, shape).astype(np.float32)
    values = np.arange(keys.size, dtype=np.int32).reshape(shape)
    real, whole = tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int32)
    down = bool(rng.integers(2))

    def before(a: Any, b: Any, i: Any, j: Any) -> Any:
        del i, j
        return a > b if down else a < b

    f = tf.function(before).get_concrete_function(real, real, whole, whole)
    out = _ops().xla_variadic_sort(
        [tf.constant(keys), tf.constant(values)], tf.constant(int(rng.integers(-2, 2))),
        comparator=f, is_stable=True,
    )  # fmt: skip
    p.step(*out)


@with_tensorflow(draws=4)
def loop(tf: Any, p: Program, rng: np.random.Generator) -> None:
    start = tf.constant(int(rng.integers(0, 3)))
    x = tf.constant(rng.normal(size=2).astype(np.float32))
    specs = [tf.TensorSpec([], tf.int32), tf.TensorSpec([2], tf.float32)]
    cond = tf.function(lambda i, _: i < 5).get_concrete_function(*specs)
    body = tf.function(lambda i, a: (i + 1, a * 1.5)).get_concrete_function(*specs)
    p.step(*_ops().xla_while([start, x], cond=cond, body=body))
