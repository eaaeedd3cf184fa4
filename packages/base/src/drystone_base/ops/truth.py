"""What counts as true: shared by kernels and shape functions of conditionals and loops."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["truth"]


def truth(value: np.ndarray[Any, Any]) -> bool:
    """Whether a condition holds: not zero, not an empty string; a non-scalar has elements."""
    if value.ndim:
        return value.size > 0
    item = value.item()
    return len(item) > 0 if isinstance(item, bytes | str) else bool(item)
