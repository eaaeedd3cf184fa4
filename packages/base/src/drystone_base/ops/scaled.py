"""Weights in a file that take in a factor: the product is made by whoever reads them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.dtypes import FLOAT32, DType
from drystone_base.ops._mapped import Place
from drystone_base.ops.attrs import TensorAttr

__all__ = ["ScaledTensor", "stays_finite"]

_STRETCH: Final = 1 << 15  # elements: their sizes stay in a cache
_Floats = np.ndarray[Any, np.dtype[np.float32]]


class ScaledTensor(TensorAttr):
    """A tensor of a file times ``factors``, of which each is for ``inner`` elements in a row.

    Element ``k`` is what the file has times ``factors[k // inner % len(factors)]``. The array is
    made when somebody asks for it; a native plan does not, since its kernels put weights into
    their own order and can multiply them on the way.
    """

    __slots__ = ("_of", "_place")

    def __init__(self, of: TensorAttr, factors: _Floats, inner: int) -> None:
        """``of``: float32, in a file (``place``), without factors of its own."""
        super().__init__()
        assert of.place is not None
        self._of = of
        self._place = of.place._replace(factors=factors, inner=inner)

    @property
    def array(self) -> np.ndarray[Any, Any]:
        """The product, read-only."""
        if self._array is None:
            of, (_, _, factors, inner) = self._of.array, self._place
            assert factors is not None
            rows = of.reshape(-1, len(factors), inner)
            with np.errstate(all="ignore"):
                product = np.multiply(rows, factors[:, None]).reshape(of.shape)
            product.flags.writeable = False
            self._array = product
        return self._array

    @property
    def place(self) -> Place:
        """Where what is multiplied lies, and by what."""
        return self._place

    @property
    def dtype(self) -> DType:
        """float32."""
        return FLOAT32

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape, without the product."""
        return self._of.shape

    def ends(self, count: int) -> bytes:
        """The first and the last ``count`` elements, without the others."""
        of, (_, _, factors, inner) = self._of.array.reshape(-1), self._place
        assert factors is not None
        numbers = np.r_[: min(count, of.size), max(of.size - count, 0) : of.size]
        with np.errstate(all="ignore"):
            return bytes((of[numbers] * factors[numbers // inner % len(factors)]).tobytes())

    def _let_go(self) -> None:
        self._of._let_go()
        self._array = None


def stays_finite(of: _Floats, factors: _Floats) -> bool:
    """Whether all products are surely zero or normal numbers, as are all that is multiplied.

    It says so from the smallest and largest sizes, so False may be too careful.
    """
    tiny, largest = np.finfo(np.float32).tiny, np.finfo(np.float32).max
    least, most = _sizes(of)
    least_factor, most_factor = _sizes(factors)
    if not (tiny <= least <= most < np.inf and tiny <= least_factor <= most_factor < np.inf):
        return False
    return float(least) * float(least_factor) >= 2 * float(tiny) and (
        float(most) * float(most_factor) <= float(largest) / 2
    )


def _sizes(values: _Floats) -> tuple[np.float32, np.float32]:
    """The smallest size of those that are not zero, and the largest; NaN where there is one."""
    flat = values.reshape(-1)
    room = np.empty(min(flat.size, _STRETCH), np.float32)
    least, most = np.float32(np.inf), np.float32(0)
    for start in range(0, flat.size, _STRETCH):
        part = flat[start : start + _STRETCH]
        sizes = np.abs(part, out=room[: part.size])
        most = np.maximum(most, sizes.max())
        smallest = sizes.min()
        if not smallest:
            smallest = sizes.min(where=sizes > 0, initial=np.inf)
        least = np.minimum(least, smallest)
    return (least, most) if most else (np.float32(1), np.float32(1))
