"""Golden cases of splitting strings and of n-grams."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from oracle import Case, case
from stateful import i64

from golden.cases.strings import NONE, texts

LINES = texts(" a b  c", "", "x,y", "1<><>2<>3", "<>", "a,b;c,", ",",
              "\t q\x0b\x0c w\r\n", b"\xff \xfe")  # fmt: skip


def _split() -> Iterator[Case]:
    for lines in (LINES, NONE, texts("", "")):
        for delimiter in (" ", ",;", "", "]^-\\<"):
            for skip in (True, False):
                yield case("StringSplit", lines, delimiter, skip_empty=skip)
        for sep in ("", " ", "<>", ","):
            for limit in (-1, 0, 1, 2):
                yield case("StringSplitV2", lines, sep, maxsplit=limit)
    yield case("StringSplit", np.array([["a"]]), " ", note="refused")
    yield case("StringSplit", texts("a"), texts(" "), note="refused")
    yield case("StringSplitV2", np.array([["a"]]), " ", note="refused")


def _ngrams() -> Iterator[Case]:
    data = texts(*"abcdefg")
    for kind in (np.int32, np.int64):
        splits = np.array([0, 4, 4, 6, 7], kind)
        for widths in ([1], [2], [3, 1], [6]):
            for pad in (-1, 0, 2):
                for short in (True, False):
                    yield case("StringNGrams", data, splits, separator="|", ngram_widths=widths,
                               left_pad="L", right_pad="R", pad_width=pad,
                               preserve_short_sequences=short)  # fmt: skip
    plain: dict[str, Any] = {"separator": " ", "left_pad": "", "right_pad": "", "pad_width": 0,
             "preserve_short_sequences": False, "ngram_widths": [2]}  # fmt: skip
    yield case("StringNGrams", NONE, np.array([0], np.int64), **plain)
    yield case("StringNGrams", NONE, np.array([], np.int64), **plain)
    yield case("StringNGrams", NONE, np.array([0, 0], np.int64), **plain)
    for bad in ([0, 3], [1, 7], [0, 5, 4, 7], [0, 9]):
        yield case("StringNGrams", data, i64(bad), **plain, note="refused")
    yield case(
        "StringNGrams",
        data,
        np.array([0, 7], np.int64),
        **{**plain, "ngram_widths": [0]},
        note="refused",
    )


CASES = [*_split(), *_ngrams()]
