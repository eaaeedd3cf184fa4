"""Writer of TensorFlow's V2 checkpoints; what it writes, TensorFlow restores."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy as np

from drystone_abi.protos import BundleEntryProto, BundleHeaderProto, VersionDef
from drystone_base.dtypes import STRING, DType, from_numpy
from drystone_base.errors import CheckpointError
from drystone_base.loaders._files import draft_of, put_in_place, replace_file, writing
from drystone_base.loaders.checkpoint._crc import crc32c, mask
from drystone_base.loaders.checkpoint._slices import (
    SliceSpec,
    bad_slice,
    extents,
    slice_key,
    slice_proto,
)
from drystone_base.loaders.checkpoint._strings import encode_strings
from drystone_base.loaders.checkpoint._table import write_table
from drystone_base.loaders.checkpoint.bundle import VERSION, BundleReader
from drystone_base.loaders.checkpoint.shards import data_path, index_path
from drystone_base.ops.attrs import encode_shape
from drystone_base.uris import as_path

__all__ = ["BundleWriter", "merge", "save"]


class BundleWriter:
    """Writes one checkpoint of one shard. Use it as a context manager, or call ``finish``.

    Nothing appears under ``prefix`` before ``finish``; the index, without which no reader sees the
    data, comes last. The same tensors added in the same order always give the same bytes.
    """

    def __init__(self, prefix: str | os.PathLike[str]) -> None:
        self.prefix = os.fspath(prefix)
        self._entries: dict[bytes, BundleEntryProto] = {}
        self._offset = 0
        target = data_path(prefix, 0, 1)
        self._temporary = draft_of(target)
        with writing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = self._temporary.open("wb")

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
        with writing(self._temporary):
            self._file.write(data)
        self._offset += len(data)

    def finish(self) -> None:
        """Put the checkpoint in its place."""
        target = data_path(self.prefix, 0, 1)
        with writing(target):
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            put_in_place(self._temporary, target)
        _write_index(self.prefix, self._entries, 1)

    def discard(self) -> None:
        """Leave no trace of what was written."""
        self._file.close()
        self._temporary.unlink(missing_ok=True)


def save(prefix: str | os.PathLike[str], tensors: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Write a checkpoint of these tensors, by name."""
    with BundleWriter(prefix) as writer:
        for name in sorted(tensors):
            writer.add(name, tensors[name])


def _write_index(prefix: str, entries: Mapping[bytes, BundleEntryProto], shards: int) -> None:
    header = BundleHeaderProto(num_shards=shards, version=VersionDef(producer=VERSION))
    items = [(b"", header.SerializeToString(deterministic=True))]
    items += [(k, entries[k].SerializeToString(deterministic=True)) for k in sorted(entries)]
    replace_file(index_path(prefix), [write_table(items)])


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
    """Move several checkpoints together into one of many shards; the old indexes are removed.

    Slices of the same partitioned tensor are joined. Source: TensorFlow ``MergeV2Checkpoints``.
    Raises ``CheckpointError`` (``checkpoint-duplicate-tensor``).
    """
    readers = [BundleReader(p) for p in prefixes]
    shards = sum(r.shards.count for r in readers)
    target = os.fspath(dest)
    as_path(target).parent.mkdir(parents=True, exist_ok=True)
    entries: dict[bytes, BundleEntryProto] = {}
    moves: list[tuple[Path, Path]] = []
    for reader in readers:
        base = len(moves)
        for key, entry in reader.raw_entries():
            entry.shard_id += base
            _join(entries, key, entry, target)
        moves += [
            (data_path(reader.prefix, k, reader.shards.count), data_path(target, base + k, shards))
            for k in range(reader.shards.count)
        ]
    _move(moves)
    _write_index(target, entries, shards)
    for reader in readers:
        if as_path(reader.prefix) != as_path(target):
            index_path(reader.prefix).unlink()


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


def _move(moves: list[tuple[Path, Path]]) -> None:
    """Move files, through names that nothing else has: one's target may be another's source."""
    tag = secrets.token_hex(6)
    parked = [(target.with_name(f"{target.name}.{tag}.tmp"), target) for _, target in moves]
    for (source, _), (temporary, _) in zip(moves, parked, strict=True):
        source.replace(temporary)
    for temporary, target in parked:
        temporary.replace(target)
