"""What staging of copies to a CUDA device in pinned memory saves: python -m bench.alone.staging.

Prints for each size the microseconds of a copy each way, until the device is done: from ordinary
memory as it is, as drystone copies, and by way of pinned memory that the host copies to or from.
Needs the CUDA driver, no more.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from statistics import median
from typing import Any

__all__ = ["main"]

_SIZES = (1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26)
_P = ctypes.c_void_p


class _Driver:
    """The functions of the driver; each raises what it fails with."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")

    def __call__(self, name: str, *arguments: Any) -> None:
        code = getattr(self._library, name)(*arguments)
        if code:
            raise RuntimeError(f"{name} failed with {code}")


def _place(driver: _Driver, name: str, size: int) -> _P:
    at = _P()
    driver(name, ctypes.byref(at), ctypes.c_size_t(size))
    return at


def _microseconds(work: Callable[[], None], size: int) -> float:
    times = []
    for _ in range(max(7, min(200, (1 << 27) // size))):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return median(times[2:]) * 1e6


def _rows(driver: _Driver, stream: _P, size: int) -> list[float]:
    kept = ctypes.create_string_buffer(b"x" * size, size)
    ordinary = ctypes.addressof(kept)
    there = _place(driver, "cuMemAlloc_v2", size)
    pinned = _place(driver, "cuMemAllocHost_v2", size)
    count = ctypes.c_size_t(size)

    def into(source: Any) -> None:
        driver("cuMemcpyHtoDAsync_v2", there, _P(source), count, stream)
        driver("cuStreamSynchronize", stream)

    def out(target: Any) -> None:
        driver("cuMemcpyDtoHAsync_v2", _P(target), there, count, stream)
        driver("cuStreamSynchronize", stream)

    def staged_in() -> None:
        ctypes.memmove(pinned, ordinary, size)
        into(pinned.value)

    def staged_out() -> None:
        out(pinned.value)
        ctypes.memmove(ordinary, pinned, size)

    works = (lambda: into(ordinary), staged_in, lambda: out(ordinary), staged_out)
    found = [_microseconds(work, size) for work in works]
    driver("cuMemFreeHost", pinned)
    driver("cuMemFree_v2", there)
    return found


def main() -> int:
    """Measure and print."""
    driver = _Driver()
    driver("cuInit", 0)
    context, stream = _P(), _P()
    driver("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    driver("cuCtxSetCurrent", context)
    driver("cuStreamCreate", ctypes.byref(stream), 1)
    print("bytes      in  staged in     out  staged out   (microseconds)")
    for size in _SIZES:
        print(f"{size:9}" + "".join(f"{found:9.1f}" for found in _rows(driver, stream, size)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
