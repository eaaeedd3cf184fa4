"""TensorMaps: variants that hold tensors by tensor; each change is a new map."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._variants import register_variant
from drystone_base.state.variables import handle_array

_Key = tuple[str, tuple[int, ...], Any]


class TensorMap:
    """Tensors by key; keys are equal where dtype, shape and elements are. Never changed."""

    def __init__(self, items: dict[_Key, tuple[Array, Array]]) -> None:
        self.items = items

    def __repr__(self) -> str:
        return f"TensorMap({len(self.items)} keys)"


def _add(a: TensorMap, b: TensorMap) -> TensorMap:
    """The keys of both; values of the same key are added."""
    items = dict(a.items)
    for wanted, (key, value) in b.items.items():
        there = items.get(wanted)
        items[wanted] = (key, value if there is None else there[1] + value)
    return TensorMap(items)


register_variant(TensorMap, zeros_like=lambda _: TensorMap({}), add=_add)


def _key(key: Array) -> _Key:
    """What the dict compares: bits, so that NaN is a key and -0 another than 0."""
    elements = tuple(key.ravel().tolist()) if key.dtype.hasobject else key.tobytes()
    return key.dtype.str, key.shape, elements


def _map(call: Call, handle: Array) -> TensorMap:
    found = handle.item() if handle.ndim == 0 else handle
    if not isinstance(found, TensorMap):
        call.fail("the input must be a map", found=repr(found), needed="one of EmptyTensorMap")
    return found


@kernel("EmptyTensorMap")
def empty_tensor_map(_: Call) -> Array:
    """A scalar variant: a map without a key."""
    return handle_array(TensorMap({}))


@kernel("TensorMapSize")
def size(call: Call, handle: Array) -> Array:
    """The number of keys of a map: an int32 scalar."""
    return np.array(len(_map(call, handle).items), np.int32)


@kernel("TensorMapInsert")
def insert(call: Call, handle: Array, key: Array, value: Array) -> Array:
    """The map with one key set, in the place of what it had."""
    items = dict(_map(call, handle).items)
    items[_key(key)] = (key, value)
    return handle_array(TensorMap(items))


def _found(call: Call, handle: Array, key: Array) -> tuple[TensorMap, _Key]:
    found, wanted = _map(call, handle), _key(key)
    call.require(
        wanted in found.items,
        "the key must be in the map",
        found=f"{len(found.items)} keys, not this one",
        needed=key,
    )
    return found, wanted


@kernel("TensorMapLookup")
def lookup(call: Call, handle: Array, key: Array) -> Array:
    """The value of a key, of dtype ``value_dtype``.

    Raises ``KernelError`` where there is no such key, or the value is of another dtype.
    """
    found, wanted = _found(call, handle, key)
    value = found.items[wanted][1]
    dtype = call.attrs["value_dtype"]
    call.require(
        value.dtype == dtype.np,
        "the node must expect the dtype of the value",
        found=dtype,
        needed=value.dtype,
        status="INTERNAL",
    )
    return value


@kernel("TensorMapErase")
def erase(call: Call, handle: Array, key: Array) -> Array:
    """The map without a key that it has."""
    found, wanted = _found(call, handle, key)
    return handle_array(TensorMap({k: v for k, v in found.items.items() if k != wanted}))


@kernel("TensorMapHasKey")
def has_key(call: Call, handle: Array, key: Array) -> Array:
    """A scalar bool: whether a map has a key."""
    return np.array(_key(key) in _map(call, handle).items)


@kernel("TensorMapStackKeys")
def stack_keys(call: Call, handle: Array) -> Array:
    """All keys along a new first axis, in no order; they must agree in dtype and shape."""
    dtype = call.attrs["key_dtype"]
    keys = [key for key, _ in _map(call, handle).items.values()]
    call.require(keys, "a map must have keys to stack", found="none", needed="a key")
    alike = {(k.dtype, k.shape) for k in keys}
    call.require(
        alike == {(dtype.np, keys[0].shape)},
        "keys must have one shape and the node's dtype",
        found=[f"{k.dtype}{list(k.shape)}" for k in keys[:8]],
        needed=dtype,
    )
    return np.stack(keys)
