"""Reader of TensorFlow's V2 checkpoints: an index file and shards of data.

The index (``prefix.index``) maps names to dtype, shape, shard, offset, size and checksum; the
data lies in ``prefix.data-0000N-of-0000M``. Source: TensorFlow ``tensor_bundle``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from google.protobuf.message import DecodeError, Message

from drystone_abi.protos import BundleEntryProto, BundleHeaderProto
from drystone_base.checkpoint._errors import check_versions, corrupt, unsupported
from drystone_base.checkpoint._slices import (
    SliceSpec,
    bad_slice,
    extents,
    from_proto,
    slice_key,
)
from drystone_base.checkpoint._table import read_table
from drystone_base.checkpoint.shards import MAX_ELEMENTS, Entry, Shards, index_path, volume
from drystone_base.core.dtypes import from_number
from drystone_base.core.errors import BadModelFile, CheckpointError, GraphError, near_matches
from drystone_base.files.local import map_file
from drystone_base.ops.attrs import decode_shape

__all__ = ["VERSION", "BundleReader"]

P = TypeVar("P", bound=Message)

# The newest bundle version that is understood.
VERSION: Final = 1


class BundleReader:
    """Reads tensors of one checkpoint by name. Safe to use from several threads.

    Numeric tensors are read-only views of the mapped file; a tensor's checksum is verified when it
    is first read (``verify=False`` trusts the file). Raises ``CheckpointError`` for anything wrong.
    """

    def __init__(self, prefix: str | os.PathLike[str], *, verify: bool = True) -> None:
        self.prefix = os.fspath(prefix)
        path = index_path(prefix)
        self._where = str(path)
        items = read_table(_open_index(path), self._where)
        key, value = next(items, (None, memoryview(b"")))
        if key != b"":
            raise corrupt(self._where, "the first entry must be the header", key)
        header = self._parse(BundleHeaderProto, value, "the header")
        _check_header(header, self._where)
        self.shards = Shards(prefix, header.num_shards, verify=verify)
        self._entries = dict(items)
        self._names = [
            k.decode("utf-8", "surrogateescape") for k in self._entries if not k.startswith(b"\0")
        ]

    def __repr__(self) -> str:
        return f"<BundleReader {self.prefix!r}: {len(self._names)} tensors>"

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and _encode(name) in self._entries

    def __len__(self) -> int:
        return len(self._names)

    def keys(self) -> list[str]:
        """Names of all tensors, sorted; the slices of partitioned ones are not listed."""
        return list(self._names)

    def items(self) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
        """Every name with its tensor."""
        for name in self._names:
            yield name, self.tensor(name)

    def entry(self, name: str) -> Entry:
        """What the index says of a tensor; raises ``checkpoint-no-tensor`` with near matches."""
        return self._entry(_encode(name), name)

    def tensor(self, name: str) -> np.ndarray[Any, Any]:
        """The tensor, assembled from its slices where it is partitioned."""
        entry = self.entry(name)
        if entry.slices:
            return self._assemble(entry, tuple(slice(0, d) for d in entry.shape))
        return self.shards.read(entry)

    @contextmanager
    def ahead(self, names: Iterable[str]) -> Iterator[None]:
        """Have the bytes of these tensors at hand in the block: asked for at once, in few ranges.

        Only what lies behind a scheme is asked for; names that are not there are passed over.
        """
        entries = (e for name in names if name in self for e in self._stored(self.entry(name)))
        with self.shards.ahead(entries):
            yield

    def part(self, name: str, spec: SliceSpec) -> np.ndarray[Any, Any]:
        """A part of a tensor: (start, length) along each dimension, length -1 for all of it.

        Raises ``checkpoint-slice`` where the part lies outside or is not covered by stored slices.
        """
        entry = self.entry(name)
        wanted = extents(spec, entry.shape, name)
        if spec in entry.slices:
            return self._read_slice(entry, spec)
        if entry.slices:
            return self._assemble(entry, wanted)
        return self.shards.read(entry)[wanted]

    # ---- the index -----------------------------------------------------------------------------

    def _entry(self, key: bytes, name: str) -> Entry:
        if key not in self._entries:
            self._no_tensor(name)
        proto = self._parse(BundleEntryProto, self._entries[key], repr(name))
        try:
            dtype, shape = from_number(proto.dtype).base, decode_shape(proto.shape)
        except GraphError as error:
            check = f"entry {name!r} must have a known dtype and shape"
            raise corrupt(self._where, check, error) from error
        if shape is None or min(shape, default=0) < 0 or volume(shape) >= MAX_ELEMENTS:
            raise corrupt(self._where, f"entry {name!r} must have a full, sane shape", shape)
        if not 0 <= proto.shard_id < self.shards.count or proto.offset < 0 or proto.size < 0:
            found = f"shard {proto.shard_id}, offset {proto.offset}, size {proto.size}"
            raise corrupt(
                self._where,
                f"entry {name!r} must lie in a shard",
                found,
                f"{self.shards.count} shards",
            )
        return Entry(
            name,
            dtype,
            shape,
            proto.shard_id,
            proto.offset,
            proto.size,
            proto.crc32c,
            tuple(from_proto(s) for s in proto.slices),
        )

    def _parse(self, kind: Callable[[], P], data: memoryview, what: str) -> P:
        message = kind()
        try:
            message.ParseFromString(bytes(data))
        except DecodeError as error:
            raise corrupt(self._where, f"{what} must be a proto of the bundle", error) from error
        return message

    def _no_tensor(self, name: str) -> None:
        near = near_matches(name, self._names)
        raise CheckpointError(
            f"checkpoint {self.prefix} has no tensor {name!r}",
            check="a tensor that is restored must be in the checkpoint",
            found=f"{len(self._names)} tensors, none of that name",
            needed=name,
            remedy=f"did you mean {', '.join(near)}?"
            if near
            else "is it the checkpoint of another model?",
            code="checkpoint-no-tensor",
            status="NOT_FOUND",
        )

    def raw_entries(self) -> Iterator[tuple[bytes, BundleEntryProto]]:
        """Every key of the index with its proto, slices included."""
        for key, value in self._entries.items():
            yield key, self._parse(BundleEntryProto, value, repr(key))

    # ---- partitioned tensors -------------------------------------------------------------------

    def _stored(self, entry: Entry) -> list[Entry]:
        """The entry, or those of its slices."""
        if not entry.slices:
            return [entry]
        keys = {slice_key(entry.name, spec): spec for spec in entry.slices}
        there = ((key, spec) for key, spec in keys.items() if key in self._entries)
        return [self._entry(key, f"{entry.name} {spec}") for key, spec in there]

    def _read_slice(self, entry: Entry, spec: SliceSpec) -> np.ndarray[Any, Any]:
        key = slice_key(entry.name, spec)
        part = self._entry(key, f"{entry.name} {spec}")
        shape = tuple(s.stop - s.start for s in extents(spec, entry.shape, entry.name))
        if part.slices or part.shape != shape or part.dtype is not entry.dtype:
            found = f"{part.dtype} {list(part.shape)}"
            needed = f"{entry.dtype} {list(shape)}"
            raise corrupt(self._where, f"slice {spec} of {entry.name!r} must fit", found, needed)
        return self.shards.read(part)

    def _assemble(self, entry: Entry, wanted: tuple[slice, ...]) -> np.ndarray[Any, Any]:
        """The wanted part of a partitioned tensor, from all slices that overlap it."""
        shape = tuple(max(s.stop - s.start, 0) for s in wanted)
        overlaps = [
            (spec, both)
            for spec in dict.fromkeys(entry.slices)
            if (both := _overlap(extents(spec, entry.shape, entry.name), wanted)) is not None
        ]
        covered = sum(volume(tuple(s.stop - s.start for s in both)) for _, both in overlaps)
        if covered != volume(shape):
            raise bad_slice(
                entry.name,
                "stored slices must cover the wanted part once",
                f"{covered} elements in {len(overlaps)} slices",
                f"{volume(shape)} elements",
            )
        pieces = [(self._read_slice(entry, spec), spec, both) for spec, both in overlaps]
        out = np.empty(shape, entry.dtype.np)
        for piece, spec, both in pieces:
            into = _shift(both, [w.start for w in wanted])
            out[into] = piece[_shift(both, [start for start, _ in spec])]
        out.flags.writeable = False
        return out


def _encode(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _overlap(a: tuple[slice, ...], b: tuple[slice, ...]) -> tuple[slice, ...] | None:
    both = tuple(
        slice(max(x.start, y.start), min(x.stop, y.stop)) for x, y in zip(a, b, strict=True)
    )
    return both if all(s.start < s.stop for s in both) else None


def _shift(part: tuple[slice, ...], origin: list[int]) -> tuple[slice, ...]:
    """The same part, counted from another origin."""
    return tuple(slice(s.start - o, s.stop - o) for s, o in zip(part, origin, strict=True))


def _open_index(path: Path) -> memoryview:
    try:
        return map_file(path)
    except BadModelFile as error:
        if error.code != "file-not-found":
            raise
        raise CheckpointError(
            f"checkpoint {str(path).removesuffix('.index')} has no index",
            check="a V2 checkpoint is PREFIX.index with PREFIX.data-* beside it",
            found=error.found,
            needed=path.name,
            remedy="give the prefix without .index or .data-*; V1 needs the .meta file",
            code="checkpoint-missing-index",
            status="NOT_FOUND",
        ) from error


def _check_header(header: BundleHeaderProto, where: str) -> None:
    if header.num_shards < 1:
        raise corrupt(where, "there must be a shard", header.num_shards)
    if header.endianness != BundleHeaderProto.Endianness.LITTLE:
        raise unsupported(where, "data must be little-endian", "big-endian data")
    check_versions(where, header.version, VERSION)
