"""Numbers in text, as TensorFlow reads them: whitespace around, hexadecimal floats, inf and nan."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from drystone_base.core.dtypes import FLOAT32, DType

__all__ = ["read_float", "read_integer", "read_number"]

_SPACE: Final = b" \t\n\r\x0b\x0c"
_INTEGER: Final = re.compile(rb"[+-]?\d+")
_FLOAT: Final = re.compile(
    rb"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|(nan)(\(\w*\))?)", re.IGNORECASE
)
_HEX: Final = re.compile(rb"[+-]?0x([0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(p[+-]?\d+)?", re.IGNORECASE)


def read_integer(text: bytes, dtype: DType) -> int | None:
    """The integer that a string spells, or None if it spells none that ``dtype`` holds."""
    bare, limits = text.strip(_SPACE), np.iinfo(dtype.np)
    if not _INTEGER.fullmatch(bare) or (limits.min == 0 and bare.startswith(b"-")):
        return None
    # A number of so many digits cannot fit; Python would take long to read it.
    value = int(bare) if len(bare.lstrip(b"+-0")) < 25 else limits.max + 1
    return value if limits.min <= value <= limits.max else None


def read_float(text: bytes, dtype: DType) -> float | None:
    """The number that a string spells, rounded to ``dtype``; None if it spells none."""
    bare = text.strip(_SPACE)
    found = _FLOAT.fullmatch(bare)
    if found:
        value = np.nan if found[5] else float(bare)
    elif _HEX.fullmatch(bare):
        try:
            value = float.fromhex(bare.decode())
        except OverflowError:
            value = np.inf
    else:
        return None
    with np.errstate(over="ignore"):
        return float(np.float32(value)) if dtype is FLOAT32 else value


def read_number(text: bytes, dtype: DType) -> float | int | None:
    """As :func:`read_float` or :func:`read_integer`, by ``dtype``."""
    return read_float(text, dtype) if dtype.is_floating else read_integer(text, dtype)
