"""Upper and lower case of bytes and of UTF-8: every character, and rows of any bytes."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from agreement import assert_agrees
from hypothesis import example, given, settings
from hypothesis import strategies as st
from native_ops import run_native

TOP = Path(__file__).resolve().parents[5]
sys.path.append(str(TOP))

from ci.scripts import letter_case  # noqa: E402

CASES: Final[dict[str, tuple[Mapping[str, str], Callable[[str], str]]]] = {
    "StringLower": (letter_case.changes("Lower"), str.lower),
    "StringUpper": (letter_case.changes("Upper"), str.upper),
}
"""What the kernel's table changes, and what this Python does, of whatever version of Unicode."""
OPS = pytest.mark.parametrize("op", CASES)


def is_in_both(character: str) -> bool:
    """Whether the table and this Python know the same of a character."""
    cases = CASES.values()
    return all(table.get(character, character) == change(character) for table, change in cases)


def is_old(text: str) -> bool:
    """Whether every Python has its characters: Unicode 3.2 did."""
    return all(unicodedata.ucd_3_2_0.category(c) != "Cn" for c in text)


CHARACTERS = [c for c in map(chr, range(0x110000)) if not "\ud800" <= c <= "\udfff"]
EXTRA = "\u03a3\u0130\u00df. \u0301:"
LETTERS = st.sampled_from(
    [c for c in CHARACTERS if c.upper() != c or c.lower() != c] + list(EXTRA)
).filter(is_in_both)
WORDS = st.text(LETTERS, max_size=12).map(str.encode)


@pytest.mark.cases_in_gate(2)
@OPS
def test_every_character(op: str) -> None:
    """As the table says; what it says is held against Python in the tests at the end."""
    table, _ = CASES[op]
    given = np.array([c.encode() for c in CHARACTERS], object)
    (found,) = run_native(op, given, encoding="utf-8")
    pairs = zip(CHARACTERS, found.tolist(), strict=True)
    assert [c for c, got in pairs if got.decode() != table.get(c, c)] == []


@pytest.mark.cases_in_gate(2)
@OPS
@pytest.mark.parametrize("encoding", ["", "utf-8", "UTF-8", "latin-1"])
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(texts=st.lists(st.one_of(st.binary(max_size=40), WORDS), max_size=4))
@example(texts=[b"", b"a\0B", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xe0\x80\xaf", b"\xc0A", b"\xff"])
@example(
    texts=[t.replace("S", "\u03a3").encode() for t in ("aS aSa S", "A\u0301S\u0301", "aS:", "SS")]
)
def test_agrees(op: str, encoding: str, texts: list[bytes]) -> None:
    if encoding:  # bytes may happen to spell a letter of another version of Unicode
        texts = [t for t in texts if all(map(is_in_both, t.decode("utf-8", "replace")))]
    values = np.array(texts, object)
    for shape in {(len(texts),), (1, len(texts), 1)}:
        assert_agrees(op, values.reshape(shape), encoding=encoding)


@OPS
def test_scalars_and_no_strings(op: str) -> None:
    for shape in ((), (0,), (2, 0), (1, 1)):
        values = np.full(shape, "Straße ÉA".encode(), object)
        assert_agrees(op, values, encoding="utf-8")


@OPS
def test_another_version_of_unicode_only_knows_more_letters(op: str) -> None:
    """Pairs of letters are for ever: a newer one has a partner that is new, or is new itself."""
    table, change = CASES[op]
    other = [c for c in CHARACTERS if table.get(c, c) != change(c)]
    assert [c for c in other if c in table and change(c) != c] == []
    assert [c for c in other if is_old(c + table.get(c, c) + change(c))] == []
    assert len(other) < len(table) // 10


def test_the_table_is_of_this_python() -> None:
    assert letter_case.main(["--check"]) == 0
