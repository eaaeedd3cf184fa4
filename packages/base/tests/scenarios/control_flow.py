"""Functions, branches and loops with their gradients, in both generations; built by TensorFlow."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

import numpy as np

from scenarios import Program, with_tensorflow


@contextmanager
def generation(tf: Any, functional: bool) -> Any:
    """Loops and branches as functions (v2), or as Switch, Merge, Enter and so on (v1)."""
    v1 = tf.compat.v1
    (v1.enable_control_flow_v2 if functional else v1.disable_control_flow_v2)()
    try:
        yield
    finally:
        v1.enable_control_flow_v2()


def fed(tf: Any, rng: np.random.Generator, shape: list[int], dtype: str = "float32") -> Any:
    """A placeholder, and a value for it."""
    return tf.compat.v1.placeholder(dtype, [None, *shape[1:]]), rng.normal(size=shape).astype(dtype)


@with_tensorflow(draws=8)
def branches(tf: Any, p: Program, rng: np.random.Generator) -> None:
    with generation(tf, bool(rng.integers(2))):
        x, value = fed(tf, rng, [3, 2])
        flag = tf.compat.v1.placeholder("bool", [])
        deep = lambda: tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1)  # noqa: E731
        y = tf.cond(flag, deep, lambda: tf.nn.relu(x))
        gradient = tf.gradients(y, x)[0]
    for given in (True, False):
        p.step(y, gradient, feeds={flag: given, x: value})


@with_tensorflow(draws=12)
def loop(tf: Any, p: Program, rng: np.random.Generator) -> None:
    with generation(tf, bool(rng.integers(2))):
        x, value = fed(tf, rng, [2, 3])
        w = tf.constant(rng.normal(size=[3, 3]).astype("f4"))
        count = tf.compat.v1.placeholder("int32", [])
        _, y = tf.while_loop(
            lambda k, _: k < count,
            lambda k, v: (k + 1, tf.tanh(v @ w) + x),
            [0, x],
            parallel_iterations=int(rng.integers(1, 11)),
        )
        gradients = tf.gradients(y, [x, w])
    for times in (0, 1, 4):
        p.step(y, *gradients, feeds={x: value, count: times})


@with_tensorflow(draws=8)
def nested_loop(tf: Any, p: Program, rng: np.random.Generator) -> None:
    with generation(tf, bool(rng.integers(2))):
        x, value = fed(tf, rng, [4])

        def outer(k: Any, v: Any) -> Any:
            inner = tf.while_loop(
                lambda j, _: j < k, lambda j, u: (j + 1, u * 0.5 + tf.sin(u)), [0, v]
            )[1]
            return k + 1, tf.cond(inner[0] > 0, lambda: inner, lambda: -inner)

        y = tf.while_loop(lambda k, _: k < 4, outer, [0, x])[1]
        gradient = tf.gradients(y, x)[0]
    p.step(y, gradient, feeds={x: value})


@with_tensorflow(draws=8)
def arrays_in_a_loop(tf: Any, p: Program, rng: np.random.Generator) -> None:
    with generation(tf, bool(rng.integers(2))):
        x, value = fed(tf, rng, [5, 2])
        taken = tf.TensorArray("float32", 5).unstack(x)

        def body(k: Any, state: Any, out: Any) -> Any:
            state = tf.tanh(state + taken.read(k))
            return k + 1, state, out.write(k, state)

        made = tf.while_loop(
            lambda k, *_: k < 5, body, [0, tf.zeros([2]), tf.TensorArray("float32", 5)]
        )
        y = made[2].stack()
        gradient = tf.gradients(tf.reduce_sum(y * y), x)[0]
    p.step(y, gradient, feeds={x: value})


@with_tensorflow(draws=6)
def scan_and_map(tf: Any, p: Program, rng: np.random.Generator) -> None:
    with generation(tf, bool(rng.integers(2))):
        x, value = fed(tf, rng, [4, 3])
        y = tf.scan(lambda a, b: a * 0.5 + b, x)
        z = tf.map_fn(lambda row: tf.reduce_max(row) * row, x)
        w = tf.foldl(lambda a, b: a + b * b, x)
        gradient = tf.gradients([y, z, w], x)[0]
    p.step(y, z, w, gradient, feeds={x: value})


@with_tensorflow(draws=4)
def case(tf: Any, p: Program, rng: np.random.Generator) -> None:
    x, value = fed(tf, rng, [3])
    which = tf.compat.v1.placeholder("int32", [])
    y = tf.switch_case(which, [lambda: x, lambda: x * x, lambda: tf.exp(x)])
    gradient = tf.gradients(y, x)[0]
    for k in (0, 1, 2, -1, 7):
        p.step(y, gradient, feeds={which: k, x: value})


@with_tensorflow(draws=4)
def called(tf: Any, p: Program, rng: np.random.Generator) -> None:
    x, value = fed(tf, rng, [3])

    @tf.function  # type: ignore[untyped-decorator]
    def inner(v: Any) -> Any:
        return tf.sin(v) * v, tf.shape(v)

    @tf.function  # type: ignore[untyped-decorator]
    def outer(v: Any) -> Any:
        a, size = inner(v)
        if tf.reduce_sum(a) > 0.5:
            return a, size
        for _ in tf.range(3):
            a = a * 1.5
        return a, size * 2

    y, size = outer(x)
    gradient = tf.gradients(y, x)[0]
    p.step(y, size, gradient, feeds={x: value})


@with_tensorflow()
def variables_in_functions(tf: Any, p: Program) -> None:
    v = tf.compat.v1.get_variable("v", initializer=np.zeros(2, "f4"), use_resource=True)

    @tf.function  # type: ignore[untyped-decorator]
    def step(x: Any) -> Any:
        v.assign_add(x)
        if tf.reduce_sum(v) > 3:
            v.assign(v * 0.5)
        return v.read_value()

    x = tf.compat.v1.placeholder("float32", [2])
    y = step(x)
    p.step(y, feeds={x: np.ones(2, "f4")})
    p.step(v.initializer)
    for _ in range(3):
        p.step(y, feeds={x: np.ones(2, "f4")})


@with_tensorflow(draws=4)
def recurrent_cells(tf: Any, p: Program, rng: np.random.Generator) -> None:
    with generation(tf, bool(rng.integers(2))):
        x, value = fed(tf, rng, [2, 4, 3])
        w = tf.constant(rng.normal(size=[3 + 5, 20]).astype("f4") * 0.3)

        def cell(k: Any, h: Any, c: Any) -> Any:
            i, j, f, o = tf.split(tf.concat([x[:, k], h], 1) @ w, 4, 1)
            c = c * tf.sigmoid(f) + tf.sigmoid(i) * tf.tanh(j)
            return k + 1, tf.tanh(c) * tf.sigmoid(o), c

        zero = tf.zeros([tf.shape(x)[0], 5])
        shapes = [tf.TensorShape([]), tf.TensorShape([None, 5]), tf.TensorShape([None, 5])]
        _, h, c = tf.while_loop(lambda k, *_: k < 4, cell, [0, zero, zero], shapes)
        loss = tf.reduce_sum(h * h) + tf.reduce_sum(c)
        gradients = tf.gradients(loss, [x, w])
    p.step(h, c, loss, *gradients, feeds={x: value})


@with_tensorflow()
def assertions(tf: Any, p: Program) -> None:
    x = tf.compat.v1.placeholder("float32", [None])
    with tf.control_dependencies([tf.compat.v1.assert_positive(x, message="positive")]):
        y = tf.identity(x)
    p.step(y, feeds={x: np.array([1, 2], "f4")})
    p.step(y, feeds={x: np.array([1, -2], "f4")})
