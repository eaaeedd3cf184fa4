"""Files are sent while they are written, and again from what was kept.

S2-filesystems.
"""

from __future__ import annotations

import random
import threading

import pytest

from drystone_filesystem import Sending, SpooledUpload, spool
from drystone_filesystem.transfer import plan

DATA = random.Random(5).randbytes(300_000)
PIECE = 10_000


class Target:
    """A store of one file, which shows when it was sent to its end; some attempts fail."""

    def __init__(self, failures: int = 0) -> None:
        self.failures, self.attempts = failures, 0
        self.sizes: list[int | None] = []
        self.begun, self.file = threading.Event(), b""
        self.ended: BaseException | None = None

    def __call__(self, sending: Sending) -> None:
        self.attempts += 1
        self.sizes.append(sending.size)
        got = bytearray()
        try:
            for piece in sending.pieces(PIECE):
                got += piece
                self.begun.set()
                if self.attempts <= self.failures and len(got) > len(DATA) // 2:
                    raise ConnectionResetError("a fault")
        except BaseException as error:
            self.ended = error
            raise
        assert sending.sent == len(got)
        self.file = bytes(got)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that a small file reaches."""
    monkeypatch.setattr(spool, "_EARLY", 2 * PIECE)
    monkeypatch.setattr(spool, "_IN_MEMORY", 5 * PIECE)


def written(upload: SpooledUpload, data: bytes = DATA) -> None:
    """In pieces that are overwritten afterwards: what was appended is the caller's again."""
    for start in range(0, len(data), 7_001):
        piece = bytearray(data[start : start + 7_001])
        upload.append(memoryview(piece))
        piece[:] = bytes(len(piece))


@pytest.mark.usefixtures("small")
def test_sending_begins_before_the_file_is_closed() -> None:
    target = Target()
    upload = SpooledUpload("box/a", target)
    written(upload)
    assert target.begun.wait(30)
    assert target.file == b""
    upload.close()
    assert target.file == DATA
    assert target.sizes == [None]


def test_a_short_file_is_sent_once_its_size_is_known() -> None:
    target = Target()
    upload = SpooledUpload("box/a", target)
    written(upload)
    assert target.attempts == 0
    upload.close()
    assert target.file == DATA
    assert target.sizes == [len(DATA)]


@pytest.mark.usefixtures("small")
def test_what_fails_is_sent_again_from_its_first_byte() -> None:
    target = Target(failures=1)
    upload = SpooledUpload("box/a", target)
    written(upload)
    upload.close()
    assert target.file == DATA
    assert target.sizes == [None, len(DATA)]


@pytest.mark.usefixtures("small")
def test_what_fails_every_time_is_a_failure() -> None:
    target = Target(failures=1000)
    upload = SpooledUpload("box/a", target, attempts=2)
    written(upload)
    with pytest.raises(ConnectionResetError):
        upload.close()
    assert target.attempts == 2 <= plan().attempts
    assert target.file == b""


@pytest.mark.usefixtures("small")
def test_an_abandoned_file_is_never_sent_to_its_end() -> None:
    """The store's client hears of it as a failure, not as the end of the file."""
    target = Target()
    upload = SpooledUpload("box/a", target)
    written(upload)
    assert target.begun.wait(30)
    upload.abandon()
    assert target.file == b""
    assert "given up" in str(target.ended)


@pytest.mark.usefixtures("small")
def test_many_bytes_are_kept_on_disk_not_in_memory() -> None:
    upload = SpooledUpload("box/a", Target(), early=False)
    written(upload)
    assert len(upload._kept._memory) == 0
    upload.close()
