"""Reader of TensorFlow's first form of checkpoints (V1): one table, or one for each shard.

The first entry of a table lists its tensors with shape, dtype and slices; every other entry holds
the values of one slice under the key that the slice has in V2 bundles too. Source: TensorFlow
``saved_tensor_slice.proto``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from drystone_abi.protos import SavedSliceMeta, SavedTensorSlices, TensorProto, TensorShapeProto
from drystone_base.checkpoint._errors import check_versions, corrupt
from drystone_base.checkpoint._slices import SliceSpec, extents, from_proto, slice_key
from drystone_base.checkpoint._table import read_table
from drystone_base.checkpoint._v1_files import v1_files
from drystone_base.checkpoint.bundle import VERSION, BundleReader
from drystone_base.checkpoint.shards import Entry, index_path
from drystone_base.core.dtypes import from_number
from drystone_base.core.errors import GraphError
from drystone_base.core.tensor import from_proto as read_tensor
from drystone_base.files.local import map_file
from drystone_base.ops.attrs import decode_shape

__all__ = ["V1Reader", "open_checkpoint"]

_FORM: Final = "a complete TensorFlow V1 checkpoint"


def open_checkpoint(prefix: str | os.PathLike[str]) -> BundleReader:
    """The reader for a checkpoint of either form; an index file makes it V2."""
    if not index_path(prefix).is_file() and v1_files(prefix):
        return V1Reader(prefix)
    return BundleReader(prefix)


class V1Reader(BundleReader):
    """Reads tensors of a V1 checkpoint by name, as ``BundleReader`` does those of a V2 one.

    Blocks are verified when the file is opened; tensors are copies, for they lie in it as protos.
    """

    def __init__(self, prefix: str | os.PathLike[str]) -> None:
        self.prefix = self._where = os.fspath(prefix)
        self._entries: dict[bytes, memoryview] = {}
        self._found: dict[str, Entry] = {}
        for path in v1_files(prefix):
            items = read_table(map_file(path), str(path))
            key, value = next(items, (None, memoryview(b"")))
            if key != b"":
                raise corrupt(str(path), "the first entry must list the tensors", key, _FORM)
            listed = self._parse(SavedTensorSlices, value, "the list").meta
            check_versions(str(path), listed.versions, VERSION)
            for meta in listed.tensor:
                self._add(meta)
            self._entries.update(items)
        self._names = sorted(self._found)

    def __contains__(self, name: object) -> bool:
        return name in self._found

    @contextmanager
    def ahead(self, names: Iterable[str]) -> Iterator[None]:
        """Nothing: what is in the file has been read with it."""
        del names
        yield

    def entry(self, name: str) -> Entry:
        """Dtype, full shape and stored slices; raises ``checkpoint-no-tensor``."""
        if name not in self._found:
            self._no_tensor(name)
        return self._found[name]

    def _add(self, meta: SavedSliceMeta) -> None:
        """Enter a tensor, or more slices of one that another shard has a part of."""
        name = meta.name
        try:
            dtype, shape = from_number(meta.type).base, decode_shape(meta.shape)
        except GraphError as error:
            check = f"tensor {name!r} must have a known dtype and shape"
            raise corrupt(self._where, check, error, _FORM) from error
        before = self._found.get(name)
        same = before is None or (before.dtype, before.shape) == (dtype, shape)
        if shape is None or min(shape, default=0) < 0 or not same:
            check = f"tensor {name!r} must have one full shape and dtype"
            raise corrupt(self._where, check, shape, _FORM)
        slices = (*(before.slices if before else ()), *map(from_proto, meta.slice))
        self._found[name] = Entry(name, dtype, shape, 0, 0, 0, 0, slices)

    def tensor(self, name: str) -> np.ndarray[Any, Any]:
        """The tensor, assembled from its slices."""
        entry = self.entry(name)
        return self._assemble(entry, tuple(slice(0, d) for d in entry.shape))

    def part(self, name: str, spec: SliceSpec) -> np.ndarray[Any, Any]:
        """A part of a tensor; raises ``checkpoint-slice`` where it is outside or not stored."""
        entry = self.entry(name)
        return self._assemble(entry, extents(spec, entry.shape, name))

    def _read_slice(self, entry: Entry, spec: SliceSpec) -> np.ndarray[Any, Any]:
        raw = self._entries.get(slice_key(entry.name, spec))
        if raw is None:
            check = f"slice {spec} of {entry.name!r} must be stored"
            raise corrupt(self._where, check, "no entry of its key", _FORM)
        data = self._parse(SavedTensorSlices, raw, repr(entry.name)).data.data
        shape = [s.stop - s.start for s in extents(spec, entry.shape, entry.name)]
        count, needed = (
            _count(data),
            math.prod(shape) * (2 if "complex" in entry.dtype.label else 1),
        )
        if count != needed:
            check = f"slice {spec} of {entry.name!r} must have all its values"
            raise corrupt(self._where, check, f"{count} values", f"{needed} values")
        proto = TensorProto()
        proto.CopyFrom(data)
        proto.dtype = entry.dtype.number  # type: ignore[assignment]
        dims = [TensorShapeProto.Dim(size=n) for n in shape]
        proto.tensor_shape.CopyFrom(TensorShapeProto(dim=dims))
        try:
            return read_tensor(proto)
        except GraphError as error:
            check = f"slice {spec} of {entry.name!r} must fit"
            raise corrupt(self._where, check, error.found, error.needed) from error


def _count(data: TensorProto) -> int:
    """How many values a proto states; their field follows from the dtype."""
    return sum(len(value) for field, value in data.ListFields() if field.name.endswith("_val"))
