"""Golden cases of element by element functions of strings, hashes, joins and raw bytes."""

import gzip
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from oracle import Case, case
from stateful import i32, i64

from drystone_base.core.tensor import string_array

WORDS = ["", "a", "Hello World", " \t\n x y\x0b\x0c\r ", "ÀÉß ǅ İ", "日本語", "x" * 70, "\u00a0z"]
BROKEN: list[Any] = [b"\xff\xfe", b"a\x80b", b"\xe0\x80bcd", b"\xf0\x9f\x98", b"\xed\xa0\x80"]


def texts(*values: Any) -> Any:
    """A vector of strings, bytes among them."""
    flat = [v.encode() if isinstance(v, str) else v for v in values]
    return string_array(flat, (len(flat),))


ALL = texts(*WORDS, *BROKEN)
NONE = texts()


def _case_and_length() -> Iterator[Case]:
    for op in ("StringLower", "StringUpper"):
        for encoding in ("", "utf-8"):
            yield case(op, ALL, encoding=encoding)
        yield case(op, texts("a"), encoding="latin-1", note="refused")
        yield case(op, NONE)
        yield case(op, "Scalar")
    yield case("StringStrip", ALL)
    yield case("StringStrip", NONE)
    for unit in ("BYTE", "UTF8_CHAR"):
        yield case("StringLength", ALL, unit=unit)
        yield case("StringLength", NONE, unit=unit)


def _substr() -> Iterator[Case]:
    for unit in ("BYTE", "UTF8_CHAR"):
        for pos, count in ((0, 3), (1, 2), (-2, 2), (-3, 1), (2, 9), (3, 0), (1, -1)):
            yield case("Substr", texts("héllo", "wörld"), i32(pos), i32(count), unit=unit)
        for pos in (99, -99):
            yield case("Substr", texts("hello"), i32(pos), i32(1), unit=unit, note="refused")
        yield case("Substr", texts("hello"), i32(5), i32(1), unit=unit)
        yield case("Substr", texts(b"\xe0\x80bcd"), i32(1), i32(2), unit=unit)
        yield case("Substr", np.array([["ab"], ["cd"]]), i64([0, 1]), i64([1, 1]), unit=unit)
        yield case("Substr", texts("hello", "world"), i64([1, -1]), i64([2, 5]), unit=unit)
        yield case("Substr", "hello", i32([1, 2, 3]), i32([1, 1, 1]), unit=unit)
    yield case("Substr", np.array([["ab"], ["cd"]]), i32([0]), i32([1, 1]), note="refused")
    yield case("Substr", texts("a", "b", "c"), i32([0, 0]), i32([1, 1]), note="refused")
    cube = np.full((2, 2, 2), "abc")
    yield case("Substr", cube, np.ones((2, 2, 2), np.int32), np.ones((2, 2, 2), np.int32))
    yield case("Substr", cube, i32([0, 1]), i32([1, 1]), note="refused")


def _base64() -> Iterator[Case]:
    for pad in (False, True):
        yield case("EncodeBase64", ALL, pad=pad)
    yield case("DecodeBase64", texts("", "YQ", "YQ==", "YWI", "YWI=", "YWJj", "-_-_"))
    for bad in ("Y", "YQ=", "YQ===", "Y Q=", "+/+/", "Yé", "=", "===="):
        yield case("DecodeBase64", texts(bad), note="refused")


def _hashes() -> Iterator[Case]:
    many = texts(*[("héllo wörld " * 9)[:n] for n in range(0, 100, 3)], *BROKEN)
    for buckets in (1, 2, 5000, 2**61 + 7):
        yield case("StringToHashBucketFast", many, num_buckets=buckets)
        yield case("StringToHashBucket", many, num_buckets=buckets)
        for key in ([0, 0], [123, 987654321], [-1, 2**62]):
            yield case("StringToHashBucketStrong", many, num_buckets=buckets, key=key)
    for op in ("StringToHashBucketFast", "StringToHashBucket"):
        yield case(op, NONE, num_buckets=3)
        yield case(op, "scalar", num_buckets=3)
        yield case(op, texts("a"), num_buckets=0, note="refused")
    yield case("StringToHashBucketStrong", texts("a"), num_buckets=3, key=[1], note="refused")


