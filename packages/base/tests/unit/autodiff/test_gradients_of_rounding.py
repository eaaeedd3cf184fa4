"""Gradients through rounding to few values: ones inside the range, nothing outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from drystone_base.api.session import Session
from drystone_base.autodiff import gradients
from drystone_base.graph import Builder, Graph, Output

X = np.array([-9.0, -1.0, 0.2, 1.0, 9.0], np.float32)


def slopes(op: str, *ends: Any, **attrs: Any) -> list[Any]:
    """The gradients of the sum of what an op gives for X, by each input."""
    graph = Graph()
    b = Builder(graph)
    x: Output = b("Placeholder", dtype="float32", shape=[5], name="x")
    rest = [b.const(np.asarray(end, np.float32)) for end in ends]
    found = gradients(b("Sum", b(op, x, *rest, **attrs), b.const([0], "int32")), [x, *rest])
    names = [f"{g[0].name}:{g[1]}" for g in found if g is not None]
    return list(Session(graph).run(names, {"x": X}))


@pytest.mark.parametrize("op", ["QuantizeAndDequantize", "QuantizeAndDequantizeV2"])
def test_as_if_nothing_were_rounded(op: str) -> None:
    ends = () if op == "QuantizeAndDequantize" else (-2.0, 2.0)
    assert slopes(op, *ends, range_given=bool(ends))[0].tolist() == [1] * 5


def test_the_third_version_has_its_bits_as_an_input() -> None:
    graph = Graph()
    b = Builder(graph)
    x = b("Placeholder", dtype="float32", shape=[5], name="x")
    ends = [b.const(np.float32(v)) for v in (-2.0, 2.0)]
    y = b("QuantizeAndDequantizeV3", x, *ends, b.const(8, "int32"), range_given=True)
    (dx,) = gradients(b("Sum", y, b.const([0], "int32")), x)
    assert Session(graph).run(f"{dx[0].name}:{dx[1]}", {"x": X}).tolist() == [1] * 5


def test_outside_of_the_range_nothing_passes() -> None:
    inside = [0, 1, 1, 1, 0]
    by_x, low, high = slopes("QuantizeAndDequantizeV4", -2.0, 2.0, range_given=True)
    assert by_x.tolist() == inside
    assert (low.shape, high.shape) == ((), ())
    assert slopes("FakeQuantWithMinMaxArgs", min=-2.0, max=2.0)[0].tolist() == inside
    by_x, low, high = slopes("FakeQuantWithMinMaxVars", -2.0, 2.0)
    assert (by_x.tolist(), low, high) == (inside, 1, 1)
    by_x, low, high = slopes("FakeQuantWithMinMaxVarsPerChannel", [-2.0] * 5, [2.0] * 5)
    assert by_x.tolist() == inside
    assert (low.tolist(), high.tolist()) == ([1, 0, 0, 0, 0], [0, 0, 0, 0, 1])
