"""Stores that do not answer: Ctrl-C ends the wait, and nothing is touched later."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from drystone_filesystem.spans import Fetch
from drystone_filesystem.spool import Sending, SpooledUpload
from drystone_filesystem.waiting import Threads, interruptible

BOUND = 120.0
"""Seconds, far more than anything here takes, and far fewer than what is interrupted would."""
_STALLED = """
import os, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # what starts us may have it ignored
from drystone_filesystem import DrystoneFileSystem, Stat, Store, Upload, gfile, register

def stall():
    os.write(1, b"waiting\\n")
    time.sleep(3600)

class Stalled(Store):
    def stat(self, path):
        if "stat" in path:
            stall()
        return Stat(1 << 24 if "large" in path else 9)
    def children(self, path):
        stall()
    def read_into(self, path, offset, buffer, version=""):
        stall()
    def delete(self, path):
        stall()

register("stalled", Stalled)
root = "stalled://box/"
{}
"""
_CALLS = {
    "looked at": 'gfile.stat(root + "stat")',
    "read": 'gfile.GFile(root + "small", "rb").read()',
    "read in parts": 'gfile.GFile(root + "large", "rb").read()',
    "read, many": 'DrystoneFileSystem("stalled").cat(["box/a", "box/b"])',
    "deleted": 'gfile.remove(root + "small")',
}


@pytest.mark.parametrize("call", _CALLS)
def test_ctrl_c_ends_a_process_that_waits(call: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", _STALLED.format(_CALLS[call])]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=BOUND)
        finally:
            process.kill()
    assert said.rstrip().endswith("KeyboardInterrupt")


def test_only_the_main_thread_asks_by_another() -> None:
    assert interruptible(threading.get_ident) != threading.get_ident()
    found: list[bool] = []
    other = threading.Thread(
        target=lambda: found.append(interruptible(threading.get_ident) == threading.get_ident())
    )
    other.start()
    other.join()
    assert found == [True]
    with pytest.raises(ValueError, match="its own"):
        interruptible(lambda: int("its own"))


def test_threads_are_at_most_so_many_and_wait_for_work() -> None:
    both, lock, seen = threading.Barrier(2, timeout=BOUND), threading.Lock(), set()

    def call(number: int) -> int:
        with lock:
            seen.add(threading.get_ident())
        both.wait()
        return number

    with Threads(2) as pool:
        assert list(pool.map(call, range(10))) == list(range(10))
        assert len(seen) == 2
        assert list(pool.map(call, range(4))) == list(range(4))
    assert len(seen) == 2


def test_a_buffer_is_left_alone_once_its_read_has_failed() -> None:
    """One request fails; what another still brings goes nowhere."""
    late, more = threading.Event(), []
    room = bytearray(16)

    def source(start: int, _end: int, take: object) -> None:
        assert callable(take)
        if start == 8:
            raise PermissionError("not yours")
        late.wait(BOUND)
        more.append(take(memoryview(b"x" * 8)))
        ended.set()

    ended = threading.Event()
    with Threads(2) as pool:
        fetch = Fetch(memoryview(room), source, lambda call, _: call(), step=8, threads=2)
        fetch.add(0, 8)
        fetch.add(8, 16)
        fetch._begin(pool, 2)
        with pytest.raises(PermissionError):
            fetch.run(pool)
    late.set()
    assert ended.wait(BOUND)
    assert more == [False]
    assert room == bytearray(16)


def test_a_file_given_up_does_not_wait_for_its_store() -> None:
    begun, answers, shown = threading.Event(), threading.Event(), []

    def send(sending: Sending) -> None:
        begun.set()
        answers.wait(BOUND)
        shown.append(b"".join(sending.pieces(1 << 20)))

    upload = SpooledUpload("box/a", send)
    upload.append(memoryview(bytes(17 << 20)))
    assert begun.wait(BOUND)
    sender = upload._early
    assert sender is not None
    upload.abandon()
    assert sender.is_alive()
    answers.set()
    sender.join(BOUND)
    assert not sender.is_alive()
    assert shown == []


def test_a_system_without_threads_left_is_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks is told where nobody could serve; else a thread that is there does."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    threads, go = Threads(2, "few"), threading.Event()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        for _ in range(3):
            with pytest.raises(RuntimeError, match="new thread"):
                threads.submit(int)
    first = threads.submit(go.wait, BOUND)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        second = threads.submit(int, "2")
    go.set()
    assert first.result(BOUND)
    assert second.result(BOUND) == 2
    both = threading.Barrier(2)
    waits = [threads.submit(both.wait, BOUND) for _ in range(2)]
    assert sorted(one.result(BOUND) for one in waits) == [0, 1]
