"""What is wrong with a checkpoint's files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drystone_base.core.errors import CheckpointError

if TYPE_CHECKING:
    from drystone_abi.protos import VersionDef

__all__ = ["check_versions", "corrupt", "unsupported"]


def corrupt(where: str, check: str, found: object, needed: object = "") -> CheckpointError:
    """The error for an index file that is not a well-formed table."""
    return CheckpointError(
        f"{where} cannot be read",
        check=check,
        found=found,
        needed=needed or "a complete TensorFlow V2 checkpoint",
        remedy="copy the checkpoint again, or save it again",
        code="bad-checkpoint",
    )


def unsupported(where: str, check: str, found: object) -> CheckpointError:
    """The error for a checkpoint of a form that is not read."""
    return CheckpointError(
        f"{where} cannot be read",
        check=check,
        found=found,
        needed="a form that this release reads",
        remedy="save the checkpoint again with TensorFlow on a common machine",
        code="checkpoint-unsupported",
        status="UNIMPLEMENTED",
    )


def check_versions(where: str, stated: VersionDef, consumer: int) -> None:
    """Raise ``CheckpointError`` for a checkpoint that consumers of that version may not read."""
    from drystone_base.graph.versions import refused_consumer  # models that are kept need no graph

    refused = refused_consumer(stated, consumer)
    if refused:
        raise unsupported(where, f"its versions must allow consumer {consumer}", refused)
