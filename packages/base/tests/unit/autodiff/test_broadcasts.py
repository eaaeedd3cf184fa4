"""Over which axes gradients of what was broadcast are summed, before a run and in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import drystone_base as ds
from drystone_base.autodiff._broadcasts import summed_axes
from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.graph import Graph
from drystone_base.graph.builder import Builder

SIZES = st.lists(st.integers(0, 3), max_size=4)


def _axes(shape: Sequence[int], other: Sequence[int]) -> list[int]:
    """What BroadcastGradientArgs gives, less axes along which the other's size is 1, too."""
    rank = max(len(shape), len(other))
    own = [1] * (rank - len(shape)) + list(shape)
    its = [1] * (rank - len(other)) + list(other)
    short = rank - len(shape)
    return [k for k in range(rank) if k < short or (own[k] == 1 and its[k] != 1)]


@given(SIZES, SIZES, st.data())
def test_what_is_said_of_shapes_holds_of_all_sizes(
    shape: list[int], other: list[int], data: st.DataObject
) -> None:
    for k in range(1, min(len(shape), len(other)) + 1):
        if 1 not in (shape[-k], other[-k]):
            other[-k] = shape[-k]
    hidden = [
        [-1 if data.draw(st.booleans()) else size for size in sizes] for sizes in (shape, other)
    ]
    said = summed_axes(*hidden)
    assert said is None or said == _axes(shape, other) or _sums_ones(said, shape, other)
    assert summed_axes(shape, other) == _axes(shape, other)


def _sums_ones(said: list[int], shape: list[int], other: list[int]) -> bool:
    """Whether axes differ only by such along which there is one element."""
    rank = max(len(shape), len(other))
    result = [
        max(([1] * (rank - len(s)) + s)[k] for s in (shape, other)) for k in range(rank)
    ]  # of those without a size of 0
    return all(result[k] <= 1 for k in set(said) ^ set(_axes(shape, other)))


def test_symbols_stand_for_equal_sizes() -> None:
    assert summed_axes((-2, 5), (-2, 5)) == []
    assert summed_axes((-2, 5), (-3, 5)) is None
    assert summed_axes((-1,), (-1,)) is None
    assert summed_axes((-2, 5), (5,)) == []
    assert summed_axes((5,), (-2, 5)) == [0]
    assert summed_axes((1, 5), (-2, 5)) == [0]
    assert summed_axes((4,), (-1,)) == []
    assert summed_axes(None, (2,)) is summed_axes((2,), None) is None


def _dense(bias: tuple[int, ...]) -> tuple[Graph, list[Any], Any]:
    g = Graph()
    b = Builder(g)
    x = b("Placeholder", dtype=FLOAT32, shape=(-1, 3, 4))
    c = b("Placeholder", dtype=FLOAT32, shape=bias)
    y = b("Mul", b("AddV2", x, c), x)
    return g, [x, c], y


def _names(outputs: Sequence[Any]) -> list[str]:
    return [f"{node.name}:{k}" for node, k in outputs]


@pytest.mark.parametrize("bias", [(4,), (1, 4), (3, 1), (), (1, 1, 1)])
def test_nothing_of_shapes_is_read_that_is_known(bias: tuple[int, ...]) -> None:
    g, xs, y = _dense(bias)
    found = ds.gradients([y], xs)
    ops = {node.op for node in g}
    assert "BroadcastGradientArgs" not in ops
    assert "Shape" not in ops
    for rows in (0, 1, 5):
        fed = np.random.default_rng(1).random((rows, 3, 4), np.float32)
        held = np.full(bias, 0.5, np.float32)
        feeds = dict(zip(_names(xs), (fed, held), strict=True))
        dx, dc = ds.Session(g).run(_names(found), feeds)
        np.testing.assert_allclose(dx, 2 * fed + 0.5, rtol=1e-6)
        axes = tuple(k - 3 for k in range(3) if 3 - k > len(bias) or bias[k - 3] == 1)
        np.testing.assert_allclose(dc, fed.sum(axes).reshape(bias), rtol=1e-5)


@pytest.mark.parametrize("op", ["SelectV2", "ClipByValue", "BroadcastTo"])
def test_other_ops_that_broadcast_read_no_more(op: str) -> None:
    g = Graph()
    b = Builder(g)
    x = b("Placeholder", dtype=FLOAT32, shape=())
    wide = b("Placeholder", dtype=FLOAT32, shape=(3, 4))
    inputs = {
        "SelectV2": [b("Greater", wide, b.const(0, FLOAT32)), x, wide],
        "ClipByValue": [wide, b.const(-1, FLOAT32), x],
        "BroadcastTo": [x, b.const([3, 4], INT32)],
    }
    found = ds.gradients([b(op, *inputs[op])], [x])
    assert "BroadcastGradientArgs" not in {node.op for node in g}
    values = np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32)
    feeds = dict(zip(_names([x, wide]), (np.float32(0.5), values), strict=True))
    (dx,) = ds.Session(g).run(_names(found), feeds)
    chosen = {"SelectV2": values > 0, "ClipByValue": values > 0.5}.get(op, np.ones_like(values))
    assert dx == chosen.sum()
