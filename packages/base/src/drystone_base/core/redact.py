"""Addresses without what they let others in by: errors and logs name them."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["redacted"]

_LETS_IN: Final = (
    r"(https?://)[^/@\s]+@|(://)[^/@\s:]*:[^/@\s]+@|"
    r"([?&](?:[\w.-]*(?:signature|token|secret|password|delegation|api_?key|access_?key)|sig|key)=)"
    r"[^&\s\"'<>]+"
)
"""A name and a password before a host, and parameters that are signatures, tokens or keys."""


def redacted(text: str) -> str:
    """The text with ``***`` in place of passwords and signatures in its addresses."""
    if "://" not in text and "?" not in text:
        return text
    return re.sub(
        _LETS_IN,
        lambda m: f"{m[1] or m[2] or m[3]}***{'' if m[3] else '@'}",
        text,
        flags=re.IGNORECASE,
    )
