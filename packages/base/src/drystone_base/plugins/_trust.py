"""The trust store: a folder of public keys whose signatures count.

``NAME.pub`` is a trusted key, ``NAME.revoked`` one whose signatures are refused under every policy.
A key's comment may end its time: ``expires:2027-01-31``.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from drystone_base.core.plugin_settings import trust_store
from drystone_base.plugins._minisign import PublicKey, parse_public_key, read_text

__all__ = ["TrustedKey", "add_key", "expired", "find_key", "revoke_key", "trusted_keys"]

_EXPIRES: Final = re.compile(r"\bexpires:(\S+)")


@dataclass(frozen=True)
class TrustedKey:
    """A file of the trust store: its key, or why it cannot be read."""

    file: Path
    key: PublicKey | None
    revoked: bool = False
    problem: str = ""

    @property
    def expires(self) -> str:
        """When its time ends, as its comment says."""
        match = _EXPIRES.search(self.key.comment if self.key else "")
        return match[1] if match else ""

    def as_json(self) -> dict[str, Any]:
        """The key as JSON-ready values."""
        name, comment = (self.key.name, self.key.comment) if self.key else ("", "")
        return {
            "file": str(self.file),
            "key": name,
            "comment": comment,
            "revoked": self.revoked,
            "expires": self.expires,
            "problem": self.problem,
        }


def trusted_keys() -> list[TrustedKey]:
    """The trust store's keys by file name, with those that cannot be read."""
    found = []
    try:
        files = sorted(trust_store().iterdir())
    except OSError:
        return []
    for file in files:
        if file.suffix not in (".pub", ".revoked"):
            continue
        revoked = file.suffix == ".revoked"
        try:
            found.append(TrustedKey(file, parse_public_key(read_text(file)), revoked))
        except (OSError, ValueError) as error:
            found.append(TrustedKey(file, None, revoked, str(error)))
    return found


def find_key(number: bytes) -> TrustedKey | None:
    """The key of that number; a revocation wins over everything else."""
    keys = [item for item in trusted_keys() if item.key and item.key.number == number]
    return next((item for item in keys if item.revoked), keys[0] if keys else None)


def expired(text: str) -> bool:
    """Whether a moment (seconds since 1970, or an ISO date) has passed; an unreadable one has."""
    if not text:
        return False
    now = datetime.datetime.now(datetime.UTC)
    try:
        if text.isdigit():
            moment = datetime.datetime.fromtimestamp(int(text), datetime.UTC)
        else:
            moment = datetime.datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        return True
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return moment <= now


def add_key(key: PublicKey, name: str = "") -> Path:
    """Trust a key; the file that was written."""
    folder = trust_store()
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name or key.name}.pub"
    file.write_text(key.text(), encoding="utf-8", errors="surrogateescape")
    return file


def revoke_key(name: str) -> list[Path]:
    """Refuse what the key of that number has signed; the files that now say so."""
    return [
        item.file.rename(item.file.with_suffix(".revoked"))
        for item in trusted_keys()
        if item.key is not None and item.key.name == name.upper() and not item.revoked
    ]
