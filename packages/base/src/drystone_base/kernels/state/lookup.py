"""Lookup tables: made, filled, asked, exported. They live as long as the session."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.state._tables import Table, handle_of, table_of


@kernel("HashTable", "HashTableV2", "AnonymousHashTable")
def hash_table(call: Call) -> Any:
    """A handle to a table that an initializer fills once."""
    a = call.attrs
    return handle_of(call, lambda: Table(a["key_dtype"], a["value_dtype"], mutable=False))


@kernel(
    "MutableHashTable", "MutableHashTableV2", "AnonymousMutableHashTable",
    "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2",
    "AnonymousMutableHashTableOfTensors",
)  # fmt: skip
def mutable_hash_table(call: Call) -> Any:
    """A handle to a table that can change; its values have ``value_shape``."""
    a = call.attrs
    shape = a.get("value_shape", ())
    return handle_of(call, lambda: Table(a["key_dtype"], a["value_dtype"], value_shape=shape))


@kernel("MutableDenseHashTable", "MutableDenseHashTableV2", "AnonymousMutableDenseHashTable")
def mutable_dense_hash_table(call: Call, empty_key: Array, deleted_key: Array | None = None) -> Any:
    """A handle to a table that can change and whose keys may be vectors."""
    a = call.attrs
    buckets = a["initial_num_buckets"]
    call.require(
        buckets >= 4 and buckets & (buckets - 1) == 0,
        "the number of buckets must be a power of 2, at least 4",
        found=buckets,
        needed="4, 8, 16, ...",
    )
    marks = [m for m in (empty_key, deleted_key) if m is not None]
    call.require(
        all(m.shape == empty_key.shape for m in marks),
        "reserved keys must have one shape",
        found=[list(m.shape) for m in marks],
        needed="equal shapes",
    )
    reserved = tuple(tuple(m.ravel().tolist()) if m.ndim else m.item() for m in marks)
    call.require(
        len(set(reserved)) == len(reserved),
        "the empty and the deleted key must differ",
        found=reserved[0],
        needed="two keys",
    )
    return handle_of(
        call,
        lambda: Table(
            a["key_dtype"],
            a["value_dtype"],
            key_shape=empty_key.shape,
            value_shape=a["value_shape"],
            reserved=reserved,
        ),
    )


@kernel("InitializeTable", "InitializeTableV2")
def initialize_table(call: Call, handle: Any, keys: Array, values: Array) -> tuple[()]:
    """Fill a table that is not initialised yet; later calls change nothing."""
    table = table_of(call, handle)
    call.require(
        not table.mutable,
        "the table must be one that is initialised once",
        found="a mutable table",
        needed="HashTable",
    )
    fill_once(call, table, keys, values)
    return ()


def fill_once(call: Call, table: Table, keys: Array, values: Array) -> None:
    """Set the rows of a table that is not ready; one key must not have two values."""
    if table.ready:
        return
    names, lead = table.keys_of(call, keys)
    rows: dict[Any, Any] = {}
    for key, value in zip(names, table.rows_of(call, values, lead), strict=True):
        call.require(
            rows.setdefault(key, value) == value,
            "a key must have one value",
            found=f"{key!r} has {rows[key]!r} and {value!r}",
            needed="one value",
            status="FAILED_PRECONDITION",
        )
    table.rows, table.ready = rows, True


@kernel("LookupTableFind", "LookupTableFindV2")
def find(call: Call, handle: Any, keys: Array, default: Array) -> Array:
    """The value of each key, or the default; FAILED_PRECONDITION before initialisation."""
    table = table_of(call, handle)
    call.require(
        table.ready,
        "a table must be initialised before it is asked",
        found="no entries",
        needed="an initialised table",
        remedy="run the graph's table initializer first",
        status="FAILED_PRECONDITION",
    )
    names, lead = table.keys_of(call, keys)
    table.check_keys(call, names)
    full = lead + table.value_shape
    call.require(
        default.shape in (table.value_shape, full),
        "the default must have the shape of one value, or of all",
        found=list(default.shape),
        needed=f"{list(table.value_shape)} or {list(full)}",
    )
    get = table.rows.get
    if default.shape == table.value_shape:
        (one,) = table.rows_of(call, default[None], (1,))
        return table.pack_values([get(name, one) for name in names], lead)
    others = table.rows_of(call, default, lead)
    return table.pack_values([get(n, d) for n, d in zip(names, others, strict=True)], lead)


def _changeable(call: Call, handle: Any) -> Table:
    table = table_of(call, handle)
    call.require(
        table.mutable,
        "the table must be one that can change",
        found="HashTable",
        needed="a mutable table",
        status="UNIMPLEMENTED",
    )
    return table


@kernel("LookupTableInsert", "LookupTableInsertV2")
def insert(call: Call, handle: Any, keys: Array, values: Array) -> tuple[()]:
    """Set the values of keys; one that is there already gets the new value.

    Raises ``KernelError`` for other dtypes or shapes, and for a table that is fixed.
    """
    _insert(call, _changeable(call, handle), keys, values)
    return ()


def _insert(call: Call, table: Table, keys: Array, values: Array) -> None:
    names, lead = table.keys_of(call, keys)
    table.check_keys(call, names)
    table.rows.update(zip(names, table.rows_of(call, values, lead), strict=True))


@kernel("LookupTableRemoveV2")
def remove(call: Call, handle: Any, keys: Array) -> tuple[()]:
    """Forget keys; unknown ones do no harm."""
    table = _changeable(call, handle)
    names, _ = table.keys_of(call, keys)
    table.check_keys(call, names)
    for name in names:
        table.rows.pop(name, None)
    return ()


@kernel("LookupTableImport", "LookupTableImportV2")
def import_(call: Call, handle: Any, keys: Array, values: Array) -> tuple[()]:
    """Replace all entries; a table that is initialised once takes them only the first time."""
    table = table_of(call, handle)
    if not table.mutable:
        fill_once(call, table, keys, values)
        return ()
    names, lead = table.keys_of(call, keys)
    rows = table.rows_of(call, values, lead)
    kept = [(n, r) for n, r in zip(names, rows, strict=True) if n not in table.reserved]
    table.rows = dict(kept)
    return ()


@kernel("LookupTableExport", "LookupTableExportV2")
def export(call: Call, handle: Any) -> tuple[Array, Array]:
    """All keys and values, in the order in which they came."""
    table = table_of(call, handle)
    call.require(
        table.ready,
        "a table must be initialised before it is exported",
        found="no entries",
        needed="an initialised table",
        status="ABORTED",
    )
    names, rows = list(table.rows), list(table.rows.values())
    return table.pack_keys(names), table.pack_values(rows, (len(rows),))


@kernel("LookupTableSize", "LookupTableSizeV2")
def size(call: Call, handle: Any) -> Array:
    """The number of entries, int64."""
    return np.array(len(table_of(call, handle).rows), np.int64)
