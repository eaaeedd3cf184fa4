"""Readers of files that the scenario writes first."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from drystone_base.graph import Node
from drystone_base.kernels.io._records import write_record
from scenarios import Program, scenario


def pick(rng: np.random.Generator, items: list[Any]) -> Any:
    """One of them."""
    return items[int(rng.integers(len(items)))]


def strings(values: list[bytes]) -> np.ndarray[Any, Any]:
    out = np.empty(len(values), object)
    out[:] = values
    return out


def write(p: Program, files: list[bytes]) -> list[bytes]:
    """Steps that write files; their names."""
    name, content = p.feed("string", []), p.feed("string", [])
    put = p("WriteFile", name, content)
    names = [f"{{tmp}}/file{k}" for k in range(len(files))]
    for one, data in zip(names, files, strict=True):
        p.step(put, feeds={name: one, content: np.array(data, object)})
    return [n.encode() for n in names]


def records(*values: bytes) -> bytes:
    out = io.BytesIO()
    for value in values:
        write_record(out, value)
    return out.getvalue()


def stored(data: bytes) -> bytes:
    """One block of deflate that compresses nothing: the same bytes from whatever zlib."""
    return b"\x01" + struct.pack("<HH", len(data), len(data) ^ 0xFFFF) + data


def as_zlib(data: bytes) -> bytes:
    return b"\x78\x01" + stored(data) + struct.pack(">I", zlib.adler32(data))


def as_gzip(data: bytes) -> bytes:
    tail = struct.pack("<II", zlib.crc32(data), len(data))
    return b"\x1f\x8b\x08" + bytes(6) + b"\xff" + stored(data) + tail


PACK: dict[str, Callable[[bytes], bytes]] = {"": bytes, "GZIP": as_gzip, "ZLIB": as_zlib}


def work(p: Program, rng: np.random.Generator, reader: Node, names: list[bytes], n: int) -> None:
    """Read ``n`` times, watching the counters; then close the queue and read on."""
    q = p("FIFOQueueV2", component_types=["string"], shapes=[[]])
    name = p.feed("string")
    p.step(p("QueueEnqueueManyV2", q, [name]), feeds={name: strings(names)})
    counters = p("ReaderNumRecordsProducedV2", reader), p("ReaderNumWorkUnitsCompletedV2", reader)
    p.step(*counters)
    p.step(p("QueueCloseV2", q))
    one = p("ReaderReadV2", reader, q)
    many = p("ReaderReadUpToV2", reader, q, np.int64(rng.integers(0, 4)))
    for _ in range(n):
        taken = pick(rng, [one, one, many])
        # Only the value: the key is the name of a file in a folder of the run.
        p.step((taken, 1))
        p.step(*counters)
    p.step(p("ReaderResetV2", reader))
    p.step(*counters)


@scenario(draws=10)
def whole_files(p: Program, rng: np.random.Generator) -> None:
    names = write(p, [b"one", b"", b"a\nb\r\n"])
    reader = p("WholeFileReaderV2", shared_name=pick(rng, ["", "r"]))
    work(p, rng, reader, [*names, b"{tmp}/missing", names[0]], 7)


@scenario(draws=16)
def lines(p: Program, rng: np.random.Generator) -> None:
    texts = [b"one\ntwo\r\nthr\ree", b"", b"x\n\ny\n", b"\n\n", b"last\r", b"a\r\r\n\r"]
    names = write(p, [pick(rng, texts) for _ in range(3)])
    reader = p("TextLineReaderV2", skip_header_lines=int(rng.integers(0, 3)))
    work(p, rng, reader, [*names, b"{tmp}/missing", names[0]], 12)


@scenario(draws=20)
def tf_records(p: Program, rng: np.random.Generator) -> None:
    kind = pick(rng, ["", "GZIP", "ZLIB"])
    pack = PACK[kind]
    data = [
        records(*[bytes(rng.integers(0, 256, int(rng.integers(6)))) for _ in range(3)])
        for _ in range(3)
    ]
    cut = int(rng.integers(1, 20))
    damaged = pick(rng, [data[2], data[2][:-cut], data[2][:-1] + b"!", b"?" + data[2][1:]])
    names = write(p, [pack(data[0]), pack(records()), pack(data[1]), pack(damaged)])
    reader = p("TFRecordReaderV2", compression_type=kind)
    work(p, rng, reader, names, 10)


@scenario(draws=24)
def fixed_length(p: Program, rng: np.random.Generator) -> None:
    kind = pick(rng, ["", "GZIP", "ZLIB"])
    pack = PACK[kind]
    names = write(p, [pack(bytes(range(int(n)))) for n in (24, *rng.integers(4, 12, 2), 20)])
    attrs: dict[str, Any] = {
        "header_bytes": int(rng.integers(0, 4)),
        "record_bytes": int(rng.integers(1, 6)),
        "footer_bytes": int(rng.integers(0, 4)) if not kind else 0,
        "hop_bytes": int(rng.integers(0, 8)) if not kind else 0,
    }
    work(p, rng, p("FixedLengthRecordReaderV2", encoding=kind, **attrs), names, 12)


@scenario(draws=12)
def identity(p: Program, rng: np.random.Generator) -> None:
    reader = p("IdentityReaderV2")
    p.step(p("ReaderSerializeStateV2", reader))
    work(p, rng, reader, [b"a", b"bb", b"", b"ccc"], 3)
    state = p.feed("string", [])
    restore = p("ReaderRestoreStateV2", reader, state)
    good = b"\x08\x05\x10\x05\x18\x02\x22\x02ab"
    for value in (b"", good, b"\x08\x05\x10\x03", b"\x18\x7f", b"\xff", b"zz"):
        p.step(restore, feeds={state: np.array(value, object)})
        p.step(p("ReaderSerializeStateV2", reader))
        p.step(p("ReaderNumRecordsProducedV2", reader))


@scenario()
def refusals(p: Program) -> None:
    for reader in (
        p("FixedLengthRecordReaderV2", record_bytes=4, header_bytes=-1),
        p("FixedLengthRecordReaderV2", record_bytes=4, hop_bytes=-1),
        p("TextLineReaderV2", skip_header_lines=-1),
    ):
        p.step(p("ReaderNumRecordsProducedV2", reader))
    reader = p("TextLineReaderV2")
    p.step(p("ReaderSerializeStateV2", reader))
    p.step(p("ReaderRestoreStateV2", reader, "x"))
    for types, shapes, value in (
        (["int32"], [[]], [p.const([1])]),
        (["string", "string"], [[], []], [p.const(["a"]), p.const(["b"])]),
        (["string"], [[2]], [p.const([["a", "b"]])]),
    ):
        q = p("FIFOQueueV2", component_types=types, shapes=shapes)
        p.step(p("QueueEnqueueManyV2", q, value))
        p.step(p("ReaderReadV2", reader, q))
