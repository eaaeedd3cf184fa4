"""What the bytes of a library's file tell: a digest, and what it was built for.

The host reads both in one go, where the processor has instructions for digests; OpenSSL's take 3 ms
to open. Platform strings that came with a digest are kept for the step that asks for them, and
given once, of a file that has not changed since.
"""

from __future__ import annotations

import os
from typing import Final

from drystone_base.errors import HostError

__all__ = ["identity", "platform_strings", "sha256"]

_KEPT: Final[dict[tuple[int, ...], list[str]]] = {}


def identity(path: str) -> tuple[int, ...]:
    """What tells one state of a file from another; () where it cannot be read."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def sha256(path: str) -> bytes:
    """The digest of a file; raises ``OSError``."""
    from drystone_base.host.library import inspect_file

    _KEPT.clear()
    before = identity(path)
    try:
        digest, strings = inspect_file(path)
    except HostError:  # no host library, or no such instructions; or OSError says it better
        return _sha256_of_openssl(path)
    if before:
        _KEPT[before] = strings
    return digest


def _sha256_of_openssl(path: str) -> bytes:
    import hashlib

    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def platform_strings(path: str) -> list[str]:
    """The platform strings of a file; raises ``OSError``."""
    kept = _KEPT.pop(identity(path), None)
    if kept is not None:
        return kept
    from drystone_abi.platform_strings import read_platform_strings

    return read_platform_strings(path)
