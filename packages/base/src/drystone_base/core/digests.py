"""SHA-256 of little, by the interpreter itself: OpenSSL, for ``hashlib``, takes 3 ms to open."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, Final

__all__ = ["sha256_of_text"]

_HOMES: Final = ("_sha2", "_sha256", "hashlib")
"""Where Python 3.12 has it, and 3.11; and where it is if those were left out of a build."""


@cache
def _sha256() -> Any:
    for name in _HOMES[:-1]:
        try:
            return import_module(name).sha256
        except ImportError:
            continue
    return import_module(_HOMES[-1]).sha256


def sha256_of_text(text: str) -> str:
    """The digest of a text, in hexadecimal digits; what is no Unicode counts as it was read."""
    digest: str = _sha256()(text.encode("utf-8", "surrogateescape")).hexdigest()
    return digest
