"""An array that is recorded compactly, and can be held against another."""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import oracle

from drystone_base.core.dtypes import as_dtype

__all__ = ["Digest"]

KEPT = 24  # elements of a float tensor


@dataclass(frozen=True)
class Digest:
    """Dtype and shape; evenly spaced elements of floats, a checksum of anything else."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    kept: np.ndarray[Any, Any] | None
    checksum: int

    @property
    def ndim(self) -> int:
        """The rank."""
        return len(self.shape)

    @classmethod
    def of(cls, value: np.ndarray[Any, Any]) -> Digest:
        """The digest of an array."""
        if _is_float(value.dtype):
            return cls(value.dtype, value.shape, _sample(value), 0)
        return cls(value.dtype, value.shape, None, checksum(value))

    def difference(self, got: np.ndarray[Any, Any]) -> float:
        """As ``oracle.difference``, over the elements that were kept."""
        if got.shape != self.shape or got.dtype.kind != self.dtype.kind:
            return np.inf
        if self.kept is not None:
            return oracle.difference(_sample(got), self.kept)
        return 0.0 if got.dtype == self.dtype and checksum(got) == self.checksum else np.inf

    def packed(self) -> list[Any]:
        """As JSON."""
        name = "string" if self.dtype.kind == "O" else self.dtype.name
        if self.kept is None:
            return [name, list(self.shape), self.checksum]
        return [name, list(self.shape), base64.b85encode(self.kept.tobytes()).decode()]

    @classmethod
    def unpacked(cls, packed: list[Any]) -> Digest:
        """The digest that was packed."""
        name, shape, rest = packed
        dtype = np.dtype(as_dtype(name).np)
        if isinstance(rest, int):
            return cls(dtype, tuple(shape), None, rest)
        return cls(dtype, tuple(shape), np.frombuffer(base64.b85decode(rest), dtype), 0)


def checksum(value: Any) -> int:
    """A checksum of an array of any dtype, with its dtype and shape."""
    value = np.asarray(value)
    text = value.dtype.kind == "O"
    raw = repr(value.tolist()).encode() if text else np.ascontiguousarray(value).tobytes()
    return zlib.crc32(raw, zlib.crc32(f"{value.dtype.name}{value.shape}".encode()))


def _is_float(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "fc" or dtype.name.startswith(("bfloat", "float8"))


def _sample(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """At most ``KEPT`` elements."""
    flat = value.ravel()
    return flat if flat.size <= KEPT else flat[np.linspace(0, flat.size - 1, KEPT).astype(int)]
