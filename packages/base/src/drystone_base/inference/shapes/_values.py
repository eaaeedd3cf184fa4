"""Partly known int values, carried from ``Shape`` to the op that takes a shape.

Ops that only move elements run their own reference kernel on arrays of items; arithmetic follows
rules that keep a dimension where it provably stays the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.core.errors import DrystoneError, ShapeError
from drystone_base.inference.shapes._registry import MAX_PARTIAL, UNKNOWN, PartialValue, ShapeCall
from drystone_base.kernels._registry import Call, find_kernel
from drystone_base.state.runtime import Runtime
from drystone_base.state.variables import ResourceManager

__all__ = ["FOLLOWED", "propagate"]

Items: TypeAlias = np.ndarray[Any, Any]


class _Item(NamedTuple):
    """One element: a known number, or a dimension (unknown or a symbol)."""

    value: int
    known: bool


_OPEN: Final = _Item(UNKNOWN, False)


def propagate(c: ShapeCall) -> list[Any] | None:
    """What is known of the outputs when some inputs are not fully known, one entry per output.

    An entry is an array, a :class:`PartialValue` or None; no list at all when nothing is known.
    """
    if c.op in _MOVES:
        return _moved(c)
    rule = _RULES.get(c.op)
    if rule is None or not (dtype := _output_type(c)).is_integer:
        return None
    result = rule(c)
    return None if result is None else [_finish(result, dtype)]


def _output_type(c: ShapeCall) -> DType:
    found: DType = c.attrs["DstT"] if c.op == "Cast" else c.dtype(_FIRST_DATA.get(c.op, 0))
    return found


def _items(value: PartialValue) -> Items:
    out = np.empty(len(value.items), dtype=object)
    for k, pair in enumerate(zip(value.items, value.known, strict=True)):
        out[k] = _Item(*pair)
    return out.reshape(value.shape)


def _data(c: ShapeCall, index: int) -> Items | None:
    """The items of an int input, if its shape is known and small."""
    value = c.partial(index)
    return None if value is None or len(value.items) > MAX_PARTIAL else _items(value)


def _finish(items: Items, dtype: DType) -> Any:
    """An array when all is known, None when nothing is."""
    flat: list[_Item] = list(items.reshape(-1))
    if len(flat) > MAX_PARTIAL or all(i == _OPEN for i in flat):
        return None
    value = PartialValue(items.shape, [i.value for i in flat], [i.known for i in flat])
    array = value.array(dtype)
    return value if array is None else array


# Ops whose outputs are elements of inputs; the positions of the inputs that only say where.
_MOVES: Final[dict[str, tuple[int, ...]]] = {
    "ConcatV2": (-1,),
    "Concat": (0,),
    "Pack": (),
    "Unpack": (),
    "Slice": (1, 2),
    "StridedSlice": (1, 2, 3),
    "GatherV2": (1, 2),
    "Gather": (1,),
    "ExpandDims": (1,),
    "Squeeze": (),
    "Reshape": (1,),
    "Split": (0,),
    "SplitV": (1, 2),
    "ReverseV2": (1,),
    "Reverse": (1,),
    "Tile": (1,),
    "Transpose": (1,),
    "BroadcastTo": (1,),
    "Fill": (0,),
    "PadV2": (1,),
    "GatherNd": (1,),
}  # fmt: skip
_FIRST_DATA: Final = {"Concat": 1, "Split": 1, "Fill": 1, "Select": 1, "SelectV2": 1}


def _refuse(*_: Any) -> NoReturn:
    raise ShapeError("functions are not run during inference")


_RUNTIME: Final = Runtime(ResourceManager(), _refuse)


def _moved(c: ShapeCall) -> list[Any] | None:
    count = len(c.shapes)
    places = {k % count for k in _MOVES[c.op]}
    dtype = c.dtype(_FIRST_DATA.get(c.op, 0))
    kernel = find_kernel(c.op)
    if not dtype.is_integer or kernel is None:
        return None
    inputs = [c.value(k) if k in places else _data(c, k) for k in range(count)]
    if any(v is None for v in inputs):
        return None
    call = Call(c.node, c.op, c.attrs, _RUNTIME, c.input_slices, c.output_count)
    try:
        result = kernel(call, *inputs)
    except DrystoneError:
        return None
    outputs = result if isinstance(result, list | tuple) else [result]
    found = [_finish(v, dtype) for v in outputs]
    return found if any(v is not None for v in found) else None


def _cast(c: ShapeCall) -> Items | None:
    return _data(c, 0) if c.dtype(0).is_integer else None


_Binary: TypeAlias = Callable[[_Item, _Item], _Item]


def _elementwise(rule: _Binary) -> Callable[[ShapeCall], Items | None]:
    def apply(c: ShapeCall) -> Items | None:
        a, b = _data(c, 0), _data(c, 1)
        if a is None or b is None or not c.dtype(0).is_integer:
            return None
        return _broadcast(rule, a, b)

    return apply


def _broadcast(rule: _Binary, a: Items, b: Items) -> Items | None:
    try:
        pairs = np.broadcast(a, b)
    except ValueError:
        return None
    return _filled(itertools.starmap(rule, pairs), pairs.shape)


def _filled(items: Iterable[_Item], shape: tuple[int, ...]) -> Items:
    found = list(items)
    out = np.empty(len(found), dtype=object)
    for k, item in enumerate(found):
        out[k] = item
    return out.reshape(shape)


def _mul(a: _Item, b: _Item) -> _Item:
    if a.known and b.known:
        return _Item(a.value * b.value, True)
    for one, other in ((a, b), (b, a)):
        if one == (0, True):
            return one
        if one == (1, True):
            return other
    return _OPEN


def _add(a: _Item, b: _Item) -> _Item:
    if a.known and b.known:
        return _Item(a.value + b.value, True)
    return b if a == (0, True) else a if b == (0, True) else _OPEN


def _sub(a: _Item, b: _Item) -> _Item:
    if a.known and b.known:
        return _Item(a.value - b.value, True)
    if a == b and a.value < UNKNOWN:
        return _Item(0, True)
    return a if b == (0, True) else _OPEN


def _floor_div(a: _Item, b: _Item) -> _Item:
    if a.known and b.known and b.value:
        return _Item(a.value // b.value, True)
    return a if b == (1, True) else _OPEN


def _symbol_and_low(a: _Item, b: _Item) -> tuple[_Item, _Item] | None:
    """A symbol (never negative) and a known number of 0 or less, in that order."""
    for one, other in ((a, b), (b, a)):
        if not one.known and one.value < UNKNOWN and other.known and other.value <= 0:
            return one, other
    return None


def _maximum(a: _Item, b: _Item) -> _Item:
    if a.known and b.known:
        return max(a, b)
    if a == b:
        return a
    found = _symbol_and_low(a, b)
    return found[0] if found else _OPEN


def _minimum(a: _Item, b: _Item) -> _Item:
    if a.known and b.known:
        return min(a, b)
    if a == b:
        return a
    found = _symbol_and_low(a, b)
    return found[1] if found else _OPEN


def _product(c: ShapeCall) -> Items | None:
    """The product of a whole vector (or of nothing, for a scalar)."""
    items, axes = _data(c, 0), c.value(1)
    if items is None or axes is None or items.ndim > 1 or not c.dtype(0).is_integer:
        return None
    if items.ndim == 0 or axes.size == 0:
        return items
    total = _Item(1, True)
    for item in items:
        total = _mul(total, item)
    return _filled([total], (1,) if c.attrs["keep_dims"] else ())


def _select(c: ShapeCall) -> Items | None:
    """The chosen items where the condition is known; equal ones where it is not."""
    condition, a, b = c.value(0), _data(c, 1), _data(c, 2)
    if a is None or b is None:
        return None
    if condition is None:
        return _broadcast(lambda x, y: x if x == y and x != _OPEN else _OPEN, a, b)
    if c.op == "Select" and condition.ndim < a.ndim:
        condition = condition.reshape(condition.shape + (1,) * (a.ndim - condition.ndim))
    try:
        return np.asarray(np.where(condition, a, b))
    except ValueError:
        return None


_RULES: Final[dict[str, Callable[[ShapeCall], Items | None]]] = {
    "Cast": _cast,
    "Mul": _elementwise(_mul),
    "Add": _elementwise(_add),
    "AddV2": _elementwise(_add),
    "Sub": _elementwise(_sub),
    "FloorDiv": _elementwise(_floor_div),
    "Maximum": _elementwise(_maximum),
    "Minimum": _elementwise(_minimum),
    "Prod": _product,
    "Select": _select,
    "SelectV2": _select,
}

FOLLOWED: Final = frozenset({*_MOVES, *_RULES})
"""Ops of which more may be known than their shapes when some inputs are not fully known."""
