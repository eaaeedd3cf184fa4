"""Shapes of batched calls: the number of rows is not known before."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


def _any_rows(c: ShapeCall, given: Shape) -> Shape:
    if given is None:
        return None
    if not given:
        c.fail("a tensor to be batched must have rows", found=[], needed="rank 1 or more")
    return (UNKNOWN, *given[1:])


@shape("Batch")
def batch(c: ShapeCall) -> list[Shape]:
    """The inputs' shapes with any number of rows, rows of three, and a key."""
    return [*(_any_rows(c, given) for given in c.shapes), (UNKNOWN, 3), ()]


@shape("Unbatch")
def unbatch(c: ShapeCall) -> list[Shape]:
    """The batch's shape with any number of rows."""
    return [_any_rows(c, c.shape(0))]


@shape("UnbatchGrad")
def unbatch_grad(c: ShapeCall) -> list[Shape]:
    """The gradient's rank."""
    given = c.shape(2)
    return [None if given is None else (UNKNOWN,) * len(given)]


@shape("BatchFunction")
def batch_function(c: ShapeCall) -> list[Shape]:
    """Nothing is known."""
    return [None] * c.output_count
