"""Sparse tensors packed into strings or variants, and unpacked alone and many at once."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

from typing import Any

import numpy as np
from stateful import i64

from drystone_base.core.dtypes import as_dtype
from scenarios import Program, scenario

DTYPES = ["float32", "float64", "float16", "bfloat16", "int8", "uint16", "int32", "int64", "bool",
          "complex64", "string"]  # fmt: skip


def sparse(rng: np.random.Generator, dtype: str, rank: int) -> list[np.ndarray[Any, Any]]:
    """Indices, values and dense shape, sorted, some rows empty."""
    shape = rng.integers(1, 5, rank)
    total = int(np.prod(shape))
    flat = np.sort(rng.choice(total, int(rng.integers(0, total + 1)), replace=False))
    indices = np.stack(np.unravel_index(flat, shape), -1).astype(np.int64).reshape(-1, rank)
    if dtype == "string":
        values = np.array([b"%d" % v for v in flat], dtype=object)
    else:
        values = rng.integers(0, 9, len(flat)).astype(as_dtype(dtype).np)
    return [indices, values, shape.astype(np.int64)]


@scenario(draws=24)
def round_trip(p: Program, rng: np.random.Generator) -> None:
    dtype = DTYPES[int(rng.integers(len(DTYPES)))]
    out = ["string", "variant"][int(rng.integers(2))]
    rank = int(rng.integers(1, 4))
    parts = sparse(rng, dtype, rank)
    values = p.const(parts[1], dtype)
    one = p("SerializeSparse", parts[0], values, parts[2], out_type=out)
    p.step(*((p("DeserializeSparse", one, dtype=dtype), k) for k in range(3)))
    pair = p("Pack", [one, one], axis=0)
    p.step(*((p("DeserializeSparse", pair, dtype=dtype), k) for k in range(3)))
    square = p("Pack", [pair, pair, pair], axis=0)
    p.step(*((p("DeserializeSparse", square, dtype=dtype), k) for k in range(3)))
    many = p("SerializeManySparse", parts[0], values, parts[2], out_type=out)
    p.step(*((p("DeserializeSparse", many, dtype=dtype), k) for k in range(3)))
    if out == "string":
        p.step(one, many)
        p.step(*((p("DeserializeManySparse", many, dtype=dtype), k) for k in range(3)))


@scenario()
def refused(p: Program) -> None:
    indices, values, shape = i64([[0, 1], [1, 0]]), np.ones(2, np.float32), i64([2, 2])
    for out in ("string", "variant"):
        unordered = p("SerializeManySparse", indices[::-1].copy(), values, shape, out_type=out)
        p.step((p("DeserializeSparse", unordered, dtype="float32"), 0))
        outside = p("SerializeManySparse", indices, values, i64([1, 2]), out_type=out)
        p.step((p("DeserializeSparse", outside, dtype="float32"), 0))
        one = p("SerializeSparse", indices, values, shape, out_type=out)
        p.step((p("DeserializeSparse", one, dtype="float64"), 0))
        vector = p("SerializeSparse", i64([[0]]), np.ones(1, np.float32), i64([3]), out_type=out)
        mixed = p("Pack", [one, vector], axis=0)
        p.step((p("DeserializeSparse", mixed, dtype="float32"), 0))
    p.step((p("DeserializeSparse", p.const([b"x", b"y", b"z"]), dtype="float32"), 0))
