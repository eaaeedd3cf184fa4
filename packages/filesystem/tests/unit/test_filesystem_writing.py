"""Writes that end early: by a full disk, by a failure that is passed over, and by Ctrl-C.

S2-filesystems.
"""

from __future__ import annotations

import errno
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from drystone_base.core.errors import HostError
from drystone_base.host import filesystem as host
from drystone_base.host.open_files import Writable
from drystone_filesystem import Stat, Store, Upload, gfile

PIECE = 100


class Bounded(Store):
    """Files in memory, which has room for some bytes of each on their way."""

    def __init__(self, room: int, failure: BaseException) -> None:
        self.room, self.failure = room, failure
        self.files: dict[str, bytes] = {}
        self.abandoned = 0

    def stat(self, path: str) -> Stat:
        """Of what is there."""
        if path not in self.files:
            raise FileNotFoundError(path)
        return Stat(len(self.files[path]))

    def children(self, path: str) -> list[str]:
        """Of all files in a directory."""
        below = [name for name in self.files if name.startswith(f"{path}/")]
        return [name.rpartition("/")[2] for name in below]

    def read_into(self, path: str, offset: int, buffer: memoryview, version: str = "") -> int:
        """Their bytes."""
        del version
        part = self.files[path][offset : offset + len(buffer)]
        buffer[: len(part)] = part
        return len(part)

    def write(self, path: str) -> Upload:
        """Kept until it is closed."""
        store, kept = self, bytearray()

        class Kept(Upload):
            def append(self, data: memoryview) -> None:
                if len(kept) + len(data) > store.room:
                    raise store.failure
                kept.extend(data)

            def close(self) -> None:
                store.files[path] = bytes(kept)

            def abandon(self) -> None:
                store.abandoned += 1

        return Kept()


FULL = OSError(errno.ENOSPC, "No space left on device")
NO_FOLDER = FileNotFoundError("No usable temporary directory found in ['/tmp']")


@pytest.mark.parametrize("failure", [FULL, NO_FOLDER, OSError(errno.EDQUOT, "Quota exceeded")])
def test_a_full_disk_is_told_and_nothing_shows(
    failure: OSError, serve: Callable[[Store], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", "/a/small/disk")
    store = Bounded(3 * PIECE, failure)
    root = serve(store)
    store.files["box/a"] = b"what was there before"
    with pytest.raises(HostError) as caught, gfile.GFile(f"{root}box/a", "wb") as file:
        file.write(bytes(1 << 20))
    assert caught.value.status == "RESOURCE_EXHAUSTED"
    assert "box/a waits in /a/small/disk until it is sent" in caught.value.found
    assert "have TMPDIR name another folder" in caught.value.found
    assert store.files == {"box/a": b"what was there before"}
    assert store.abandoned == 1


def test_a_file_that_lacks_a_part_is_never_shown(serve: Callable[[Store], str]) -> None:
    """Also to who goes on after a failure, and closes it."""
    store = Bounded(3 * PIECE, ConnectionError("gone"))
    file = Writable(f"{serve(store)}box/a")
    file.append(bytes(PIECE))
    with pytest.raises(HostError, match="gone"):
        file.append(bytes(3 * PIECE))
    file.append(bytes(PIECE))
    with pytest.raises(HostError, match="so nothing of it is shown") as caught:
        file.close()
    assert caught.value.status == "FAILED_PRECONDITION"
    assert store.files == {}


def test_ctrl_c_goes_on_through_the_host(serve: Callable[[Store], str]) -> None:
    store = Bounded(0, KeyboardInterrupt())
    root = serve(store)
    with pytest.raises(KeyboardInterrupt), gfile.GFile(f"{root}box/a", "wb") as file:
        file.write(bytes(1 << 20))
    assert store.files == {}
    with pytest.raises(HostError) as caught:
        host.stat(f"{root}box/a")
    assert caught.value.status == "NOT_FOUND"


class Stopped(Bounded):
    """Ctrl-C is pressed where anything is looked at."""

    def stat(self, path: str) -> Stat:
        """Of what is there, until then."""
        del path
        raise self.failure

    def children(self, path: str) -> list[str]:
        """Neither."""
        del path
        raise self.failure


@pytest.mark.parametrize("call", ["exist", "exists", "is_directory", "delete_tree", "delete"])
def test_ctrl_c_goes_on_through_calls_that_take_any_status(
    serve: Callable[[Store], str], call: str
) -> None:
    """One that looks at several paths, or goes on after failures, among them."""
    root = serve(Stopped(0, KeyboardInterrupt()))
    paths = [f"{root}box/a", f"{root}box/b"]
    with pytest.raises(KeyboardInterrupt):
        getattr(host, call)(paths if call == "exist" else paths[0])
    with pytest.raises(HostError, match="no filesystem"):
        host.stat("nobody-serves-this://a")


_STALLED = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # what starts us may have it ignored
from drystone_base.cli import main
from drystone_filesystem import Stat, Store, register

class Stalled(Store):
    def stat(self, path):
        return Stat(1 << 24)
    def children(self, path):
        return []
    def read_into(self, path, offset, buffer, version=""):
        print("reading", file=sys.stderr, flush=True)
        time.sleep(0.1)
        return min(len(buffer), 4096)

register("stalled", Stalled())
sys.argv = ["drystone", "run", "stalled://box/model.pb"]
main()
"""


def test_a_command_ends_with_130(tmp_path: Path) -> None:
    import signal

    command = [sys.executable, "-c", _STALLED]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "reading\n"
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait(30) == 130, rest
    assert "Traceback" not in rest


_LEFT_OPEN = """
import sys
from drystone_filesystem import SpooledUpload, Stat, Store, gfile, register

class Printing(Store):
    def stat(self, path):
        return Stat(3)
    def children(self, path):
        return []
    def read_into(self, path, offset, buffer, version=""):
        return 0
    def write(self, path):
        return SpooledUpload(path, lambda sending: print(path, sending.read(9), flush=True))

register("printing", Printing)
gfile.exists("printing://box/a")  # by a thread that then waits for more
file = gfile.GFile("printing://box/a", "w")
file.write("text")
if sys.argv[1:]:
    sys.exit()  # the file goes with the program, and its buffer maybe before what it is for
del file
"""


def test_a_program_ends_with_a_file_open() -> None:
    """Then no other thread runs any more; and what shows is never a part of the file."""
    command = [sys.executable, "-c", _LEFT_OPEN]
    at_once = subprocess.run(command, timeout=60, check=True, capture_output=True, text=True)
    assert at_once.stdout == "box/a b'text'\n"
    at_end = subprocess.run([*command, "x"], timeout=60, check=True, capture_output=True, text=True)
    assert at_end.stdout in ("", at_once.stdout)
