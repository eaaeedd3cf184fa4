"""Datasets inside of functions: what SavedModels made of `tf.function` hold."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from stateful import f32, i64

from scenarios import Program, with_tensorflow


def _data(tf: Any) -> Any:
    return tf.data.Dataset


def _function(tf: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    made: Callable[[Callable[..., Any]], Callable[..., Any]] = tf.function
    return made


@with_tensorflow()
def loops(tf: Any, p: Program) -> None:
    d = _data(tf)

    @_function(tf)
    def total(count: Any) -> Any:
        out = tf.constant(0, tf.int64)
        for x in d.range(count):
            out += x * x
        return out

    @_function(tf)
    def broken_off(count: Any) -> Any:
        out = tf.constant(0, tf.int64)
        for x in d.range(count).repeat():
            out += x
            if out > 20:
                break
        return out

    @_function(tf)
    def collected(count: Any) -> Any:
        out = tf.TensorArray(tf.int64, 0, dynamic_size=True, element_shape=[2])
        for at, x in d.range(count).batch(2, drop_remainder=True).enumerate():
            out = out.write(tf.cast(at, tf.int32), x)
        return out.stack()

    for count in i64([0, 1, 7]):
        p.step(total(count))
        p.step(collected(count))
    p.step(broken_off(np.int64(4)))


@with_tensorflow()
def iterators_in_functions(tf: Any, p: Program) -> None:
    d = _data(tf)

    @_function(tf)
    def three(count: Any) -> Any:
        source = iter(d.range(count).map(lambda x: x * 2).shuffle(3, seed=4))
        return [next(source) for _ in range(3)]

    @_function(tf)
    def optional(count: Any) -> Any:
        source = iter(d.range(count))
        first = source.get_next_as_optional()
        second = source.get_next_as_optional()
        return first.has_value(), second.has_value(), first.get_value()

    for count in i64([5, 3, 1, 0]):
        p.step(*three(count))
        p.step(*optional(count))


@with_tensorflow()
def nested(tf: Any, p: Program) -> None:
    d = _data(tf)

    @_function(tf)
    def windows(count: Any) -> Any:
        pairs = d.zip((d.range(count), d.range(count).map(lambda x: x * x)))
        inner = pairs.window(3, shift=2).map(
            lambda a, b: (a.reduce(np.int64(0), tf.add), b.reduce(np.int64(0), tf.maximum))
        )
        return inner.batch(10).get_single_element()

    @_function(tf)
    def captured(scale: Any, values: Any) -> Any:
        made = d.from_tensor_slices(values).map(lambda x: x * scale)
        return made.filter(lambda x: x > scale).reduce(np.float32(0), lambda a, b: a + b)

    p.step(*windows(np.int64(7)))
    p.step(captured(np.float32(2), f32([0.5, 1.5, 3])))
    p.step(captured(np.float32(-1), f32([0.5, 1.5, 3])))


@with_tensorflow()
def training(tf: Any, p: Program) -> None:
    """An epoch of training in one function, as a SavedModel's `train` signature has it."""
    rng = np.random.default_rng(8)
    xs = rng.normal(size=(20, 2)).astype(np.float32)
    ys = (xs @ f32([[2.0], [-1.0]]) + 0.5).astype(np.float32)
    v1 = tf.compat.v1
    weights = v1.get_variable("w", initializer=f32([[0], [0]]), use_resource=True)
    bias = v1.get_variable("b", initializer=f32([0]), use_resource=True)

    @_function(tf)
    def epoch(rate: Any) -> Any:
        losses = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[])
        pipeline = _data(tf).from_tensor_slices((xs, ys)).shuffle(20, seed=9).batch(6)
        for k, (x, y) in pipeline.enumerate():
            with tf.GradientTape() as tape:
                tape.watch([weights, bias])
                loss = tf.reduce_mean(tf.square(x @ weights + bias - y))
            gradients = tape.gradient(loss, [weights, bias])
            weights.assign_sub(rate * gradients[0])
            bias.assign_sub(rate * gradients[1])
            losses = losses.write(tf.cast(k, tf.int32), loss)
        return losses.stack()

    rate = tf.constant(0.1)
    run = epoch(rate)
    p.step(v1.global_variables_initializer())
    for _ in range(4):
        p.step(run)
    p.step(weights.value(), bias.value())
