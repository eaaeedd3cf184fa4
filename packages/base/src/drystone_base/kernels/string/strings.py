"""Element by element functions of strings: case, length, substrings, base64."""

from __future__ import annotations

import base64
import re
from typing import Final

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import char_starts, each, each_number

_MAX_RANK: Final = 2
_BASE64: Final = re.compile(rb"[A-Za-z0-9_-]*={0,2}")


def _is_utf8(call: Call) -> bool:
    encoding = call.attrs["encoding"]
    call.require(
        encoding.lower() in ("", "utf-8"),
        "the encoding must be one that is known",
        found=encoding,
        needed="'' or 'utf-8'",
    )
    return bool(encoding)


@kernel("StringLower")
def lower(call: Call, values: Array) -> Array:
    """Lower case, of ASCII letters or (``encoding="utf-8"``) of all."""
    if not _is_utf8(call):
        return each(bytes.lower, values)
    return each(lambda v: v.decode("utf-8", "replace").lower().encode(), values)


@kernel("StringUpper")
def upper(call: Call, values: Array) -> Array:
    """Upper case, of ASCII letters or (``encoding="utf-8"``) of all."""
    if not _is_utf8(call):
        return each(bytes.upper, values)
    return each(lambda v: v.decode("utf-8", "replace").upper().encode(), values)


@kernel("StringStrip")
def strip(_: Call, values: Array) -> Array:
    """Without ASCII whitespace at both ends."""
    return each(bytes.strip, values)


@kernel("StringLength")
def length(call: Call, values: Array) -> Array:
    """Number of bytes, or of UTF-8 characters; int32."""
    if call.attrs["unit"] == "BYTE":
        return each_number(len, values, np.int32)
    return each_number(lambda v: sum(b & 0xC0 != 0x80 for b in v), values, np.int32)


@kernel("Substr")
def substr(call: Call, values: Array, pos: Array, length: Array) -> Array:
    """``length`` units from ``pos`` (from the end where negative); shapes broadcast."""
    call.require(
        pos.shape == length.shape,
        "positions and lengths must have one shape",
        found=f"{list(pos.shape)} and {list(length.shape)}",
        needed="equal shapes",
    )
    try:
        shape = np.broadcast_shapes(values.shape, pos.shape)
    except ValueError as error:
        call.fail("shapes must broadcast", found=str(error), needed="equal dims, or 1")
    call.require(
        pos.shape in ((), values.shape) or len(shape) <= _MAX_RANK,
        "shapes may be broadcast up to rank 2",
        found=list(shape),
        needed="rank 2 or less",
        status="UNIMPLEMENTED",
    )
    out = np.empty(shape, dtype=object)
    rows = np.broadcast(values, pos, length)
    cut = _cut_bytes if call.attrs["unit"] == "BYTE" else _cut_chars
    out.reshape(-1)[:] = [cut(call, v, int(p), int(n)) for v, p, n in rows]
    return out


def _check_position(call: Call, text: bytes, pos: int, size: int) -> int:
    call.require(
        -size <= pos <= size,
        "a position must lie in the string",
        found=f"{pos} in {text[:80]!r}",
        needed=f"from {-size} to {size}",
    )
    return pos + size if pos < 0 else pos


def _cut_bytes(call: Call, text: bytes, pos: int, count: int) -> bytes:
    start = _check_position(call, text, pos, len(text))
    return text[start:] if count < 0 else text[start : start + count]


def _cut_chars(call: Call, text: bytes, pos: int, count: int) -> bytes:
    starts = [*char_starts(text), len(text)]
    first = _check_position(call, text, pos, len(starts) - 1)
    last = first if count < 0 else min(first + count, len(starts) - 1)
    return text[starts[first] : starts[last]]


@kernel("EncodeBase64")
def encode_base64(call: Call, values: Array) -> Array:
    """Web-safe base64, with ``=`` at the end if ``pad``."""
    if call.attrs["pad"]:
        return each(base64.urlsafe_b64encode, values)
    return each(lambda v: base64.urlsafe_b64encode(v).rstrip(b"="), values)


@kernel("DecodeBase64")
def decode_base64(call: Call, values: Array) -> Array:
    """Bytes of web-safe base64, padded or not."""

    def decode(text: bytes) -> bytes:
        bare = text.rstrip(b"=")
        padded = len(bare) < len(text)
        call.require(
            _BASE64.fullmatch(text)
            and len(bare) % 4 != 1
            and (not padded or (len(text) % 4 == 0 and bare)),
            "the input must be web-safe base64",
            found=repr(text[:80]),
            needed="letters, digits, - and _, then no padding or all of it",
        )
        return base64.urlsafe_b64decode(bare + b"=" * (-len(bare) % 4))

    return each(decode, values)
