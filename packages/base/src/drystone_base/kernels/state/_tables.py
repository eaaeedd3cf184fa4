"""Lookup tables: what is behind a table handle, and how keys and values are read and checked."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import STRING, DType
from drystone_base.core.tensor import string_array
from drystone_base.kernels._handles import as_reference, object_of
from drystone_base.kernels._registry import Array, Call
from drystone_base.state.variables import ResourceHandle, handle_array

__all__ = ["KIND", "Table", "handle_of", "table_of"]

KIND: Final = "table"
_serial: Final = itertools.count()


class Table:
    """Keys to values. A table that is not ``mutable`` is filled once, by an initializer.

    Values are kept as rows: Python scalars where ``value_shape`` is (), else arrays. ``reserved``
    keys (of dense tables) may not be used.
    """

    def __init__(
        self,
        key_dtype: DType,
        value_dtype: DType,
        *,
        key_shape: tuple[int, ...] = (),
        value_shape: tuple[int, ...] = (),
        mutable: bool = True,
        reserved: tuple[Any, ...] = (),
    ) -> None:
        self.key_dtype = key_dtype
        self.value_dtype = value_dtype
        self.key_shape = key_shape
        self.value_shape = value_shape
        self.mutable = mutable
        self.reserved = reserved
        self.ready = mutable
        self.rows: dict[Any, Any] = {}

    def signature(self) -> str:
        """Key and value types, for messages."""
        return (
            f"{self.key_dtype}{list(self.key_shape)} -> {self.value_dtype}{list(self.value_shape)}"
        )

    def keys_of(self, call: Call, keys: Array) -> tuple[list[Any], tuple[int, ...]]:
        """Hashable keys of a tensor, and the shape that they are arranged in."""
        rank = len(self.key_shape)
        lead = keys.shape[: keys.ndim - rank]
        call.require(
            keys.shape[len(lead) :] == self.key_shape,
            "keys must end in the table's key shape",
            found=list(keys.shape),
            needed=list(self.key_shape),
        )
        if not rank:
            return keys.ravel().tolist(), lead
        flat = keys.reshape(math.prod(lead), *self.key_shape)
        return [tuple(row.ravel().tolist()) for row in flat], lead

    def check_keys(self, call: Call, keys: list[Any]) -> None:
        """Refuse the keys that mark empty and deleted places of a dense table."""
        for key in self.reserved:
            call.require(
                key not in keys,
                "a reserved key must not be used",
                found=key,
                needed="a key that marks neither empty nor deleted places",
            )

    def rows_of(self, call: Call, values: Array, lead: tuple[int, ...]) -> list[Any]:
        """Rows of a tensor of values for keys arranged as ``lead``."""
        call.require(
            values.shape == lead + self.value_shape,
            "there must be one value for each key",
            found=list(values.shape),
            needed=list(lead + self.value_shape),
        )
        if not self.value_shape:
            return list(values.ravel().tolist())
        return list(values.reshape(math.prod(lead), *self.value_shape))

    def pack_values(self, rows: list[Any], lead: tuple[int, ...]) -> Array:
        """The tensor of rows."""
        return _pack(rows, self.value_dtype, lead + self.value_shape)

    def pack_keys(self, keys: list[Any]) -> Array:
        """The tensor of keys, ``[n, *key_shape]``."""
        flat = [part for key in keys for part in key] if self.key_shape else keys
        return _pack(flat, self.key_dtype, (len(keys), *self.key_shape))


def _pack(flat: list[Any], dtype: DType, shape: tuple[int, ...]) -> Array:
    if dtype is STRING:
        # Not by np.ravel: bytes would become NumPy's, which end at their last byte that is not NUL.
        parts = (r.ravel().tolist() if isinstance(r, np.ndarray) else [r] for r in flat)
        return string_array([value for part in parts for value in part], shape)
    return np.array(flat, dtype.np).reshape(shape)


def handle_of(call: Call, create: Callable[[], Table]) -> Any:
    """The handle of the session's table of that name; of a new one for an anonymous op."""
    if call.op.startswith("Anonymous"):
        name = f"{call.node}_{next(_serial)}"
        return handle_array(ResourceHandle(KIND, name, "", create()))
    name, container = call.attrs["shared_name"] or call.node, call.attrs["container"]
    found = call.runtime.resources.get_or_create(container, KIND, name, create)
    fresh = create()
    call.require(
        isinstance(found, Table) and found.signature() == fresh.signature(),
        "a shared table must have the types that the node declares",
        found=found.signature(),
        needed=fresh.signature(),
    )
    handle = ResourceHandle(KIND, name, container, found)
    return handle_array(handle) if call.op.endswith("V2") else as_reference(handle)


def table_of(call: Call, handle: Any) -> Table:
    """The table behind a handle; its types must be those of the node."""
    table = object_of(handle, Table)
    a = call.attrs
    for name, dtype in (("Tin", table.key_dtype), ("Tkey", table.key_dtype),
                        ("Tkeys", table.key_dtype), ("Tout", table.value_dtype),
                        ("Tval", table.value_dtype), ("Tvalues", table.value_dtype)):  # fmt: skip
        call.require(
            a.get(name, dtype) is dtype,
            "the table's types must be those of the node",
            found=table.signature(),
            needed=f"{name}={a.get(name)}",
        )
    return table
