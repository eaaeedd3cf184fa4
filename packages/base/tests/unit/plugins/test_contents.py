"""What is read of a library's file in one go is what is read of it otherwise."""

from __future__ import annotations

import hashlib
import os
import random
from pathlib import Path

import pytest

from drystone_abi import platform_strings as reader
from drystone_base.core.errors import HostError
from drystone_base.files import contents as _contents
from drystone_base.host import library

PIECE = 1 << 16
"""What the host reads at once."""


def inspected(file: Path) -> tuple[bytes, list[str]]:
    try:
        return library.inspect_file(str(file))
    except HostError as error:
        if error.status == "UNIMPLEMENTED":
            pytest.skip("this processor has no instructions for SHA-256")
        raise


def test_digests_of_files_of_all_sizes(tmp_path: Path) -> None:
    file = tmp_path / "file"
    for size in (*range(200), *range(PIECE - 66, PIECE + 66), 3 * PIECE + 1):
        data = random.Random(size).randbytes(size)
        file.write_bytes(data)
        assert inspected(file) == (hashlib.sha256(data).digest(), [])


@pytest.mark.parametrize("place", [0, 1, PIECE - 4200, PIECE - 20, PIECE - 11, PIECE - 5, PIECE])
@pytest.mark.parametrize("size", [0, 1, 30, 4095, 4096, 4097, 9000])
def test_records_anywhere_in_a_file(tmp_path: Path, place: int, size: int) -> None:
    file = tmp_path / "file"
    record = reader.MAGIC + b"\xe9" * size
    for end in (b"", b"\0", b"\0" + record, record[1:], b"\0" * PIECE + reader.MAGIC[:7]):
        file.write_bytes(b"\0" * place + record + end)
        assert inspected(file)[1] == reader.read_platform_strings(file)


def test_records_of_random_bytes(tmp_path: Path) -> None:
    file, make = tmp_path / "file", random.Random(3)
    for _ in range(50):
        parts = [reader.MAGIC, reader.MAGIC[:6], b"A=1\0", b":", b"x" * 999, bytes(700)]
        file.write_bytes(b"".join(make.choices(parts, k=300)))
        assert inspected(file)[1] == reader.read_platform_strings(file)


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe"])
def test_what_is_no_file_is_refused(tmp_path: Path, kind: str) -> None:
    inspected(Path(__file__))
    place = tmp_path / kind
    if kind == "pipe":
        os.mkfifo(place)
    if kind == "folder":
        place.mkdir()
    with pytest.raises(HostError) as caught:
        library.inspect_file(str(place))
    assert caught.value.status == "NOT_FOUND"
    if kind != "pipe":
        with pytest.raises(OSError, match=kind):
            _contents.sha256(str(place))


def test_strings_that_came_with_a_digest_are_given_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.so"
    file.write_bytes(reader.MAGIC + b"A=1\0")
    inspected(file)
    asked: list[str] = []

    def read(path: str) -> list[str]:
        asked.append(path)
        return ["A=read"]

    monkeypatch.setattr(reader, "read_platform_strings", read)
    assert _contents.sha256(str(file)) == hashlib.sha256(file.read_bytes()).digest()
    assert (_contents.platform_strings(str(file)), asked) == (["A=1"], [])
    assert (_contents.platform_strings(str(file)), asked) == (["A=read"], [str(file)])
    _contents.sha256(str(file))
    file.write_bytes(reader.MAGIC + b"A=12\0")
    assert _contents.platform_strings(str(file)) == ["A=read"]


def test_without_the_host_or_its_instructions_openssl_makes_digests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unable(path: str) -> tuple[bytes, list[str]]:
        raise HostError(f"{path} cannot be looked into", code="x", status="UNIMPLEMENTED")

    monkeypatch.setattr(library, "inspect_file", unable)
    file = tmp_path / "a.so"
    file.write_bytes(reader.MAGIC + b"A=1\0")
    assert _contents.sha256(str(file)) == hashlib.sha256(file.read_bytes()).digest()
    assert not _contents._KEPT
    assert _contents.platform_strings(str(file)) == ["A=1"]
