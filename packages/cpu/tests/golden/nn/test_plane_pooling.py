"""Pooling with the channels first gives the bits of that with them last, and NumPy's values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_ops import run_native

from drystone_base.core.dtypes import as_dtype
from drystone_base.executor.testing import run_op

UNUSUAL = (np.nan, np.inf, -np.inf, -0.0, 0.0)
KINDS = ("float32", "float64", "bfloat16", "float16", "int32")


class Case(NamedTuple):
    """An image ``[batch, channels, rows, columns]`` and windows, rows first."""

    kind: str
    planes: tuple[int, int]
    image: tuple[int, int]
    size: tuple[int, int]
    stride: tuple[int, int]
    padding: str
    unusual: float
    seed: int


def _pair(least: int, most: int) -> st.SearchStrategy[tuple[int, int]]:
    return st.tuples(st.integers(least, most), st.integers(least, most))


CASES = st.builds(
    Case,
    st.sampled_from(KINDS),
    st.tuples(st.integers(1, 2), st.integers(1, 18)),
    st.one_of(_pair(1, 70), st.tuples(st.integers(1, 200), st.just(1))),
    _pair(1, 6),
    _pair(1, 3),
    st.sampled_from(["SAME", "VALID", "EXPLICIT"]),
    st.sampled_from([0.0, 0.02, 0.5]),
    st.integers(0, 2**32 - 1),
)
# Rows of more windows than four registers hold; windows wider than the image; images of a row, of a
# column; planes whose last row is shorter than a register.
SHAPES = (
    ((3, 150), (3, 3), (2, 2)), ((2, 150), (2, 2), (1, 1)), ((150, 1), (3, 1), (1, 1)),
    ((1, 90), (1, 5), (1, 2)), ((9, 9), (12, 12), (1, 1)), ((21, 17), (3, 3), (2, 2)),
    ((14, 14), (2, 5), (1, 2)), ((31, 33), (3, 3), (3, 3)), ((7, 7), (7, 7), (7, 7)),
)  # fmt: skip


def _numbers(rng: np.random.Generator, shape: tuple[int, ...], case: Case) -> Any:
    values = rng.integers(-9, 9, shape).astype(np.float64)  # with ties
    if case.kind != "int32":
        values = np.where(rng.random(shape) < case.unusual, rng.choice(UNUSUAL, shape), values / 7)
    return values.astype(as_dtype(case.kind).np)


def _attrs(case: Case, last: bool, explicit: list[int] | None) -> dict[str, Any]:
    def placed(pair: tuple[int, int]) -> list[int]:
        return [1, *pair, 1] if last else [1, 1, *pair]

    attrs: dict[str, Any] = {
        "ksize": placed(case.size), "strides": placed(case.stride), "padding": case.padding,
        "data_format": "NHWC" if last else "NCHW",
    }  # fmt: skip
    if explicit is not None:
        attrs["explicit_paddings"] = [0, 0, *explicit, 0, 0] if last else [0, 0, 0, 0, *explicit]
    return attrs


def _bits(value: Any) -> Any:
    """The value with one NaN, as bytes."""
    wide = np.ascontiguousarray(value.astype(np.float64))
    wide[np.isnan(wide)] = np.nan
    return wide.view(np.uint64)


def _same(op: str, args: tuple[Any, ...], images: tuple[int, ...], attrs: Any, case: Case) -> Any:
    """The op's result with the channels first, which both formats and NumPy agree on."""
    first, last = attrs
    turned = list(args)
    for k in images:
        turned[k] = np.ascontiguousarray(args[k].transpose(0, 2, 3, 1))
    if not images or args[0].ndim == 1:  # the image's dims
        turned[0] = args[0][[0, 2, 3, 1]]
    (got,), (twin,) = run_native(op, *args, **first), run_native(op, *turned, **last)
    np.testing.assert_array_equal(_bits(got), _bits(twin.transpose(0, 3, 1, 2)), err_msg=op)
    (want,) = run_op(op, *args, **first)
    assert got.shape == want.shape
    slack = {"bfloat16": 0.05, "float16": 0.01}.get(case.kind, 1e-5)
    np.testing.assert_allclose(
        got.astype(np.float64), want.astype(np.float64), rtol=slack, atol=slack, err_msg=op
    )
    return got


def _check(case: Case) -> None:
    rng = np.random.default_rng(case.seed)
    x = _numbers(rng, (*case.planes, *case.image), case)
    explicit = None
    if case.padding == "EXPLICIT":
        explicit = [int(rng.integers(0, case.size[k // 2])) for k in range(4)]
    before = [0] * 4 if explicit is None else explicit
    room = [case.image[k] + before[2 * k] + before[2 * k + 1] for k in (0, 1)]
    if case.padding != "SAME" and any(r < s for r, s in zip(room, case.size, strict=True)):
        return
    attrs = (_attrs(case, False, explicit), _attrs(case, True, explicit))
    y = _same("MaxPool", (x,), (0,), attrs, case)
    dy = _numbers(rng, y.shape, case._replace(unusual=0.0))
    _same("MaxPoolGrad", (x, y, dy), (0, 1, 2), attrs, case)
    if case.kind == "int32" or explicit is not None:
        return
    _same("AvgPool", (x,), (0,), attrs, case)
    if case.kind.startswith("float") and case.kind != "float16":
        sizes = np.array(x.shape, np.int32)
        _same("AvgPoolGrad", (sizes, dy), (1,), attrs, case)


@settings(max_examples=60, deadline=None)
@given(CASES)
def test_drawn_windows(case: Case) -> None:
    _check(case)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes_at_the_edges_of_registers(kind: str, shape: Any) -> None:
    image, size, stride = shape
    for padding in ("SAME", "VALID"):
        _check(Case(kind, (2, 17), image, size, stride, padding, 0.02, 7))


def test_threads_turn_planes_of_their_own() -> None:
    case = Case("float32", (4, 600), (9, 9), (3, 3), (3, 3), "VALID", 0.0, 3)
    for _ in range(20):
        _check(case)
