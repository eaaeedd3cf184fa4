"""The host library's core: statuses, buffers, tensors, strings, logging; from C++ and Python."""

from __future__ import annotations

import ctypes
import os
import threading
from pathlib import Path

import host_programs
import pytest
from fresh_process import run_program

from drystone_base import host
from drystone_base.core.errors import HostError
from drystone_base.host import _lib, buffer
from drystone_base.host.status import CODES, Status


def test_core_under_sanitizers() -> None:
    assert host_programs.run("core_test.cc") == "0 failures\n"


def test_spans_under_sanitizers() -> None:
    assert host_programs.run("address_space_test.cc") == "0 failures\n"


FORKING = """
import ctypes, os, signal, sys, threading
from drystone_base.host import _lib

lib = ctypes.CDLL(str(_lib.path()))  # its calls let other threads run
lib.TF_AllocateTensor.restype = ctypes.c_void_p
lib.TF_AllocateTensor.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
lib.TF_DeleteTensor.argtypes = [ctypes.c_void_p]
sizes = (ctypes.c_int64 * 1)(25_000)

def use_one():
    lib.TF_DeleteTensor(lib.TF_AllocateTensor(1, sizes, 1, 100_000))

def work():
    while True:
        use_one()

use_one()
sys.setswitchinterval(1e-5)
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
statuses = set()
for _ in range(1000):
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        use_one()
        os._exit(0)
    statuses.add(os.waitpid(child, 0)[1])
    if len(statuses) > 1:
        break
print(*statuses, flush=True)
os._exit(0)
"""


@pytest.mark.nightly
def test_children_of_a_busy_process_get_memory() -> None:
    assert run_program(FORKING) == "0\n"


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
    """As a file does that nothing holds any longer: it waited for its own thread, for ever."""
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
