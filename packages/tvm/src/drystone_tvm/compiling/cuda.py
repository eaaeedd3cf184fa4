"""Code for CUDA: threads for the loops of a region, and machine code in its library.

TVM writes kernels as text, which its own run time has nvcc compile when the library is loaded. Here
nvcc does that once, and the library carries what a driver takes.
"""

from __future__ import annotations

import os
import shutil
import struct
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import drystone_base as ds
from drystone_tvm.compiling.tools import run

__all__ = ["bind", "nvcc", "packed", "require_nvcc"]

ARCHITECTURES: Final = ((80, "sm_80"), (90, "sm_90"), (90, "compute_90"))
"""For which there is code: the last is what drivers make code of for all that is newer."""
_THREADS: Final = 256
_FORM: Final = "fatbin"
_BLOB: Final = "__tvm_ffi__library_bin"
_U64: Final = struct.Struct("<Q")
_DTYPE_BYTES: Final = 4
_TAG_BYTES: Final = 4


def bind(schedule: Any, block: Any) -> None:
    """A thread for each element that a block writes; what is reduced is a loop of that thread."""
    known = schedule.get(block)
    loops = schedule.get_loops(block)
    kinds = [int(v.iter_type) for v in known.iter_vars]
    if len(loops) != len(kinds):
        loops, kinds = [schedule.add_unit_loop(block)], [0]
    outer = [loop for loop, kind in zip(loops, kinds, strict=True) if kind == 0]
    inner = [loop for loop, kind in zip(loops, kinds, strict=True) if kind != 0]
    if not outer:
        outer = [schedule.add_unit_loop(loops[0])]
    schedule.reorder(*outer, *inner)
    whole = schedule.fuse(*outer) if len(outer) > 1 else outer[0]
    blocks, threads = schedule.split(whole, [None, _THREADS])
    schedule.bind(blocks, "blockIdx.x")
    schedule.bind(threads, "threadIdx.x")


def nvcc() -> str | None:
    """The compiler of kernels: that of NVIDIA's wheels, else the one on the path."""
    wheel = find_spec("nvidia")
    folders = (wheel.submodule_search_locations if wheel is not None else None) or ()
    wheels = (p for top in folders for p in Path(top).glob("*/bin/nvcc"))
    return next((str(p) for p in wheels if os.access(p, os.X_OK)), None) or shutil.which("nvcc")


def require_nvcc() -> str:
    """The compiler of kernels; raises ``BadRequest`` (``package-missing``) for none."""
    found = nvcc()
    if found is not None:
        return found
    raise ds.BadRequest(
        "a region cannot be compiled for CUDA",
        check="kernels are compiled by NVIDIA's compiler",
        found="no nvcc, on the path or of a wheel",
        needed="CUDA's toolkit",
        remedy="pip install drystone-tvm[cuda]",
        code="package-missing",
        status="FAILED_PRECONDITION",
    )


def packed(module: Any, folder: Path) -> Path:
    """An assembler's file with the modules that a library of TVM carries, text compiled."""
    from tvm.runtime import _ffi_api

    data = _ffi_api.ModulePackImportsToTensor(module).numpy().tobytes()
    (size,) = _U64.unpack_from(data)
    blob = _with_machine_code(data[_U64.size : _U64.size + size], folder)
    (folder / "modules.bin").write_bytes(_U64.pack(len(blob)) + blob)
    out = folder / "modules.s"
    out.write_text(
        f".section .rodata\n.balign 8\n.globl {_BLOB}\n.type {_BLOB}, @object\n{_BLOB}:\n"
        f'.incbin "{folder / "modules.bin"}"\n.size {_BLOB}, . - {_BLOB}\n'
        '.section .note.GNU-stack,"",@progbits\n'
    )
    return out


class _Reader:
    """Numbers and texts one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def number(self) -> int:
        (found,) = _U64.unpack_from(self.data, self.at)
        self.at += _U64.size
        return int(found)

    def text(self) -> bytes:
        return self.skip(self.number())

    def skip(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]


def _text(data: bytes) -> bytes:
    return _U64.pack(len(data)) + data


def _with_machine_code(blob: bytes, folder: Path) -> bytes:
    """The modules, those of CUDA with machine code in the place of text."""
    given = _Reader(blob)
    for _ in range(2):  # which module belongs to which
        given.skip(_U64.size * given.number())
    out = blob[: given.at]
    while given.at < len(blob):
        kind = given.text()
        out += _text(kind)
        if kind != b"_lib":  # the library itself
            bytes_of = given.text()
            out += _text(_compiled(bytes_of, folder) if kind == b"cuda" else bytes_of)
    return out


def _compiled(data: bytes, folder: Path) -> bytes:
    """A module of CUDA: its form, what is known of its kernels, its code."""
    given = _Reader(data)
    if given.text() != b"cuda":  # it has machine code
        return data
    begin = given.at
    for _ in range(given.number()):
        given.text(), given.text()
        given.skip(_DTYPE_BYTES * given.number())
        for _ in range(given.number()):
            given.text()
        given.skip(_TAG_BYTES * given.number())
    kernels = data[begin : given.at]
    return _text(_FORM.encode()) + kernels + _text(_machine_code(given.text(), folder))


def _machine_code(text: bytes, folder: Path) -> bytes:
    source, out = folder / "kernels.cu", folder / "kernels.fatbin"
    source.write_bytes(text)
    codes = [f"-gencode=arch=compute_{k},code={code}" for k, code in ARCHITECTURES]
    run([require_nvcc(), "-O3", "-fatbin", *codes, "-o", str(out), str(source)])
    return out.read_bytes()
