"""Upper and lower case of bytes and of UTF-8: every character, and rows of any bytes."""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from agreement import assert_agrees
from hypothesis import example, given, settings
from hypothesis import strategies as st

TOP = Path(__file__).resolve().parents[4]
sys.path.append(str(TOP))

from ci.scripts import letter_case  # noqa: E402

OPS = pytest.mark.parametrize("op", ["StringLower", "StringUpper"])
HELD = f"Unicode {unicodedata.unidata_version}." in letter_case.FILE.read_text(encoding="utf-8")


def is_in_both(character: str) -> bool:
    """Whether the table and this Python know the same of a character: old ones stay as they are."""
    return HELD or unicodedata.ucd_3_2_0.category(character) != "Cn"


CHARACTERS = [c for c in map(chr, range(0x110000)) if not "\ud800" <= c <= "\udfff"]
EXTRA = "\u03a3\u0130\u00df. \u0301:"
LETTERS = st.sampled_from(
    [c for c in CHARACTERS if c.upper() != c or c.lower() != c] + list(EXTRA)
).filter(is_in_both)
WORDS = st.text(LETTERS, max_size=12).map(str.encode)


@OPS
def test_every_character(op: str) -> None:
    known = [c.encode() for c in CHARACTERS if is_in_both(c)]
    assert_agrees(op, np.array(known, object), encoding="utf-8")


@OPS
@pytest.mark.parametrize("encoding", ["", "utf-8", "UTF-8", "latin-1"])
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(texts=st.lists(st.one_of(st.binary(max_size=40), WORDS), max_size=4))
@example(texts=[b"", b"a\0B", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xe0\x80\xaf", b"\xc0A", b"\xff"])
@example(
    texts=[t.replace("S", "\u03a3").encode() for t in ("aS aSa S", "A\u0301S\u0301", "aS:", "SS")]
)
def test_agrees(op: str, encoding: str, texts: list[bytes]) -> None:
    if not HELD and encoding:  # bytes that happen to spell a newer letter
        texts = [t for t in texts if all(map(is_in_both, t.decode("utf-8", "replace")))]
    values = np.array(texts, object)
    for shape in {(len(texts),), (1, len(texts), 1)}:
        assert_agrees(op, values.reshape(shape), encoding=encoding)


@OPS
def test_scalars_and_no_strings(op: str) -> None:
    for shape in ((), (0,), (2, 0), (1, 1)):
        values = np.full(shape, "Straße ÉA".encode(), object)
        assert_agrees(op, values, encoding="utf-8")


def test_the_table_is_of_this_python() -> None:
    assert letter_case.main(["--check"]) == 0
