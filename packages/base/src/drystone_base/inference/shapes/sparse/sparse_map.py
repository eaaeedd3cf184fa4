"""Shapes of sparse tensors passed as handles."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


def _check(c: ShapeCall) -> None:
    for k, rank in enumerate((2, 1, 1)):
        c.with_rank(c.shape(k), rank)


@shape("AddSparseToTensorsMap")
def add_sparse(c: ShapeCall) -> list[Shape]:
    """A handle."""
    _check(c)
    return [()]


@shape("AddManySparseToTensorsMap")
def add_many_sparse(c: ShapeCall) -> list[Shape]:
    """Some handles."""
    _check(c)
    return [(UNKNOWN,)]


@shape("TakeManySparseFromTensorsMap")
def take_many_sparse(c: ShapeCall) -> list[Shape]:
    """A sparse tensor of unknown rank."""
    c.with_rank(c.shape(0), 1)
    return [(UNKNOWN, UNKNOWN), (UNKNOWN,), (UNKNOWN,)]
