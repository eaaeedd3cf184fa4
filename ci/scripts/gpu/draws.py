"""Single ops for the device ``GPU`` that draw random numbers: those of the reference kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from ci.scripts.gpu.cases import FLOATS, OpCase
from drystone_base import as_dtype

__all__ = ["random_cases"]

Array = np.ndarray[Any, Any]
_SHAPES: Final = ((3, 5, 7), (1027,), (), (2, 0))
_STATELESS: Final = {"uniform": "StatelessRandomUniform", "normal": "StatelessRandomNormal",
                     "truncated": "StatelessTruncatedNormal"}  # fmt: skip
_OF_NODE: Final = ("RandomUniform", "RandomStandardNormal", "TruncatedNormal")
_BOUNDS: Final = ((-5, 12), (0, 2**40), (-(2**62), 2**62))


def random_cases() -> Iterator[OpCase]:
    """All of them, by seeds, by key and counter, and of a node's own stream."""
    for shape in _SHAPES:
        for dtype in FLOATS:
            yield from _floats(_whole(*shape), dtype)
        yield from _integers(_whole(*shape))


def _whole(*values: int) -> Array:
    return np.array(values, np.int32)


def _key(counter: int) -> list[Array]:
    words = (np.array([2**63 + 77], np.uint64), np.array([counter, 11], np.uint64))
    return [*words, np.array(1, np.int32)]


def _floats(shape: Array, dtype: str) -> Iterator[OpCase]:
    whole = as_dtype("int32")
    own = {"dtype": as_dtype(dtype)}
    for op in _STATELESS.values():
        attrs = own | {"T": whole, "Tseed": as_dtype("int64")}
        yield OpCase(op, [shape, np.array([7, -3], np.int64)], attrs=attrs)
        yield OpCase(f"{op}V2", [shape, *_key(2**64 - 3)], attrs=own | {"Tshape": whole})
    for op in _OF_NODE:
        yield OpCase(op, [shape], attrs=own | {"T": whole, "seed": 3, "seed2": 9})


def _integers(shape: Array) -> Iterator[OpCase]:
    whole, own = as_dtype("int32"), {"dtype": as_dtype("int64")}
    seeds = own | {"T": whole, "Tseed": whole}
    yield OpCase("StatelessRandomUniformFullInt", [shape, _whole(7, -3)], attrs=seeds)
    by_key = own | {"Tshape": whole}
    yield OpCase("StatelessRandomUniformFullIntV2", [shape, *_key(5)], attrs=by_key)
    for low, high in _BOUNDS:
        bounds = [np.array(low, np.int64), np.array(high, np.int64)]
        yield OpCase("StatelessRandomUniformInt", [shape, _whole(7, -3), *bounds], attrs=seeds)
        yield OpCase("StatelessRandomUniformIntV2", [shape, *_key(5), *bounds], attrs=by_key)
        attrs = {"T": whole, "Tout": as_dtype("int64"), "seed": 3, "seed2": 9}
        yield OpCase("RandomUniformInt", [shape, *bounds], attrs=attrs)
