"""Bytes of strings read as numbers, and decompression."""

from __future__ import annotations

import zlib

import numpy as np

from drystone_base.core.tensor import string_array
from drystone_base.kernels._limits import byte_limit, check_size
from drystone_base.kernels._pieces import elements
from drystone_base.kernels._registry import Array, Call, kernel


@kernel("DecodeRaw")
def decode_raw(call: Call, values: Array) -> Array:
    """The bytes of each string as a row of ``out_type``; strings must be equally long."""
    dtype = call.attrs["out_type"].np
    texts = values.ravel().tolist()
    lengths = {len(t) for t in texts}
    call.require(
        len(lengths) <= 1,
        "strings must be equally long",
        found=sorted(lengths),
        needed="one length",
    )
    length = lengths.pop() if lengths else 0
    call.require(
        length % dtype.itemsize == 0,
        "a string must hold whole numbers",
        found=f"{length} bytes",
        needed=f"a multiple of {dtype.itemsize}",
    )
    return _numbers(call, b"".join(texts), (*values.shape, length // dtype.itemsize))


def _numbers(call: Call, data: bytes, shape: tuple[int, ...]) -> Array:
    dtype = call.attrs["out_type"].np
    flat = np.frombuffer(data, dtype)
    if not call.attrs["little_endian"] and dtype.itemsize > 1:
        part = dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize
        flat = np.frombuffer(data, f"u{part}").byteswap().view(dtype)
    return flat.reshape(shape)


@kernel("DecodePaddedRaw")
def decode_padded_raw(call: Call, values: Array, fixed_length: Array) -> Array:
    """As DecodeRaw, each string first cut or zero-filled to ``fixed_length`` bytes."""
    call.require(
        fixed_length.ndim == 0, "fixed_length must be a scalar", found=list(fixed_length.shape)
    )
    length, size = int(fixed_length.item()), call.attrs["out_type"].np.itemsize
    call.require(
        length > 0 and length % size == 0,
        "the length must hold whole numbers",
        found=length,
        needed=f"a positive multiple of {size}",
    )
    check_size(call, (values.size, length), np.dtype(np.uint8))
    data = b"".join(t[:length].ljust(length, b"\0") for t in elements(values))
    return _numbers(call, data, (*values.shape, length // size))


@kernel("DecodeCompressed")
def decode_compressed(call: Call, values: Array) -> Array:
    """Each string decompressed: ``compression_type`` is empty, ``ZLIB`` or ``GZIP``."""
    kind = call.attrs["compression_type"]
    call.require(
        kind in ("", "ZLIB", "GZIP"),
        "the compression must be one that is known",
        found=kind,
        needed="'', ZLIB or GZIP",
    )
    flat = [t if not kind else _inflate(call, t, kind) for t in elements(values)]
    return string_array(flat, values.shape)


def _inflate(call: Call, data: bytes, kind: str) -> bytes:
    if not data and kind == "ZLIB":
        return b""
    try:
        machine = zlib.decompressobj(31 if kind == "GZIP" else 15)
        out = machine.decompress(data, byte_limit())
    except zlib.error as error:
        call.fail(
            "the data must be compressed as declared",
            found=repr(data[:16]),
            status="DATA_LOSS",
            inner=error,
        )
    call.require(
        machine.eof,
        "the compressed data must be whole",
        found=f"{len(data)} bytes",
        needed="more",
        status="DATA_LOSS",
    )
    return out
