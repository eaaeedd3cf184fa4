"""Matrix products whose bits are the same on every machine, for inputs of recorded cases."""

from typing import Any

import numpy as np

__all__ = ["gram"]


def gram(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """``x @ x^H`` of ``[..., n, m]`` in complex128: ``[..., n, n]``.

    A library of matrix products sums in the order that suits the processor. Rounded to sixteenths
    the terms need few enough bits that every order gives the same sum.
    """
    even = np.round(x.astype(np.complex128) * 16) / 16
    return np.asarray(even @ np.conj(np.swapaxes(even, -1, -2)))
