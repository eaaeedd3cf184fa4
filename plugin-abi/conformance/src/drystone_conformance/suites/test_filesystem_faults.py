"""What goes wrong in file systems: calls that must fail, writers that give up, many at once."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

from drystone_base.core.errors import HostError
from drystone_base.host import filesystem as fs
from drystone_base.host import filesystem_options as special
from drystone_base.host.open_files import Readable, Writable
from drystone_conformance.live import grown
from drystone_conformance.plugin import needs
from drystone_conformance.subject import Subject

pytestmark = pytest.mark.module("filesystem")

_USE = """
import sys
from drystone_base.host import filesystem as fs
from drystone_base.host.open_files import Readable, Writable
from drystone_base.plugins import load_library

if sys.argv[1]:
    load_library(sys.argv[1], policy="allow_unverified")
at, lacks = sys.argv[2], sys.argv[3:]
fs.exists(at)
if "write" not in lacks:
    if "directories" not in lacks:
        fs.create_directory(at, parents=True)
    fs.write_bytes(at + "/at-exit", b"x")
    reader, writer = Readable(at + "/at-exit"), Writable(at + "/unfinished")
    writer.append(b"never closed")
print("used")
"""


@needs("filesystem.exit")
def test_a_process_that_used_it_ends(subject: Subject, scheme: str) -> None:
    """`init` was called, `cleanup` is, and files that were not closed do no harm."""
    library = "" if subject.schemes else str(subject.path)
    lacks = [
        name
        for name in ("write", "directories")
        if subject.capabilities.why_not(f"filesystem.{name}", scheme)
    ]
    command = [sys.executable, "-c", _USE, library, subject.root(scheme), *lacks]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "used\n"), done.stderr


@needs("filesystem.write")
def test_an_error_names_path_and_scheme(scheme: str, folder: str) -> None:
    with pytest.raises(HostError) as caught:
        fs.read_bytes(f"{folder}/no-such-file")
    assert f"{folder}/no-such-file" in str(caught.value)
    served = next(one for one in fs.filesystems() if one["scheme"] == scheme)
    if served["library"]:  # of the host's own files no other is to be named
        assert f"of the {scheme} filesystem" in caught.value.found


@needs("filesystem.write")
@needs("filesystem.clean-paths")
def test_parts_that_mean_nothing(folder: str) -> None:
    fs.write_bytes(f"{folder}/file", b"x")
    assert fs.read_bytes(f"{folder}/./file") == b"x"
    assert fs.read_bytes(f"{folder}//file") == b"x"


@needs("filesystem.write")
@needs("filesystem.list")
@needs("filesystem.escapes")
def test_a_pattern_that_means_itself(folder: str) -> None:
    fs.write_bytes(f"{folder}/a[1]", b"x")
    fs.write_bytes(f"{folder}/a1", b"x")
    assert fs.glob(f"{folder}/a\\[1\\]") == [f"{folder}/a[1]"]
    assert fs.glob(f"{folder}/a[1]") == [f"{folder}/a1"]


@needs("filesystem.write")
@pytest.mark.parametrize("length", [200, 1000, 5000])
def test_a_long_name_is_taken_or_refused(folder: str, length: int) -> None:
    name = f"{folder}/{'n' * length}"
    refused = ""
    try:
        fs.write_bytes(name, b"x")
    except HostError as error:
        refused = error.status
    if refused:
        assert length > 200
        assert refused != "INTERNAL"
    else:
        assert fs.read_bytes(name) == b"x"


@needs("filesystem.write")
@needs("filesystem.directories")
def test_a_directory_is_no_file(folder: str) -> None:
    fs.create_directory(f"{folder}/made")
    fs.write_bytes(f"{folder}/file", b"x")
    calls: list[Callable[[], Any]] = [
        lambda: fs.read_bytes(f"{folder}/made"),
        lambda: fs.write_bytes(f"{folder}/made", b"y"),
        lambda: fs.delete(f"{folder}/made"),
        lambda: fs.copy(f"{folder}/file", f"{folder}/made"),
        lambda: fs.rename(f"{folder}/file", f"{folder}/made"),
    ]
    for call in calls:
        with pytest.raises(HostError) as caught:
            call()
        assert caught.value.status == "FAILED_PRECONDITION", str(caught.value)
    assert fs.is_directory(f"{folder}/made")
    assert fs.read_bytes(f"{folder}/file") == b"x"


@needs("filesystem.open-refuses")
def test_nothing_cannot_be_opened(folder: str) -> None:
    with pytest.raises(HostError) as caught:
        Readable(f"{folder}/none")
    assert caught.value.status == "NOT_FOUND"


@needs("filesystem.write")
@needs("filesystem.list")
@needs("filesystem.list-refuses-files")
def test_a_file_has_no_names_in_it(folder: str) -> None:
    fs.write_bytes(f"{folder}/file", b"x")
    with pytest.raises(HostError) as caught:
        fs.list_directory(f"{folder}/file")
    assert caught.value.status == "FAILED_PRECONDITION"


@needs("filesystem.write")
@needs("filesystem.whole-at-close")
def test_what_is_given_up_does_not_show(folder: str) -> None:
    fs.write_bytes(f"{folder}/old", b"old")
    for name in ("old", "new"):
        file = Writable(f"{folder}/{name}")
        file.append(b"half" * 1000)
        file.abandon()
    assert fs.read_bytes(f"{folder}/old") == b"old"
    assert not fs.exists(f"{folder}/new")


@needs("filesystem.write")
@needs("filesystem.whole-at-close")
def test_of_two_writers_one_wins(folder: str) -> None:
    first, second = Writable(f"{folder}/file"), Writable(f"{folder}/file")
    first.append(b"first" * 1000)
    second.append(b"second" * 1000)
    second.close()
    assert fs.read_bytes(f"{folder}/file") == b"second" * 1000
    first.close()
    assert fs.read_bytes(f"{folder}/file") == b"first" * 1000


@needs("filesystem.write")
@needs("filesystem.delete")
def test_a_file_that_is_deleted_while_it_is_read(folder: str) -> None:
    fs.write_bytes(f"{folder}/file", b"x" * 1000)
    file, room = Readable(f"{folder}/file"), bytearray(1000)
    fs.delete(f"{folder}/file")
    with suppress(HostError):  # the bytes that were there, or an error
        assert file.read_into(0, memoryview(room)) in (0, 1000)
        assert set(room) <= {ord("x"), 0}
    file.close()
    assert not fs.exists(f"{folder}/file")


@needs("filesystem.write")
@needs("filesystem.directories")
@needs("filesystem.concurrent")
def test_many_make_one_directory(folder: str) -> None:
    def make(_: int) -> str:
        try:
            fs.create_directory(f"{folder}/made")
        except HostError as error:
            return error.status
        return "OK"

    with ThreadPoolExecutor(4) as pool:
        said = sorted(pool.map(make, range(12)))
    assert said == ["ALREADY_EXISTS"] * 11 + ["OK"]
    with ThreadPoolExecutor(4) as pool:
        deep = [f"{folder}/a/b/c/d"] * 12
        list(pool.map(lambda path: fs.create_directory(path, parents=True), deep))
    assert fs.is_directory(f"{folder}/a/b/c/d")


@needs("filesystem.write")
@needs("filesystem.list")
@needs("filesystem.delete")
@needs("filesystem.concurrent")
def test_listing_while_files_come_and_go(folder: str) -> None:
    names = [f"file{k}" for k in range(8)]
    fs.write_bytes(f"{folder}/kept", b"x")
    done = threading.Event()

    def churn() -> None:
        while not done.is_set():
            for name in names:
                fs.write_bytes(f"{folder}/{name}", b"x")
            for name in names:
                fs.delete(f"{folder}/{name}")

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(10):
            seen = fs.list_directory(folder)
            assert "kept" in seen
            assert set(seen) <= {"kept", *names}
    finally:
        done.set()
        thread.join()


@needs("filesystem.write")
@needs("filesystem.hidden-in-transaction")
def test_a_transaction_shows_all_or_nothing(scheme: str, folder: str) -> None:
    offered = next(set(one["offers"]) for one in fs.filesystems() if one["scheme"] == scheme)
    if "start_transaction" not in offered:
        pytest.skip("offers no transactions")
    fs.write_bytes(f"{folder}/a", b"old")
    with special.transaction(folder):
        fs.write_bytes(f"{folder}/a", b"new")
        fs.write_bytes(f"{folder}/b", b"new")
        assert fs.read_bytes(f"{folder}/a") == b"old"
        assert not fs.exists(f"{folder}/b")
    assert fs.read_bytes(f"{folder}/a") == fs.read_bytes(f"{folder}/b") == b"new"
    if special.ABANDON not in special.option_names(scheme):
        return
    begun = special.transaction_of(folder, start=True)
    fs.write_bytes(f"{folder}/a", b"half")
    fs.write_bytes(f"{folder}/b", b"half")
    begun.abandon()
    assert fs.read_bytes(f"{folder}/a") == fs.read_bytes(f"{folder}/b") == b"new"
    assert fs.list_directory(folder) == ["a", "b"]


def test_failures_leave_nothing_behind(folder: str) -> None:
    def fail() -> None:
        for call in (fs.read_bytes, fs.stat, fs.delete, fs.list_directory, fs.read_memory):
            with suppress(HostError):
                call(f"{folder}/none")
        with suppress(HostError):
            fs.rename(f"{folder}/none", f"{folder}/other")

    assert grown(fail) == {}
