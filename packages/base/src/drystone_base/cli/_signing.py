"""Keys and signatures on the command line: files in, facts out."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from drystone_base.core.errors import BadRequest, PluginError
from drystone_base.core.plugin_settings import Settings, trust_store
from drystone_base.files.contents import read_message
from drystone_base.files.writing import writing
from drystone_base.plugins import Plugin, _minisign
from drystone_base.plugins._manifest import manifest_for, take_manifest
from drystone_base.plugins._signature import (
    check_signed,
    covering,
    manifest_problem,
    signature_file,
)
from drystone_base.plugins._trust import add_key, expired, revoke_key, trusted_keys

__all__ = ["asks_password", "keygen", "sign", "trust", "verify"]


def asks_password(key: Path) -> bool:
    """Whether a secret key is encrypted."""
    return bool(_parsed(key, _minisign.encrypted))


def sign(
    file: Path, key: Path, password: str, *, comment: str, expires: str, legacy: bool
) -> dict[str, Any]:
    """Write the signature beside a library; the facts of it."""
    _need_pynacl()
    secret = _parsed(key, lambda text: _minisign.parse_secret_key(text, password))
    parts = [f"timestamp:{int(time.time())}", f"file:{file.name}"]
    beside = manifest_for(str(file))
    parts += [covering(beside.data)] if beside and beside.manifest else []
    parts += [f"expires:{_future(expires)}"] if expires else []
    parts += [comment.replace("\n", " ")] if comment else []
    made = _minisign.sign(secret, file, "\t".join(parts), hashed=not legacy)
    target = signature_file(str(file))
    with writing(target):
        target.write_text(
            made.text(f"signature from drystone key {made.key_name}"), encoding="utf-8"
        )
    return {"file": str(target), "key": made.key_name, "comment": made.comment}


def verify(file: Path, public_key: Path | None) -> dict[str, Any]:
    """Check a signature; raises ``PluginError`` where it does not hold."""
    plugin = Plugin(file.name, os.path.realpath(file), "verify")
    beside = take_manifest(plugin)
    if beside.error is not None:
        raise beside.error
    if public_key is None:
        result = check_signed(plugin, Settings(policy="strict"))
        if result.error is not None:
            raise result.error
        facts = result.facts
        return {"file": plugin.path, "key": facts["key"], "comment": facts["comment"]}
    _need_pynacl()
    key = _parsed(public_key, _minisign.parse_public_key)
    signature = _parsed(signature_file(plugin.path), _minisign.parse_signature)
    message, _ = read_message(plugin.path, signature.hashed)
    problem = signature.verify(key, message) or manifest_problem(plugin, signature)
    if problem:
        raise plugin.refuse(
            "has a signature that does not fit it",
            check=f"{signature_file(plugin.path).name} must be by the key in {public_key.name}",
            found=problem,
            needed="the signature as its maker published it",
            remedy="do not use the file",
            code="plugin-bad-signature",
        )
    return {"file": plugin.path, "key": signature.key_name, "comment": signature.comment}


def keygen(name: str, folder: Path, password: str, expires: str) -> dict[str, Any]:
    """Make a pair of keys; neither file may exist."""
    _need_pynacl()
    secret, public = folder / f"{name}.key", folder / f"{name}.pub"
    for file in (secret, public):
        if file.exists():
            raise BadRequest(
                f"{file} is there already",
                check="a key must not overwrite another",
                found=str(file),
                needed="a new name",
                remedy="choose another --name, or move the file away",
                code="path-taken",
            )
    key = _minisign.generate()
    comment = f"{name} expires:{_future(expires)}" if expires else name
    with writing(secret):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(key.text(password))
        public.write_text(key.public(comment).text(), encoding="utf-8")
    return {"secret": str(secret), "public": str(public), "key": key.public().name}


def trust(key: Path | None, name: str, revoke: str | None) -> dict[str, Any]:
    """Add or revoke a key; then the whole trust store."""
    if key is not None:
        added = _parsed(key, _minisign.parse_public_key)
        with writing(trust_store()):
            add_key(added, name or key.stem)
    if revoke is not None and not revoke_key(revoke):
        known = [item.key.name for item in trusted_keys() if item.key]
        raise BadRequest(
            f"no trusted key has the number {revoke}",
            check="a key that is revoked must be in the trust store",
            found=", ".join(known) or "an empty trust store",
            needed="one of these numbers",
            remedy="drystone plugins trust",
            code="unknown-key",
            status="NOT_FOUND",
        )
    return {"store": str(trust_store()), "keys": [item.as_json() for item in trusted_keys()]}


def _parsed(file: Path, parse: Any) -> Any:
    try:
        return parse(_minisign.read_text(file))
    except (OSError, ValueError) as error:
        raise _minisign.BadKeyFile(
            f"{file} cannot be used",
            check="a file of minisign's format is expected",
            found=str(error),
            needed="a key or signature as minisign or drystone plugins writes it",
            remedy="give the file and password that belong together; new keys: drystone plugins "
            "keygen",
        ) from error


def _future(moment: str) -> str:
    """A date that is still to come."""
    if expired(moment):
        raise BadRequest(
            f"{moment!r} is no date to come",
            check="--expires is a date in the future",
            found=moment,
            needed="a date such as 2030-12-31",
            remedy="give a later date, or leave --expires out",
            code="bad-request",
        )
    return moment


def _need_pynacl() -> None:
    if not _minisign.available():
        raise PluginError(
            "signatures need the package pynacl",
            check="Ed25519 comes from it",
            found="it is not installed",
            needed="pynacl",
            remedy="pip install pynacl",
            code="plugin-signature-unchecked",
        )
