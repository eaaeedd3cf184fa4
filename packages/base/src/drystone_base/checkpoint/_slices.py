"""Slices of partitioned variables: their text form, and the keys that checkpoints give them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, TypeAlias

from drystone_abi.protos import TensorSliceProto
from drystone_base.core.errors import CheckpointError

__all__ = [
    "FULL",
    "SliceSpec",
    "bad_slice",
    "extents",
    "from_proto",
    "parse_slice",
    "slice_key",
    "slice_proto",
]

SliceSpec: TypeAlias = "tuple[tuple[int, int], ...]"
"""Start and length along each dimension; a length of FULL takes the whole dimension."""

FULL: Final = -1


def parse_slice(text: str) -> tuple[tuple[int, ...], SliceSpec] | None:
    """Full shape and slice that ``"10 4 0,5:-"`` spells (``shape_and_slices``); None when empty.

    Raises ``CheckpointError`` (``checkpoint-slice``).
    """
    if not text.strip():
        return None
    *dims, spec = text.split(" ")
    try:
        shape = tuple(int(d) for d in dims)
        parts = [p.split(",") for p in spec.split(":")] if spec else []
        found = tuple((0, FULL) if p == ["-"] else (int(p[0]), int(p[1])) for p in parts)
        exact = all(p == ["-"] or len(p) == 2 for p in parts)
    except (ValueError, IndexError):
        exact, shape, found = False, (), ()
    if exact and len(found) == len(shape):
        extents(found, shape, text)
        return shape, found
    raise bad_slice(text, "a slice must read 'd0 d1 start,length:-'", text)


def bad_slice(name: str, check: str, found: object, needed: object = "") -> CheckpointError:
    """The error for a slice that does not fit its tensor."""
    return CheckpointError(
        f"slice {name!r} cannot be used",
        check=check,
        found=found,
        needed=needed,
        remedy="check the shape and slice against the checkpoint's entry",
        code="checkpoint-slice",
        status="INVALID_ARGUMENT",
    )


def extents(spec: SliceSpec, shape: Sequence[int], name: str) -> tuple[slice, ...]:
    """The Python slices of a spec; raises ``CheckpointError`` when it leaves the shape."""
    if len(spec) != len(shape):
        raise bad_slice(name, "a slice must have the tensor's rank", len(spec), len(shape))
    found = []
    for (start, length), dim in zip(spec, shape, strict=True):
        stop = dim if length == FULL else start + length
        if start < 0 or length < FULL or stop > dim or (length == FULL and start):
            raise bad_slice(name, "a slice must lie inside the tensor", spec, list(shape))
        found.append(slice(start, stop))
    return tuple(found)


def slice_proto(spec: SliceSpec) -> TensorSliceProto:
    """The proto of a slice; whole dimensions state nothing."""
    proto = TensorSliceProto()
    for start, length in spec:
        extent = proto.extent.add()
        if length != FULL:
            extent.start, extent.length = start, length
    return proto


def from_proto(proto: TensorSliceProto) -> SliceSpec:
    """The slice in a proto."""
    return tuple((e.start, e.length) if e.HasField("length") else (0, FULL) for e in proto.extent)


def slice_key(name: str, spec: SliceSpec) -> bytes:
    """The key of a slice's own entry: 0, name, rank and extents in an order-preserving code."""
    raw = name.encode("utf-8", "surrogateescape")
    escaped = re.sub(rb"[\x00\xff]", lambda m: m[0] + bytes([m[0][0] ^ 0xFF]), raw)
    head = _unsigned(0) + escaped + b"\x00\x01" + _unsigned(len(spec))
    return head + b"".join(_signed(start) + _signed(length) for start, length in spec)


def _unsigned(value: int) -> bytes:
    """A byte count, then that many big-endian bytes."""
    size = (value.bit_length() + 7) // 8
    return bytes([size]) + value.to_bytes(size, "big")


def _signed(value: int) -> bytes:
    """Big-endian with the length in leading bits: n bytes hold 7n - 1 bits and the sign."""
    size = (value if value >= 0 else ~value).bit_length() // 7 + 1
    raw = int.from_bytes(value.to_bytes(size, "big", signed=True), "big")
    header = ((1 << size) - 1) << (7 * size)
    return (raw ^ header).to_bytes(size, "big")
