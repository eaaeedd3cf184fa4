"""Writer of TensorFlow's V2 checkpoints; what it writes, TensorFlow restores."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from drystone_abi.protos import BundleEntryProto, BundleHeaderProto, VersionDef
from drystone_base.checkpoint import _replacing
from drystone_base.checkpoint._crc import crc32c, mask
from drystone_base.checkpoint._slices import (
    SliceSpec,
    bad_slice,
    extents,
    slice_key,
    slice_proto,
)
from drystone_base.checkpoint._strings import encode_strings
from drystone_base.checkpoint._table import write_table
from drystone_base.checkpoint.bundle import VERSION, BundleReader
from drystone_base.checkpoint.shards import data_path, index_path
from drystone_base.core.dtypes import STRING, DType, from_numpy
from drystone_base.core.errors import CheckpointError
from drystone_base.files.uris import as_path, uri_of
from drystone_base.files.writing import Draft, copy_file, replace_file, writing
from drystone_base.ops.attrs import encode_shape

__all__ = ["BundleWriter", "merge", "save"]


class BundleWriter:
    """Writes one checkpoint of one shard. Use it as a context manager, or call ``finish``.

    Nothing appears under ``prefix`` before ``finish``; the index, without which no reader sees the
    data, comes last. A checkpoint that was there is whole until then: a stop at any point leaves
    that one or the new one. The same tensors added in the same order always give the same bytes.
    """

    def __init__(self, prefix: str | os.PathLike[str]) -> None:
        self.prefix = os.fspath(prefix)
        self._entries: dict[bytes, BundleEntryProto] = {}
        self._offset = 0
        self._count = _replacing.new_count(prefix, 1)
        self._target = data_path(prefix, 0, self._count)
        with writing(self._target):
            self._target.parent.mkdir(parents=True, exist_ok=True)
            self._draft = Draft(self._target)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        if kind is None:
            self.finish()
        else:
            self.discard()

    def add(self, name: str, array: np.ndarray[Any, Any], dtype: DType | None = None) -> None:
        """Write a tensor; ``dtype`` tells quantized types from plain integers.

        Raises ``CheckpointError`` (``checkpoint-duplicate-tensor``) for a name given before.
        """
        self._put(name.encode("utf-8", "surrogateescape"), name, np.asarray(array), dtype)

    def add_slice(
        self, name: str, shape: tuple[int, ...], spec: SliceSpec, array: np.ndarray[Any, Any]
    ) -> None:
        """Write one part of a partitioned tensor of the full ``shape``.

        Raises ``CheckpointError`` (``checkpoint-slice``, ``checkpoint-duplicate-tensor``).
        """
        part = extents(spec, shape, name)
        array = np.asarray(array)
        if array.shape != tuple(s.stop - s.start for s in part):
            raise bad_slice(name, "the values must have the slice's shape", array.shape, spec)
        if all((s.start, s.stop) == (0, d) for s, d in zip(part, shape, strict=True)):
            self.add(name, array)
            return
        whole = self._entries.setdefault(
            name.encode("utf-8", "surrogateescape"),
            BundleEntryProto(
                dtype=from_numpy(array.dtype).number,  # type: ignore[arg-type]
                shape=encode_shape(shape),
            ),
        )
        if whole.dtype != from_numpy(array.dtype).number or whole.shape != encode_shape(shape):
            raise bad_slice(name, "slices must agree on dtype and shape", shape, whole)
        self._put(slice_key(name, spec), f"{name} {spec}", array, None)
        whole.slices.append(slice_proto(spec))

    def _put(self, key: bytes, name: str, array: np.ndarray[Any, Any], dtype: DType | None) -> None:
        if key in self._entries:
            raise _duplicate(self.prefix, name)
        dtype = dtype or from_numpy(array.dtype)
        if dtype is STRING:
            flat = array.ravel().tolist()
            text, crc = encode_strings([v.encode() if isinstance(v, str) else v for v in flat])
            data = memoryview(text)
        else:
            flat_array = np.ascontiguousarray(array, dtype.np).reshape(-1)
            data = flat_array.view(np.uint8).data
            crc = crc32c(data)
        self._entries[key] = BundleEntryProto(
            dtype=dtype.number,  # type: ignore[arg-type]
            shape=encode_shape(array.shape),
            offset=self._offset,
            size=len(data),
            crc32c=mask(crc),
        )
        with writing(self._target):
            self._draft.file.write(data)
        self._offset += len(data)

    def finish(self) -> None:
        """Put the checkpoint in its place."""
        with writing(self._target):
            self._draft.put_in_place()
        _finish(self.prefix, self._entries, 1, self._count)

    def discard(self) -> None:
        """Leave no trace of what was written."""
        self._draft.discard()


def save(prefix: str | os.PathLike[str], tensors: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Write a checkpoint of these tensors, by name."""
    with BundleWriter(prefix) as writer:
        for name in sorted(tensors):
            writer.add(name, tensors[name])


