"""The cache of parts: bounded, checked, shared by processes, and none where the disk is full.

S2-filesystems.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_filesystem.cache import Blocks

SIZE = 1000
LIMIT = 8 * (SIZE + 4)
FILES = [("scheme", f"box/{k}", "1", 5 * SIZE, SIZE) for k in range(4)]
PARTS = st.tuples(st.sampled_from(FILES), st.integers(0, 4))
STEPS = st.lists(
    st.tuples(st.sampled_from(("keep", "find", "forget", "spoil", "cut")), PARTS, st.booleans()),
    max_size=40,
)


def part_of(key: tuple[object, ...], index: int) -> bytes:
    """The only bytes that may come for a part."""
    return f"{key}{index}".encode().ljust(SIZE, b".")


def on_disk(folder: Path) -> int:
    """Bytes of all parts."""
    return sum(path.stat().st_size for path in folder.glob("*.part"))


@settings(max_examples=60)
@given(STEPS)
def test_what_is_found_is_what_was_kept(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, tuple[object, int], bool]]
) -> None:
    """After any steps, with files spoilt in between; and it never grows beyond its bounds."""
    folder = tmp_path_factory.mktemp("cache")
    cache = Blocks(3 * SIZE, folder, LIMIT)
    kept = set()
    for step, (key, index), memory in steps:
        assert isinstance(key, tuple)
        path = cache._path(key, index)
        assert path is not None
        if step == "keep":
            cache.keep(key, index, memoryview(part_of(key, index)), memory=memory)
            kept.add((key, index))
        elif step == "forget":
            cache.forget(key)
            kept = {one for one in kept if one[0] != key}
        elif step in ("spoil", "cut") and path.exists():
            raw = path.read_bytes()
            path.write_bytes(raw[:-1] + b"!" if step == "spoil" else raw[: len(raw) // 2])
        found = cache.find(key, index)
        assert found in (None, part_of(key, index))
        assert found is None or (key, index) in kept
        assert on_disk(folder) <= LIMIT
        assert cache._size <= 3 * SIZE


_WORKER = f"""
import random, sys
from pathlib import Path
from drystone_filesystem.cache import Blocks
seed, folder = int(sys.argv[1]), Path(sys.argv[2])
draw, cache = random.Random(seed), Blocks(0, folder, {LIMIT * 4})
for _ in range(150):
    key, index = ("scheme", f"box/{{draw.randrange(6)}}", "1"), draw.randrange(12)
    part = f"{{key}}{{index}}".encode().ljust({SIZE}, b".")
    found = cache.find(key, index)
    if found not in (None, part):
        sys.exit(f"other bytes: {{found[:80]}}")
    if found is None:
        cache.keep(key, index, memoryview(part), memory=False)
    if draw.random() < 0.02:
        cache.forget(key)
"""


def test_processes_share_a_folder(tmp_path: Path) -> None:
    """None sees bytes of another part, or half of one; together they keep its bound."""
    command = [sys.executable, "-c", _WORKER]
    workers = [subprocess.Popen([*command, str(k), str(tmp_path)]) for k in range(3)]
    assert [worker.wait(120) for worker in workers] == [0, 0, 0]
    assert 0 < on_disk(tmp_path) <= LIMIT * 4 * (1 + 3 / 16) + SIZE
    assert list(tmp_path.glob("*.tmp")) == []


def test_what_ended_processes_left_is_deleted(tmp_path: Path) -> None:
    old, new = tmp_path / "a-0.part.0123.tmp", tmp_path / "a-1.part.0123.tmp"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    Blocks(0, tmp_path, LIMIT).keep(FILES[0], 0, memoryview(part_of(FILES[0], 0)), memory=False)
    assert not old.exists()
    assert new.exists(), "another process may be writing it"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full disk")
def test_a_full_disk_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(path: Path, data: bytes) -> int:
        path.touch()
        return Path("/dev/full").open("wb", buffering=0).write(data)

    cache, part = Blocks(0, tmp_path, LIMIT), part_of(FILES[0], 0)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", write)
        cache.keep(FILES[0], 0, memoryview(part), memory=False)
    assert cache.find(FILES[0], 0) is None
    assert list(tmp_path.iterdir()) == []
    cache.keep(FILES[0], 0, memoryview(part), memory=False)
    assert cache.find(FILES[0], 0) == part


@pytest.mark.parametrize("left", [b"", b"\0\0", b"\0\0\0\0"])
def test_a_file_without_bytes_is_no_part(tmp_path: Path, left: bytes) -> None:
    """A machine that stopped may leave one; the sum of no bytes is 0."""
    cache, part = Blocks(0, tmp_path, LIMIT), part_of(FILES[0], 0)
    path = cache._path(FILES[0], 0)
    assert path is not None
    path.write_bytes(left)
    assert cache.find(FILES[0], 0) is None
    assert not path.exists()
    cache.keep(FILES[0], 0, memoryview(part), memory=False)
    assert cache.find(FILES[0], 0) == part


def test_a_folder_that_is_only_read_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    cache, part = Blocks(0, tmp_path, LIMIT), part_of(FILES[0], 0)
    cache.keep(FILES[0], 0, memoryview(part), memory=False)
    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    assert cache.find(FILES[0], 0) == part
    cache.forget(FILES[0])


def test_what_cannot_be_deleted_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another user's parts stay; of those that may be deleted the oldest go."""
    cache, unlink = Blocks(0, tmp_path, LIMIT), Path.unlink
    theirs = cache._path(FILES[0], 0)

    def refuse(path: Path, missing_ok: bool = False) -> None:
        if path == theirs:
            raise PermissionError(path)
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    for key in FILES:
        for index in range(5):
            cache.keep(key, index, memoryview(part_of(key, index)), memory=False)
            assert on_disk(tmp_path) <= LIMIT
    assert theirs is not None
    assert theirs.exists()
    assert cache.find(FILES[3], 4) == part_of(FILES[3], 4)


_FORKED = """
import os, sys
from drystone_filesystem.cache import blocks

held = blocks()
held._lock.acquire()  # as another thread may, while this one forks
child = os.fork()
if not child:
    os._exit(0 if blocks().find(("a",), 0) is None else 1)
_, state = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(state))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_forked_process_waits_for_no_thread_that_it_lacks() -> None:
    assert subprocess.run([sys.executable, "-c", _FORKED], timeout=60, check=False).returncode == 0
