"""The ``checkpoint`` file of a folder: which checkpoint is the latest."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drystone_base.checkpoint._v1_files import v1_files
from drystone_base.checkpoint.shards import index_path
from drystone_base.core.arguments import explained
from drystone_base.core.errors import CheckpointError
from drystone_base.files.local import map_file
from drystone_base.files.uris import as_path
from drystone_base.files.writing import replace_file

if TYPE_CHECKING:
    from drystone_abi.protos import CheckpointState

__all__ = ["latest_checkpoint", "state_latest"]

_NAME: Final = "checkpoint"


@explained
def latest_checkpoint(folder: str | os.PathLike[str]) -> Path | None:
    """The prefix of the latest checkpoint in a folder, or None when the folder names none.

    A folder that was moved still works: an absolute path that is gone is looked up in the folder.
    Raises ``CheckpointError`` (``bad-checkpoint``) for a state file that cannot be read.
    """
    path = as_path(folder) / _NAME
    if not path.is_file():  # found without protobuf: models with cached plans come by here
        return None
    state = _read(path)
    if not state.model_checkpoint_path:
        return None
    stated = as_path(folder) / state.model_checkpoint_path
    beside = as_path(folder) / Path(state.model_checkpoint_path).name
    found = [p for p in (stated, beside) if index_path(p).is_file() or v1_files(p)]
    return found[0] if found else None


def state_latest(prefix: str | os.PathLike[str]) -> None:
    """Make a checkpoint the latest of its folder; the others that are still there stay listed.

    Raises ``CheckpointError`` (``bad-checkpoint``), ``BadRequest`` (``cannot-write``).
    """
    from google.protobuf import text_format

    from drystone_abi.protos import CheckpointState

    path = as_path(prefix).parent / _NAME
    name = as_path(prefix).name
    before = _read(path).all_model_checkpoint_paths
    others = [p for p in before if p != name and index_path(path.parent / p).is_file()]
    state = CheckpointState(model_checkpoint_path=name, all_model_checkpoint_paths=[*others, name])
    replace_file(path, [text_format.MessageToString(state).encode()])


def _read(path: Path) -> CheckpointState:
    """What the file states; nothing where there is none."""
    from google.protobuf import text_format

    from drystone_abi.protos import CheckpointState
    from drystone_base.graph.pbtxt import spelled_out

    state = CheckpointState()
    if not path.is_file():
        return state
    try:
        text_format.Parse(
            spelled_out(bytes(map_file(path)).decode()), state, allow_unknown_field=True
        )
    except (text_format.ParseError, ValueError, RecursionError) as error:
        raise CheckpointError(
            f"{path} cannot be read",
            check="the file must be a CheckpointState in protobuf text format",
            found=str(error),
            needed='model_checkpoint_path: "PREFIX"',
            remedy="name the checkpoint's prefix yourself, or delete the file",
            code="bad-checkpoint",
            inner=error,
        ) from error
    return state
