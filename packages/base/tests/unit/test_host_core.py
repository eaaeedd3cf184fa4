"""The host library's core: statuses, buffers, tensors, strings, logging; from C++ and Python."""

from __future__ import annotations

import ctypes
import os
import threading
from pathlib import Path

import host_programs
import pytest

from drystone_base import host
from drystone_base.errors import HostError
from drystone_base.host import _lib, buffer
from drystone_base.host.status import CODES, Status


def test_core_under_sanitizers() -> None:
    assert host_programs.run("core_test.cc") == "0 failures\n"


def test_spans_under_sanitizers() -> None:
    assert host_programs.run("spans_test.cc") == "0 failures\n"


def test_version_is_that_of_the_package() -> None:
    import drystone_base

    assert host.available()
    assert host.version() == drystone_base.__version__
    assert (host.get_include() / "drystone_host" / "core.h").is_file()


def test_a_missing_library_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DRYSTONE_HOST_LIBRARY", str(tmp_path / "none.so"))
    assert not host.available()
    with pytest.raises(HostError) as caught:
        _lib.library()
    assert caught.value.code == "host-library-missing"
    assert "found: no such file" in str(caught.value)
    assert "caused by: OSError" in str(caught.value)


def test_what_the_collector_ends_while_the_library_is_looked_up_may_look_it_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a file does that nobody holds any longer: it waited for its own thread, for ever."""
    inner: list[object] = []
    found = _lib._file

    def collected() -> str:
        monkeypatch.setattr(_lib, "_file", found)
        inner.append(_lib.library())
        return found()

    monkeypatch.setattr(_lib, "_file", collected)
    outer: list[object] = []
    thread = threading.Thread(target=lambda: outer.append(_lib.library()), daemon=True)
    thread.start()
    thread.join(60)
    assert outer == inner == [_lib.library()]


@pytest.mark.parametrize("name", CODES[1:])
def test_a_status_becomes_an_error(name: str) -> None:
    with pytest.raises(HostError, match="trying it") as caught, Status("trying it") as status:
        Status.set(status.pointer, name, "found by the plugin")
    assert caught.value.status == name
    assert caught.value.found == "found by the plugin"


def test_an_exception_inside_wins_over_the_status() -> None:
    def fail(pointer: int | None) -> None:
        Status.set(pointer, "INTERNAL", "not seen")
        raise KeyError

    with pytest.raises(KeyError), Status("trying it") as status:
        fail(status.pointer)


def test_bytes_cross_unchanged() -> None:
    data = os.urandom(1000) + b"\0\0"
    assert buffer.answer("writing", lambda out, _status: buffer.write(out, data)) == data
    with buffer.filled(data) as pointer:
        struct = ctypes.cast(pointer, ctypes.POINTER(buffer.BufferStruct))
        assert buffer.bytes_of(struct) == data
