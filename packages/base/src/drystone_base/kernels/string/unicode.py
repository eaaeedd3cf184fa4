"""Strings as sequences of Unicode code points, and between encodings."""

from __future__ import annotations

import codecs
import itertools
from typing import Final

import numpy as np

from drystone_base.core.tensor import string_array
from drystone_base.kernels._pieces import elements
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import each

_LAST: Final = 0x10FFFF


def _codec(call: Call, name: str) -> str:
    try:
        return codecs.lookup(name).name
    except LookupError as error:
        call.fail(
            "the encoding must be one that is known",
            found=name,
            needed="UTF-8, UTF-16-BE, UTF-32-BE or a legacy encoding",
            inner=error,
        )


def _points(call: Call, text: bytes, codec: str) -> tuple[list[int], list[int]]:
    """Code points of a string and the byte where each begins; bad bytes as ``errors`` says."""
    points: list[int] = []
    starts: list[int] = []
    control = call.attrs["replace_control_characters"]
    at = 0
    while at < len(text):
        try:
            good, bad = text[at:].decode(codec), 0
        except UnicodeDecodeError as error:
            good, bad = text[at : at + error.start].decode(codec), error.end - error.start
        for char in good:
            hidden = control and ord(char) < 32
            if hidden:
                _note_error(call, text, points, starts, at)
            else:
                points.append(ord(char))
                starts.append(at)
            at += len(char.encode(codec))
        if bad:
            _note_error(call, text, points, starts, at)
            at += bad
    return points, starts


def _note_error(call: Call, text: bytes, points: list[int], starts: list[int], at: int) -> None:
    mode = call.attrs["errors"]
    call.require(
        mode != "strict",
        "a string must be valid in its encoding",
        found=f"{text[at : at + 8]!r} at byte {at}",
        needed=call.attrs["input_encoding"],
        remedy='use errors="replace" or errors="ignore"',
    )
    if mode == "replace":
        points.append(call.attrs["replacement_char"])
        starts.append(at)


def _check_replacement(call: Call) -> None:
    point = call.attrs["replacement_char"]
    call.require(
        0 <= point <= _LAST and not 0xD800 <= point < 0xE000,
        "the replacement must be a Unicode code point",
        found=point,
        needed="0 to 0x10FFFF without surrogates",
    )


@kernel("UnicodeDecode", "UnicodeDecodeWithOffsets")
def unicode_decode(call: Call, values: Array) -> tuple[Array, ...]:
    """Row splits, code points (int32) and, if asked, the byte where each begins (int64)."""
    _check_replacement(call)
    codec = _codec(call, call.attrs["input_encoding"])
    splits, points, starts = [0], list[int](), list[int]()
    for text in elements(values):
        row, offsets = _points(call, text, codec)
        points += row
        starts += offsets
        splits.append(len(points))
    out = np.array(splits, call.attrs["Tsplits"].np), np.array(points, np.int32)
    return out if call.op == "UnicodeDecode" else (*out, np.array(starts, np.int64))


def _encode(call: Call, points: list[int], codec: str) -> bytes:
    mode, replacement = call.attrs["errors"], call.attrs["replacement_char"]
    chars = []
    for point in points:
        valid = 0 <= point <= _LAST and not 0xD800 <= point < 0xE000
        call.require(
            valid or mode != "strict",
            "code points must be valid",
            found=point,
            needed="0 to 0x10FFFF without surrogates",
            remedy='use errors="replace" or errors="ignore"',
        )
        if valid or mode == "replace":
            chars.append(chr(point if valid else replacement))
    return "".join(chars).encode(codec, "replace")


@kernel("UnicodeEncode")
def unicode_encode(call: Call, values: Array, splits: Array) -> Array:
    """One string for each row of code points."""
    _check_replacement(call)
    ends = splits.tolist()
    call.require(
        len(ends) > 0
        and ends[0] == 0
        and ends[-1] == len(values)
        and all(a <= b for a, b in itertools.pairwise(ends)),
        "row splits must lead from 0 to the number of code points",
        found=ends[:10],
        needed=f"ascending, from 0 to {len(values)}",
    )
    codec, points = _codec(call, call.attrs["output_encoding"]), values.tolist()
    rows = [points[a:b] for a, b in itertools.pairwise(ends)]
    return string_array([_encode(call, row, codec) for row in rows], (len(rows),))


@kernel("UnicodeTranscode")
def unicode_transcode(call: Call, values: Array) -> Array:
    """Each string in another encoding."""
    _check_replacement(call)
    source = _codec(call, call.attrs["input_encoding"])
    target = _codec(call, call.attrs["output_encoding"])
    return each(lambda v: _encode(call, _points(call, v, source)[0], target), values)
