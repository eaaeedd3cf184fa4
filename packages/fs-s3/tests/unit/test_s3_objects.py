"""What a store of objects does with buckets, and with copies that no request makes.

S2-filesystems.
"""

from __future__ import annotations

import random
from typing import Any

import obstore
import pytest
from obstore.exceptions import GenericError
from obstore.store import MemoryStore

from drystone_filesystem import ObjectStore, objects, spool

PIECE = 64 << 10
SIZES = (0, 1, PIECE - 1, PIECE, PIECE + 1, 5 * PIECE + 3)


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> ObjectStore:
    """Buckets in memory, with parts that small objects have."""
    monkeypatch.setattr(objects, "_UPLOADED", PIECE)
    monkeypatch.setattr(objects, "_PIECE", PIECE // 2)
    monkeypatch.setattr(spool, "_EARLY", 2 * PIECE)
    return ObjectStore(lambda _bucket: MemoryStore())


def written(store: ObjectStore, path: str, data: bytes) -> None:
    """An object of these bytes."""
    file = store.write(path)
    file.append(memoryview(data))
    file.close()


def read(store: ObjectStore, path: str) -> bytes:
    """Its bytes."""
    room = memoryview(bytearray(store.stat(path).length))
    return bytes(room[: store.read_into(path, 0, room)] if len(room) else b"")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("key", ["a b%20#?", "ä/☃", "deep/er/key"])
def test_from_one_bucket_to_another(store: ObjectStore, size: int, key: str) -> None:
    data = random.Random(size).randbytes(size)
    written(store, f"one/{key}", data)
    store.copy(f"one/{key}", f"two/{key}")
    assert read(store, f"two/{key}") == read(store, f"one/{key}") == data
    store.rename(f"two/{key}", "three/x")
    assert read(store, "three/x") == data
    with pytest.raises(FileNotFoundError):
        store.stat(f"two/{key}")


@pytest.mark.parametrize("size", SIZES)
def test_what_is_too_large_for_one_request_is_copied(
    store: ObjectStore, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3 copies up to 5 GiB by one."""
    said = (
        "Generic S3 error: status code: 400 Bad Request: <Code>InvalidRequest</Code><Message>The "
        "specified copy source is larger than the maximum allowable size for a copy source"
    )
    data = random.Random(size).randbytes(size)

    def copy(*_: Any) -> None:
        raise GenericError(said)

    written(store, "one/a", data)
    monkeypatch.setattr(obstore, "copy", copy)
    store.rename("one/a", "one/b")
    assert read(store, "one/b") == data
    said = "Generic S3 error: status code: 400 Bad Request: <Code>InvalidRequest</Code>"
    with pytest.raises(OSError, match="InvalidRequest"):
        store.copy("one/b", "one/c")


def test_a_bucket_is_no_file(store: ObjectStore) -> None:
    """What a store is asked to write or delete under no name is the bucket itself."""
    written(store, "one/a", b"a")
    for call in (
        lambda: store.write("one"),
        lambda: store.delete("one"),
        lambda: store.copy("one", "two/a"),
        lambda: store.rename("one/a", "two"),
    ):
        with pytest.raises(IsADirectoryError, match="is a bucket"):
            call()
    assert store.children("one") == ["a"]
