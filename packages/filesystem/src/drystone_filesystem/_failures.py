"""Exceptions of stores as statuses, without anybody's secrets in their texts."""

from __future__ import annotations

import errno
import json
import os
import re
from typing import Final

from drystone_base.core.errors import HostError
from drystone_base.core.redact import redacted

__all__ = ["StoreFailure", "explained", "status_of", "text_of"]

_BY_KIND: Final[tuple[tuple[type[BaseException], str], ...]] = (
    (FileNotFoundError, "NOT_FOUND"),
    (FileExistsError, "ALREADY_EXISTS"),
    (IsADirectoryError, "FAILED_PRECONDITION"),
    (NotADirectoryError, "FAILED_PRECONDITION"),
    (PermissionError, "PERMISSION_DENIED"),
    (TimeoutError, "DEADLINE_EXCEEDED"),
    (ConnectionError, "UNAVAILABLE"),
    (NotImplementedError, "UNIMPLEMENTED"),
    (EOFError, "DATA_LOSS"),
    (MemoryError, "RESOURCE_EXHAUSTED"),
    (ValueError, "INVALID_ARGUMENT"),
)
_BY_NUMBER: Final = {
    errno.ENOTEMPTY: "FAILED_PRECONDITION",
    errno.ENOSPC: "RESOURCE_EXHAUSTED",
    errno.ECONNRESET: "UNAVAILABLE",
}
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_FOLDER: Final = "No usable temporary directory"
_SECRET_NAME: Final = re.compile(
    r"SECRET|TOKEN|PASSWORD|CREDENTIAL|CONNECTION_STRING|SIGNATURE|"
    r"(?:PRIVATE|ACCESS|ACCOUNT|API|MASTER|STORAGE|SAS|ENCRYPTION)_?KEY"
)
_PLACE_NAME: Final = re.compile(r"(?:_FILE|_PATH|_LOCATION|_URI|_URL|APPLICATION_CREDENTIALS)$")
"""Variables that say where a secret is: errors must be able to name that."""
_SECRET_TEXT: Final = re.compile(
    r"((?:signature|x-amz-security-token|x-goog-signature|access_token|sig|delegation|password|"
    r"accountkey)=|x-amz-security-token:\s*|<token-\d+>)"
    r"[^&\s\"'<>]+|(//)(?:[^/@\s]+|[^/@\s:]*:[^@\s]+)@|"
    r"((?<![^\s'\"(]))[^/@\s:]+:[^/@\s]+@|"
    r"((?:bearer\s|basic\s|sharedkey(?:lite)?\s+[^\s:]+:)\s*)[A-Za-z0-9._~+/=-]{8,}",
    re.IGNORECASE,
)
_SHORTEST: Final = 6


class StoreFailure(OSError):
    """A failure of a store whose status is known; ``passes`` if asking again may help.

    ``after``: seconds that the store wants to be left alone before that. ``is_final``: it is told
    at once, also where others of its status may pass.
    """

    def __init__(
        self,
        status_name: str,
        text: str,
        *,
        passes: bool = False,
        after: float = 0.0,
        is_final: bool = False,
    ) -> None:
        super().__init__(text)
        self.status_name = status_name
        self.passes = passes
        self.is_final = is_final
        self.after = after


def explained(error: BaseException, path: str) -> BaseException:
    """The failure of a write; that of the disk here, where bytes wait to be sent, says so."""
    full = getattr(error, "errno", None) in _FULL or _NO_FOLDER in str(error)
    if not isinstance(error, OSError) or isinstance(error, StoreFailure) or not full:
        return error
    return StoreFailure(
        "RESOURCE_EXHAUSTED",
        f"{path} waits in {os.environ.get('TMPDIR') or 'the folder for temporary files'} until it "
        f"is sent, and there is no room: {error}; free some, or have TMPDIR name another folder",
    )


def status_of(error: BaseException) -> str:
    """The canonical name of what went wrong."""
    if isinstance(error, HostError):
        return error.status
    stated = getattr(error, "status_name", None)
    if isinstance(stated, str):
        return stated
    found = next((name for kind, name in _BY_KIND if isinstance(error, kind)), None)
    if found is None and isinstance(error, OSError):
        found = _BY_NUMBER.get(error.errno or 0)
    return found or "UNKNOWN"


def _inside(value: str) -> list[str]:
    """The secrets in a key that is JSON, as Google's are, or a connection string, and lines."""
    try:
        found = json.loads(value) if value.lstrip().startswith("{") else {}
    except ValueError:
        return []
    found |= dict(part.partition("=")[::2] for part in value.split(";") if ";" in value)
    private = [v for k, v in found.items() if _SECRET_NAME.search(k.upper()) and isinstance(v, str)]
    return [line for v in private for line in (v, *v.splitlines()) if len(line) >= _SHORTEST]


def _is_secret(name: str, value: str) -> bool:
    """Whether a variable holds a secret; a key that stands where its file should be is one."""
    if len(value) < _SHORTEST or not _SECRET_NAME.search(name):
        return False
    return not _PLACE_NAME.search(name) or value.lstrip()[:1] in ("{", "-")


def _secrets(name: str, value: str) -> list[str]:
    """What a variable holds that must not show; fsspec's hold passwords among other settings."""
    if _is_secret(name, value):
        return [value, *_inside(value)]
    return _inside(value) if name.startswith("FSSPEC_") else []


def text_of(error: BaseException) -> str:
    """The exception in words; values of secret variables, and signatures, are redacted."""
    text = f"{type(error).__name__}: {error}"
    for name, value in os.environ.items():
        for secret in _secrets(name.upper(), value):
            text = text.replace(secret, "***")
    text = _SECRET_TEXT.sub(
        lambda m: f"{m[1] or m[2] or m[4] or ''}***{'' if m[1] or m[4] else '@'}", text
    )
    return redacted(text)
