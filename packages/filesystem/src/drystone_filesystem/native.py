"""The library of this package: ``posix://``, the system's files, and ``ram://``, files in memory.

Both are written in C++ behind the C tables of the contract, all 33 functions of them, and are what
other filesystems are held against. It is opened when one of its schemes is first used.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from drystone_base.core.errors import HostError
from drystone_base.host.filesystem import filesystems
from drystone_base.host.library import open_library
from drystone_base.host.program import register_entry

__all__ = ["library", "serve_library"]

ENTRY: Final = "TF_InitPlugin"


def library() -> Path:
    """Where the library is: beside the modules of this package."""
    return Path(__file__).parent / "libdrystone_files.so"


def serve_library(scheme: str, path: Path) -> None:
    """Have a plugin library that a package brought register its filesystems.

    Unlike those of plugin folders it was named by code that runs in this process, so it is opened
    without being asked who signed it. Raises ``HostError``; that another of its schemes is taken is
    no failure to who wants ``scheme``.
    """
    opened = open_library(path)
    entry = opened.symbol(ENTRY)
    if entry is None:
        raise HostError(
            f"{scheme}:// cannot be served by {opened.path}",
            check="a plugin library of filesystems must export its entry symbol",
            found=f"no {ENTRY}",
            needed=f"a library built with {ENTRY} visible",
            remedy=f"`drystone plugins check {opened.path}` shows what it exports",
            status="FAILED_PRECONDITION",
        )
    try:
        register_entry(opened.path, entry)
    except HostError:
        if not any(one["scheme"] == scheme for one in filesystems()):
            raise
