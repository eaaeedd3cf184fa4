"""Which files are a V1 checkpoint."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path
from typing import Final

from drystone_base.checkpoint._table import MAGIC
from drystone_base.core.errors import CheckpointError
from drystone_base.files.uris import as_path

__all__ = ["v1_files"]

_SHARD: Final = re.compile(r"-(\d{5}|\?{5})-of-(\d{5})$")


def v1_files(prefix: str | os.PathLike[str]) -> list[Path]:
    """The files of a V1 checkpoint: the one of that name, or shards; empty when there are none.

    A name may end in ``-?????-of-0000N``, as TensorFlow writes it for shards. Raises
    ``CheckpointError`` (``checkpoint-missing-shard``).
    """
    path = as_path(prefix)
    if path.is_file():
        return [path] if _is_table(path) else []
    stem = _SHARD.sub("", path.name)
    found = sorted(path.parent.glob(f"{glob.escape(stem)}-[0-9]*-of-[0-9]*"))
    files = [p for p in found if _SHARD.sub("", p.name) == stem and _is_table(p)]
    counts = {p.name.rpartition("-")[2] for p in files}
    if files and (len(counts) > 1 or len(files) != int(min(counts))):
        raise CheckpointError(
            f"checkpoint {path} lacks a shard",
            check="every shard of a V1 checkpoint must be present, and none of another",
            found=", ".join(p.name for p in files[:8]),
            needed=f"{int(min(counts))} files {stem}-*-of-{min(counts)}",
            remedy="copy all shards into one folder",
            code="checkpoint-missing-shard",
            status="NOT_FOUND",
        )
    return files


def _is_table(path: Path) -> bool:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - len(MAGIC), 0))
        return file.read() == MAGIC
