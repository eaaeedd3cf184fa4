"""One constant in place of two that are added or multiplied one after the other."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

__all__ = ["MOST_BYTES", "join"]

MOST_BYTES: Final = 100 * 1024
"""How large a constant may become."""


def join(op: str, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """Their product for ``Mul``, else their sum; None where the two are not as good as one.

    That is so for other dtypes, shapes that do not go together (reported when the nodes run),
    nothing at all, floats that are not finite, and a product that loses all of a factor.
    """
    if a.dtype != b.dtype or not (a.size and b.size):
        return None
    try:
        with np.errstate(all="ignore"):
            joined = np.asarray(a * b if op == "Mul" else a + b)
    except ValueError:
        return None
    if joined.dtype.kind != "f":
        return joined
    if not np.isfinite(joined).all():
        return None
    if op == "Mul" and (np.abs(joined) < np.finfo(joined.dtype).tiny).any():
        return None
    return joined
