"""Digests without OpenSSL are those that it gives."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drystone_base.core import digests


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_it_is_sha256(text: str) -> None:
    assert digests.sha256_of_text(text) == hashlib.sha256(text.encode()).hexdigest()


def test_paths_that_are_no_unicode_have_one() -> None:
    assert digests.sha256_of_text("\udcff") == hashlib.sha256(b"\xff").hexdigest()


def test_a_python_without_its_own_takes_the_one_of_hashlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "_HOMES", ("_no_such_module", "hashlib"))
    digests._sha256.cache_clear()
    try:
        assert digests.sha256_of_text("a") == hashlib.sha256(b"a").hexdigest()
    finally:
        digests._sha256.cache_clear()
