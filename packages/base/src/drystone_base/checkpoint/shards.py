"""The data of a V2 checkpoint: tensors read from its shards, with their checksums."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drystone_base.checkpoint._crc import crc32c, mask
from drystone_base.checkpoint._errors import corrupt, unsupported
from drystone_base.core.dtypes import STRING, DType
from drystone_base.core.errors import CheckpointError
from drystone_base.core.tensor import string_array
from drystone_base.files.local import map_ranges
from drystone_base.files.uris import Ranges, as_path

if TYPE_CHECKING:
    from drystone_base.checkpoint._ahead import Ahead
    from drystone_base.checkpoint._slices import SliceSpec

__all__ = ["MAX_ELEMENTS", "Entry", "Shards", "data_path", "index_path", "volume"]

MAX_ELEMENTS: Final = 1 << 48


def index_path(prefix: str | os.PathLike[str]) -> Path:
    """The index file of a checkpoint."""
    return as_path(f"{os.fspath(prefix)}.index")


def data_path(prefix: str | os.PathLike[str], shard: int, shards: int) -> Path:
    """One data file of a checkpoint."""
    return as_path(f"{os.fspath(prefix)}.data-{shard:05d}-of-{shards:05d}")


@dataclass(frozen=True)
class Entry:
    """Where a tensor lies: ``size`` bytes at ``offset`` of a shard, with their masked CRC-32C.

    A partitioned tensor has ``slices`` and no bytes of its own.
    """

    name: str
    dtype: DType
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int
    crc: int
    slices: tuple[SliceSpec, ...] = ()


class Shards:
    """The data files of one checkpoint. Safe to use from several threads.

    Numeric tensors are read-only views of the mapped file; a tensor's checksum is verified when it
    is first read (``verify=False`` trusts the file). Raises ``CheckpointError`` for anything wrong.
    """

    def __init__(self, prefix: str | os.PathLike[str], count: int, *, verify: bool = True) -> None:
        self.prefix = os.fspath(prefix)
        self.count = count
        self._verify = verify
        self._lock = threading.Lock()
        self._files: dict[int, memoryview | Ranges] = {}
        self._tensors: dict[Entry, np.ndarray[Any, Any]] = {}
        self._ahead: Ahead | None = None

    def read(self, entry: Entry) -> np.ndarray[Any, Any]:
        """The tensor of an entry that has bytes; kept, so that its checksum is verified once."""
        found = self._tensors.get(entry)
        if found is None:
            found = self._decode(entry, self._bytes(entry))
            found.flags.writeable = False
            self._tensors[entry] = found
        return found

    @contextmanager
    def ahead(self, entries: Iterable[Entry]) -> Iterator[None]:
        """Have the bytes of these entries at hand in the block: asked for at once, in few ranges.

        Only what lies behind a scheme is asked for.
        """
        from drystone_base.checkpoint._ahead import Ahead

        self._ahead = Ahead([e for e in entries if e not in self._tensors], self._file)
        try:
            yield
        finally:
            self._ahead = None

    def _file(self, shard: int) -> memoryview | Ranges:
        with self._lock:
            if shard not in self._files:
                path = data_path(self.prefix, shard, self.count)
                if not path.exists():
                    self._missing_shard(path)
                self._files[shard] = map_ranges(path)
            return self._files[shard]

    def _missing_shard(self, path: Path) -> None:
        stem = f"{as_path(self.prefix).name}.data-"
        beside = sorted(p.name for p in path.parent.iterdir() if p.name.startswith(stem))
        raise CheckpointError(
            f"checkpoint {self.prefix} lacks a shard",
            check="every data file that the index names must be present",
            found=", ".join(beside[:8]) or "no data files",
            needed=path.name,
            remedy="copy all .data-* files beside the .index file",
            code="checkpoint-missing-shard",
            status="NOT_FOUND",
        )

    def _bytes(self, entry: Entry) -> memoryview:
        ahead = self._ahead
        found = None if ahead is None else ahead.get(entry)
        if found is not None:
            return found
        data = self._file(entry.shard)
        end = entry.offset + entry.size
        if end > len(data):
            raise CheckpointError(
                f"checkpoint {self.prefix} is truncated",
                check=f"tensor {entry.name!r} must lie inside its shard",
                found=f"{len(data)} bytes in shard {entry.shard}",
                needed=f"{end} bytes at least",
                remedy="copy the .data-* files again, or save the checkpoint again",
                code="checkpoint-truncated",
            )
        return data[entry.offset : end]

    def _decode(self, entry: Entry, data: memoryview) -> np.ndarray[Any, Any]:
        count = volume(entry.shape)
        where = f"{self.prefix}: tensor {entry.name!r}"
        if entry.dtype is STRING:
            from drystone_base.checkpoint._strings import decode_strings

            values, crc = decode_strings(data, count, where)
            self._check_crc(entry, crc)
            return string_array(values, entry.shape)
        if entry.dtype.is_object:
            raise unsupported(where, "tensors must hold numbers or strings", entry.dtype)
        if len(data) != count * entry.dtype.size:
            needed = f"{count * entry.dtype.size} for {entry.dtype} {list(entry.shape)}"
            raise corrupt(where, "the size must fit dtype and shape", len(data), needed)
        if self._verify:
            self._check_crc(entry, crc32c(data))
        array = np.frombuffer(data, entry.dtype.np).reshape(entry.shape)
        return array if array.flags.aligned else array.copy()

    def _check_crc(self, entry: Entry, crc: int) -> None:
        if not self._verify or mask(crc) == entry.crc:
            return
        raise CheckpointError(
            f"checkpoint {self.prefix} is corrupt",
            check=f"the checksum of tensor {entry.name!r} must match",
            found=f"{mask(crc):#010x}",
            needed=f"{entry.crc:#010x}",
            remedy="copy the .data-* files again, or save the checkpoint again",
            code="checkpoint-checksum",
        )


def volume(shape: tuple[int, ...]) -> int:
    """Elements of a shape; the other dimensions count too when one is 0, so that none is absurd."""
    if 0 in shape and math.prod(d for d in shape if d) < MAX_ELEMENTS:
        return 0
    return math.prod(d for d in shape if d)
