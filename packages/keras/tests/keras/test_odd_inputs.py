"""Inputs that are rare: nothing at all, batches beside single matrices, complex numbers, bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
from keras import ops

from drystone_base.core.errors import DrystoneError
from keras_drystone.src.compiled import Compiled

F32 = np.float32
RNG = np.random.default_rng(4)
NONE, NO_ROWS = np.zeros(0, F32), np.zeros((0, 3), F32)
SQUARE = (RNG.normal(size=(3, 3)) + 3 * np.eye(3)).astype(F32)
SQUARES = (RNG.normal(size=(2, 3, 3)) + 3 * np.eye(3)).astype(F32)
VECTOR = RNG.normal(size=3).astype(F32)
COMPLEX = (RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4))).astype(np.complex64)
CHANCES, CLASSES = np.array([0.2, 0.3, 0.5], np.float16), np.array([3, 2, 1], np.int32)

CASES: dict[str, tuple[Callable[[Any], Any], Any, Any]] = {
    "logsumexp": (ops.logsumexp, NONE, F32(-np.inf)),
    "logsumexp of columns": (lambda x: ops.logsumexp(x, 0), NO_ROWS, np.full(3, -np.inf, F32)),
    "diag": (lambda x: ops.diag(x, 2), NONE, np.zeros((2, 2), F32)),
    "diagflat": (lambda x: ops.diagflat(x, -1), NO_ROWS, np.zeros((1, 1), F32)),
    "pinv": (ops.linalg.pinv, NO_ROWS, np.zeros((3, 0), F32)),
    "matrix_rank": (ops.linalg.matrix_rank, NO_ROWS, np.int32(0)),
    "norm": (lambda x: ops.norm(x, np.inf), NONE, F32(0)),
    "norm of matrices": (lambda x: ops.norm(x, 1, (0, 1)), np.zeros((3, 0), F32), F32(0)),
    "lu_factor": (ops.lu_factor, NO_ROWS, (NO_ROWS, np.zeros(0, np.int32))),
    "lu_factor of nothing": (
        ops.lu_factor, np.zeros((2, 0, 0), F32), (np.zeros((2, 0, 0), F32), np.zeros((2, 0), "i4"))
    ),
    "tensordot": (lambda x: ops.tensordot(x, x, 2), NO_ROWS, F32(0)),
    "tensordot of one axis": (
        lambda x: ops.tensordot(x, NO_ROWS.T, 1), NO_ROWS, np.zeros((0, 0), F32)
    ),
    "matmul": (
        lambda x: ops.matmul(x, np.zeros((0, 4), F32)),
        np.zeros((2, 3, 0), F32), np.zeros((2, 3, 4), F32),
    ),
    "unique": (lambda x: ops.unique(x, axis=-1), NO_ROWS, np.zeros((0, 1), F32)),
    "concatenate": (
        lambda x: ops.concatenate([x, x[:1]], axis=None),
        SQUARE, np.concatenate([SQUARE, SQUARE[:1]], None),
    ),
    "sort": (lambda x: ops.sort(x, axis=None), F32(2), np.array([2], F32)),
    "solve for one row": (
        lambda x: ops.solve(x, VECTOR),
        SQUARES, np.stack([np.linalg.solve(a, VECTOR) for a in SQUARES]),
    ),
    "solve by one matrix": (
        lambda x: ops.solve(SQUARE, x), SQUARES, np.linalg.solve(SQUARE, SQUARES)
    ),
    "isclose": (lambda x: ops.isclose(x, x + 1e-7j), COMPLEX, np.ones((3, 4), bool)),
    "nanvar": (lambda x: ops.nanvar(x, 1), COMPLEX, np.nanvar(COMPLEX, 1)),
    "nanstd": (ops.nanstd, COMPLEX, np.nanstd(COMPLEX)),
    "corrcoef": (ops.corrcoef, COMPLEX, np.corrcoef(COMPLEX).astype(np.complex64)),
    "categorical_crossentropy": (
        lambda x: ops.categorical_crossentropy(CHANCES, x), CLASSES,
        F32(-np.sum(CHANCES.astype(F32) * np.log(CLASSES / 6))),
    ),
    "resize": (
        lambda x: ops.image.resize(x, (4, 4)), np.ones((2, 2, 3), bool), np.ones((4, 4, 3), bool)
    ),
}  # fmt: skip


def in_graphs() -> list[str]:
    """Where the first axis is of some size: a graph takes any, so that nothing is known empty."""
    return [name for name, (_, data, _) in CASES.items() if np.shape(data)[:1] not in ((0,), ())]


@pytest.mark.parametrize(
    ("name", "graph"), [*((n, False) for n in CASES), *((n, True) for n in in_graphs())]
)
def test_rare_inputs_give_what_numpy_gives(name: str, graph: bool) -> None:
    function, data, expected = CASES[name]
    found = Compiled(function, "test")(data) if graph else function(data)
    pairs = list(zip(keras.tree.flatten(found), keras.tree.flatten(expected), strict=True))
    assert pairs
    for a, b in pairs:
        a, b = np.asarray(a), np.asarray(b)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, 2e-3 if a.dtype == np.float16 else 1e-5, 1e-5)


def test_bfloat16_has_a_distance_of_its_own_in_ranks_and_inverses() -> None:
    x = ops.cast(SQUARE, "bfloat16")
    assert ops.linalg.matrix_rank(x) == 3
    product = ops.matmul(ops.cast(ops.linalg.pinv(x), "float32"), ops.cast(x, "float32"))
    np.testing.assert_allclose(product, np.eye(3), atol=0.1)


@pytest.mark.parametrize("name", ["greater", "maximum", "sort", "argmax", "relu", "erf", "top_k"])
def test_what_complex_numbers_have_not_is_refused_as_a_value_error(name: str) -> None:
    given = {"greater": 2, "maximum": 2}.get(name, 1) * [COMPLEX]
    more = [1] if name == "top_k" else []
    with pytest.raises(ValueError, match="complex64") as caught:
        getattr(ops, name)(*given, *more)
    assert isinstance(caught.value, DrystoneError)
