"""Stores on real servers, and what happens when requests fail: a table of the page filesystem.md.

S2-filesystems.
"""

from __future__ import annotations

import errno
import random
import time
from pathlib import Path

import numpy as np
import pytest
from faults import FAULTS
from page import TABLE, confirm, tried
from servers import Served, put, there

import drystone_base as ds
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import HostError
from drystone_base.host import filesystem as host
from drystone_base.host.open_files import Readable
from drystone_filesystem import gfile, progress

DATA = random.Random(1).randbytes((3 << 20) + 17)
SHORT, ALWAYS = 1, 1000
BOUND = 60.0


def outcome(served: Served, action: str, fault: str, times: int) -> str:
    """What came of it, in words; fails where bytes are lost or half a file shows."""
    name = f"object-{action}-{fault.replace(' ', '-')}-{times}"
    start = time.monotonic()
    if action == "read":
        put(served, name, DATA)
        served.proxy.arm(fault, "GET", times)
        said = _read(served, name)
    else:
        put(served, name, b"what was there before")
        served.proxy.arm(fault, "PUT", times)
        said = _write(served, name)
    served.proxy.arm("", "GET", 0)
    assert time.monotonic() - start < BOUND
    return said


def checked(error: HostError) -> str:
    """The status of an error that shows no secret."""
    assert "a-secret-that-must-not-show" not in str(error)
    return error.status


def _read(served: Served, name: str) -> str:
    try:
        data = gfile.GFile(f"{served.root}/{name}", "rb").read()
    except HostError as error:
        return checked(error)
    assert served.proxy.hits, "the fault did not happen"
    return "whole" if data == DATA else "wrong, unnoticed"


def _write(served: Served, name: str) -> str:
    try:
        with gfile.GFile(f"{served.root}/{name}", "wb") as file:
            file.write(DATA)
    except HostError as error:
        checked(error)
        assert there(served, name) in (b"what was there before", DATA)
        return error.status
    assert served.proxy.hits, "the fault did not happen"
    assert there(served, name) == DATA
    return "whole"


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("times", [SHORT, ALWAYS], ids=["once", "always"])
@pytest.mark.parametrize("action", ["read", "write"])
def test_a_fault(served: Served, action: str, fault: str, times: int) -> None:
    if action == "write" and (not served.writable or fault == "wrong bytes"):
        pytest.skip("nothing to write to, or nothing in the answer to spoil")
    said = outcome(served, action, fault, times)
    how = "once" if times == SHORT else "always"
    confirm(f"{served.kind}, {action}", fault, how, said)
    # Of those two, no interface that is used states a sum.
    noticed = fault != "wrong bytes" or served.kind not in ("hdfs", "az")
    if times == SHORT and noticed:
        assert said == "whole"
    if times == ALWAYS and noticed:
        assert said in ({"UNAVAILABLE", "DATA_LOSS"} | ({"whole"} if action == "write" else set()))


def test_files(served: Served) -> None:
    put(served, "some/object", DATA)
    place = f"{served.root}/some/object"
    assert gfile.stat(place).length == len(DATA)
    assert host.read_range(place, 1_000_000, 2_000_000) == DATA[1_000_000:3_000_000]
    assert host.read_range(place, len(DATA) - 5, 50) == DATA[-5:]
    with pytest.raises(HostError) as caught:
        gfile.GFile(f"{served.root}/none")
    assert caught.value.status == "NOT_FOUND"
    if not served.writable:
        return
    assert gfile.listdir(f"{served.root}/some") == ["object"]
    gfile.copy(place, f"{served.root}/some/other")
    gfile.rename(f"{served.root}/some/other", f"{served.root}/some/third")
    assert gfile.glob(f"{served.root}/some/*") == [place, f"{served.root}/some/third"]
    assert there(served, "some/third") == DATA
    with pytest.raises(RuntimeError), gfile.GFile(f"{served.root}/some/half", "wb") as file:  # noqa: PT012
        file.write(DATA)
        raise RuntimeError("half way")
    gfile.rmtree(f"{served.root}/some")
    assert not gfile.exists(f"{served.root}/some")


