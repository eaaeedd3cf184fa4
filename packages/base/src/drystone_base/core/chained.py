"""Chained URLs, such as ``simplecache::http://host/file``: fsspec takes them, we do not."""

from __future__ import annotations

import re
from typing import Final

from drystone_base.core.errors import HostError
from drystone_base.core.redact import redacted

__all__ = ["refuse_chained"]

_CHAINED: Final = r"[A-Za-z][A-Za-z0-9+.-]*(::[A-Za-z][A-Za-z0-9+.-]*)+://"


def refuse_chained(text: str) -> None:
    """Raise ``HostError`` (``no-filesystem``) for fsspec's URLs of several filesystems in a row.

    A policy is of paths with one scheme; so taken, such a text would be the name of a local file.
    """
    chained = re.match(_CHAINED, text) if "::" in text else None
    if chained is None:
        return
    first, _, rest = redacted(text).partition("::")
    raise HostError(
        f"{redacted(text)} cannot be opened",
        check="a path has one scheme, whose filesystem is known",
        found=f"a chained URL, as fsspec has them: {chained[0]}",
        needed=f"{rest}, or a scheme that stands for the chain",
        remedy=f"name {rest}; or have a scheme of your own: drystone_filesystem.register("
        f"'cached', fsspec.filesystem({first!r}, target_protocol=...))",
        code="no-filesystem",
        status="UNIMPLEMENTED",
    )
