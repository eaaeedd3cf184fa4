"""Shapes of reductions and running reductions."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


def _axis(c: ShapeCall, axis: int, rank: int) -> int:
    """The axis counted from the front; refused when it is not one of the tensor's."""
    if not -rank <= axis < rank:
        c.fail("axis must be a dimension of the tensor", found=axis, needed=f"[{-rank}, {rank})")
    return axis + rank if axis < 0 else axis


@shape("Sum", "Prod", "Mean", "Max", "Min", "All", "Any", "EuclideanNorm")
def reduce(c: ShapeCall) -> list[Shape]:
    """The input without the named axes, or with 1 in their place (``keep_dims``)."""
    given, axes, keep = c.shape(0), c.value(1), c.attrs["keep_dims"]
    if given is None:
        return [None]
    if axes is None:
        named = c.shape(1)
        if named is not None and 0 in named:
            return [given]
        return [(UNKNOWN,) * len(given) if keep else _fewer(given, named)]
    gone = {_axis(c, int(a), len(given)) for a in axes.reshape(-1)}
    if keep:
        return [tuple(1 if k in gone else d for k, d in enumerate(given))]
    return [tuple(d for k, d in enumerate(given) if k not in gone)]


def _fewer(given: tuple[int, ...], named: Shape) -> Shape:
    """What is left when as many axes go as ``named`` holds, whichever they are."""
    if named is None or len(named) > 1:
        return None
    count = named[0] if named else 1
    return (UNKNOWN,) * (len(given) - count) if 0 <= count <= len(given) else None


@shape("ArgMax", "ArgMin")
def arg_extreme(c: ShapeCall) -> list[Shape]:
    """The input without the one axis."""
    given, axis = c.shape(0), c.int_value(1)
    if given is None:
        return [None]
    if not given:
        c.fail("the tensor must have a dimension to search", found="a scalar", needed="rank 1+")
    if axis is None:
        return [(UNKNOWN,) * (len(given) - 1)]
    gone = _axis(c, axis, len(given))
    return [given[:gone] + given[gone + 1 :]]


@shape("L2Loss")
def l2_loss(c: ShapeCall) -> list[Shape]:
    """A scalar."""
    del c
    return [()]


@shape("Cumsum", "Cumprod", "CumulativeLogsumexp")
def scan(c: ShapeCall) -> list[Shape]:
    """The input's shape."""
    return [c.shape(0)]