def test_an_object_of_several_parts(served: Served) -> None:
    """More than a store takes at once: uploaded in parts, read by several requests."""
    if not served.writable:
        pytest.skip("nothing to write to")
    data = random.Random(2).randbytes((20 << 20) + 3)
    with gfile.GFile(f"{served.root}/parts/object", "wb") as file:
        for start in range(0, len(data), 1 << 19):
            file.write(data[start : start + (1 << 19)])
    assert there(served, "parts/object") == data
    assert gfile.GFile(f"{served.root}/parts/object", "rb").read() == data


def test_a_model_is_saved_loaded_and_run(served: Served, tmp_path: Path) -> None:
    graph, kind = ds.Graph(), {"dtype": FLOAT32, "shape": (2,)}
    v = graph.add("VarHandleOp", "v", attrs={**kind, "shared_name": "v"})
    x = graph.add("Placeholder", "x", attrs=kind)
    graph.add("AssignVariableOp", "put", [v, x], attrs={"dtype": FLOAT32})
    graph.add("ReadVariableOp", "got", [v], attrs={"dtype": FLOAT32})
    session = ds.Session(graph)
    session.run("put", {"x": np.array([3, 4], np.float32)})
    place = f"{served.root}/model"
    if served.writable:
        ds.save(session, place, signatures={"get": ({}, {"y": "got:0"})})
    else:
        ds.save(session, tmp_path / "model", signatures={"get": ({}, {"y": "got:0"})})
        for path in (p for p in tmp_path.rglob("*") if p.is_file()):
            put(served, path.relative_to(tmp_path).as_posix(), path.read_bytes())
        place += "/saved_model.pb"
    np.testing.assert_array_equal(ds.load(place).signatures["get"]()["y"], [3, 4])


def test_only_what_is_reached_is_asked_for(served: Served) -> None:
    put(served, "large/object", DATA * 4)
    seen: list[int] = []
    with progress(lambda _path, count, _size: seen.append(count)):
        assert host.read_range(f"{served.root}/large/object", 0, 100) == DATA[:100]
    assert sum(seen) == 1 << 16


