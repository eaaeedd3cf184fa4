"""Application default credentials of Google: who asks for tokens where the client itself cannot."""

from __future__ import annotations

import json
import os
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from drystone_filesystem import StoreFailure

__all__ = ["provider"]

_FILE: Final = Path(".config/gcloud/application_default_credentials.json")
_OWN: Final = ("service_account", "authorized_user")
"""Kinds that the client reads itself, as it does what a machine in Google's cloud is told."""
_SCOPE: Final = "https://www.googleapis.com/auth/devstorage.read_write"
_STATED: Final = (
    "GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_PATH", "GOOGLE_SERVICE_ACCOUNT_KEY",
    "GOOGLE_BEARER_TOKEN", "GOOGLE_SKIP_SIGNATURE",
)  # fmt: skip


def provider() -> Any:
    """google-auth for a file of another kind (``external_account``, ...); None for all others.

    Raises ``StoreFailure`` (``UNAUTHENTICATED``) for a file that is none, and where google-auth is
    needed and not installed.
    """
    named = os.environ.get("GOOGLE_APPLICATION_CREDENTIALS")
    if any(os.environ.get(variable) for variable in _STATED):
        return None
    path = Path(named) if named else Path.home() / _FILE
    if not named and not path.exists():
        return None
    kind = _kind(path)
    if kind in _OWN:
        return None
    try:
        auth, scopes = import_module("google.auth"), import_module("google.auth.credentials")
        asking = import_module("obstore.auth.google")
    except ImportError as error:
        raise StoreFailure(
            "UNAUTHENTICATED",
            f"{path} holds credentials of kind {kind!r}, for which google-auth asks: "
            "`pip install 'drystone-fs-gcs[external]'`",
        ) from error
    try:
        # With scopes it would ask for the name of a project.
        found, _ = auth.load_credentials_from_file(str(path))
        found = scopes.with_scopes_if_required(found, [_SCOPE])
    except Exception as error:  # google-auth's, and whatever a part of the file leads to
        raise _refused(path, f"google-auth refuses it: {type(error).__name__}") from error
    return asking.GoogleCredentialProvider(found)


def _kind(path: Path) -> str:
    """What the file says it is; its text never shows."""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["type"])
    except OSError as error:
        raise _refused(path, str(error)) from error
    except (ValueError, KeyError, TypeError) as error:
        raise _refused(path, "it is no JSON with a type") from error


def _refused(path: Path, why: str) -> StoreFailure:
    return StoreFailure(
        "UNAUTHENTICATED",
        f"no credentials can be read from {path}: {why}; `gcloud auth application-default login` "
        "writes them, GOOGLE_APPLICATION_CREDENTIALS names another file",
    )
