"""What the headers of web servers say of time."""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Final

from drystone_base.core.arguments import checked

__all__ = ["http_seconds", "retry_after"]

_LONGEST: Final = 86400.0
"""Seconds: more than anybody waits."""


@checked
def http_seconds(said: str | None) -> int:
    """A time of a header, since 1970; 0 for none, and for what is no time."""
    try:
        return int(parsedate_to_datetime(said).timestamp()) if said else 0
    except (ValueError, OverflowError):
        return 0


@checked
def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds that Retry-After asks for, as such or as a time (RFC 9110, 10.2.3); 0 for none.

    ``headers``: by lower-case name, or by names in any case.
    """
    said = (headers.get("retry-after") or "").strip()
    if said.isascii() and said.isdigit():
        return min(float(said), _LONGEST)
    until = http_seconds(said)
    now = http_seconds(headers.get("date")) or time.time()
    return min(max(until - now, 0.0), _LONGEST) if until else 0.0
