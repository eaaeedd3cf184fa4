"""Shapes of lookup table ops; a table's handle carries dtype and shape of one value."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


@shape(
    "HashTable", "HashTableV2", "AnonymousHashTable", "MutableHashTable", "MutableHashTableV2",
    "AnonymousMutableHashTable", "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2",
    "AnonymousMutableHashTableOfTensors",
)  # fmt: skip
def table(c: ShapeCall) -> list[Shape]:
    """A scalar; keys are scalars, so the handle says all about values."""
    c.output_handles = [(c.attrs["value_dtype"], c.attrs.get("value_shape", ()))]
    return [()]


@shape("MutableDenseHashTable", "MutableDenseHashTableV2", "AnonymousMutableDenseHashTable")
def dense_table(c: ShapeCall) -> list[Shape]:
    """A scalar; the handle says all about values where keys are scalars."""
    if c.shape(0) == ():
        c.output_handles = [(c.attrs["value_dtype"], c.attrs["value_shape"])]
    return [()]


@shape("LookupTableFind", "LookupTableFindV2")
def find(c: ShapeCall) -> list[Shape]:
    """The keys' shape before the shape of one value."""
    held, keys = c.handles[0], c.shape(1)
    if held is None or held[1] is None or keys is None:
        return [None]
    return [keys + held[1]]


@shape("LookupTableExport", "LookupTableExportV2")
def export(c: ShapeCall) -> list[Shape]:
    """As many keys as values."""
    held = c.handles[0]
    if held is None or held[1] is None:
        return [None, None]
    return [(UNKNOWN,), (UNKNOWN, *held[1])]


@shape("LookupTableSize", "LookupTableSizeV2")
def size(_: ShapeCall) -> list[Shape]:
    """A scalar."""
    return [()]


@shape(
    "InitializeTable", "InitializeTableV2", "InitializeTableFromTextFile",
    "InitializeTableFromTextFileV2", "LookupTableInsert", "LookupTableInsertV2",
    "LookupTableRemoveV2", "LookupTableImport", "LookupTableImportV2",
)  # fmt: skip
def nothing(_: ShapeCall) -> list[Shape]:
    """Nothing."""
    return []
