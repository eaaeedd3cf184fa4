"""Checkpoints of steps in a folder that all processes share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import drystone_base as ds

__all__ = ["newest", "write"]

_STEM: Final = "step-"
_KEPT: Final = 3


def newest(folder: str | os.PathLike[str]) -> tuple[int, Path | None]:
    """The step and the prefix of the newest checkpoint; 0 and None where there is none."""
    prefix = ds.latest_checkpoint(folder)
    if prefix is None:
        return 0, None
    number = prefix.name.removeprefix(_STEM)
    return (int(number) if number.isdecimal() else 0), prefix


def write(source: ds.Model | ds.VariableStore, folder: Path, step: int) -> Path:
    """Write the checkpoint of a step, and delete all but the newest three; gives its prefix."""
    folder.mkdir(parents=True, exist_ok=True)
    prefix = folder / f"{_STEM}{step}"
    ds.save_checkpoint(source, prefix)
    found = sorted(folder.glob(f"{_STEM}*.index"), key=_number)
    for index in [one for one in found if one.stem != prefix.name][: -_KEPT + 1]:
        index.unlink(missing_ok=True)  # first: without it nothing is read
        for shard in folder.glob(f"{index.stem}.data-*"):
            shard.unlink(missing_ok=True)
    return prefix


def _number(index: Path) -> int:
    text = index.stem.removeprefix(_STEM)
    return int(text) if text.isdecimal() else -1