def _finish(
    prefix: str, entries: Mapping[bytes, BundleEntryProto], filled: int, count: int
) -> None:
    """Write what is left of ``count`` data files, the first of which are there, and the index."""
    for k in range(filled, count):
        replace_file(data_path(prefix, k, count), [])
    header = BundleHeaderProto(num_shards=count, version=VersionDef(producer=VERSION))
    items = [(b"", header.SerializeToString(deterministic=True))]
    items += [(k, entries[k].SerializeToString(deterministic=True)) for k in sorted(entries)]
    replace_file(index_path(prefix), [write_table(items)])
    _replacing.remove_other_data(prefix, count)


def _duplicate(prefix: str, name: str) -> CheckpointError:
    return CheckpointError(
        f"checkpoint {prefix} cannot hold {name!r} twice",
        check="names in a checkpoint must be unique",
        found=name,
        needed="another name",
        remedy="save each tensor once",
        code="checkpoint-duplicate-tensor",
        status="ALREADY_EXISTS",
    )


def merge(prefixes: Iterable[str | os.PathLike[str]], dest: str | os.PathLike[str]) -> None:
    """Join several checkpoints into one of many shards, then remove the old ones.

    Slices of the same partitioned tensor are joined. Source: TensorFlow ``MergeV2Checkpoints``.
    Raises ``CheckpointError`` (``checkpoint-duplicate-tensor``).
    """
    readers = [BundleReader(p) for p in prefixes]
    target = os.fspath(dest)
    sources = [
        data_path(reader.prefix, k, reader.shards.count)
        for reader in readers
        for k in range(reader.shards.count)
    ]
    entries = _joined(readers, target)
    count = _replacing.new_count(target, len(sources))
    with writing(as_path(target)):
        as_path(target).parent.mkdir(parents=True, exist_ok=True)
        for k, source in enumerate(sources):
            _share(source, data_path(target, k, count))
    _finish(target, entries, len(sources), count)
    for reader in readers:
        if as_path(reader.prefix) != as_path(target):
            index_path(reader.prefix).unlink()
            _replacing.remove_other_data(reader.prefix, 0)


def _joined(readers: Iterable[BundleReader], target: str) -> dict[bytes, BundleEntryProto]:
    """The entries of several checkpoints, whose data files are counted on from one to the next."""
    entries: dict[bytes, BundleEntryProto] = {}
    base = 0
    for reader in readers:
        for key, entry in reader.raw_entries():
            entry.shard_id += base
            _join(entries, key, entry, target)
        base += reader.shards.count
    return entries


def _join(
    entries: dict[bytes, BundleEntryProto], key: bytes, entry: BundleEntryProto, target: str
) -> None:
    """Add an entry; that of a partitioned tensor takes in the slices of an earlier one."""
    if entry.slices:
        entry.shard_id = 0
    there = entries.setdefault(key, entry)
    if there is entry:
        return
    agree = (there.dtype, there.shape) == (entry.dtype, entry.shape)
    if not (there.slices and entry.slices and agree):
        raise _duplicate(target, key.decode("utf-8", "replace"))
    there.slices.extend(entry.slices)


def _share(source: Path, target: Path) -> None:
    """Let a file have another name, too; where its filesystem cannot do that, it is copied."""
    target.unlink(missing_ok=True)
    if uri_of(source) is None and uri_of(target) is None:
        with suppress(OSError):
            os.link(source, target)
            return
    copy_file(source, target)
