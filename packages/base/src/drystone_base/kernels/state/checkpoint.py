"""Checkpoints as ops: save, restore, merge, and the names of shards."""

from __future__ import annotations

import os
from typing import Any

from drystone_base.checkpoint import (
    BundleReader,
    BundleWriter,
    V1Writer,
    merge,
    open_checkpoint,
    parse_slice,
)
from drystone_base.checkpoint._replacing import written_paths
from drystone_base.checkpoint.shards import index_path
from drystone_base.core.dtypes import DType
from drystone_base.core.tensor import string_array
from drystone_base.files.access import checkpoint_reads
from drystone_base.files.uris import as_path
from drystone_base.kernels._registry import Array, Call, kernel


def _texts(tensor: Array) -> list[str]:
    """The strings of a tensor as text; bytes that are not UTF-8 survive as surrogates."""
    return [v.decode("utf-8", "surrogateescape") for v in tensor.ravel().tolist()]


def _path(call: Call, tensor: Array) -> str:
    call.require(tensor.size == 1, "a path must be one string", found=list(tensor.shape))
    return os.fsdecode(tensor.item())


def _readable(call: Call, prefix: str) -> str:
    """The prefix, once all files of the checkpoint may be read."""
    for path in checkpoint_reads(prefix):
        call.runtime.access.check_read(call, path)
    return prefix


def readable_prefix(call: Call, prefix: Array) -> str:
    """The prefix that a tensor holds, once all files of the checkpoint may be read."""
    return _readable(call, _path(call, prefix))


def _writable(call: Call, prefix: str) -> str:
    for path in written_paths(prefix):
        call.runtime.access.check_write(call, path)
    return prefix


def _same_length(call: Call, *vectors: list[Any]) -> None:
    lengths = [len(v) for v in vectors]
    call.require(
        len(set(lengths)) == 1, "names, slices and tensors must be equally many", found=lengths
    )


@kernel("SaveV2")
def save_v2(call: Call, prefix: Array, names: Array, slices: Array, *tensors: Array) -> Any:
    """Write a checkpoint of one shard; a slice states which part of a tensor the values are."""
    texts, specs = _texts(names), _texts(slices)
    _same_length(call, texts, specs, list(tensors))
    with BundleWriter(_writable(call, _path(call, prefix))) as writer:
        for name, text, tensor, dtype in zip(
            texts, specs, tensors, call.attrs["dtypes"], strict=True
        ):
            part = parse_slice(text)
            if part is None:
                writer.add(name, tensor, dtype)
            else:
                writer.add_slice(name, *part, tensor)
    return ()


@kernel("Save")
def save(call: Call, filename: Array, names: Array, *tensors: Array) -> Any:
    """Write a checkpoint of the first form (V1): one file."""
    return _save_v1(call, filename, names, [""] * len(tensors), tensors)


@kernel("SaveSlices")
def save_slices(call: Call, filename: Array, names: Array, slices: Array, *tensors: Array) -> Any:
    """As Save; a slice states which part of a tensor the values are."""
    return _save_v1(call, filename, names, _texts(slices), tensors)


def _save_v1(
    call: Call, filename: Array, names: Array, specs: list[str], tensors: tuple[Array, ...]
) -> Any:
    texts, path = _texts(names), _path(call, filename)
    _same_length(call, texts, specs, list(tensors))
    call.runtime.access.check_write(call, path)
    writer = V1Writer(path)
    for name, text, tensor, dtype in zip(texts, specs, tensors, call.attrs["T"], strict=True):
        part = parse_slice(text)
        if part is None:
            writer.add(name, tensor, dtype)
        else:
            writer.add_slice(name, *part, tensor, dtype)
    writer.finish()
    return ()


@kernel("RestoreV2")
def restore_v2(call: Call, prefix: Array, names: Array, slices: Array) -> list[Array]:
    """Tensors or slices of a checkpoint; views of the mapped file where that is possible."""
    texts, specs, dtypes = _texts(names), _texts(slices), call.attrs["dtypes"]
    _same_length(call, texts, specs, dtypes)
    reader = open_checkpoint(readable_prefix(call, prefix))
    rows = zip(texts, specs, dtypes, strict=True)
    with reader.ahead(texts):
        return [_restore(call, reader, name, text, dtype) for name, text, dtype in rows]


@kernel("Restore")
def restore(call: Call, pattern: Array, name: Array) -> Array:
    """One tensor of a checkpoint, of dtype ``dt``; ``pattern`` and ``name`` are scalar strings.

    Raises ``KernelError`` where it is not there or of another dtype.
    """
    reader = open_checkpoint(readable_prefix(call, pattern))
    return _restore(call, reader, _texts(name)[0], "", call.attrs["dt"])


@kernel("RestoreSlice")
def restore_slice(call: Call, pattern: Array, name: Array, part: Array) -> Array:
    """One tensor, or a slice of one, of a checkpoint."""
    reader = open_checkpoint(readable_prefix(call, pattern))
    return _restore(call, reader, _texts(name)[0], _texts(part)[0], call.attrs["dt"])


def _restore(call: Call, reader: BundleReader, name: str, text: str, dtype: DType) -> Array:
    entry = reader.entry(name)
    call.require(
        entry.dtype is dtype.base,
        f"tensor {name!r} must have the dtype that the graph restores",
        found=entry.dtype,
        needed=dtype.base,
    )
    part = parse_slice(text)
    if part is None:
        return reader.tensor(name)
    call.require(
        part[0] == entry.shape,
        f"tensor {name!r} must have the full shape that the graph restores",
        found=list(entry.shape),
        needed=list(part[0]),
    )
    return reader.part(name, part[1])


@kernel("MergeV2Checkpoints")
def merge_v2_checkpoints(call: Call, prefixes: Array, destination: Array) -> Any:
    """Join the shards of a sharded saver into one checkpoint."""
    paths = [_readable(call, os.fsdecode(p)) for p in prefixes.ravel().tolist()]
    if call.attrs["allow_missing_files"]:
        paths = [p for p in paths if index_path(p).is_file()]
    target = _path(call, destination)
    for path in (*paths, target):  # the files of a shard are moved
        _writable(call, path)
    merge(paths, target)
    if call.attrs["delete_old_dirs"]:
        folders = {as_path(p).parent for p in paths} - {as_path(target).parent}
        for folder in folders:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
    return ()


def _scalars(call: Call, *values: Array) -> None:
    shapes = [list(v.shape) for v in values]
    call.require(not any(shapes), "name and numbers must be scalars", found=shapes, needed="rank 0")


@kernel("ShardedFilename")
def sharded_filename(call: Call, base: Array, shard: Array, shards: Array) -> Array:
    """The scalar string ``base-0000N-of-0000M`` of int32 scalars ``shard`` and ``shards``."""
    _scalars(call, base, shard, shards)
    suffix = f"-{int(shard):05d}-of-{int(shards):05d}".encode()
    return string_array([base.item() + suffix], ())


@kernel("ShardedFilespec")
def sharded_filespec(call: Call, base: Array, shards: Array) -> Array:
    """The pattern that the names of all shards match."""
    _scalars(call, base, shards)
    return string_array([base.item() + f"-?????-of-{int(shards):05d}".encode()], ())
