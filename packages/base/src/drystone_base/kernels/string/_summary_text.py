"""Tensors as text: the two forms that TensorFlow prints, one line (Assert) and nested (PrintV2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from drystone_base.kernels._registry import Array

__all__ = ["flat_text", "nested_text"]


def _float_text(value: float, single: bool) -> str:
    """The shortest of two precisions that reads back as the same number."""
    short, full = ("%.6g", "%.9g") if single else ("%.15g", "%.17g")
    text = short % value
    back = np.float32(text) if single else np.float64(text)
    return text if back == value or value != value else full % value


def _escape(text: bytes) -> str:
    special = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}
    parts = (special.get(b) or (chr(b) if b >= 32 and b != 127 else f"\\{b:03o}") for b in text)
    return "".join(parts).encode("latin-1").decode("utf-8", "surrogateescape")


def _writer(values: Array, quote: str) -> Callable[[Any], str]:
    kind = values.dtype.kind
    if kind == "O":
        return lambda v: f"{quote}{_escape(v)}{quote}" if isinstance(v, bytes) else f"<{v!r}>"
    if kind == "c":
        return lambda _: "?"  # TensorFlow does not print complex numbers
    if kind == "b" or kind in "iu":
        return lambda v: str(int(v))
    if values.dtype.name.startswith(("int", "uint")):
        return lambda v: str(int(v))
    single = values.dtype != np.float64
    return lambda v: _float_text(float(v), single)


def flat_text(values: Array, limit: int) -> str:
    """At most ``limit`` elements (negative: all), rows of higher ranks in brackets.

    An ellipsis marks a row that is cut, and another the end of a cut tensor of rows.
    """
    write = _writer(values, "")
    left = [values.size if limit < 0 else limit]
    text = _flat(values, write, left)
    return text + ("..." if values.ndim > 1 and values.size > limit >= 0 else "")


def _flat(values: Array, write: Callable[[Any], str], left: list[int]) -> str:
    if values.ndim == 0:
        return write(values.item())
    if values.ndim == 1:
        shown = values[: max(left[0], 0)].tolist()
        left[0] -= len(shown)
        return " ".join(map(write, shown)) + ("..." if len(shown) < len(values) else "")
    rows = []
    for row in values:
        if left[0] <= 0:
            break
        rows.append(f"[{_flat(row, write, left)}]")
    return "".join(rows)


def nested_text(values: Array, limit: int) -> str:
    """Brackets and line breaks for every axis; the middle of a long axis is left out.

    ``limit`` elements are shown at either end of an axis, all if it is negative.
    """
    return _nested(values, _writer(values, '"'), limit, values.ndim, values.ndim)


def _nested(values: Array, write: Callable[[Any], str], limit: int, rank: int, level: int) -> str:
    if level == 0:
        return write(values.item())
    size = len(values)
    whole = limit < 0 or size <= 2 * limit
    chosen: list[int] = list(range(size)) if whole else [*range(limit), *range(size - limit, size)]
    parts = [_nested(values[k, ...], write, limit, rank, level - 1) for k in chosen]
    if not whole:
        parts.insert(limit, "...")
    indent = " " * (rank - level + 1)
    return "[" + (" " if level == 1 else "\n" * (level - 1) + indent).join(parts) + "]"
