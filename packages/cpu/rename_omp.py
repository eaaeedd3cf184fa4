"""Give oneDNN's library the OpenMP of kernels/omp and a name: `python rename_omp.py FROM TO`.

The names that it takes from GNU's OpenMP are changed by a letter, and so is that of the library
that they are looked for in: drystone's is found, and never the one of another package in the same
process, nor theirs ours. Its own name is changed likewise, as the linker takes the first library of
a name that anyone has opened. Nothing else is changed, and nothing moves.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

RENAMED = {
    b"libgomp.so.1": b"libdomp.so.1",
    b"libdnnl.so.3": b"libddnn.so.3",
    **{
        name: b"D" + name[1:]
        for name in (
            b"GOMP_parallel_start", b"GOMP_parallel_end", b"GOMP_barrier",
            b"GOMP_loop_static_start", b"GOMP_loop_static_next", b"GOMP_loop_end_nowait",
        )
    },
    **{
        name: b"d" + name[1:]
        for name in (
            b"omp_get_max_threads", b"omp_get_num_threads", b"omp_get_thread_num",
            b"omp_in_parallel",
        )
    },
}  # fmt: skip


def dynamic_strings(data: bytes) -> tuple[int, int]:
    """Where the strings of the dynamic symbols of a 64-bit ELF library begin and end."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise SystemExit("it is no 64-bit ELF library of this byte order")
    (at,) = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<3H", data, 58)
    sections = [struct.unpack_from("<II4Q", data, at + k * size) for k in range(count)]
    text = sections[names][4]
    for name, _, _, _, start, length in sections:
        if data[text + name :].startswith(b".dynstr\0"):
            return start, start + length
    raise SystemExit("the library has no dynamic symbols")


def rename(data: bytes) -> bytes:
    """The library with the names of ours; SystemExit unless all were there, once each."""
    start, end = dynamic_strings(data)
    table = data[start:end]
    for name, ours in RENAMED.items():
        if table.count(b"\0" + name + b"\0") != 1:
            raise SystemExit(f"{name.decode()} is not there once")
        table = table.replace(b"\0" + name + b"\0", b"\0" + ours + b"\0")
    left = [text for text in table.split(b"\0") if text.startswith((b"GOMP_p", b"GOMP_l", b"omp_"))]
    if left:
        raise SystemExit(f"it takes more of OpenMP than there is: {left}")
    return data[:start] + table + data[end:]


def main() -> None:
    """Rename."""
    source, target = map(Path, sys.argv[1:])
    target.write_bytes(rename(source.read_bytes()))


if __name__ == "__main__":
    main()
