"""SavedModel folders: what is in them, and which MetaGraph of theirs is meant."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from drystone_base.checkpoint.shards import index_path
from drystone_base.core.errors import BadModelFile
from drystone_base.files.access import Access
from drystone_base.files.local import map_file
from drystone_base.loaders._cached_model import ModelFiles, Read, load_files
from drystone_base.loaders._loaded import LoadedModel

if TYPE_CHECKING:
    from drystone_base.loaders._meta import MetaParts

__all__ = ["load_saved_model"]


def load_saved_model(
    path: Path,
    tags: Iterable[str] | None = None,
    needed: Iterable[str] | None = None,
    access: Access | None = None,
) -> LoadedModel:
    """The SavedModel whose ``saved_model.pb`` (or ``.pbtxt``) is ``path``.

    Variables that none of the tensors and signatures ``needed`` reaches are not restored. The graph
    is read when it is needed, where an earlier process has read this very model.

    ``tags`` must equal the tags of one of its MetaGraphs; without them it is the only one, the
    one for serving, or the one without tags. ``access``: where links among its files may lead,
    beside its own folder. Raises ``BadModelFile`` (``bad-saved-model``,
    ``no-such-tags``, ``unsafe-asset``, ``missing-asset``), ``CheckpointError``, ``GraphError``.
    """
    folder = path.parent
    chosen = None if tags is None else sorted({tags} if isinstance(tags, str) else set(tags))
    wanted = None if needed is None else list(needed)
    prefix = folder / "variables" / "variables"
    there = prefix if index_path(prefix).is_file() else None
    reached, size = (access or Access()).with_read(folder), partial(_size, folder)
    files = ModelFiles("savedmodel", folder, map_file(path), there, reached, size)

    @cache
    def parts() -> MetaParts:
        from drystone_base.loaders.saved_model import choose

        try:
            return choose(files.data, chosen, path)._replace(folder=folder)
        except BadModelFile:
            from drystone_base.loaders._foreign import SAVED_MODEL, refuse_foreign

            refuse_foreign(files.data, path, but=SAVED_MODEL)
            raise

    def read(parts: MetaParts) -> Read:
        from drystone_base.loaders.saved_model import read_saved_model

        return read_saved_model(parts, path, files, wanted)

    return load_files(files, [chosen, wanted], parts, read)


def _size(folder: Path) -> int:
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
