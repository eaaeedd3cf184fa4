"""Joined operands: fused element-wise nodes read the parts of a concatenation in its place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pass_checks import Maker, as_lines, assert_same_values, check, run_pass

from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.graph import Output
from drystone_base.ops.own import FUSED_ELEMENTWISE
from drystone_optimizer.passes import elementwise_fusion

F: dict[str, Any] = {"T": FLOAT32}
NAME = "elementwise_fusion"


@pytest.fixture(autouse=True)
def _with_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a plugin had one; the reference runs what comes out."""
    monkeypatch.setattr(elementwise_fusion, "of_plugins", lambda: {FUSED_ELEMENTWISE: ()})


def joined(m: Maker, name: str, *parts: Output, axis: int = 1) -> Output:
    where = m.const(f"{name}-axis", axis)
    return m.op("ConcatV2", name, *parts, where, N=len(parts), Tidx=INT32, **F)


def normed(m: Maker, name: str, x: Output, width: int) -> Output:
    scale = m.const(f"{name}-s", np.arange(width, dtype=np.float32))
    return m.op("Relu", name, m.op("Mul", f"{name}-m", x, scale, **F), **F)


def dense(widths: tuple[int, ...] = (8, 16, 9), axis: int = 1) -> tuple[Maker, dict[str, Any]]:
    """Two layers that each read all that there is until then."""
    m = Maker()
    a, b, c = (m.x(name, (3, width)) for name, width in zip("abc", widths, strict=True))
    first = joined(m, "first", a, b, axis=axis)
    second = joined(m, "second", first, c, axis=axis)
    normed(m, "y", first, sum(widths[:2]))
    normed(m, "z", second, sum(widths))
    rng = np.random.default_rng(0)
    pairs = zip("abc", widths, strict=True)
    return m, {f"{name}:0": rng.normal(size=(3, w)).astype(np.float32) for name, w in pairs}


@pytest.mark.parametrize("axis", [1, -1])
def test_readers_read_all_parts(axis: int) -> None:
    m, feeds = dense(axis=axis)
    after, report = run_pass(m.graph, NAME, ["y:0", "z:0"], list(feeds))
    assert "ConcatV2" not in [node.op for node in after]
    assert [source.name for source, _ in after["y"].inputs] == ["a", "b", "y-s"]
    assert [source.name for source, _ in after["z"].inputs] == ["a", "b", "c", "z-s"]
    assert (after["y"].attrs["joins"], after["z"].attrs["joins"]) == ([2, 1], [3, 1])
    assert [s.rewrites for s in report.steps if s.name == NAME] == [
        {"region": 2, "concat-operands": 2}
    ]
    assert_same_values(m.graph, after, ["y:0", "z:0"], feeds, exact=True)
    assert as_lines(run_pass(after, NAME, ["y:0", "z:0"], list(feeds))[0]) == as_lines(after)


def test_sizes_that_are_not_known() -> None:
    m = Maker()
    x = m.x(shape=(-1, 8))
    normed(m, "y", joined(m, "c", x, m.op("Exp", "e", x, **F)), 16)
    after, _ = run_pass(m.graph, NAME, ["y:0"], ["x:0"])
    assert after["y"].attrs["joins"] == [2, 1]
    feeds = {"x:0": np.ones((2, 8), np.float32)}
    assert_same_values(m.graph, after, ["y:0"], feeds, exact=True)


def assert_stays(m: Maker, feeds: dict[str, Any], fetches: list[str], count: int) -> None:
    """So many concatenations are left, and values are what they were."""
    after, _ = run_pass(m.graph, NAME, fetches, list(feeds))
    assert [node.op for node in after].count("ConcatV2") == count
    assert_same_values(m.graph, after, fetches, feeds, exact=True)


def test_not_where_another_reads_the_last() -> None:
    """Then it is made all the same, and what it is made of as well."""
    m, feeds = dense()
    m.op("Softmax", "s", "second", **F)
    assert_stays(m, feeds, ["y:0", "z:0", "s:0"], 2)


def test_not_what_is_fetched() -> None:
    m, feeds = dense()
    assert_stays(m, feeds, ["y:0", "z:0", "second:0"], 2)


def test_not_short_rows() -> None:
    """What they are joined to may still be a part."""
    m, feeds = dense((8, 7, 16))
    assert_stays(m, feeds, ["y:0", "z:0"], 1)


def test_not_along_another_axis() -> None:
    m = Maker()
    x = m.x(shape=(3, 8))
    normed(m, "y", joined(m, "c", x, x, axis=0), 8)
    assert_stays(m, {"x:0": np.ones((3, 8), np.float32)}, ["y:0"], 1)


def test_not_what_is_broadcast() -> None:
    m = Maker()
    row = joined(m, "c", m.x("a", (8,)), m.x("b", (8,)), axis=0)
    m.op("Neg", "y", m.op("Mul", "p", m.x(shape=(2, 16)), row, **F), **F)
    ones = np.ones((2, 16), np.float32)
    assert_stays(m, {"x:0": ones, "a:0": ones[0, :8], "b:0": ones[0, :8]}, ["y:0"], 1)


def test_not_more_inputs_than_the_kernel_takes() -> None:
    m = Maker()
    x = m.x(shape=(2, 8))
    normed(m, "y", joined(m, "c", *[x] * 256), 8 * 256)
    assert_stays(m, {"x:0": np.ones((2, 8), np.float32)}, ["y:0"], 1)


def test_a_reader_of_two_concatenated_operands() -> None:
    m = Maker()
    a, b = m.x("a", (3, 8)), m.x("b", (3, 16))
    one, other = joined(m, "one", a, b), joined(m, "other", b, a)
    m.op("Neg", "y", m.op("Sub", "d", one, other, **F), **F)
    feeds = {"a:0": np.ones((3, 8), np.float32), "b:0": np.zeros((3, 16), np.float32)}
    lines = [f"y = {FUSED_ELEMENTWISE}(a, b, b, a)", "a = Placeholder()", "b = Placeholder()"]
    check(m, NAME, ["y:0"], lines, feeds)
