"""Weights in a file that take in a factor: the product is made where they are read."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import FLOAT32, DType
from drystone_base.files.mapped import Place
from drystone_base.ops.attrs import TensorAttr

__all__ = ["ScaledTensor", "stays_finite"]

_STRETCH: Final = 1 << 15  # elements: their sizes stay in a cache
_Floats = np.ndarray[Any, np.dtype[np.float32]]


class ScaledTensor(TensorAttr):
    """A tensor of a file times ``factors``, of which each is for ``inner`` elements in a row.

    Element ``k`` is what the file has times ``factors[k // inner % len(factors)]``. The array is
    made when it is asked for; a native plan does not, since its kernels put weights into
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


def stays_finite(of: np.ndarray[Any, Any], factors: np.ndarray[Any, Any]) -> bool:
    """Whether all products are surely zero or normal numbers, as are all that is multiplied.

    Of floats of one dtype. It says so from the smallest and largest sizes, so False may be too
    careful.
    """
    bounds = np.finfo(of.dtype)
    least, most = _sizes(of)
    least_factor, most_factor = _sizes(factors)
    if not (bounds.tiny <= min(least, least_factor) and max(most, most_factor) < np.inf):
        return False
    return (
        least * least_factor >= 2 * float(bounds.tiny)
        and most * most_factor <= float(bounds.max) / 2
    )


def _sizes(values: np.ndarray[Any, Any]) -> tuple[float, float]:
    """The smallest size of those that are not zero, and the largest; infinite for a NaN."""
    flat = values.reshape(-1)
    room = np.empty(min(flat.size, _STRETCH), flat.dtype)
    least, most = np.inf, 0.0
    for start in range(0, flat.size, _STRETCH):
        part = flat[start : start + _STRETCH]
        sizes = np.abs(part, out=room[: part.size])
        largest = float(sizes.max())
        if not largest < np.inf:
            return 0.0, np.inf
        smallest = float(sizes.min()) or float(sizes.min(where=sizes > 0, initial=np.inf))
        least, most = min(least, smallest), max(most, largest)
    return (least, most) if most else (1.0, 1.0)
