"""Attention of one node, against the NumPy reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import native_ops
import numpy as np
import pytest
from native_ops import run_native

from drystone_base.core.dtypes import BOOL, FLOAT32
from drystone_base.executor.testing import run_op
from drystone_base.ops.own import ATTENTION

pytestmark = native_ops.needs_onednn()
PLAIN = ("BNTH", "BNSH", "BNSH", "BNTH")
BETWEEN = ("BTNH", "BSNH", "BSNH", "BTNH")
SIZES = {"B": 2, "N": 3, "T": 5, "S": 7, "H": 4}


def tensors(layouts: Sequence[str], sizes: dict[str, int], **other: dict[str, int]) -> list[Any]:
    """Queries, keys and values; ``other`` sizes by their first letters."""
    rng = np.random.default_rng(1)
    out = []
    for name, layout in zip("qkv", layouts, strict=False):
        held = sizes | other.get(name, {})
        out.append(rng.normal(size=[held[d] for d in layout]).astype(np.float32))
    return out


def attrs(layouts: Sequence[str], masks: Sequence[str] = (), fill: float = -1e9) -> dict[str, Any]:
    types = [FLOAT32 if mask == "Add" else BOOL for mask in masks]
    return {"T": FLOAT32, "Targs": types, "layouts": list(layouts), "masks": list(masks),
            "scale": 0.3, "fill": fill}  # fmt: skip


def agrees(inputs: Sequence[Any], given: dict[str, Any]) -> Any:
    """Both give the same; what that is."""
    found = run_native(ATTENTION, *inputs, **given)[0]
    expected = run_op(ATTENTION, *inputs, **given)[0]
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)
    return found


@pytest.mark.parametrize(
    "layouts",
    [PLAIN, BETWEEN, ("BTNH", "BNHS", "BSNH", "BNTH"), ("NBTH", "SBNH", "BNHS", "TBNH")],
)
def test_orders_of_dimensions(layouts: tuple[str, ...]) -> None:
    inputs = tensors(layouts, SIZES)
    found = agrees(inputs, attrs(layouts))
    assert found.shape == tuple(SIZES[d] for d in layouts[3])


@pytest.mark.parametrize("layouts", [PLAIN, BETWEEN])
@pytest.mark.parametrize(
    "sizes",
    [
        {"B": 1, "N": 12, "T": 128, "S": 128, "H": 64},  # one head at a time
        {"B": 2, "N": 5, "T": 40, "S": 70, "H": 16},  # some heads at a time, and fewer
        {"B": 1, "N": 2, "T": 300, "S": 290, "H": 8},  # some queries at a time
        {"B": 1, "N": 1, "T": 1, "S": 70000, "H": 2},
        {"B": 1, "N": 1, "T": 1, "S": 1, "H": 1},
    ],
    ids=lambda s: "x".join(map(str, s.values())),
)
def test_blocks(layouts: tuple[str, ...], sizes: dict[str, int]) -> None:
    agrees(tensors(layouts, sizes), attrs(layouts))


SHAPES = [(2, 1, 1, 7), (1, 3, 5, 1), (5, 7), (7,), (), (2, 3, 5, 7), (1, 1, 1, 1)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_masks(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(2)
    inputs = tensors(BETWEEN, SIZES)
    added = rng.normal(size=shape).astype(np.float32)
    chosen = np.asarray(rng.random(shape) < 0.6)
    agrees([*inputs, added], attrs(BETWEEN, ["Add"]))
    agrees([*inputs, chosen], attrs(BETWEEN, ["Select"]))
    agrees([*inputs, added, chosen, added], attrs(BETWEEN, ["Add", "Select", "Add"]))


def test_examples_and_heads_for_all() -> None:
    one = {"B": 1, "N": 1}
    for name in "qkv":
        agrees(tensors(BETWEEN, SIZES, **{name: one}), attrs(BETWEEN))
    inputs = tensors(PLAIN, SIZES, q=one, k=one, v=one)
    found = agrees([*inputs, np.zeros((4, 2, 1, 7), np.float32)], attrs(PLAIN, ["Add"]))
    assert found.shape == (4, 2, 5, 4)


def test_rows_without_a_key() -> None:
    """All keys alike where a number takes the place of all scores; NaN where that is -inf."""
    inputs = tensors(PLAIN, SIZES)
    none = np.zeros((5, 7), bool)
    found = agrees([*inputs, none], attrs(PLAIN, ["Select"]))
    np.testing.assert_allclose(found, inputs[2].mean(2, keepdims=True).repeat(5, 2), rtol=1e-5)
    assert np.isnan(agrees([*inputs, none], attrs(PLAIN, ["Select"], fill=-np.inf))).all()
    mask = np.full((5, 7), -np.inf, np.float32)
    mask[1:, 2] = 0
    found = agrees([*inputs, mask], attrs(PLAIN, ["Add"]))
    assert np.isnan(found[:, :, 0]).all()
    np.testing.assert_allclose(found[:, :, 1:], inputs[2][:, :, 2:3].repeat(4, 2), rtol=1e-5)


def test_numbers_that_are_none() -> None:
    q, k, v = tensors(PLAIN, SIZES)
    q[0, 0, 0, 0], k[0, 1, 0, 0], v[0, 2, 0, 0], q[1, 0, 0, 0] = np.nan, np.inf, np.nan, 1e30
    found = agrees([q, k, v], attrs(PLAIN))
    assert np.isnan(found[0, 0, 0]).all()
    assert np.isfinite(found[1]).all()


def test_nothing_to_attend_to() -> None:
    for empty in ({"S": 0}, {"T": 0}, {"B": 0}, {"H": 0}):
        agrees(tensors(BETWEEN, SIZES | empty), attrs(BETWEEN))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"k": {"H": 5}}, "heads of one size|queries must fit"),
        ({"v": {"S": 6}}, "as many values|queries must fit"),
        ({"k": {"N": 2}}, "must agree|could not be broadcast|mismatch"),
    ],
)
def test_what_does_not_fit(change: Any, told: str) -> None:
    inputs = tensors(PLAIN, SIZES, **change)
    for run in (run_native, run_op):
        with pytest.raises(Exception, match=told):
            run(ATTENTION, *inputs, **attrs(PLAIN))