def test_a_cache_on_disk_serves_the_next_process(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part that was spoilt on disk is fetched again; a new version of the object is, too."""
    monkeypatch.setenv("DRYSTONE_FILES_CACHE", str(tmp_path))
    monkeypatch.setenv("DRYSTONE_FILES_MEMORY_MB", "0")
    monkeypatch.setenv("DRYSTONE_FILES_TIMEOUT", "20")  # what is asked again would be counted
    put(served, "cached/object", DATA)
    place = f"{served.root}/cached/object"
    assert gfile.GFile(place, "rb").read() == DATA
    served.proxy.arm("", "GET", 0)
    assert gfile.GFile(place, "rb").read() == DATA
    opened = served.proxy.requests  # some stores answer the question what it is with first bytes
    assert opened <= 1
    part = min(tmp_path.glob("*.part"), key=lambda p: p.name)
    part.write_bytes(part.read_bytes()[:-1] + b"!")
    assert gfile.GFile(place, "rb").read() == DATA
    # HDFS does not say of which version they are: those of a larger file are asked for once more
    assert served.proxy.requests == 2 * opened + 1 + (served.kind == "hdfs")
    put(served, "cached/object", DATA[::-1])
    assert gfile.GFile(place, "rb").read() == DATA[::-1]


def test_credentials_that_expire(served: Served) -> None:
    """A client is made again, with the credentials that are there then; the transfer goes on."""
    if served.kind not in ("s3", "gs", "az"):
        pytest.skip("it is told who asks, and no more")
    for action in ("read", "write"):
        for how, times in (("once", SHORT), ("always", ALWAYS)):
            said = outcome(served, action, "credentials expire", times)
            assert said == ("whole" if how == "once" else "UNAUTHENTICATED")
            confirm(f"{served.kind}, {action}", "credentials expire", how, said)


def test_a_clock_that_is_wrong(served: Served) -> None:
    """The error says so: to the store it is a refused signature like any other."""
    if served.kind not in ("s3", "az"):
        pytest.skip("nothing that is signed has a time")
    put(served, "object-skewed", DATA)
    served.proxy.arm("clock is wrong", "GET", ALWAYS)
    with pytest.raises(HostError, match="the store's clock is not this machine's") as caught:
        gfile.GFile(f"{served.root}/object-skewed", "rb").read()
    served.proxy.arm("", "GET", 0)
    said = checked(caught.value)
    confirm(f"{served.kind}, read", "clock is wrong", "always", said)
    said = outcome(served, "write", "clock is wrong", ALWAYS)
    assert said == "UNAUTHENTICATED"
    confirm(f"{served.kind}, write", "clock is wrong", "always", said)


def test_an_object_that_is_changed_while_it_is_read(served: Served) -> None:
    """Bytes of two versions never come together."""
    put(served, "object-changed", DATA)
    with Readable(f"{served.root}/object-changed") as file:
        room = bytearray(1000)
        assert file.read_into(0, memoryview(room)) == 1000
        put(served, "object-changed", DATA[::-1])
        rest = bytearray(len(DATA) - 1000)
        with pytest.raises(HostError, match="was changed while it was read") as caught:
            file.read_into(1000, memoryview(rest))
    assert gfile.GFile(f"{served.root}/object-changed", "rb").read() == DATA[::-1]
    said = checked(caught.value)
    confirm(f"{served.kind}, read", "changed while it is read", "once", said)


def test_a_disk_of_the_cache_that_is_full(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is read is whole; nothing half-written is left in the folder."""
    full: list[Path] = []

    def write(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[: len(data) // 2])
        full.append(path)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setenv("DRYSTONE_FILES_CACHE", str(tmp_path))
    monkeypatch.setenv("DRYSTONE_FILES_MEMORY_MB", "0")
    monkeypatch.setattr(Path, "write_bytes", write)
    put(served, "object-full", DATA)
    assert gfile.GFile(f"{served.root}/object-full", "rb").read() == DATA
    assert full, "nothing was written to the cache"
    assert list(tmp_path.iterdir()) == []
    confirm(f"{served.kind}, read", "disk of the cache is full", "always", "whole")


LARGE = random.Random(2).randbytes(1 << 20) * 24  # more than is kept before sending begins


@pytest.mark.parametrize("fault", ["", "connection reset", "503", "credentials expire"])
@pytest.mark.parametrize("times", [SHORT, ALWAYS], ids=["once", "always"])
def test_a_file_that_is_sent_while_it_is_written(served: Served, fault: str, times: int) -> None:
    """It shows whole, or not at all."""
    if not served.writable or (fault == "credentials expire" and served.kind == "hdfs"):
        pytest.skip("nothing to write to, or nobody who asks for credentials")
    name = f"object-large-{fault.replace(' ', '-')}-{times}"
    put(served, name, b"what was there before")
    served.proxy.arm(fault, "PUT", times if fault else 0)
    start = time.monotonic()
    try:
        with gfile.GFile(f"{served.root}/{name}", "wb") as file:
            for place in range(0, len(LARGE), 1 << 20):
                file.write(LARGE[place : place + (1 << 20)])
    except HostError as error:
        assert times == ALWAYS
        checked(error)
        assert there(served, name) == b"what was there before"
    else:
        assert not fault or times == SHORT
        assert there(served, name) == LARGE
    finally:
        served.proxy.arm("", "GET", 0)
    assert time.monotonic() - start < BOUND


def test_a_file_that_is_given_up_while_it_is_sent(served: Served) -> None:
    if not served.writable:
        pytest.skip("nothing to write to")
    name = "object-given-up"
    put(served, name, b"what was there before")

    def write() -> None:
        with gfile.GFile(f"{served.root}/{name}", "wb") as file:
            file.write(LARGE)
            raise KeyError("the writer's own failure")

    with pytest.raises(KeyError):
        write()
    assert there(served, name) == b"what was there before"


def test_the_page_has_the_cells_that_are_tried() -> None:
    """No more and no fewer; what each says, the tests above confirm."""
    assert set(TABLE.cells()) == tried()
