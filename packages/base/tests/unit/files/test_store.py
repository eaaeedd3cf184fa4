"""Files of what was computed: whole or not there, checked, bounded, safe among processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from drystone_base.files.store import BadFile, Store


def test_what_is_written_is_read(tmp_path: Path) -> None:
    store = Store(tmp_path / "new")
    store.write("ab-1", {"backend": "x"}, [b"\0", b"code"])
    found = store.read("ab-1")
    assert found is not None
    assert (found[0]["backend"], bytes(found[1])) == ("x", b"\0code")
    assert store.read("ab-2") is None
    assert [facts["size"] for facts in store.like("ab")] == [5]
    store.discard("ab-1")
    assert store.read("ab-1") is None


def _headed(data: bytes, header: bytes) -> bytes:
    """The magic of a file with another header."""
    return data[:22] + len(header).to_bytes(8, "little") + header


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda data: data[:-1], "is damaged: its 3 bytes"),
        (lambda data: data[:-1] + b"!", "is damaged: its 4 bytes"),
        (lambda data: b"ELF" + data, "is no file of an executable"),
        (lambda data: data[:12], "is no file of an executable"),
        (lambda data: data[:22] + b"\xff" * 8 + data[30:], "has a header that cannot be read"),
        (lambda data: data[:30] + b"[1]" + data[33:], "has a header that cannot be read"),
        (lambda data: _headed(data, b'{"size": Infinity, "crc32": 0}'), "has a header"),
        (lambda data: _headed(data, b"[" * 200_000), "has a header that cannot be read"),
    ],
)
def test_a_corrupt_file_is_told(tmp_path: Path, change: object, text: str) -> None:
    """J16."""
    store = Store(tmp_path)
    store.write("ab", {}, [b"code"])
    (file,) = tmp_path.iterdir()
    assert callable(change)
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(BadFile, match=text):
        store.read("ab")
    assert store.like("ab") == []


def test_a_file_under_the_name_of_another_is_told(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write("ab", {}, [b"code"])
    (tmp_path / "ab.executable").rename(tmp_path / "cd.executable")
    with pytest.raises(BadFile, match="is a file of another name: ab"):
        store.read("cd")


@pytest.mark.parametrize(
    ("mode", "may"), [(0o600, True), (0o644, True), (0o660, False), (0o602, False)]
)
def test_files_that_others_may_write_to_are_not_read(tmp_path: Path, mode: int, may: bool) -> None:
    store = Store(tmp_path, own_only=True)
    store.write("ab", {}, [b"code"])
    (tmp_path / "ab.executable").chmod(mode)
    assert bool(store.refused()) is not may
    if may:
        assert store.read("ab") is not None
        return
    with pytest.raises(BadFile, match="is not this user's alone"):
        store.read("ab")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_files_of_other_users_are_not_read(tmp_path: Path) -> None:
    store = Store(tmp_path, own_only=True)
    store.write("ab", {}, [b"code"])
    os.chown(tmp_path / "ab.executable", 12345, -1)
    with pytest.raises(BadFile, match="belongs to user 12345"):
        store.read("ab")


def test_what_was_used_least_goes(tmp_path: Path) -> None:
    store = Store(tmp_path, most_bytes=2000)
    for k, name in enumerate("abc"):
        store.write(name, {}, [bytes(500)])
        os.utime(store._path(name), (k, k))
    store.read("a")
    store.write("d", {}, [bytes(500)])
    assert [name for name in "abcd" if store.read(name)] == ["a", "c", "d"]
    Store(tmp_path, most_bytes=0).write("e", {}, [b"larger than the bound"])
    assert not list(tmp_path.iterdir())


def test_what_killed_processes_left_goes(tmp_path: Path) -> None:
    store = Store(tmp_path)
    old, new = (tmp_path / f".draft-{name}" for name in ("old", "new"))
    for path in (old, new):
        path.write_bytes(b"half an executable")
    os.utime(old, (1, 1))
    store.write("ab", {}, [b"code"])
    assert not old.exists(), "nobody writes it any more"
    assert new.exists()


WRITER = """
import sys
from pathlib import Path
from drystone_base.files.store import Store
store = Store(Path(sys.argv[1]), most_bytes=20_000)
for k in range(200):
    name = f"k{k % 5}"
    store.write(name, {"by": sys.argv[2]}, [(sys.argv[2] * (1000 + k)).encode()])
    found = store.read(f"k{(k + 2) % 5}")
    if found is not None:
        assert found[1] == (found[0]["by"] * len(found[1])).encode()
    if k % 7 == 0:
        store.discard(name)
"""


def test_processes_share_a_folder(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    path = os.pathsep.join(entry for entry in sys.path if entry)
    env = {**os.environ, "PYTHONPATH": path}
    running = [subprocess.Popen([*command, name], env=env) for name in "abc"]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert not [file for file in tmp_path.iterdir() if file.name.startswith(".")]


@pytest.mark.parametrize("own_only", [False, True])
def test_what_is_no_plain_file_is_not_waited_for(tmp_path: Path, own_only: bool) -> None:
    store = Store(tmp_path, own_only=own_only)
    os.mkfifo(tmp_path / "ab.executable")
    (tmp_path / "cd.executable").symlink_to("/dev/zero")
    (tmp_path / "ef.executable").mkdir()
    for name in ("ab", "cd", "ef"):
        with pytest.raises(BadFile, match="cannot be read"):
            store.read(name)
    assert (store.like(""), store.entries()) == ([], [])
