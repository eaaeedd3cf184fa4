"""Strings, numbers as text, parsing, hashes, unicode."""

from typing import Any

import numpy as np

from parity.draft import Draft, Drawer, Rule
from parity.drawers import choice, fixed, integers, some

WORDS = (
    b"",
    b"a",
    b"ab,c",
    b" 12 ",
    b"-3.5e2",
    b"\xc3\xa9t\xc3\xa9",
    b"x y  z",
    b"Stra\xc3\x9fe",
    b"\xe6\x97\xa5\xe6\x9c\xac",
    b"\xf0\x9f\x98\x80!",
    b"%s\t\\n",
    b"AbC",
)


def texts(*words: bytes, spec: str | None = None) -> Drawer:
    """Strings out of a list, in any shape or one."""

    def draw(d: Draft) -> Any:
        shape = d.any_shape(3) if spec is None else d.shape(spec)
        count = int(np.prod(shape, dtype=np.int64))
        out = np.empty(count, object)
        out[:] = [d.pick(*words) for _ in range(count)]
        return out.reshape(shape)

    return draw


def _positions(d: Draft) -> Any:
    shape = d.pick((), np.shape(d["input"]))
    low = 0 if d.making == "len" else -2
    return np.asarray(d.rng.integers(low, 4, shape)).astype(d.dtype(d.making).np)


_ANY = texts(*WORDS)
_NUMBERS = texts(
    b"1",
    b"-2.5",
    b"3e2",
    b" 7 ",
    b"inf",
    b"nan",
    b"-0",
    b"0x10",
    b"99999999999",
    b"",
    b"1.5x",
    b"2147483648",
    b"1e-50",
    b"+4",
)
_PATTERNS = choice("a.*", "[a-z]+", "(\\w)(\\d)?", "", "^.$", "x|y", "(", "\\pL+")
_PATTERN = texts(b"a.*", b"[a-z]+", b"(\\w)(\\d)?", b"", b"^.$", b"x|y", b"(", spec="")
_REWRITE = texts(b"", b"<\\0>", b"\\1\\1", b"-", b"\\9", spec="")
_UNICODE = {
    "input": _ANY,
    "input_encoding": choice("UTF-8", "UTF-8", "UTF-16-BE", "UTF-32-BE", "US-ASCII", "ISO-8859-1"),
    "replacement_char": choice(65533, 63, 32),
}


def _code_points(d: Draft) -> Any:
    out = d.rng.choice([65, 233, 26085, 128512, 0, 55296, 1114112, -1], d.dim("n"))
    if d.chance(0.6):
        out = np.abs(out) % 1000
    return out.astype(np.int32)


def _splits(values: str) -> Drawer:
    def draw(d: Draft) -> Any:
        count = len(d[values])
        cuts = sorted(d.size(0, count) for _ in range(d.size(0, 3)))
        return np.array([0, *cuts, count]).astype(d.dtype(d.making).np)

    return draw


def _defaults(d: Draft) -> Any:
    from drystone_base.core.dtypes import as_dtype

    return [d.values(as_dtype(t), d.pick((1,), (0,)), False) for t in d["OUT_TYPE"]]


def _records(d: Draft) -> Any:
    fields = [b"1", b"-2", b"3.5", b"", b'"a ""b"', b"x", b"1e3", b"99999999999"]
    count, width = d.size(0, 3), len(d["OUT_TYPE"])
    out = np.empty(count, object)
    out[:] = [
        d["field_delim"].encode().join(d.pick(*fields[:3], *fields) for _ in range(width))
        for _ in range(count)
    ]
    return out


def _raw(d: Draft) -> Any:
    width = np.dtype(_np_name(d["out_type"])).itemsize * d.size(0, 3) + d.chance(0.05)
    shape = d.any_shape(2)
    out = np.empty(int(np.prod(shape)), object)
    out[:] = [d.rng.bytes(width) for _ in range(out.size)]
    return out.reshape(shape)


def _np_name(label: str) -> Any:
    from drystone_base.core.dtypes import as_dtype

    return as_dtype(label).np


_RAW_TYPES = choice("int8", "uint8", "int16", "uint16", "int32", "int64", "bool")

