"""Row C13: a bias behind the Reshape of a product's rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pass_checks import Maker, as_lines, assert_same_values, assert_unchanged, run_pass

from drystone_base.core.dtypes import FLOAT32

F = {"T": FLOAT32}
MAP = "remapping"
X = {"x:0": np.linspace(-2, 2, 24).reshape(6, 4).astype(np.float32)}


def dense(
    op: str = "AddV2", shape: Any = (2, 3, 5), bias: Any = (5,), first: bool = False, **more: Any
) -> Maker:
    """A product of 6 rows and 5 columns, its Reshape, and a bias."""
    m = Maker()
    m.x(shape=(-1, 4))
    weights = np.linspace(-1, 1, 20).reshape((5, 4) if more.get("transpose_b") else (4, 5))
    m.op("MatMul", "l", "x", m.const("w", weights), **F, **more)
    m.op("Reshape", "r", "l", m.const("s", list(shape)), **F)
    b = m.const("b", np.linspace(0, 1, int(np.prod(bias))).reshape(bias))
    sides = (b, "r") if first else ("r", b)
    m.op(op, "y", *sides, **F)
    return m


@pytest.mark.parametrize(
    "m",
    [
        dense(), dense("Add", first=True), dense("BiasAdd"), dense("BiasAddV1"),
        dense(shape=(-1, 3, 5)), dense(shape=(1, 1, 6, 5)), dense(transpose_b=True),
    ],
    ids=["sum", "first", "bias", "v1", "batch", "rank", "transposed"],
)  # fmt: skip
def test_bias_before_reshape(m: Maker) -> None:
    after, _ = run_pass(m.graph, MAP, ["y:0"], ["x:0"])
    assert {"y = Reshape(y/biased, s)", "y/biased = _FusedMatMul(x, w, b)"} <= set(as_lines(after))
    assert_same_values(m.graph, after, ["y:0"], X, exact=True)
    again, _ = run_pass(after, MAP, ["y:0"], ["x:0"])
    assert again is after


@pytest.mark.parametrize(
    "m",
    [
        dense(shape=(2, 5, 3), bias=(3,)), dense(shape=(2, 15), bias=(15,)),
        dense(shape=(30,), bias=(30,)), dense(bias=(1,)), dense(bias=(3, 5)), dense(bias=(1, 5)),
        dense("Mul"), dense(shape=(6, 5, 1), bias=(5,)),
    ],
    ids=["moved", "wider", "flat", "one", "rows", "row", "product", "column"],
)  # fmt: skip
def test_other_sums_stay(m: Maker) -> None:
    assert_unchanged(m, MAP, ["y:0"], ["x:0"])


def test_what_others_read_stays() -> None:
    assert_unchanged(dense(), MAP, ["y:0", "r:0"], ["x:0"])
    assert_unchanged(dense(), MAP, ["y:0", "l:0"], ["x:0"])
    waits = dense()
    waits.op("Neg", "n", "x", controls=["r"], **F)
    assert_unchanged(waits, MAP, ["y:0", "n:0"], ["x:0"])
