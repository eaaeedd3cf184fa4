"""Paths on the command line, with or without a scheme."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click import Context, Parameter

__all__ = ["AnyPath", "check_local", "check_output"]


def check_output(path: Path, hint: str, *read: Path | None) -> None:
    """Raise ``click.BadParameter`` for a file that cannot be there, or replaces one of ``read``.

    Said before the work is done. Of folders that are read, no file is replaced. ``hint`` names the
    parameter. Behind a scheme the folder is made: not every store knows whether there is one.
    """
    try:
        _check_output(path, hint, *read)
    except PermissionError as error:
        raise click.BadParameter(f"{error.filename!r} may not be read", param_hint=hint) from error


def _check_output(path: Path, hint: str, *read: Path | None) -> None:
    from drystone_base.files.uris import uri_of

    if uri_of(path) is not None:
        _make_folder(path.parent, hint)
    elif not path.parent.is_dir():
        raise click.BadParameter(f"there is no folder {str(path.parent)!r}", param_hint=hint)
    if not path.exists():
        return
    whole = path.resolve()
    for other in filter(None, read):
        if other.resolve() in (whole, *whole.parents):
            raise click.BadParameter(
                f"{str(path)!r} would replace what is read; give another name", param_hint=hint
            )


def _make_folder(folder: Path, hint: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.BadParameter(
            f"there is no folder {str(folder)!r}, and none can be made: {error}", param_hint=hint
        ) from error


def check_local(path: Path, hint: str, why: str) -> None:
    """Raise ``click.BadParameter`` for a path with a scheme, where ``why`` asks for a local one."""
    from drystone_base.files.uris import uri_of

    if uri_of(path) is not None:
        raise click.BadParameter(
            f"{str(path)!r} is not a local path, and {why}; give a local one", param_hint=hint
        )


class AnyPath(click.Path):
    """A local path, or ``scheme://host/path``."""

    def __init__(self, **options: Any) -> None:
        # What reads a file says that it may not be read, with the exit code of its kind.
        super().__init__(path_type=str, **{"readable": False, **options})

    def convert(self, value: Any, param: Parameter | None, ctx: Context | None) -> Any:
        """The path as the loaders take it."""
        from drystone_base.files.uris import as_path

        if "://" in str(value):
            return as_path(value)
        return Path(os.fsdecode(super().convert(value, param, ctx)))