def _joins() -> Iterator[Case]:
    grid = np.array([["a", "bc", ""], ["d", "é", "f"]])
    yield case("StringJoin", grid, grid, separator="-")
    yield case("StringJoin", grid, "s", grid)
    yield case("StringJoin", "a", "b", separator=", ")
    yield case("StringJoin", grid)
    yield case("StringJoin", grid, texts("a"), note="refused")
    for keep in (False, True):
        for axes in ([0], [1], [0, 1], [1, 0], [-1], [-2, -1], []):
            yield case("ReduceJoin", grid, np.array(axes, np.int32), keep_dims=keep, separator=".")
        yield case("ReduceJoin", grid, np.int32(1), keep_dims=keep)
        yield case("ReduceJoin", np.array([[[*"abc"], [*"def"]], [[*"ghi"], [*"jkl"]]]),
                   np.array([2, 0], np.int32), keep_dims=keep)  # fmt: skip
        yield case("ReduceJoin", string_array([], (0, 3)), np.array([0], np.int32), keep_dims=keep)
        yield case("ReduceJoin", string_array([], (0, 3)), np.array([1], np.int32), keep_dims=keep)
    for axes in ([2], [-3], [0, 0], [0, -2]):
        yield case("ReduceJoin", grid, i32(axes), note="refused")
    words = texts("this", "a", "test", "is")
    yield case(
        "UnsortedSegmentJoin", words, np.array([0, 1, 1, 0], np.int32), np.int32(3), separator=":"
    )
    yield case("UnsortedSegmentJoin", grid, np.array([1, 0], np.int64), np.int32(2), separator=":")
    yield case("UnsortedSegmentJoin", grid, np.array([[1, 0, 1], [0, 0, 0]], np.int32), np.int64(2))
    for ids, count in (([0, 1, 1, 3], 3), ([0, -1, 1, 1], 3), ([0, 1], 3), ([0, 1, 1, 1], -1)):
        yield case("UnsortedSegmentJoin", words, i32(ids), np.int32(count), note="refused")


def _raw() -> Iterator[Case]:
    data = texts(bytes(range(16)), bytes(range(240, 256)))
    kinds = "half float32 float64 int32 uint16 uint8 int16 int8 int64 complex64 complex128 bool"
    for kind in kinds.split():
        bits = texts(b"\0\1" * 8) if kind == "bool" else data
        for little in (True, False):
            yield case("DecodeRaw", bits, out_type=kind, little_endian=little)
    yield case("DecodeRaw", NONE, out_type="int32")
    yield case("DecodeRaw", b"abcd", out_type="int16")
    yield case("DecodeRaw", texts("", ""), out_type="int16")
    yield case("DecodeRaw", texts("abc"), out_type="int16", note="refused")
    yield case("DecodeRaw", texts("ab", "abcd"), out_type="int16", note="refused")
    for length in (2, 4, 24):
        for little in (True, False):
            yield case("DecodePaddedRaw", texts("abcdef", "g", ""), np.int32(length),
                       out_type="int16", little_endian=little)  # fmt: skip
    for length in (0, 3, -2):
        yield case("DecodePaddedRaw", texts("ab"), np.int32(length), out_type="int16")
    plain = b"drystone " * 20
    yield case("DecodeCompressed", texts(zlib.compress(plain), zlib.compress(b"")),
               compression_type="ZLIB")  # fmt: skip
    yield case("DecodeCompressed", texts(gzip.compress(plain, mtime=0)), compression_type="GZIP")
    yield case("DecodeCompressed", texts("plain"), compression_type="")


CASES = [
    *_case_and_length(), *_substr(), *_base64(), *_hashes(), *_joins(), *_raw(),
]  # fmt: skip
