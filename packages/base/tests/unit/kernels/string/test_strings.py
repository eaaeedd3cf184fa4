"""Strings: properties against plain Python, and texts that TensorFlow 2.21 gave."""

import re
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stateful import Bench, i32, i64, shapes

from drystone_base.core.dtypes import INT16, INT32
from drystone_base.core.errors import ShapeError
from drystone_base.core.tensor import string_array
from drystone_base.kernels.string._summary_text import flat_text, nested_text
from drystone_base.kernels.string.string_hash import murmur64, siphash

B = Bench()
TEXT = st.text(max_size=12)
WORD = st.text(alphabet="ab ,;é", max_size=10)


def vector(texts: list[str]) -> np.ndarray:
    return string_array([t.encode() for t in texts], (len(texts),))


@settings(max_examples=30, deadline=None)
@given(st.lists(WORD, max_size=5), st.sampled_from([" ", ",", ",;", ""]), st.booleans())
def test_split_against_a_loop(texts: list[str], delimiter: str, skip: bool) -> None:
    indices, values, shape = B.all("StringSplit", vector(texts), delimiter, skip_empty=skip)
    want = []
    for text in (t.encode() for t in texts):
        row, token = list[bytes](), b""
        for k in range(len(text)):
            one = text[k : k + 1]
            if one in delimiter.encode() or not delimiter:
                row.append(one if not delimiter else token)
                token = b""
            else:
                token += one
        if text and delimiter:
            row.append(token)
        want.append([t for t in row if t or not skip])
    got: list[list[bytes]] = [[] for _ in texts]
    for (row_id, column), value in zip(indices.tolist(), values.tolist(), strict=True):
        assert column == len(got[row_id])
        got[row_id].append(value)
    assert got == want
    assert shape.tolist() == [len(texts), max(map(len, want), default=0)]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from("abc"), max_size=6), st.integers(1, 4))
def test_ngrams_without_padding_are_windows(tokens: list[str], width: int) -> None:
    out, splits = B.all(
        "StringNGrams", vector(tokens), i64([0, len(tokens)]), separator="+", ngram_widths=[width],
        left_pad="", right_pad="", pad_width=0, preserve_short_sequences=False,
    )  # fmt: skip
    want = ["+".join(tokens[k : k + width]) for k in range(len(tokens) - width + 1)]
    assert out.tolist() == [w.encode() for w in want]
    assert splits.tolist() == [0, len(want)]


@settings(max_examples=30, deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=4), st.text(alphabet="-é", max_size=2))
def test_join_and_reduce_join_agree(texts: list[str], separator: str) -> None:
    joined = B("StringJoin", *vector(texts).reshape(-1, 1), separator=separator)
    assert joined.item() == separator.join(texts).encode()
    assert B("ReduceJoin", vector(texts), i32([0]), separator=separator).item() == joined.item()
    spread = B(
        "UnsortedSegmentJoin", vector(texts), i32([0] * len(texts)), i32(1), separator=separator
    )
    begun = texts[next((k for k, t in enumerate(texts) if t), len(texts)) :]
    assert spread.item() == separator.join(begun).encode()


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=20))
def test_base64_and_unicode_round_trips(data: bytes) -> None:
    values = string_array([data], (1,))
    for pad in (True, False):
        assert B("DecodeBase64", B("EncodeBase64", values, pad=pad)).item() == data
    points = B.all("UnicodeDecode", values, input_encoding="UTF-8")[1]
    back = B("UnicodeEncode", points, i64([0, len(points)]), output_encoding="UTF-8")
    assert back.item() == data.decode("utf-8", "replace").encode()
    assert B("DecodeRaw", values, out_type="uint8").tobytes() == data


@settings(max_examples=30, deadline=None)
@given(TEXT)
def test_lengths_and_substrings_in_characters(text: str) -> None:
    values = vector([text])
    assert B("StringLength", values, unit="UTF8_CHAR") == len(text)
    assert B("StringLength", values) == len(text.encode())
    for pos in range(len(text)):
        out = B("Substr", values, i32(pos), i32(2), unit="UTF8_CHAR")
        assert out.item() == text[pos : pos + 2].encode()


@settings(max_examples=30, deadline=None)
@given(st.text(alphabet="abx", max_size=10), st.sampled_from(["a", "ab", "a+", "(a)(b)", "[ax]b"]))
def test_simple_patterns_match_as_in_python(text: str, pattern: str) -> None:
    assert B("RegexFullMatch", text, pattern).item() is bool(re.fullmatch(pattern, text))
    out = B("RegexReplace", text, pattern, r"<\0>")
    assert out.item() == re.sub(pattern, r"<\g<0>>", text).encode()


def test_empty_matches_follow_re2() -> None:
    assert B("RegexReplace", "abc", "x*", "-").item() == b"-a-b-c-"
    assert B("RegexReplace", "é", "x*", "-").item() == "-é-".encode()
    assert B("RegexReplace", "baac", "a*", "-").item() == b"-b-c-"
    B.fails("INVALID_ARGUMENT", "RE2", "RegexFullMatch", "a", "(?=a)")


@settings(max_examples=30, deadline=None)
@given(st.integers(-(2**63), 2**63 - 1))
def test_integers_to_text_and_back(value: int) -> None:
    text = B("AsString", i64(value))
    assert text.item() == str(value).encode()
    assert B("StringToNumber", text, out_type="int64") == value


