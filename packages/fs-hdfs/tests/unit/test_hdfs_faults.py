"""What name nodes, data nodes and web servers may answer, and seldom do. S2-filesystems."""

from __future__ import annotations

from typing import Any

import pytest

from drystone_filesystem import Sending, Stat, StoreFailure
from drystone_fs_hdfs import web
from drystone_fs_hdfs._web import Answer
from drystone_fs_hdfs.webhdfs import WebHdfs

DRAFT = "b.0123abcd.drystone"


class Node(WebHdfs):
    """Files by name; one that is being appended to goes when some bytes of it are there."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.files = dict.fromkeys(names, b"old")

    def stat(self, path: str) -> Stat:
        """Of what is there."""
        if path not in self.files:
            raise FileNotFoundError(path)
        return Stat(len(self.files[path]))

    def _names(self, path: str) -> list[str]:
        return [name.removeprefix(f"{path}/") for name in self.files]

    def _holds(self, method: str, path: str, op: str, **more: Any) -> None:
        del method, op, more
        if self.files.pop(path, None) is None and self.files:
            raise StoreFailure("FAILED_PRECONDITION", f"{path} is not empty")

    def _send(self, method: str, path: str, sending: Sending, op: str, **more: Any) -> None:
        del op, more
        if method == "POST":
            del self.files[path]
            sending.read(2)
            raise FileNotFoundError(path)
        self.files[path] = b"".join(sending.pieces(2))


def test_a_file_that_goes_while_it_is_appended_to_is_a_failure() -> None:
    """What was not sent yet is not taken for the whole of a new one."""
    node = Node("node/a")
    file = node.append_to("node/a")
    file.append(memoryview(b"and more"))
    with pytest.raises(FileNotFoundError):
        file.close()
    assert node.files == {}
    file = node.append_to("node/a")
    file.append(memoryview(b"and more"))
    file.close()
    assert node.files == {"node/a": b"and more"}


def test_a_directory_that_stays_keeps_what_is_being_written_in_it() -> None:
    node = Node("node/dir/a", f"node/dir/{DRAFT}")
    with pytest.raises(StoreFailure, match="not empty"):
        node.remove_directory("node/dir")
    assert set(node.files) == {"node/dir/a", f"node/dir/{DRAFT}"}
    del node.files["node/dir/a"]
    node.remove_directory("node/dir")
    assert node.files == {}


@pytest.mark.parametrize("said", ["bytes 0-3/*", "bytes 4-7/10", "units 0-3/10"])
def test_a_part_is_not_taken_for_the_whole(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server need not know how long a file is when it sends a part of it."""

    def asked(_path: str, method: str, _url: str, *, into: Any = None, **_: Any) -> Answer:
        if method == "HEAD":
            return Answer(200, {"content-length": "10"})
        answer = Answer(206, {"content-length": "4", "content-range": said})
        into(answer, memoryview(b"0123"))
        return answer

    monkeypatch.setattr(web, "asked", asked)
    assert web.Web("http").begin("host/a", 4) == (Stat(10), b"")
    monkeypatch.setattr(web, "asked", lambda *_, **__: asked("", "GET", "", into=lambda *_: True))
    if "10" not in said:
        with pytest.raises(StoreFailure, match="does not say how long"):
            web.Web("http").stat("host/a")


OLD, NEW = "Sat, 21 Nov 2026 00:00:00 GMT", "Sun, 22 Nov 2026 00:00:00 GMT"


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ({"last-modified": OLD}, {"last-modified": NEW}, True),
        ({"last-modified": OLD}, {"last-modified": OLD}, False),
        ({"last-modified": NEW}, {"last-modified": OLD}, False),  # too new to tell
        ({"last-modified": OLD}, {}, False),
        ({"last-modified": OLD, "etag": '"1"'}, {"last-modified": NEW, "etag": '"1"'}, False),
        ({"last-modified": OLD, "etag": '"1"'}, {"last-modified": OLD, "etag": '"2"'}, True),
        ({"etag": 'W/"1"'}, {"etag": 'W/"2"'}, True),
        ({"etag": 'W/"1"'}, {"last-modified": NEW}, False),
        ({"last-modified": "yesterday"}, {"last-modified": NEW}, False),
    ],
)
def test_a_file_that_is_replaced_while_it_is_read(
    before: dict[str, str],
    after: dict[str, str],
    changed: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By its entity tag, else by the time of its last change."""
    said = {**before, "content-length": "4", "date": NEW}

    def asked(*_: object, into: Any = None, **__: object) -> Answer:
        answer = Answer(206 if into else 200, said)
        if into is not None:
            into(answer, memoryview(b"0123"))
        return answer

    monkeypatch.setattr(web, "asked", asked)
    version = web.Web("http").stat("host/a").version
    said = {**after, "content-length": "4", "content-range": "bytes 0-3/4", "date": NEW}
    got = bytearray()

    def take(piece: memoryview) -> bool:
        got.extend(piece)
        return True

    def read() -> None:
        web.Web("http").receive("host/a", 0, 4, take, version)

    if changed:
        with pytest.raises(StoreFailure, match="was changed"):
            read()
    else:
        read()
        assert got == b"0123"