RULES: dict[str, Rule] = {
    "AsString": Rule(
        {
            "precision": choice(-1, -1, 0, 3),
            "width": choice(-1, 0, 8),
            "fill": choice("", "", " ", "0", "-", "+"),
            "scientific": lambda d: d.chance(0.15),
            "shortest": lambda d: d.chance(0.15),
        }
    ),
    "StringToNumber": Rule(
        {
            "string_tensor": lambda d: _numbers(d),
            "out_type": choice("float32", "float64", "int32", "int64", "uint32"),
        }
    ),
    "StringLower StringUpper": Rule({"input": _ANY, "encoding": choice("", "utf-8")}),
    "StringLength StringStrip EncodeBase64": Rule({"input": _ANY}),
    "DecodeBase64": Rule(
        {"input": texts(b"", b"YQ", b"YWI", b"YWJj", b"YQ==", b"-_-_", b"+/", b"Y")}
    ),
    "Substr": Rule(
        {
            "input": _ANY,
            "pos": _positions,
            "len": lambda d: np.asarray(d.rng.integers(0, 4, np.shape(d["pos"]))).astype(
                d.dtype("len").np
            ),
        }
    ),
    "StringJoin": Rule(
        {"N": choice(0, 1, 2, 3), "separator": choice("", ", "), "inputs": lambda d: _joined(d)}
    ),
    "ReduceJoin": Rule({"inputs": _ANY, "separator": choice("", "-")}),
    "UnsortedSegmentJoin": Rule(
        {
            "inputs": texts(*WORDS, spec="n"),
            "segment_ids": integers("n", 0, 3),
            "num_segments": integers("", 4, 5),
            "separator": choice("", "+"),
        }
    ),
    "StringSplit": Rule(
        {"input": texts(*WORDS, spec="n"), "delimiter": texts(b"", b" ", b",a", spec="")}
    ),
    "StringSplitV2": Rule(
        {
            "input": texts(*WORDS, spec="n"),
            "sep": texts(b"", b" ", b",", b"b,", spec=""),
            "maxsplit": choice(-1, -1, 0, 1, 2),
        }
    ),
    "RegexFullMatch": Rule({"input": _ANY, "pattern": _PATTERN}, spoil=False),
    "RegexReplace": Rule({"input": _ANY, "pattern": _PATTERN, "rewrite": _REWRITE}),
    "StaticRegexFullMatch": Rule({"input": _ANY, "pattern": _PATTERNS}),
    "StaticRegexReplace": Rule(
        {"input": _ANY, "pattern": _PATTERNS, "rewrite": choice("", "<\\0>", "\\1\\1", "-", "\\9")}
    ),
    "StringToHashBucket StringToHashBucketFast": Rule(
        {"num_buckets": choice(1, 7, 1000, 2**40), "input": _ANY, "string_tensor": _ANY}
    ),
    "StringToHashBucketStrong": Rule(
        {
            "num_buckets": choice(1, 7, 1000),
            "input": _ANY,
            "key": choice([1, 2], [0, 0], [-5, 2**60], [1]),
        }
    ),
    "StringFormat": Rule(
        {
            "template": choice("x {} y", "{}", "{} {}", "none"),
            "placeholder": fixed("{}"),
            "summarize": choice(-1, 1, 3),
            "T": lambda d: [
                d.pick("float32", "int32", "string", "bool", "int64")
                for _ in range(d["template"].count("{}"))
            ],
        },
        special=False,
    ),
    "StringNGrams": Rule(
        {
            "data": texts(*WORDS, spec="n"),
            "data_splits": _splits("data"),
            "separator": choice(" ", ""),
            "ngram_widths": choice([1], [2], [1, 2, 3], [0]),
            "left_pad": choice("", "<"),
            "right_pad": choice("", ">"),
            "pad_width": choice(-1, 0, 1, 5),
        }
    ),
    "UnicodeTranscode": Rule(_UNICODE),
    "UnicodeDecode UnicodeDecodeWithOffsets": Rule(_UNICODE),
    "UnicodeEncode": Rule(
        {
            "input_values": _code_points,
            "input_splits": _splits("input_values"),
            "replacement_char": choice(65533, 63),
        },
        spoil=False,
    ),
    "UnicodeScript": Rule({"input": lambda d: np.abs(_code_points(d)) % 70000}),
    "DecodeCSV": Rule(
        {
            "OUT_TYPE": lambda d: [
                d.pick("float32", "int32", "string", "int64", "float64")
                for _ in range(d.size(1, 3))
            ],
            "record_defaults": _defaults,
            "records": _records,
            "field_delim": choice(",", ";"),
            "na_value": choice("", "x"),
            "select_cols": fixed([]),
        }
    ),
    "DecodeRaw": Rule({"bytes": _raw, "out_type": _RAW_TYPES}),
    "DecodePaddedRaw": Rule(
        {"input_bytes": _raw, "out_type": _RAW_TYPES, "fixed_length": integers("", 0, 16)}
    ),
    "DecodeCompressed": Rule({"bytes": _ANY, "compression_type": choice("", "", "ZLIB", "GZIP")}),
    "ParseTensor": Rule(
        {
            "out_type": choice("float32", "int32", "string"),
            "serialized": texts(b"", b"x", b"\x08\x01", spec=""),
        }
    ),
    "SerializeTensor": Rule({"tensor": some(3)}),
    "DecodeJSONExample": Rule(
        {
            "json_examples": texts(
                b"{}",
                b'{"features": {}}',
                b"x",
                b'{"features": {"feature": {"a": {"int64List": {"value": ["1", 2]}}}}}',
            )
        }
    ),
    "ShardedFilename ShardedFilespec": Rule(
        {
            "basename": texts(b"a", b"dir/b", spec=""),
            "shard": integers("", 0, 20),
            "num_shards": integers("", 1, 100000),
        }
    ),
}


def _numbers(d: Draft) -> Any:
    if d.chance(0.5):
        return texts(b"1", b"-2", b"35", b" 7 ", b"0", b"+4")(d)
    return _NUMBERS(d)


def _joined(d: Draft) -> Any:
    shape = d.any_shape(2)
    return [d.tensor("inputs", d.pick(shape, shape, ()))[0] for _ in range(d["N"])]
