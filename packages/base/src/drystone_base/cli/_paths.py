"""Paths on the command line, with or without a scheme."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click import Context, Parameter

__all__ = ["AnyPath"]


class AnyPath(click.Path):
    """A local path, or ``scheme://host/path``."""

    def __init__(self, **options: Any) -> None:
        super().__init__(path_type=str, **options)

    def convert(self, value: Any, param: Parameter | None, ctx: Context | None) -> Any:
        """The path as the loaders take it."""
        from drystone_base.uris import as_path

        if "://" in str(value):
            return as_path(value)
        return Path(os.fsdecode(super().convert(value, param, ctx)))