@settings(max_examples=30, deadline=None)
@given(st.floats(allow_nan=False))
def test_floats_to_text_and_back(value: float) -> None:
    text = B("AsString", np.array(value), scientific=True, precision=17)
    assert B("StringToNumber", text, out_type="float64") == value


def test_published_hash_vectors() -> None:
    key = int.from_bytes(bytes(range(8)), "little"), int.from_bytes(bytes(range(8, 16)), "little")
    assert siphash(bytes(range(15)), *key) == 0xA129CA6149BE45E5  # SipHash paper, appendix A
    assert murmur64(b"", 0) == 0
    assert B("StringToHashBucketFast", "", num_buckets=2**62).dtype == np.int64


def test_texts_of_tensors() -> None:
    assert flat_text(np.arange(6).reshape(2, 3), 4) == "[0 1 2][3...]..."
    assert flat_text(np.arange(3), -1) == "0 1 2"
    assert flat_text(vector(["a b"])[0:1], 3) == "a b"
    assert nested_text(np.arange(10), 2) == "[0 1 ... 8 9]"
    assert nested_text(np.array(1 / 3, np.float32), 3) == "0.333333343"
    B.fails(
        "INVALID_ARGUMENT", "placeholder", "StringFormat", i32(1), template="x", placeholder="%s"
    )


def test_absurd_sizes_are_refused() -> None:
    B.fails("RESOURCE_EXHAUSTED", "memory", "AsString", i32([1]), width=2**60)
    B.fails(
        "RESOURCE_EXHAUSTED", "memory",
        "StringNGrams", vector(["a"]), i64([0, 1]), separator="", ngram_widths=[2**24],
        left_pad="", right_pad="", pad_width=-1, preserve_short_sequences=False,
    )  # fmt: skip


def test_decompression_refuses_broken_data() -> None:
    B.fails("DATA_LOSS", "compressed", "DecodeCompressed", "junk", compression_type="ZLIB")
    B.fails("INVALID_ARGUMENT", "known", "DecodeCompressed", "junk", compression_type="LZ")


def test_shapes() -> None:
    assert shapes("StringJoin", [(), (2, -1), (-1, 3)])[0] == [(2, 3)]
    assert shapes("StringJoin", [None, (2,)])[0] == [None]
    with pytest.raises(ShapeError):
        shapes("StringJoin", [(2,), (3,)])
    assert shapes("ReduceJoin", [(2, 3, 4), i32([0, -1])])[0] == [(3,)]
    assert shapes("ReduceJoin", [(2, 3), i32([1])], keep_dims=True)[0] == [(2, 1)]
    assert shapes("ReduceJoin", [(2, 3), (1,)])[0] == [(-1,)]
    assert shapes("ReduceJoin", [(2, 3), None])[0] == [None]
    assert shapes("UnsortedSegmentJoin", [(5, 2), (5,), i32(3)])[0] == [(3, 2)]
    assert shapes("Substr", [(2, 1), (3,), (3,)])[0] == [(2, 3)]
    assert shapes("UnicodeDecode", [(2, 3)], count=2)[0] == [(7,), (-1,)]
    assert shapes("UnicodeEncode", [(9,), (4,)])[0] == [(3,)]
    assert shapes("DecodeRaw", [(2,)], out_type=INT32)[0] == [(2, -1)]
    assert shapes("DecodePaddedRaw", [(2,), i32(8)], out_type=INT16)[0] == [(2, 4)]
    assert shapes("StringSplit", [(2,), ()], count=3)[0] == [(-1, 2), (-1,), (2,)]
    assert shapes("StringNGrams", [(2,), (4,)], count=2)[0] == [(-1,), (4,)]


def test_patterns_of_many_groups_cost_no_more_than_their_length() -> None:
    """RE2 finds all groups of a pattern for each match; only those that are written are needed."""
    many = b"(a)?" * 4000
    text = vector(["a" * 400] * 4)
    begin = time.process_time()
    assert B("RegexFullMatch", text, many).all()
    assert B("RegexReplace", text, many, r"-").tolist() == [b"-"] * 4
    assert B("RegexReplace", text, many, rb"<\0>").tolist() == [b"<" + b"a" * 400 + b">"] * 4
    assert time.process_time() - begin < 5
    B.fails("INVALID_ARGUMENT", "must not have too many", "RegexReplace", text, many, rb"\1")
    assert B("RegexReplace", text, rb"(a)(a)*", rb"\2\1").tolist() == [b"aa"] * 4


@pytest.mark.parametrize("pattern", [b"(a{1000}){1000}", b"((a{99}){99}){99}", b"a{9999}"])
def test_patterns_that_repeat_too_often_are_refused(pattern: bytes) -> None:
    B.fails("INVALID_ARGUMENT", "RE2", "RegexFullMatch", "a", pattern)


def test_replacing_all_takes_time_by_the_text() -> None:
    def seconds(count: int) -> float:
        text = vector(["ab" * count])
        begin = time.process_time()
        B("RegexReplace", text, b"b", b"cc", replace_global=True)
        return time.process_time() - begin

    assert min(seconds(20_000) for _ in range(2)) < 8 * min(seconds(5_000) for _ in range(3))
