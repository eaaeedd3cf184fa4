"""Borders against index arithmetic; the gradient of a mirror is its transpose."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op

PAIR = st.tuples(st.integers(0, 2), st.integers(0, 2))


def _mirrored(place: int, before: int, size: int, edge: int) -> int:
    """The position that a mirror shows: distance from the edge, turned round."""
    place -= before
    if place < 0:
        return -place - 1 + edge
    return place if place < size else 2 * size - 1 - place - edge


@settings(max_examples=40)
@given(st.sampled_from(["REFLECT", "SYMMETRIC"]), st.tuples(PAIR, PAIR))
def test_mirror_pad(mode: str, pairs: tuple[tuple[int, int], ...]) -> None:
    x = np.arange(12.0).reshape(3, 4)
    edge = 1 if mode == "REFLECT" else 0
    paddings = np.array(pairs, np.int32)
    (out,) = run_op("MirrorPad", x, paddings, mode=mode)
    for place in itertools.product(*map(range, out.shape)):
        source = tuple(
            _mirrored(p, b, d, edge) for p, (b, _), d in zip(place, pairs, x.shape, strict=True)
        )
        assert out[place] == x[source]
    # <pad(x), y> == <x, grad(y)> for any y.
    y = np.arange(out.size, dtype=np.float64).reshape(out.shape) ** 2
    (grad,) = run_op("MirrorPadGrad", y, paddings, mode=mode)
    assert np.isclose((out * y).sum(), (x * grad).sum())


@settings(max_examples=40)
@given(st.tuples(PAIR, PAIR), st.integers(-5, 5))
def test_pad_puts_the_value_around(pairs: tuple[tuple[int, int], ...], value: int) -> None:
    x = np.arange(6).reshape(2, 3)
    (out,) = run_op("PadV2", x, np.array(pairs, np.int64), np.int64(value))
    (a, b), (c, d) = pairs
    assert out.shape == (2 + a + b, 3 + c + d)
    assert out[a : a + 2, c : c + 3].tolist() == x.tolist()
    assert out.sum() == x.sum() + value * (out.size - x.size)


def test_refusals_and_inference() -> None:
    with pytest.raises(
        KernelError, match=r"must not exceed dimension 0\n  found: paddings \(3, 0\)"
    ):
        run_op("MirrorPad", np.zeros(3), np.array([[3, 0]]), mode="REFLECT")
    with pytest.raises(KernelError, match="mode must be known\n  found: CIRCULAR"):
        run_op("MirrorPad", np.zeros(3), np.array([[1, 0]]), mode="CIRCULAR")
    known = [None, np.array([[0, 0], [1, 2]])]
    assert infer_shapes("Pad", [(-5, 3), (2, 2)], values=known) == [(-5, 6)]
    assert infer_shapes("Pad", [None, (2, 2)]) == [(-1, -1)]
