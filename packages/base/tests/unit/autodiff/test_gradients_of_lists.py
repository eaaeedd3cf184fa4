"""Gradients through lists of tensors, against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from drystone_base.api.session import Session, SessionConfig
from drystone_base.autodiff import IndexedSlices
from drystone_base.autodiff.backward import gradients_of
from drystone_base.graph import Builder, Graph, Output

F64 = {"element_dtype": "float64"}


def rows(b: Builder, x: Output) -> Output:
    """A list of the rows of a matrix with three columns."""
    return b("TensorListFromTensor", x, b.const([3]), **F64)


def stacked(b: Builder, held: Output) -> Output:
    return b("TensorListStack", held, b.const([3]), **F64)


def push(b: Builder, x: Output) -> Output:
    more = b("TensorListPushBack", rows(b, x), b.const([1.0, 2, 3], "float64"), **F64)
    row = b("TensorListGetItem", rows(b, x), b.const(1), b.const([3]), **F64)
    return stacked(b, b("TensorListPushBack", more, row, **F64))


def pop(b: Builder, x: Output) -> Output:
    node = b.node("TensorListPopBack", rows(b, x), b.const([3]), **F64)
    return b("AddV2", stacked(b, (node, 0)), b("Square", (node, 1)))


def popped_alone(b: Builder, x: Output) -> Output:
    return (b.node("TensorListPopBack", rows(b, x), b.const([3]), **F64), 1)


def put(b: Builder, x: Output) -> Output:
    row = b("TensorListGetItem", rows(b, x), b.const(0), b.const([3]), **F64)
    return stacked(b, b("TensorListSetItem", rows(b, x), b.const(2), b("Square", row), **F64))


def reserved(b: Builder, x: Output) -> Output:
    held = b("TensorListReserve", b.const([3]), b.const(2), **F64)
    for k in range(2):
        row = b("TensorListGetItem", rows(b, x), b.const(k), b.const([3]), **F64)
        held = b("TensorListSetItem", held, b.const(1 - k), row, **F64)
    return stacked(b, held)


def split(b: Builder, x: Output) -> Output:
    lengths = b.const([1, 2], "int64")
    parts = b("TensorListSplit", x, b.const([-1, 3]), lengths, **F64)
    return b("TensorListConcatV2", parts, b.const([-1, 3]), lengths, **F64)


def split_once(b: Builder, x: Output) -> Output:
    parts = b("TensorListSplit", x, b.const([-1, 3]), b.const([2, 1], "int64"), **F64)
    return b("TensorListConcat", parts, element_shape=(-1, 3), **F64)


def gather(b: Builder, x: Output) -> Output:
    return b("TensorListGather", rows(b, x), b.const([2, 0]), b.const([3]), **F64)


def scatter(b: Builder, x: Output) -> Output:
    held = b("TensorListScatterV2", x, b.const([2, 0, 1]), b.const([3]), b.const(3), **F64)
    return stacked(b, held)


def scatter_once(b: Builder, x: Output) -> Output:
    return stacked(b, b("TensorListScatter", x, b.const([2, 0, 1]), b.const([3]), **F64))


def scatter_into(b: Builder, x: Output) -> Output:
    two = b("Square", b("Slice", x, b.const([1, 0]), b.const([2, 3])))
    return stacked(
        b, b("TensorListScatterIntoExistingList", rows(b, x), two, b.const([0, 2]), **F64)
    )


def resize(b: Builder, x: Output) -> Output:
    held = b("TensorListResize", rows(b, x), b.const(2))
    return stacked(b, held)


@pytest.mark.parametrize(
    "build",
    [push, pop, popped_alone, put, reserved, split, split_once, gather, scatter, scatter_once,
     scatter_into, resize],
)  # fmt: skip
def test_lists(build: Callable[[Builder, Output], Output]) -> None:
    graph = Graph()
    b = Builder(graph)
    x = b("Placeholder", dtype="float64", shape=[3, 3], name="x")
    y = b("Sum", b("Sin", build(b, x)), b.const([0, 1] if build is not popped_alone else [0]))
    (grad,) = gradients_of([y], [x])
    assert grad is not None
    assert not isinstance(grad, IndexedSlices)
    session = Session(graph, SessionConfig(executor="reference"))
    value = np.random.default_rng(0).uniform(-1, 1, (3, 3))
    found = session.run(f"{grad[0].name}:{grad[1]}", {"x:0": value})
    assert_is_gradient(session, f"{y[0].name}:0", value, found)


def assert_is_gradient(session: Session, y: str, value: Any, found: Any) -> None:
    run = session.make_callable(y, ["x:0"])
    for at in np.ndindex(value.shape):
        step = np.zeros_like(value)
        step[at] = 1e-6
        expected = (run(value + step) - run(value - step)) / 2e-6
        assert abs(found[at] - expected) < 1e-7, at


def test_lists_of_integers_pass_nothing() -> None:
    graph = Graph()
    b = Builder(graph)
    x = b("Placeholder", dtype="float64", shape=[2], name="x")
    whole = b("Cast", x, DstT="int32")
    held = b("TensorListFromTensor", whole, b.const([], "int32"), element_dtype="int32")
    y = b("TensorListStack", held, b.const([], "int32"), element_dtype="int32")
    assert gradients_of([b("Cast", y, DstT="float64")], [x]) == [None]
