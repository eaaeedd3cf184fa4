"""Delegation tokens from the file that Hadoop writes them to. S2-filesystems."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_filesystem import StoreFailure
from drystone_fs_hdfs.tokens import VARIABLE, Token, parse, token_for
from drystone_fs_hdfs.webhdfs import WebHdfs

LONG = bytes(k * 7 % 256 for k in range(300))
WRITTEN = (
    b"HDTS\x00\x02\x03one\x8e\x01," + LONG + b"\x05proof\x15HDFS_DELEGATION_TOKEN\r10.0.0.1:8020"
    b"\x03two\x05other\x03\x00\xff\x02\x06kms-dt\r10.0.0.2:9600\x01\x01s\x06secret"
)
"""What ``Credentials.writeTokenStorageToStream`` of Hadoop 2.7.3 writes of two tokens."""
OTHER = "BW90aGVyAwD_AgZrbXMtZHQNMTAuMC4wLjI6OTYwMA"
"""What its ``encodeToUrlString`` says of the second."""
TOKENS = st.builds(
    Token, st.binary(max_size=300), st.binary(max_size=40), st.text(max_size=9), st.text(max_size=9)
)


def test_what_hadoop_writes_is_read() -> None:
    one, two = parse(WRITTEN)
    assert one == (LONG, b"proof", "HDFS_DELEGATION_TOKEN", "10.0.0.1:8020")
    assert two.text == OTHER
    assert "proof" not in repr(one)


def _field(number: int, raw: bytes) -> bytes:
    size, count = b"", len(raw)
    while count > 127:
        size, count = size + bytes([count & 127 | 128]), count >> 7
    return bytes([number << 3 | 2]) + size + bytes([count]) + raw


def encoded(tokens: Iterable[Token]) -> bytes:
    """What a file of Hadoop 3 holds: ``CredentialsProto`` with its length before it."""
    entries = b""
    for one in tokens:
        parts = (one.identifier, one.password, one.kind.encode(), one.service.encode())
        fields = b"".join(_field(k, part) for k, part in enumerate(parts, 1))
        entries += _field(1, _field(1, b"alias") + _field(2, fields))
    return b"HDTS\x01" + _field(0, entries)[1:]


@settings(max_examples=60)
@given(st.lists(TOKENS, max_size=4))
def test_protobufs_are_read(tokens: list[Token]) -> None:
    assert parse(encoded(tokens)) == tuple(tokens)


@settings(max_examples=60)
@given(st.lists(TOKENS, min_size=1, max_size=3), st.data())
def test_what_is_cut_off_is_refused(tokens: list[Token], data: st.DataObject) -> None:
    for whole in (WRITTEN, encoded(tokens)):
        end = data.draw(st.integers(0, len(whole) - 1))
        with pytest.raises((ValueError, LookupError)):
            parse(whole[:end])


@settings(max_examples=200)
@given(st.binary(max_size=40))
def test_anything_else_is_refused_or_tokens(rest: bytes) -> None:
    """No other exception, and no loop."""
    try:
        found = parse(b"HDTS" + rest)
    except (ValueError, LookupError):
        return
    assert all(isinstance(one, Token) for one in found)


def file_of(folder: Path, *tokens: Token) -> Path:
    """Such a file."""
    (folder / "tokens").write_bytes(encoded(tokens))
    return folder / "tokens"


def test_the_nearest_token_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = "HDFS_DELEGATION_TOKEN"
    here = Token(b"here", b"p", kind, "127.0.0.1:8020")
    port = Token(b"port", b"p", kind, "127.0.0.1:9870")
    away = Token(b"away", b"p", kind, "10.9.8.7:8020")
    monkeypatch.delenv("WEBHDFS_DELEGATION_TOKEN", raising=False)
    monkeypatch.setenv(VARIABLE, str(file_of(tmp_path, away, here, port)))
    assert token_for("127.0.0.1:9870") == port.text
    assert token_for("localhost:1") == here.text
    assert token_for("10.1.1.1:9870") == ""
    url = WebHdfs()._url("127.0.0.1:9870/a", "OPEN")
    assert f"delegation={port.text}" in url
    assert "user.name" not in url
    monkeypatch.setenv(VARIABLE, str(file_of(tmp_path, away._replace(service="ha-hdfs:x"))))
    assert token_for("10.1.1.1:9870") == away._replace(service="ha-hdfs:x").text


@pytest.mark.parametrize("raw", [b"", b"HDTS\x07", WRITTEN[:100], b"HDTS\x01\x7f"])
def test_a_file_without_tokens(raw: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tokens").write_bytes(raw)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "tokens"))
    with pytest.raises(StoreFailure, match="hdfs fetchdt") as caught:
        token_for("node:9870")
    assert caught.value.status_name == "UNAUTHENTICATED"
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))
    with pytest.raises(StoreFailure, match="none"):
        token_for("node:9870")
