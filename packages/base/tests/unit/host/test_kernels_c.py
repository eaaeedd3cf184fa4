"""Kernels module of the host, from C and C++: every function of kernels.h (tf-c-abi §4)."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import host_programs
import pytest

from drystone_abi.protos import graph_pb2, types_pb2
from drystone_base.core.errors import HostError
from drystone_base.host import _lib
from drystone_base.host.buffer import BufferStruct, filled
from drystone_base.host.kernels import list_kernels
from drystone_base.host.library import HostLibrary, open_library
from drystone_base.host.status import Status

if not _lib.available():
    pytest.skip("the host library is not built", allow_module_level=True)

Compile = Callable[..., Path]

BENCH = Path(__file__).resolve().parents[3] / "host" / "bench"
BUFFER = ctypes.POINTER(BufferStruct)

find_kernel = _lib.declare(
    "DS_FindKernel", ctypes.c_int64, BUFFER, BUFFER, ctypes.c_char_p, ctypes.c_void_p
)
new_kernel = _lib.declare(
    "DS_NewKernel",
    ctypes.c_void_p,
    ctypes.c_int64,
    BUFFER,
    BUFFER,
    ctypes.c_char_p,
    ctypes.c_void_p,
)
delete_kernel = _lib.declare("DS_DeleteKernel", None, ctypes.c_void_p)
allocate = _lib.declare(
    "TF_AllocateTensor",
    ctypes.c_void_p,
    ctypes.c_int,
    ctypes.POINTER(ctypes.c_int64),
    ctypes.c_int,
    ctypes.c_size_t,
)
data_of = _lib.declare("TF_TensorData", ctypes.c_void_p, ctypes.c_void_p)
delete_tensor = _lib.declare("TF_DeleteTensor", None, ctypes.c_void_p)
run_kernel = _lib.declare(
    "DS_RunKernel",
    None,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_int,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_int,
    ctypes.c_void_p,
)


# ---- programs under sanitizers -----------------------------------------------------------------


@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize(
    "part", ["attributes", "calls", "async", "lists", "variables", "locks", "variants", "protos"]
)
def test_kernels_under_sanitizers(part: str) -> None:
    assert host_programs.run(f"kernels_{part}_test.cc") == "0 failures\n"


def test_kernel_libraries_under_sanitizers(compile_library: Compile) -> None:
    """A program without Python opens kernel libraries: good, equal and throwing ones."""
    scale = [
        compile_library("kernels_scale.c", flags=["-pthread", *flags])
        for flags in (["-DTAG=1"], ['-DNAME="Again"'], ["-DTWICE", "-DPRIORITY=7"])
    ]
    throws = [compile_library("kernels_throws.cc", flags=[f"-DWHERE={k}"]) for k in (1, 2, 3, 4)]
    paths = [compile_library("kernels_nulls.c"), *scale, *throws]
    printed = host_programs.run("kernels_plugins_test.cc", *map(str, paths))
    assert printed == "0 failures\n"


def test_bench_of_a_call_prints_nanoseconds_per_kernel_and_handle(compile_program: Compile) -> None:
    host = _lib.path()
    program = compile_program(
        BENCH / "kernel_call.cc",
        flags=[f"-I{_lib.get_include()}", "-O2", str(host), f"-Wl,-rpath,{host.parent}"],
    )
    environment = os.environ | {"LD_LIBRARY_PATH": str(host.parent)}
    done = subprocess.run([program, "2000"], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    figures = dict(line.split() for line in done.stdout.splitlines())
    kernels = ["no-op", "get-input-set-output", "allocate-output", "views", "async"]
    assert list(figures) == [*kernels, "tensor", "status", "buffer"]
    assert all(0 < int(ns) < 1_000_000 for ns in figures.values())


# ---- by ctypes, against the built library ------------------------------------------------------


@pytest.fixture(scope="module")
def library(compile_library: Compile) -> HostLibrary:
    opened = open_library(compile_library("kernels_scale.c", flags=["-pthread"]))
    opened.initialise("TF_InitKernel")
    return opened


def node(name: str = "s", **attrs: float) -> bytes:
    out = graph_pb2.NodeDef(name=name, op="Scale", input=["x", "shift"])
    out.attr["T"].type = types_pb2.DT_FLOAT
    for key, value in attrs.items():
        out.attr[key].f = value
    return out.SerializeToString()


def make(node_def: bytes) -> int:
    with filled(node_def) as buffer, Status("making a kernel") as status:
        chosen = find_kernel(buffer, None, None, status.pointer)
        kernel = new_kernel(chosen, buffer, None, None, status.pointer)
    assert kernel
    return int(kernel)


@pytest.fixture
def kernel(library: HostLibrary) -> Iterator[int]:
    made = make(node(factor=3.0))
    yield made
    delete_kernel(made)


def scalar(value: float) -> int:
    tensor = allocate(1, None, 0, 4)
    ctypes.c_float.from_address(data_of(tensor)).value = value
    return int(tensor)


def test_kernels_are_listed_with_their_library(library: HostLibrary) -> None:
    listed = list_kernels()
    of_scale = list_kernels("Scale")
    assert of_scale == [entry for entry in listed if entry["op"] == "Scale"]
    assert of_scale
    assert not list_kernels("Scal")
    mine = [entry for entry in listed if entry["library"] == library.path]
    assert [entry["label"] for entry in mine] == ["", "later", "", ""]
    assert [entry["is_async"] for entry in mine] == [False, True, False, False]
    assert [entry["constraints"] for entry in mine] == [
        [{"attr": "T", "types": [dtype]}] for dtype in (1, 1, 2, 9)
    ]
    assert {entry["name"] for entry in mine} == {"Scale"}
    assert {tuple(entry["host_memory"]) for entry in mine} == {("shift",)}
    ids = [entry["id"] for entry in listed]
    assert ids == sorted(set(ids))


def test_a_kernel_runs(kernel: int) -> None:
    inputs = (ctypes.c_void_p * 2)(scalar(2.0), scalar(0.25))
    outputs = (ctypes.c_void_p * 2)()
    with Status("running Scale") as status:
        run_kernel(kernel, None, inputs, 2, outputs, 2, status.pointer)
    assert ctypes.c_float.from_address(data_of(outputs[0])).value == 6.25
    assert ctypes.c_int32.from_address(data_of(outputs[1])).value == 0
    for tensor in (*inputs, *outputs):
        delete_tensor(tensor)


def test_wrong_numbers_of_tensors_name_node_kernel_and_library(
    kernel: int, library: HostLibrary
) -> None:
    with pytest.raises(HostError) as caught, Status("running Scale") as status:
        run_kernel(kernel, None, None, 0, None, 0, status.pointer)
    assert caught.value.status == "INVALID_ARGUMENT"
    title = f"node 's' (op Scale, kernel 'Scale' of {library.path})"
    assert f"{title}: it has 2 inputs, 0 were given" in str(caught.value)


def test_a_kernel_that_refuses_its_node_says_so(library: HostLibrary) -> None:
    with pytest.raises(HostError) as caught:
        make(node("bad", factor=0.0))
    assert caught.value.status == "INVALID_ARGUMENT"
    assert f"node 'bad' (op Scale, kernel 'Scale' of {library.path})" in str(caught.value)
    assert "factor must not be 0" in str(caught.value)


def test_no_kernel_fits_lists_every_candidate(library: HostLibrary) -> None:
    other = graph_pb2.NodeDef(name="n", op="Scale")
    other.attr["T"].type = types_pb2.DT_HALF
    with (
        pytest.raises(HostError) as caught,
        filled(other.SerializeToString()) as buffer,
        Status("choosing a kernel") as status,
    ):
        find_kernel(buffer, None, b"CPU", status.pointer)
    assert caught.value.status == "NOT_FOUND"
    assert "no kernel of op 'Scale' for device CPU fits node 'n':" in str(caught.value)
    assert str(caught.value).count("attribute 'T' must be one of") == 3
    assert "its label is 'later'" in str(caught.value)
