"""Shapes of conversions between dtypes."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape


@shape("Cast", "CheckNumerics", "CheckNumericsV2")
def unchanged(c: ShapeCall) -> list[Shape]:
    """The input's shape."""
    return [c.shape(0)]


@shape("Bitcast")
def bitcast(c: ShapeCall) -> list[Shape]:
    """The input's shape, with a last dimension added or taken away for a size ratio."""
    given, source, target = c.shape(0), c.dtype(0).np.itemsize, c.attrs["type"].np.itemsize
    if given is None or source == target:
        return [given]
    if source > target:
        return [(*given, source // target)]
    if not given or (given[-1] >= 0 and given[-1] != target // source):
        c.fail(
            "the last dimension must hold the bytes of one element",
            found=list(given),
            needed=f"a last dimension of {target // source}",
        )
    return [given[:-1]]
