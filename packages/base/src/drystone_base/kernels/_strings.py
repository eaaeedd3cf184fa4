"""What kernels of strings share: apply a function to each string of a tensor, limits of UTF-8."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from drystone_base.kernels._pieces import PIECE
from drystone_base.kernels._registry import Array, Call

__all__ = [
    "attr_bytes",
    "char_starts",
    "each",
    "each_number",
    "join_all",
    "scalar_string",
]


def each(function: Callable[[bytes], bytes], values: Array) -> Array:
    """Strings of the same shape: ``function`` of each."""
    return each_number(function, values, object)


def each_number(function: Callable[[bytes], Any], values: Array, dtype: Any) -> Array:
    """An array of the same shape: ``function`` of each string."""
    flat = values.ravel()
    out = np.empty(flat.size, dtype)
    for begin in range(0, flat.size, PIECE):
        found = [function(v) for v in flat[begin : begin + PIECE].tolist()]
        out[begin : begin + PIECE] = found
    return out.reshape(values.shape)


def join_all(separator: bytes, texts: Array) -> bytes:
    """The strings of a vector as one."""
    pieces = range(0, max(texts.size, 1), PIECE)
    return separator.join([separator.join(texts[k : k + PIECE].tolist()) for k in pieces])


def attr_bytes(call: Call, name: str) -> bytes:
    """A string attribute as the bytes that the graph holds."""
    return str(call.attrs[name]).encode("utf-8", "surrogateescape")


def scalar_string(call: Call, value: Array, what: str) -> bytes:
    """The only string of a scalar."""
    call.require(
        value.ndim == 0, f"{what} must be a scalar", found=list(value.shape), needed="rank 0"
    )
    return bytes(value.item())


def char_starts(text: bytes) -> list[int]:
    """Where each UTF-8 character begins; bytes that continue none belong to the one before."""
    return [k for k, byte in enumerate(text) if k == 0 or byte & 0xC0 != 0x80]
