"""Graphs that TensorFlow made around Python functions, run by both with the same functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_base import Access, Graph, Session, SessionConfig

tf = pytest.importorskip("tensorflow", reason="tensorflow is not installed; run nox -s tf_parity")

X = np.array([[1, -2.5], [0, np.nan]], np.float32)


def fails(error: Exception) -> Callable[[Any], Any]:
    def function(_: Any) -> Any:
        raise error

    return function


FUNCTIONS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "array": (lambda x: np.asarray(x) * 2, [tf.float32]),
    "two values": (lambda x: (np.sum(x), np.int32(3)), [tf.float32, tf.int32]),
    "nothing": (lambda _: None, []),
    "a list": (lambda _: [np.float32(1)], [tf.float32]),
    "strings": (lambda _: np.array([["a", "b"], ["c", ""]]), [tf.string]),
    "bytes": (lambda _: b"raw\0", [tf.string]),
    "int for float": (lambda _: 1, [tf.float32]),
    "float for int": (lambda _: 1.5, [tf.int32]),
    "bool for int": (lambda _: True, [tf.int32]),
    "double for float": (lambda _: np.float64(2), [tf.float32]),
    "text for float": (lambda _: "x", [tf.float32]),
    "too few": (lambda _: None, [tf.float32]),
    "too many": (lambda _: (np.float32(1), np.float32(2)), [tf.float32]),
    **{type(e).__name__: (fails(e), [tf.float32]) for e in (
        ValueError("no"), TypeError("no"), MemoryError(), NotImplementedError(), KeyError("no"),
        RuntimeError("no"), StopIteration(), ZeroDivisionError(),
    )},
}  # fmt: skip


def answers(name: str, maker: Callable[..., Any]) -> tuple[Any, Any]:
    """TensorFlow's outputs or status, and ours."""
    function, types = FUNCTIONS[name]
    with tf.Graph().as_default() as graph:
        made = maker(function, [tf.constant(X)], types)
        made = made if isinstance(made, list | tuple) else [made]
        outputs = [t.name for t in made if isinstance(t, tf.Tensor)]
        (node,) = (n for n in graph.as_graph_def().node if "PyFunc" in n.op)
        with tf.compat.v1.Session() as session:
            try:
                want = session.run(outputs or node.name)
            except tf.errors.OpError as error:
                want = error.error_code
    ds.register_py_func(node.attr["token"].s.decode(), function)
    config = SessionConfig(access=Access(python=True))
    ours = Session(Graph.from_bytes(graph.as_graph_def().SerializeToString()), config)
    try:
        return want, ours.run(outputs or node.name)
    except ds.KernelError as error:
        return want, getattr(tf.errors, error.status)


@pytest.mark.parametrize("maker", [tf.compat.v1.py_func, tf.py_function])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_give_what_they_give_in_tensorflow(name: str, maker: Callable[..., Any]) -> None:
    want, got = answers(name, maker)
    if not isinstance(want, list):
        assert got == want
        return
    for a, b in zip(got, want, strict=True):
        value = np.asarray(b, object if isinstance(b, bytes) else None)
        assert a.dtype == value.dtype
        np.testing.assert_array_equal(a, value)
