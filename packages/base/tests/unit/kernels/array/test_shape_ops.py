"""Shape ops against loops over index vectors, and their refusal of absurd sizes."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op

DIMS = st.lists(st.integers(0, 3), max_size=4)


def _numbered(dims: list[int]) -> np.ndarray[Any, Any]:
    return np.arange(int(np.prod(dims))).reshape(dims)


@settings(max_examples=40)
@given(DIMS, st.data())
def test_transpose_moves_each_index(dims: list[int], data: st.DataObject) -> None:
    perm = data.draw(st.permutations(range(len(dims))))
    x = _numbered(dims)
    (out,) = run_op("Transpose", x, np.array(perm, np.int32))
    for place in itertools.product(*map(range, dims)):
        assert out[tuple(place[k] for k in perm)] == x[place]
    (back,) = run_op("InvertPermutation", np.array(perm, np.int32))
    assert run_op("Transpose", out, back)[0].tolist() == x.tolist()


@settings(max_examples=40)
@given(DIMS, st.data())
def test_tile_repeats_modulo_the_dimensions(dims: list[int], data: st.DataObject) -> None:
    counts = [data.draw(st.integers(0, 3)) for _ in dims]
    x = _numbered(dims)
    (out,) = run_op("Tile", x, np.array(counts, np.int32))
    assert out.shape == tuple(d * n for d, n in zip(dims, counts, strict=True))
    for place in itertools.product(*map(range, out.shape)):
        assert out[place] == x[tuple(p % d for p, d in zip(place, dims, strict=True))]


def test_tile_grad_adds_the_tiles() -> None:
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    (out,) = run_op("TileGrad", x, np.array([2, 3], np.int32))
    assert out.tolist() == [[sum(x[0]) + sum(x[2])], [sum(x[1]) + sum(x[3])]]


@settings(max_examples=40)
@given(DIMS)
def test_squeeze_and_expand_undo_each_other(dims: list[int]) -> None:
    x = _numbered(dims)
    for axis in range(len(dims) + 1):
        (wide,) = run_op("ExpandDims", x, np.int32(axis))
        assert wide.shape == (*dims[:axis], 1, *dims[axis:])
        (back,) = run_op("Squeeze", wide, squeeze_dims=[axis])
        assert back.tolist() == x.tolist()


ABSURD = np.array([1 << 31, 1 << 31, 1 << 20], np.int64)
LARGE = np.array([1 << 45], np.int64)


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        ("Fill", (ABSURD, np.float32(0))),
        ("Fill", (LARGE, np.float32(0))),
        ("BroadcastTo", (np.float32(0), LARGE)),
        ("Tile", (np.zeros(3, np.float32), LARGE)),
        ("OneHot", (np.zeros((1 << 12, 1 << 6), np.int32), np.int32(2**31 - 1), 1.0, 0.0)),
        ("PadV2", (np.zeros(1, np.float32), np.array([[0, 1 << 45]]), np.float32(0))),
        ("ScatterNd", (np.array([[0]], np.int64), np.ones(1, np.float32), LARGE)),
        ("SparseToDense", (np.array([[0]], np.int64), LARGE, np.ones(1), np.float64(0))),
    ],
)
def test_absurd_sizes_are_refused(op: str, inputs: tuple[Any, ...]) -> None:
    with pytest.raises(KernelError) as caught:
        run_op(op, *inputs)
    assert caught.value.status in ("RESOURCE_EXHAUSTED", "INVALID_ARGUMENT")
    assert "tensor" in caught.value.check


def test_texts_of_refusals() -> None:
    with pytest.raises(KernelError, match=r"found: 6 elements in shape \[2, 3\]"):
        run_op("Reshape", np.zeros((2, 3)), np.array([4], np.int32))
    with pytest.raises(KernelError, match=r"squeezed dimension must be 1\n  found: dimension 0 of"):
        run_op("Squeeze", np.zeros((2, 3)), squeeze_dims=[0])
    with pytest.raises(KernelError, match=r"found: 300\n  needed: at most 127"):
        run_op("Size", np.zeros(300), out_type="int8")
    with pytest.raises(KernelError, match="fewer than 2\\^63 elements"):
        run_op("Fill", ABSURD, np.float32(0))


def test_inferred_dimension_keeps_a_symbol() -> None:
    batch = -7
    target = [None, np.array([-1, 12])]
    assert infer_shapes("Reshape", [(batch, 3, 4), (2,)], values=target) == [(batch, 12)]
    assert infer_shapes("Reshape", [(-1, 3, 4), (2,)], values=target) == [(-1, 12)]
    assert infer_shapes("Reshape", [None, (3,)]) == [(-1, -1, -1)]
    assert infer_shapes("Squeeze", [(1, -1, 1)], squeeze_dims=[0]) == [(-1, 1)]
    assert infer_shapes("Squeeze", [(1, -1, 1)]) == [None]


def test_empty_is_zero() -> None:
    shape = np.array([2, 1], np.int32)
    assert run_op("Empty", shape, dtype="float32")[0].tolist() == [[0], [0]]
    assert run_op("Empty", shape, dtype="string")[0].tolist() == [[b""], [b""]]
    assert infer_shapes("Empty", [(2,)], values=[shape], dtype="float32") == [(2, 1)]
