"""What a store of objects does with buckets, and with copies that no request makes.

S2-filesystems.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
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


_FORKED = """
import os
from drystone_base.core.errors import HostError
from drystone_filesystem import gfile

assert not gfile.exists("s3://box/a")
child = os.fork()
if not child:
    try:
        gfile.exists("s3://box/a")
    except HostError as error:
        os._exit(7 if "forked" in error.found and error.status == "FAILED_PRECONDITION" else 1)
    os._exit(0)
_, state = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(state))
"""


class Empty(BaseHTTPRequestHandler):
    """A store without objects."""

    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        listed = b"<ListBucketResult><Name>box</Name><KeyCount>0</KeyCount></ListBucketResult>"
        found = "list-type" in self.path
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", str(len(listed) if found else 0))
        self.end_headers()
        if found:
            self.wfile.write(listed)

    do_GET = do_HEAD = _answer  # noqa: N815 - names of http.server

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_forked_process_is_told_instead_of_waiting() -> None:
    """The client's threads stay behind, and who asks it there would never hear of it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Empty)
    Thread(target=server.serve_forever, daemon=True).start()
    place = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}",
        "AWS_SKIP_SIGNATURE": "true",
        "NO_PROXY": "127.0.0.1",
        "DRYSTONE_FILESYSTEMS": "s3=drystone-fs-s3",
    }
    with subprocess.Popen(
        [sys.executable, "-c", _FORKED],
        env={**os.environ, **place},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            said, _ = process.communicate(timeout=60)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, 9)
            server.shutdown()
            server.server_close()
    assert said == "7\n"


@pytest.mark.parametrize(
    ("code", "after"), [("503 Slow Down", 1.0), ("429 Too Many", 1.0), ("500 Oops", 0.0)]
)
def test_a_store_that_wants_fewer_requests_is_left_alone(code: str, after: float) -> None:
    text = f"Generic S3 error: after 4 retries - Server returned non-2xx status code: {code}: "
    failure = objects._failure("box/a", GenericError(text))
    assert (failure.status_name, failure.after) == ("UNAVAILABLE", after)
