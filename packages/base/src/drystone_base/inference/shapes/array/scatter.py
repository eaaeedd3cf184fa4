"""Shapes of the ops that write or accumulate elements by index."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape

__all__: list[str] = []


@shape(
    "ScatterUpdate", "ScatterAdd", "ScatterSub", "ScatterMul", "ScatterDiv", "ScatterMin",
    "ScatterMax",
)  # fmt: skip
def scatter(c: ShapeCall) -> list[Shape]:
    """The variable's shape; updates have the indices' shape, then that of a row."""
    target, indices, updates = c.with_rank_at_least(c.shape(0), 1), c.shape(1), c.shape(2)
    if target is not None and indices is not None and updates:
        c.merge(updates, (*indices, *target[1:]))
    return [target]


@shape(
    "ResourceScatterUpdate", "ResourceScatterAdd", "ResourceScatterSub", "ResourceScatterMul",
    "ResourceScatterDiv", "ResourceScatterMin", "ResourceScatterMax", "ResourceScatterNdUpdate",
    "ResourceScatterNdAdd", "ResourceScatterNdSub", "ResourceScatterNdMin", "ResourceScatterNdMax",
)  # fmt: skip
def nothing(_: ShapeCall) -> list[Shape]:
    """No outputs."""
    return []


def _check_nd(c: ShapeCall, target: Shape, indices: Shape, updates: Shape) -> None:
    c.with_rank_at_least(indices, 1)
    if target is None or indices is None or updates is None or indices[-1] < 0:
        return
    if indices[-1] > len(target):
        c.fail("an index must not be longer than the rank", found=indices[-1], needed=len(target))
    c.merge(updates, (*indices[:-1], *target[indices[-1] :]))


@shape("ScatterNd")
def scatter_nd(c: ShapeCall) -> list[Shape]:
    """The value of ``shape``."""
    target = c.value_as_shape(2)
    _check_nd(c, target, c.shape(0), c.shape(1))
    return [target]


@shape(
    "TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMin",
    "TensorScatterMax", "ScatterNdNonAliasingAdd", "ScatterNdUpdate", "ScatterNdAdd",
    "ScatterNdSub", "ScatterNdMin", "ScatterNdMax",
)  # fmt: skip
def scatter_nd_into(c: ShapeCall) -> list[Shape]:
    """The shape of the tensor that is changed."""
    _check_nd(c, c.shape(0), c.shape(1), c.shape(2))
    return [c.shape(0)]


@shape("InplaceUpdate", "InplaceAdd", "InplaceSub")
def inplace(c: ShapeCall) -> list[Shape]:
    """The shape of ``x``."""
    return [c.shape(0)]
