"""Arithmetic of narrow floats: half and bfloat16 are computed in float32 and rounded once."""

from __future__ import annotations

from typing import Final

import numpy as np

from drystone_base.core.dtypes import BFLOAT16, FLOAT16, from_numpy
from drystone_base.kernels._registry import Array

__all__ = ["quiet", "widen"]

_NARROW: Final = frozenset((FLOAT16, BFLOAT16))

quiet: Final = np.errstate(all="ignore")
"""Decorator: NaN, infinity and wrap-around are answers, not warnings."""


def widen(x: Array) -> Array:
    """``x`` in its accumulation type; the same array where that is its own type."""
    return x.astype(np.float32) if from_numpy(x.dtype) in _NARROW else x
