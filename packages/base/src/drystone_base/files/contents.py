"""What the bytes of a library's file tell: a digest, and what it was built for.

The host reads both in one go, where the processor has instructions for digests; OpenSSL's take 3 ms
to open. Platform strings that came with a digest are kept for the step that asks for them, and
given once, of a file that has not changed since.
"""

from __future__ import annotations

import os
from typing import Final

from drystone_base.core.errors import HostError

__all__ = ["fingerprint", "identity", "platform_strings", "read_message", "sha256"]

_PIECE: Final = 1 << 20
_KEPT: Final[dict[tuple[int, ...], list[str]]] = {}


def identity(path: str) -> tuple[int, ...]:
    """What tells one state of a file from another; () where it cannot be read.

    Who writes to a file can set the time of its change back, but not the time of that.
    """
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def fingerprint(path: str) -> str:
    """SHA-256 of a file in hexadecimal digits; "" where it cannot be read."""
    try:
        return sha256(path).hex()
    except OSError:
        return ""


def read_message(path: str | os.PathLike[str], hashed: bool) -> tuple[bytes, str]:
    """What a signature of a file signs, and the SHA-256 of those very bytes; raises ``OSError``.

    The message is the file's BLAKE2b-512 where it is ``hashed``, else the file. It is read once:
    one who writes to it meanwhile cannot show one file to the signature and another to the digest.
    """
    import hashlib

    whole, short, content = hashlib.sha256(), hashlib.blake2b(digest_size=64), []
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            whole.update(piece)
            short.update(piece)
            if not hashed:
                content.append(piece)
    return short.digest() if hashed else b"".join(content), whole.hexdigest()


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
