"""Golden cases of number formats and of reading numbers."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from oracle import Case, case
from stateful import i64

from golden.cases.strings import NONE, texts

NUMBERS: dict[str, Any] = {
    "i4": np.array([1, -2, 0], np.int32),
    "i8": i64([2**62, -(2**63)]),
    "i2": np.array([-3, 4], np.int16),
    "i1": np.array([-3, 4], np.int8),
    "u1": np.array([200], np.uint8),
    "u4": np.array([2**32 - 1], np.uint32),
    "f4": np.array([1.5, -0.25, 1e10, np.nan, np.inf, -np.inf, 1e-7, -0.0, 1 / 3], np.float32),
    "f8": np.array([1 / 3, 1e30, -2.5, np.nan]),
    "f2": np.array([1.5, 0.1, -65504], np.float16),
    "b": np.array([True, False]),
    "c8": np.array([1 + 2j, -0.5 - 1j], np.complex64),
    "s": texts("a", "bc", ""),
}
FORMATS: list[dict[str, Any]] = [
    {}, {"precision": 3}, {"scientific": True}, {"shortest": True}, {"width": 8},
    {"width": 8, "fill": "0"}, {"width": 8, "fill": "-"}, {"fill": "+"}, {"width": 9, "fill": " "},
    {"width": 12, "precision": 2}, {"shortest": True, "precision": 10},
    {"shortest": True, "scientific": True}, {"width": 5, "fill": "x"}, {"fill": "00"},
    {"precision": 0}, {"width": 6, "fill": "#"}, {"scientific": True, "precision": 1, "width": 10},
]  # fmt: skip
SPELLINGS = [
    "1", "-1", " 12 ", "+3", "1.5", "1e3", "0x1A", "inf", "-Infinity", "NaN", "nan(1)", "", " ",
    "1_0", "1e400", "-1e400", "1e-50", "99999999999", "18446744073709551616", "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", ".5", "5.", "1f", "\t1\n", "--1", "- 1", "1 2",
    "-0", "Inf", "infinity", "0x1p3", "4294967295", "4294967296", "2147483648", "-2147483648",
    "1,0",
    "1e", "e1", ".", "+", "0.1", "1d5", "٣", "-0x10", "+inf", "1e+5", "007", "00", "3.4028236e38",
]  # fmt: skip


def _numbers() -> Iterator[Case]:
    for values in NUMBERS.values():
        for form in FORMATS:
            yield case("AsString", values, **form)
        yield case("AsString", values[:0])
    for kind in ("float32", "float64", "int32", "int64", "uint32", "uint64"):
        for text in SPELLINGS:
            yield case("StringToNumber", texts(text), out_type=kind, tol=0)
        yield case("StringToNumber", NONE, out_type=kind)
        yield case("StringToNumber", "7", out_type=kind)


CASES = [*_numbers()]
