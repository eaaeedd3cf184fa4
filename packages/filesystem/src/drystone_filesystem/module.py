"""What this package adds to ``drystone_base.modules``: filesystems for schemes, and fast transfers.

It is imported by every process that has this package installed, so it imports next to nothing: the
rest is imported when a path with a scheme is used.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final

from drystone_base.modules import Module

__all__ = ["MODULE"]


def _serve(scheme: str) -> bool:
    from drystone_filesystem.registry import serve

    return serve(scheme)


def _transfers(watcher: Callable[[str, int, int], None]) -> AbstractContextManager[None]:
    from drystone_filesystem.transfer import progress

    return progress(watcher)


MODULE: Final = Module(
    "paths",
    (),
    lambda _library, _symbol: None,
    stages={"scheme": _serve, "transfers": _transfers},
    variables="drystone_filesystem.environment:VARIABLES",
)
