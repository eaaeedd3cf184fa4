"""MetaGraph files (``.meta``) and the checkpoint that belongs to one."""

from __future__ import annotations

import os
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from drystone_base.checkpoint.shards import index_path
from drystone_base.files.access import Access, checkpoint_files
from drystone_base.files.local import map_file
from drystone_base.files.uris import as_path
from drystone_base.loaders._cached_model import ModelFiles, Read, load_files
from drystone_base.loaders._loaded import LoadedModel

if TYPE_CHECKING:
    from drystone_base.loaders._meta import MetaParts

__all__ = ["load_meta_graph"]


def load_meta_graph(
    path: Path,
    checkpoint: str | os.PathLike[str] | None = None,
    access: Access | None = None,
) -> LoadedModel:
    """A MetaGraph, restored from ``checkpoint`` or from the one found beside it.

    Beside it means: the file's own name without ``.meta``, else what the folder's ``checkpoint``
    file names, else the only one in the folder; it must lie in the folder, or where ``access``
    reads. Without any, variables have no value until the graph's own initializer is run. The graph
    is read when it is needed, where an earlier process has read this very file. Raises
    ``BadModelFile`` (``bad-meta-graph``), ``CheckpointError``, ``GraphError``.
    """
    data = map_file(path)
    prefix = as_path(checkpoint) if checkpoint is not None else _beside(path)
    named = () if checkpoint is None else checkpoint_files(checkpoint)
    reached, size = (
        (access or Access()).with_read(path.parent, *named),
        partial(_size, path, prefix),
    )
    files = ModelFiles("metagraph", path, data, prefix, reached, size)

    @cache
    def parts() -> MetaParts:
        from drystone_base.loaders.meta_graph import parse

        return parse(data, path)

    def read(parts: MetaParts) -> Read:
        from drystone_base.loaders.meta_graph import read_meta_graph

        return read_meta_graph(parts, path, files)

    return load_files(files, [], parts, read)


def _beside(path: Path) -> Path | None:
    own = path.with_suffix("")
    if index_path(own).is_file():
        return own
    from drystone_base.checkpoint import latest_checkpoint, v1_files

    if v1_files(own):
        return own
    stated = latest_checkpoint(path.parent)
    found = [p.with_suffix("") for p in path.parent.glob("*.index")]
    return found[0] if stated is None and len(found) == 1 else stated


def _size(path: Path, prefix: Path | None) -> int:
    """Bytes of the file and of its checkpoint."""
    return path.stat().st_size + (0 if prefix is None else _checkpoint_size(prefix))


def _checkpoint_size(prefix: Path) -> int:
    if not index_path(prefix).is_file():
        from drystone_base.checkpoint import v1_files

        return sum(f.stat().st_size for f in v1_files(prefix))
    files = [index_path(prefix), *prefix.parent.glob(f"{prefix.name}.data-*")]
    return sum(f.stat().st_size for f in files)
