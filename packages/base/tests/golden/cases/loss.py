"""Golden cases of the cross entropies and of InTopK."""

from collections.abc import Iterator

import numpy as np
from drawing import BFLOAT16, drawer, floats, ints, tolerance
from oracle import Case, case

_draw = drawer(111, 0, 5)


def _entropies() -> Iterator[Case]:
    dense, sparse = "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"
    for kind in ("f4", "f8", "f2", BFLOAT16):
        x, tol = _draw((4, 5), kind, 3.0), tolerance(kind, 2)
        wanted = np.abs(_draw((4, 5)))
        yield case(dense, x, (wanted / wanted.sum(1, keepdims=True)).astype(kind), tol=tol)
        for label_kind in ("i4", "i8"):
            yield case(sparse, x, _draw((4,), label_kind), tol=tol)
    for shapes in [((1, 5), (4, 5)), ((4, 5), (1, 5)), ((4, 1), (4, 5)), ((0, 5), (0, 5))]:
        yield case(dense, *(_draw(s) for s in shapes))
    yield case(sparse, _draw((0, 5)), _draw((0,), "i4"))
    far = floats([[1000, 0, -1000], [1e30, 0, 0], [0, 0, 0]])
    yield case(dense, far, np.eye(3, dtype="f4"), note="far")
    yield case(sparse, far, ints(0, 1, 2), note="far")
    odd = floats([[np.nan, 0, 1], [np.inf, 0, 1], [-np.inf, 0, 1]])
    yield case(sparse, odd, ints(1, 1, 1), note="odd")
    yield case(dense, _draw((4, 5)), _draw((4, 3)), note="refused")
    yield case(dense, _draw((4,)), _draw((4,)), note="refused")
    yield case(sparse, _draw((2, 5)), ints(0, 5), note="refused")
    yield case(sparse, _draw((2, 5)), ints(0, -1), note="refused")
    yield case(sparse, _draw((2, 5)), ints(0, 1, 2), note="refused")
    yield case(sparse, _draw((2, 0)), ints(0, 0), note="refused")


def _top() -> Iterator[Case]:
    x = np.round(_draw((6, 5)) * 2) / 2
    x[4, 2], x[5, 1] = np.nan, np.inf
    for k in (0, 1, 2, 5, 9):
        for at in (ints(0, 1, 2, 3, 4, 0), ints(0, -1, 5, 3, 2, 1)):
            yield case("InTopK", x, at, k=k)
            yield case("InTopKV2", x, at.astype("i8"), np.int64(k))
    yield case("InTopK", x, ints(0, 1), k=1, note="refused")


CASES: list[Case] = [*_entropies(), *_top()]
