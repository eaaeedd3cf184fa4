"""How far answers are from the recorded ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench.worker._form import Array

__all__ = ["difference", "worst"]


def worst(got: Sequence[Array], wanted: Sequence[Array]) -> float:
    """The largest difference of any pair; infinite where shapes or strings differ."""
    pairs = zip(got, wanted, strict=True)
    return max((difference(np.asarray(a), b) for a, b in pairs), default=0.0)


def difference(got: Array, want: Array) -> float:
    """``max |a - b| / (|b| + std b)``, the measure of the recorded models."""
    if want.dtype.kind in "SUO":
        same = [_text(x) for x in got.ravel()] == [_text(x) for x in want.ravel()]
        return 0.0 if same and got.shape == want.shape else float("inf")
    if got.shape != want.shape:
        return float("inf")
    if not want.size:
        return 0.0
    a, b = got.astype(np.float64), want.astype(np.float64)
    return float(np.max(np.abs(a - b) / (np.abs(b) + np.std(b) + 1e-12)))


def _text(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()
