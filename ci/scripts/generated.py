"""What scripts share that write one file from code or data, or only say that it is outdated."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["settle"]


def settle(
    what: str, script: str, *, outdated: bool, check: bool, write: Callable[[], object]
) -> int:
    """Write an outdated file, or with ``check`` say which script does; the exit status.

    ``what`` is the file's name in messages, ``script`` that of the module of ci.scripts.
    """
    if not outdated:
        print(f"{what}: up to date")
    elif check:
        print(f"{what}: outdated; run python -m ci.scripts.{script}")
        return 1
    else:
        write()
        print(f"{what}: written")
    return 0
