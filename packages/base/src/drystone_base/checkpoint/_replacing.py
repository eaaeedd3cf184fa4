"""Replacing a checkpoint so that a stop at any point leaves a whole one: the old or the new.

A checkpoint is an index and data files, and only one file can be replaced at once. So the new data
files get other names than those that the present index needs: their names state how many there are,
and one more, empty file makes another number. Then the index is replaced, which says how many
there are, and the data files of other numbers go.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from drystone_base.checkpoint.bundle import BundleReader
from drystone_base.checkpoint.shards import data_path, index_path
from drystone_base.core.errors import DrystoneError
from drystone_base.files.uris import as_path

__all__ = ["new_count", "remove_other_data", "written_paths"]


def new_count(prefix: str | os.PathLike[str], needed: int) -> int:
    """How many data files a checkpoint with that much data has, beside the present one."""
    return needed + 1 if _present_count(prefix) == needed else needed


def written_paths(prefix: str | os.PathLike[str]) -> list[Path]:
    """The files that writing a checkpoint with one file of data makes."""
    count = new_count(prefix, 1)
    return [index_path(prefix), *(data_path(prefix, k, count) for k in range(count))]


def remove_other_data(prefix: str | os.PathLike[str], count: int) -> None:
    """Remove data files that the index, which knows ``count`` of them, does not need.

    Those are the ones of the checkpoint before, and of writers that were killed.
    """
    whole = as_path(prefix)
    stated = re.compile(re.escape(whole.name) + r"\.data-\d{5}-of-(\d{5})")
    with suppress(OSError):
        for path in list(whole.parent.iterdir()):
            found = stated.fullmatch(path.name)
            if found and int(found[1]) != count:
                path.unlink(missing_ok=True)


def _present_count(prefix: str | os.PathLike[str]) -> int | None:
    """How many data files the checkpoint that is there has; None for none that can be read."""
    try:
        return BundleReader(prefix).shards.count if index_path(prefix).is_file() else None
    except (DrystoneError, OSError):
        return None
