"""Sparse tensors kept in the session and passed as handles."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

from typing import Any

import numpy as np
from stateful import f32, i64

from drystone_base.core.dtypes import as_dtype
from scenarios import Program, scenario

TYPES = ["float16", "float32", "float64", "int32", "int64", "uint8", "complex64", "bool", "string"]


def pick(rng: np.random.Generator, items: list[Any]) -> Any:
    """One of them."""
    return items[int(rng.integers(len(items)))]


def sparse(rng: np.random.Generator, dtype: str, shape: list[int]) -> tuple[Any, Any, Any]:
    """Indices, values and shape; indices ascend."""
    dense = rng.integers(0, 3, shape) == 0
    at = np.argwhere(dense).astype("i8").reshape(-1, len(shape))
    if dtype == "string":
        values = np.empty(len(at), object)
        values[:] = [bytes([65 + k]) * (k % 3) for k in range(len(at))]
    else:
        values = rng.integers(0, 9, len(at)).astype(as_dtype(dtype).np)
    return at, values, i64(shape)


@scenario(draws=24)
def handles(p: Program, rng: np.random.Generator) -> None:
    dtype = pick(rng, TYPES)
    shape = [int(d) for d in rng.integers(0, 4, rng.integers(1, 4))]
    attrs: dict[str, Any] = {"shared_name": "m", "container": pick(rng, ["", "c"])}
    one = p("AddSparseToTensorsMap", *sparse(rng, dtype, shape), **attrs)
    p.step(one)
    p.step(one)
    p.step(p("AddManySparseToTensorsMap", *sparse(rng, dtype, [4, *shape]), **attrs))
    asked = p.feed("int64")
    take = p("TakeManySparseFromTensorsMap", asked, dtype=dtype, **attrs)
    all_ = [(take, k) for k in range(3)]
    p.step(*all_, feeds={asked: rng.permutation(6)[: int(rng.integers(1, 4))]})
    p.step(*all_, feeds={asked: rng.permutation(6)[:3]})
    p.step(*all_, feeds={asked: i64([])})
    p.step(p("TakeManySparseFromTensorsMap", i64([0]), dtype=dtype))
    p.step(p("AddSparseToTensorsMap", *sparse(rng, dtype, [2, *shape]), **attrs))
    p.step(*all_, feeds={asked: i64([6])})
    own = p("AddSparseToTensorsMap", *sparse(rng, dtype, shape))
    p.step(own)
    back = p("TakeManySparseFromTensorsMap", i64([0]), dtype=dtype, shared_name=own.name)
    p.step(*[(back, k) for k in range(3)])


@scenario()
def refusals(p: Program) -> None:
    values, shape = f32([1, 2]), i64([3, 4])
    same, back, low = [[0, 1], [0, 1]], [[1, 0], [0, 0]], [[-1, 0], [0, 0]]
    for at in (same, back, low, [[0, 0], [3, 0]], [[0, 0], [0, 4]]):
        p.step(p("AddManySparseToTensorsMap", i64(at), values, shape))
    p.step(p("AddManySparseToTensorsMap", i64([[0], [1]]), values, i64([3])))
    for op in ("AddSparseToTensorsMap", "AddManySparseToTensorsMap"):
        p.step(p(op, i64([[0, 1]]), values, shape))
        p.step(p(op, i64([[0, 1], [1, 1]]), values, i64([3, 4, 5])))
        p.step(p(op, i64([[0, 1], [1, 1]]), values, i64([3, -4])))
    one = p("AddSparseToTensorsMap", i64([[0, 1], [1, 1]]), values, shape, shared_name="m")
    two = p("AddSparseToTensorsMap", i64([[0], [1]]), values, i64([9]), shared_name="m")
    p.step(one)
    p.step(two)
    p.step(p("TakeManySparseFromTensorsMap", i64([0, 1]), dtype="float32", shared_name="m"))
    p.step(one)
    p.step(p("TakeManySparseFromTensorsMap", i64([2]), dtype="int32", shared_name="m"))
