"""Hash buckets of strings: the numbers are fixed for ever, as trained weights depend on them."""

from __future__ import annotations

from typing import Final

import numpy as np

from drystone_base.core.fingerprint import fingerprint64
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import each_number

_MASK: Final = (1 << 64) - 1
_MURMUR_SEED: Final = 0xDECAFCAFFE
_MURMUR_FACTOR: Final = 0xC6A4A7935BD1E995


@kernel("StringToHashBucketFast")
def fast(call: Call, values: Array) -> Array:
    """Farm fingerprint of each string, modulo ``num_buckets``; int64."""
    hashes = fingerprint64(values.ravel().tolist())
    return (hashes % np.uint64(_buckets(call))).astype(np.int64).reshape(values.shape)


def _buckets(call: Call) -> int:
    count = int(call.attrs["num_buckets"])
    call.require(count > 0, "there must be a bucket", found=count, needed="1 or more")
    return count


@kernel("StringToHashBucket")
def legacy(call: Call, values: Array) -> Array:
    """MurmurHash64A of each string, modulo ``num_buckets``; int64."""
    count = _buckets(call)
    return each_number(lambda v: murmur64(v) % count, values, np.int64)


@kernel("StringToHashBucketStrong")
def strong(call: Call, values: Array) -> Array:
    """SipHash-2-4 of each string under ``key`` (two integers), modulo ``num_buckets``; int64."""
    key = call.attrs["key"]
    call.require(len(key) == 2, "the key must be two integers", found=key, needed="2 integers")
    count = _buckets(call)
    low, high = (int(k) & _MASK for k in key)
    return each_number(lambda v: siphash(v, low, high) % count, values, np.int64)


def murmur64(data: bytes, seed: int = _MURMUR_SEED) -> int:
    """MurmurHash64A (A. Appleby, 2008) of a string, 64 bits."""
    value = (seed ^ len(data) * _MURMUR_FACTOR) & _MASK
    whole = len(data) // 8 * 8
    for at in range(0, whole, 8):
        word = int.from_bytes(data[at : at + 8], "little") * _MURMUR_FACTOR & _MASK
        word = (word ^ word >> 47) * _MURMUR_FACTOR & _MASK
        value = (value ^ word) * _MURMUR_FACTOR & _MASK
    if whole < len(data):
        value = (value ^ int.from_bytes(data[whole:], "little")) * _MURMUR_FACTOR & _MASK
    value = (value ^ value >> 47) * _MURMUR_FACTOR & _MASK
    return value ^ value >> 47


def siphash(data: bytes, low: int, high: int) -> int:
    """SipHash-2-4 (Aumasson and Bernstein, 2012) of a string under a 128-bit key, 64 bits."""
    state = [
        low ^ 0x736F6D6570736575,
        high ^ 0x646F72616E646F6D,
        low ^ 0x6C7967656E657261,
        high ^ 0x7465646279746573,
    ]
    tail = len(data) % 8
    padded = data + bytes(7 - tail) + bytes([len(data) & 0xFF])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        state[3] ^= word
        _rounds(state, 2)
        state[0] ^= word
    state[2] ^= 0xFF
    _rounds(state, 4)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> 64 - bits) & _MASK


def _rounds(v: list[int], count: int) -> None:
    for _ in range(count):
        v[0] = v[0] + v[1] & _MASK
        v[2] = v[2] + v[3] & _MASK
        v[1] = _rotate(v[1], 13) ^ v[0]
        v[3] = _rotate(v[3], 16) ^ v[2]
        v[0] = _rotate(v[0], 32)
        v[2] = v[2] + v[1] & _MASK
        v[0] = v[0] + v[3] & _MASK
        v[1] = _rotate(v[1], 17) ^ v[2]
        v[3] = _rotate(v[3], 21) ^ v[0]
        v[2] = _rotate(v[2], 32)
