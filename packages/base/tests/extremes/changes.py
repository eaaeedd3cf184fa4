"""Changes that are made to inputs of a valid case: what is extreme in its dtype, and in its shape.

The changes of an op are listed, input by input; the order in which they are tried is drawn from the
seed. Once each was tried by itself, two inputs are changed at once. Huge changes are others: whole
numbers whose sums and products leave 64 bits, several different ones in an input.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from oracle import Case
from parity.subnormals import finfo

from extremes.bases import bases

__all__ = ["changed_case", "extremes_of", "huge_of"]

SHARE = ("one", "some", "all")
SHAPES = ("no elements", "no elements anywhere", "scalar", "vector of one", "a dimension more")
TEXTS = (b"", b"\0", b"nan", b"-1", b"\xff", b"1e999", b"99999999999999999999")
_FLOATS = (np.nan, np.inf, -np.inf, -0.0, 0.0)


def extremes_of(dtype: np.dtype[Any]) -> list[Any]:
    """The extreme values of a dtype: of integers the ends, -1 and 0; of floats no largest ones.

    Those overflow in one order of a sum and not in another.
    """
    if dtype.kind == "O":
        return list(TEXTS)
    if dtype.kind == "b":
        return [False, True]
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return [info.min, info.max, *([-1] if info.min else []), 0]
    if dtype.kind == "c":
        return [np.nan, np.inf, complex(-0.0, -0.0), complex(0, np.nan), complex(1, np.inf)]
    try:
        tiny = float(finfo(dtype).smallest_subnormal)
    except ValueError:  # small integers of ml_dtypes
        return [0, 1]
    return [*_FLOATS, tiny * 3]


def huge_of(dtype: np.dtype[Any]) -> list[int]:
    """Numbers of 32 or 64 bits whose sums or products are none any more."""
    if dtype.kind not in "iu" or dtype.itemsize < 4:
        return []
    info = np.iinfo(dtype)
    bits = 8 * dtype.itemsize
    root = 1 << bits // 2
    most = [info.max, info.max - 1, info.max // 2 + 1, info.max // 3 + 1, root, root + 1]
    if bits == 64:
        most += [3037000500, 1 << 61, (1 << 62) + 1, (1 << 40) + 7]
    return most + ([-1, -2, info.min, info.min + 1, info.min // 2] if info.min else [])


def changed_case(op: str, seed: int, number: int, huge: bool = False) -> tuple[Case, str]:
    """Case ``number`` of an op, the same on every machine, and what was changed in it."""
    rng = np.random.default_rng([seed, zlib.crc32(op.encode()), number])
    known = bases(op)
    item = known[int(rng.integers(len(known)))]
    singles = list(_huge(item) if huge else _listed(item))
    if not singles:
        return item, "nothing"
    # At first each change is tried by itself; later on half of the cases have two.
    order = np.random.default_rng([seed, zlib.crc32(op.encode())]).permutation(len(singles))
    done = [singles[order[number % len(singles)]]]
    if number >= len(singles) and rng.random() < 0.5:
        done.append(singles[int(rng.integers(len(singles)))])
    inputs = [np.asarray(v) for v in item.inputs]
    for k, what in done:
        inputs = _change(inputs, k, what, rng)
    said = "; ".join(f"input {k}: {what}" for k, what in done)
    return replace(item, inputs=tuple(inputs)), said


def _listed(item: Case) -> Iterator[tuple[int, str]]:
    """Each input with each change that fits it."""
    for k, value in enumerate(item.inputs):
        array = np.asarray(value)
        for value_of in extremes_of(array.dtype) if array.size else []:
            yield from ((k, f"{share} {value_of!r}") for share in SHARE[: 1 + 2 * (array.size > 1)])
        yield from ((k, shape) for shape in SHAPES if not (shape == "scalar" and not array.ndim))


def _huge(item: Case) -> Iterator[tuple[int, str]]:
    """Each input of whole numbers with each share of its elements."""
    for k, value in enumerate(item.inputs):
        array = np.asarray(value)
        if array.size and huge_of(array.dtype):
            yield from ((k, f"{share} huge") for share in SHARE[: 1 + 2 * (array.size > 1)])


def _change(inputs: Sequence[Any], k: int, what: str, rng: np.random.Generator) -> list[Any]:
    share, _, text = what.partition(" ")
    if what in SHAPES:
        return _reshaped(inputs, k, what, rng)
    array = inputs[k].copy()
    values = {repr(v): v for v in extremes_of(array.dtype)}
    if text == "huge":
        flat = array.reshape(-1)
        count = {"one": 1, "some": (array.size + 2) // 3, "all": array.size}[share]
        drawn = rng.choice(np.array(huge_of(array.dtype), array.dtype), count)
        flat[rng.permutation(array.size)[:count]] = drawn
        array = flat.reshape(array.shape)
    elif array.size and text in values:  # an earlier change may have taken the elements
        flat = array.reshape(-1)
        count = {"one": 1, "some": max(array.size // 3, 1), "all": array.size}[share]
        with np.errstate(all="ignore"):
            flat[rng.permutation(array.size)[:count]] = np.array(values[text], array.dtype)
        array = flat.reshape(array.shape)
    return [*inputs[:k], array, *inputs[k + 1 :]]


def _reshaped(inputs: Sequence[Any], k: int, what: str, rng: np.random.Generator) -> list[Any]:
    array = inputs[k]
    if what == "no elements anywhere" and array.ndim:
        size = array.shape[int(rng.integers(array.ndim))]
        return [_emptied(v, size) for v in inputs]
    if what == "scalar":
        array = array.reshape(-1)[:1].reshape(()) if array.size else np.zeros((), array.dtype)
    elif what == "a dimension more":
        array = array[None]
    elif what == "vector of one":
        array = array.reshape(-1)[:1]
    else:
        array = array[..., :0] if array.ndim else array.reshape(1)[:0]
    return [*inputs[:k], array, *inputs[k + 1 :]]


def _emptied(array: Any, size: int) -> Any:
    """Without elements along every dimension of that size."""
    return array[tuple(slice(0, 0) if n == size else slice(None) for n in array.shape)]
