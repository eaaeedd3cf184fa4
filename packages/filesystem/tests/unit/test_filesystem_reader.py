"""A file that is open while it is replaced, and while its process forks. S2-filesystems."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from drystone_filesystem import Stat, Store
from drystone_filesystem.transfer import Plan, Reader

PART = 1 << 16
HOW = Plan(part=PART, threads=2, attempts=1)


class Replaced(Store):
    """A file of four parts, of which only ``confirm`` tells that it is another one by now."""

    byte = b"1"

    def stat(self, path: str) -> Stat:
        """Its version is what it consists of."""
        del path
        return Stat(4 * PART, version=self.byte.decode())

    def children(self, path: str) -> list[str]:
        """None."""
        del path
        return []

    def read_into(self, path: str, offset: int, buffer: memoryview, version: str = "") -> int:
        """Of whichever file is there."""
        del path, offset, version
        buffer[:] = self.byte * len(buffer)
        return len(buffer)

    def confirm(self, path: str, version: str) -> None:
        """Whether it is still that one."""
        if version != self.byte.decode():
            raise OSError(f"{path} was changed")


def test_what_is_not_confirmed_is_not_cached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRYSTONE_FILES_CACHE", str(tmp_path))
    store, room = Replaced(), memoryview(bytearray(4 * PART))
    reader = Reader(store, "scheme", "box/a", store.stat("box/a"), HOW)
    store.byte = b"2"
    with pytest.raises(OSError, match="was changed"):
        reader.read_into(0, room)
    assert list(tmp_path.iterdir()) == []
    store.byte = b"1"
    assert reader.read_into(0, room) == 4 * PART
    assert len(list(tmp_path.iterdir())) == 4
    assert bytes(room) == b"1" * 4 * PART


@pytest.mark.parametrize(("version", "kept"), [("1", 4), ("W/1", 0), ("", 0)])
def test_what_a_weak_version_names_is_not_cached(
    version: str, kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRYSTONE_FILES_CACHE", str(tmp_path))
    monkeypatch.setattr(Replaced, "confirm", Store.confirm)
    stat, room = Stat(4 * PART, version=version), memoryview(bytearray(4 * PART))
    reader = Reader(Replaced(), "scheme", "box/weak", stat, HOW)
    assert reader.read_into(0, room) == 4 * PART
    assert len(list(tmp_path.iterdir())) == kept


_FORKED = """
import os, sys, threading, time
from drystone_filesystem import Stat, Store
from drystone_filesystem.transfer import Plan, Reader

PART, asleep, parent = 1 << 16, threading.Event(), os.getpid()

class Slow(Store):
    def stat(self, path):
        return Stat(9 * PART, version="1")
    def children(self, path):
        return []
    def read_into(self, path, offset, buffer, version=""):
        if offset >= 3 * PART and os.getpid() == parent:  # what is read ahead
            asleep.set()
            time.sleep(3600)
        buffer[:] = bytes([offset // PART]) * len(buffer)
        return len(buffer)

store = Slow()
reader = Reader(store, "scheme", "a", store.stat("a"), Plan(part=PART, threads=4, ahead=2))
room = memoryview(bytearray(PART // 2))
for place in range(0, 3 * PART, len(room)):
    reader.read_into(place, room)
assert asleep.wait(60)
child = os.fork()
if not child:
    reader.read_into(3 * PART, room)
    os._exit(room[0])
_, state = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(state), flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_forked_process_reads_on() -> None:
    """What threads of the other one had begun to read ahead never comes to it."""
    command = [sys.executable, "-c", _FORKED]
    ended = subprocess.run(command, timeout=60, check=True, capture_output=True, text=True)
    assert ended.stdout == "3\n"
