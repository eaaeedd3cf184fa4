"""Writer of TensorFlow's first form of checkpoints (V1): one table; TensorFlow restores it."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from drystone_abi.protos import SavedSliceMeta, SavedTensorSlices, VersionDef
from drystone_base.checkpoint._slices import (
    FULL,
    SliceSpec,
    bad_slice,
    extents,
    slice_key,
    slice_proto,
)
from drystone_base.checkpoint._table import write_table
from drystone_base.core.dtypes import BFLOAT16, DType
from drystone_base.core.errors import CheckpointError
from drystone_base.core.tensor import typed_field
from drystone_base.files.uris import as_path
from drystone_base.files.writing import replace_file, writing
from drystone_base.ops.attrs import encode_shape

__all__ = ["V1Writer"]

_VERSION = 1  # what TensorFlow's own writer states


class V1Writer:
    """Collects tensors and slices; ``finish`` writes the file, or nothing."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = as_path(path)
        self._metas: dict[str, SavedSliceMeta] = {}
        self._taken: dict[str, list[tuple[slice, ...]]] = {}
        self._values: dict[bytes, bytes] = {}

    def add(self, name: str, array: np.ndarray[Any, Any], dtype: DType) -> None:
        """Add a whole tensor; raises as :meth:`add_slice` does."""
        self.add_slice(name, array.shape, ((0, FULL),) * array.ndim, array, dtype)

    def add_slice(
        self,
        name: str,
        shape: tuple[int, ...],
        spec: SliceSpec,
        array: np.ndarray[Any, Any],
        dtype: DType,
    ) -> None:
        """Add one part of a tensor of the full ``shape``.

        Raises ``CheckpointError`` (``checkpoint-slice``, ``checkpoint-unsupported``).
        """
        part = extents(spec, shape, name)
        if array.shape != tuple(s.stop - s.start for s in part):
            raise bad_slice(name, "the values must have the slice's shape", array.shape, spec)
        meta = self._metas.setdefault(
            name,
            SavedSliceMeta(name=name, shape=encode_shape(shape), type=dtype.number),  # type: ignore[arg-type]
        )
        if meta.type != dtype.number or meta.shape != encode_shape(shape):
            raise bad_slice(name, "slices must agree on dtype and shape", shape, meta)
        taken = self._taken.setdefault(name, [])
        if any(_overlap(part, other) for other in taken):
            raise bad_slice(name, "slices must not overlap", spec, "elements that none holds")
        taken.append(part)
        meta.slice.append(slice_proto(spec))
        self._values[slice_key(name, spec)] = _packed(name, spec, array, dtype)

    def finish(self) -> None:
        """Write the file; raises ``BadRequest`` (``cannot-write``)."""
        head = SavedTensorSlices()
        head.meta.versions.CopyFrom(VersionDef(producer=_VERSION))
        head.meta.tensor.extend(self._metas[name] for name in sorted(self._metas))
        items = [(b"", head.SerializeToString(deterministic=True))]
        items += [(key, self._values[key]) for key in sorted(self._values)]
        with writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self.path, [write_table(items)])


def _overlap(a: tuple[slice, ...], b: tuple[slice, ...]) -> bool:
    return all(max(x.start, y.start) < min(x.stop, y.stop) for x, y in zip(a, b, strict=True))


def _packed(name: str, spec: SliceSpec, array: np.ndarray[Any, Any], dtype: DType) -> bytes:
    """The entry of a slice: its values one by one in the field of their dtype."""
    found = None if dtype is BFLOAT16 else typed_field(array, dtype)
    if found is None:
        raise CheckpointError(
            f"tensor {name!r} cannot be saved in the V1 form",
            check="a V1 checkpoint holds the types that it had when it was made",
            found=dtype,
            needed="a plain number, a bool or a string",
            remedy="save a V2 checkpoint (SaveV2)",
            code="checkpoint-unsupported",
            status="UNIMPLEMENTED",
        )
    out = SavedTensorSlices()
    out.data.name = name
    out.data.slice.CopyFrom(slice_proto(spec))
    getattr(out.data.data, found[0]).extend(found[1])
    return out.SerializeToString(deterministic=True)
