"""Golden cases of banded solves, approximate top-k, groups of devices."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from ml_dtypes import bfloat16
from oracle import Case, case

I32 = np.int32
RNG = np.random.default_rng(63)


def _draw(*shape: int, kind: Any = np.float32) -> Any:
    made = RNG.normal(size=shape)
    return (made + 1j * RNG.normal(size=shape) if np.dtype(kind).kind == "c" else made).astype(kind)


def _bands(*shape: int, kind: Any = np.float32) -> Any:
    out = _draw(*shape, kind=kind)
    return out + np.sign(out.real).astype(kind) * 2


def _banded() -> Iterator[Case]:
    for kind in (np.float32, np.float64, np.complex64, np.complex128):
        for bands, rhs in (
            ((2, 4), (4, 2)),
            ((1, 3), (3, 1)),
            ((3, 3), (3, 3)),
            ((2, 2, 4), (2, 4, 2)),
            ((1, 2, 4), (3, 4, 2)),
            ((3, 2, 4), (4, 2)),
            ((0, 2, 4), (0, 4, 1)),
        ):
            for lower in (True, False):
                for adjoint in (True, False):
                    yield case("BandedTriangularSolve", _bands(*bands, kind=kind),
                               _draw(*rhs, kind=kind), lower=lower, adjoint=adjoint,
                               tol=1e-4)  # fmt: skip
    yield case("BandedTriangularSolve", np.zeros((2, 3), np.float32), _draw(3, 1))
    yield case("BandedTriangularSolve", _bands(2, 3), _draw(4, 1))
    yield case("BandedTriangularSolve", _bands(4, 3), _draw(3, 1))
    yield case("BandedTriangularSolve", _bands(0, 3), _draw(3, 1))
    yield case("BandedTriangularSolve", _bands(2, 2, 3), _draw(3, 3, 1))


def _top() -> Iterator[Case]:
    for kind in (np.float32, np.float16, bfloat16):
        x = _draw(3, 8, kind=kind)
        # TensorFlow has a kernel for the largest along the last dimension alone.
        for k in (3, 8, 0):
            yield case("ApproxTopK", x, k=k)
        yield case("ApproxTopK", np.zeros((2, 9), kind), k=4)
    yield case("ApproxTopK", _draw(2, 3), k=4)
    yield case("ApproxTopK", _draw(2, 40).round(), k=20, aggregate_to_topk=False)


def _groups() -> Iterator[Case]:
    x = _draw(2, 3)
    yield case("CollectiveReduce", x, merge_op="Add", final_op="Div", subdiv_offsets=[0],
               group_size=1, group_key=71, instance_key=72)  # fmt: skip
    groups = np.array([[0, 2], [1, 3]], I32)
    for device in (0, 3, 1):
        yield case("CollectiveAssignGroupV2", groups, I32(device), I32(5))
    yield case("CollectiveAssignGroupV2", groups, I32(9), I32(5))


CASES = [*_banded(), *_top(), *_groups()]
