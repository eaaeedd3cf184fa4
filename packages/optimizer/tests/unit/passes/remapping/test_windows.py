"""Row C13: remapping, what convolutions read: zeros around images, and rows that are skipped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pass_checks import Maker, as_lines, assert_same_values, assert_unchanged, run_pass

from drystone_base.core.dtypes import FLOAT32

F = {"T": FLOAT32}
MAP = "remapping"
RNG = np.random.default_rng(11)


def conv(m: Maker, name: str, x: Any, window: tuple[int, ...], stride: int = 1, **more: Any) -> Any:
    held = m.const(f"{name}_w", RNG.normal(size=window))
    first = more.get("data_format") == "NCHW"
    strides = [1, 1, stride, stride] if first else [1, stride, stride, 1]
    return m.op("Conv2D", name, x, held, **({"strides": strides, "padding": "SAME"} | more), **F)


def padded(m: Maker, x: Any, paddings: Any) -> Any:
    return m.op("Pad", "p", x, m.const("paddings", paddings), **F)


def images(shape: tuple[int, ...]) -> dict[str, Any]:
    return {"x:0": RNG.normal(size=shape).astype(np.float32)}


@pytest.mark.parametrize(
    "padding", [{}, {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 0, 0, 2, 0, 0]}]
)
def test_zeros_around_an_image_become_padding(padding: dict[str, Any]) -> None:
    m = Maker()
    inner = padded(m, m.x(shape=(1, 5, 6, 2)), [[0, 0], [0, 1], [2, 1], [0, 0]])
    conv(m, "y", inner, (3, 3, 2, 4), 2, **({"padding": "VALID"} | padding))
    made, report = run_pass(m.graph, MAP, ["y:0"], ["x:0"])
    assert [line for line in as_lines(made) if "Conv" in line] == ["y = Conv2D(x, y_w)"]
    assert "p" not in made
    expected = [0, 0, 1, 1, 2, 3, 0, 0] if padding else [0, 0, 0, 1, 2, 1, 0, 0]
    assert made["y"].attrs["explicit_paddings"] == expected
    assert report.steps[0].numeric == "reassociates"
    assert_same_values(m.graph, made, ["y:0"], images((1, 5, 6, 2)), exact=False)


def test_who_else_reads_the_zeros_keeps_them() -> None:
    m = Maker()
    inner = padded(m, m.x(shape=(1, 4, 4, 2)), [[0, 0], [1, 1], [1, 1], [0, 0]])
    conv(m, "y", inner, (3, 3, 2, 4), padding="VALID")
    m.op("Relu", "z", "p", **F)
    made, _ = run_pass(m.graph, MAP, ["y:0", "z:0"], ["x:0"])
    assert "p" in made
    assert made["y"].inputs[0][0].name == "x"
    assert_same_values(m.graph, made, ["y:0", "z:0"], images((1, 4, 4, 2)), exact=False)


def weights(value: float) -> Any:
    def build(m: Maker) -> None:
        inner = padded(m, m.x(shape=(1, 4, 4, 1)), [[0, 0], [1, 1], [1, 1], [0, 0]])
        held = m.const("w", np.full((3, 3, 1, 1), value))
        m.op("Conv2D", "y", inner, held, strides=[1] * 4, padding="VALID", **F)

    return build


def around(paddings: Any, **more: Any) -> Any:
    def build(m: Maker) -> None:
        conv(m, "y", padded(m, m.x(shape=(1, 4, 4, 2)), paddings), (3, 3, 2, 4), **more)

    return build


STAYS: dict[str, Any] = {
    "infinite weights": weights(np.inf),
    "weights that are not numbers": weights(np.nan),
    "channels": lambda m: conv(
        m, "y", padded(m, m.x(shape=(1, 4, 4, 1)), [[0, 0], [1, 1], [0, 0], [0, 1]]), (3, 3, 2, 4),
        padding="VALID",
    ),
    "another batch": around([[1, 0], [1, 1], [0, 0], [0, 0]], padding="VALID"),
    "paddings that follow the size": around([[0, 0], [1, 1], [1, 1], [0, 0]]),
}  # fmt: skip


@pytest.mark.parametrize("name", STAYS)
def test_other_zeros_stay(name: str) -> None:
    m = Maker()
    STAYS[name](m)
    assert_unchanged(m, MAP, ["y:0"], ["x:0"])


def block(m: Maker, size: int, kernel: int, pad: dict[str, Any], sums: bool) -> None:
    """A layer and two convolutions that read each third row and column of it."""
    x = m.x(shape=(2, size, size, 3))
    conv(m, "c", x, (kernel, kernel, 3, 4), **pad)
    m.op("BiasAdd", "b", "c", m.const("bias", RNG.normal(size=4)), **F)
    last = "b"
    if sums:
        conv(m, "side", x, (kernel, kernel, 3, 4), **pad)
        m.op("Relu", "other", "side", **F)
        m.op("AddV2", "sum", "b", "other", **F)
        last = "sum"
    m.op("Relu", "r", last, **F)
    conv(m, "left", "r", (1, 1, 4, 2), 3)
    conv(m, "right", "r", (1, 1, 4, 5), 3, padding="VALID")


@pytest.mark.parametrize("sums", [False, True])
@pytest.mark.parametrize("kernel", [1, 2, 3, 5])
@pytest.mark.parametrize("size", [5, 6, 7, 8])
@pytest.mark.parametrize("pad", [{}, {"padding": "VALID"}])
def test_what_is_skipped_is_not_computed(
    size: int, kernel: int, pad: dict[str, Any], sums: bool
) -> None:
    m = Maker()
    block(m, size, kernel, pad, sums)
    fetches = ["left:0", "right:0"]
    made, _ = run_pass(m.graph, MAP, fetches, ["x:0"])
    assert made["r"].op == "_FusedConv2D"
    assert made["r"].attrs["strides"] == [1, 3, 3, 1]
    assert made["left"].attrs["strides"] == made["right"].attrs["strides"] == [1, 1, 1, 1]
    assert_same_values(m.graph, made, fetches, images((2, size, size, 3)), exact=False)


def test_strides_are_taken_over_in_turn() -> None:
    m = Maker()
    conv(m, "a", m.x(shape=(1, 19, 17, 2)), (3, 3, 2, 2))
    conv(m, "b", "a", (1, 1, 2, 2), 2)
    conv(m, "y", "b", (1, 1, 2, 2), 2)
    made, _ = run_pass(m.graph, MAP, ["y:0"], ["x:0"])
    assert made["a"].attrs["strides"] == [1, 4, 4, 1]
    assert_same_values(m.graph, made, ["y:0"], images((1, 19, 17, 2)), exact=False)


def reader(window: tuple[int, ...] = (1, 1, 2, 2), stride: int = 2, op: str = "") -> Any:
    def build(m: Maker) -> None:
        conv(m, "a", m.x(shape=(1, 6, 6, 2)), (3, 3, 2, 2))
        conv(m, "y", "a", (1, 1, 2, 2), 2)
        if op:
            m.op(op, "z", "a", **F)
        else:
            conv(m, "z", "a", window, stride)

    return build


WHOLE: dict[str, Any] = {
    "another stride": reader(stride=3),
    "a larger window": reader((2, 2, 2, 2)),
    "another op": reader(op="Tanh"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_somebody_reads_is_computed(name: str) -> None:
    m = Maker()
    WHOLE[name](m)
    assert_unchanged(m, MAP, ["y:0", "z:0"], ["x:0"])
    m = Maker()
    reader()(m)
    assert_unchanged(m, MAP, ["y:0", "z:0", "a:0"], ["x:0"])
