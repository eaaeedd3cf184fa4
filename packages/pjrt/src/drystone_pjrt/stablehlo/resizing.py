"""Images in another size."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_pjrt.stablehlo.ops import Site, emits
from drystone_pjrt.stablehlo.writer import Refused, Value, Writer, integers

__all__: list[str] = []

Array = np.ndarray[Any, Any]
_FLOAT: Final = np.dtype(np.float32)
_HALF: Final = np.float32(0.5)


class _Sizes:
    """Rows and columns of the images, before and after."""

    def __init__(self, s: Site) -> None:
        shape, wanted = s.inputs[0].shape, s.integers(1)
        if len(shape) != 4 or len(wanted) != 2 or min(wanted) <= 0 or 0 in shape:
            raise Refused(f"{list(shape)} to {wanted}")
        self.aligned = bool(s.attr("align_corners"))
        self.centred = bool(s.attr("half_pixel_centers"))
        self.of = list(zip((1, 2), shape[1:3], wanted, strict=True))

    def places(self, size: int, out: int) -> Array:
        """Where each pixel lies in the input, before it is centred."""
        steps = np.arange(out, dtype=_FLOAT) + (_HALF if self.centred else np.float32(0))
        if self.aligned and out > 1:
            return np.asarray(steps * (np.float32(size - 1) / np.float32(out - 1)))
        return np.asarray(steps * (np.float32(size) / np.float32(out)))


@emits("ResizeNearestNeighbor", static=(1,))
def nearest(w: Writer, s: Site) -> Value:
    """The nearest pixel."""
    x, sizes = s.inputs[0], _Sizes(s)
    for axis, size, out in sizes.of:
        at = sizes.places(size, out)
        at = np.floor(at + _HALF) if sizes.aligned else np.floor(at)
        x = _taken(w, x, axis, np.clip(at.astype(np.int64), 0, size - 1))
    return x


@emits("ResizeBilinear", static=(1,))
def bilinear(w: Writer, s: Site) -> Value:
    """Between four pixels, as float32; columns first."""
    x, sizes = w.convert(s.inputs[0], _FLOAT), _Sizes(s)
    if all(size == out for _, size, out in sizes.of):
        return x
    for axis, size, out in reversed(sizes.of):
        at = sizes.places(size, out) - (_HALF if sizes.centred else np.float32(0))
        floor = np.floor(at)
        low = np.maximum(floor.astype(np.int64), 0)
        high = np.minimum(np.ceil(at).astype(np.int64), size - 1)
        left, right = _taken(w, x, axis, low), _taken(w, x, axis, high)
        share = w.broadcast(w.named(w.known(at - floor)), left.shape, [axis])
        apart = w.same("stablehlo.subtract", right, left)
        x = w.same("stablehlo.add", left, w.same("stablehlo.multiply", apart, share))
    return x


def _taken(w: Writer, x: Value, axis: int, places: Array) -> Value:
    """Rows along an axis by numbers that are known."""
    if np.array_equal(places, np.arange(x.shape[axis])):
        return x
    shape = (*x.shape[:axis], len(places), *x.shape[axis + 1 :])
    apart = [k for k in range(len(shape)) if k != axis]
    numbers = (
        f"#stablehlo.gather<offset_dims = {apart}, collapsed_slice_dims = [{axis}], "
        f"start_index_map = [{axis}], index_vector_dim = 1>"
    )
    sizes = [1 if k == axis else n for k, n in enumerate(x.shape)]
    attrs = (
        f"dimension_numbers = {numbers}, slice_sizes = {integers(sizes)}, indices_are_sorted = true"
    )
    given = w.known(places.astype(np.int32))
    return w.op("stablehlo.gather", [x, given], shape, x.dtype, attrs)
