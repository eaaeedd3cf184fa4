"""The shared files of Amazon's tools: keys, place and endpoint of a profile."""

from __future__ import annotations

import configparser
import os
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from drystone_filesystem import StoreFailure

__all__ = ["profile", "provider"]

_FILES: Final = (
    ("AWS_CONFIG_FILE", "config", "profile "),
    ("AWS_SHARED_CREDENTIALS_FILE", "credentials", ""),
)
_KEYS: Final = {
    "aws_access_key_id": "access_key_id",
    "aws_secret_access_key": "secret_access_key",
    "aws_session_token": "token",
    "region": "region",
    "endpoint_url": "endpoint",
}
_ASKED_FOR: Final = (
    "sso_session", "sso_start_url", "login_session", "credential_process", "role_arn",
    "web_identity_token_file",
)  # fmt: skip
"""What a profile states whose keys another program is to be asked for."""
_IN_ENVIRONMENT: Final = ("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_SKIP_SIGNATURE")


def profile() -> dict[str, str]:
    """What the profile that ``AWS_PROFILE`` names (``default``) states, as options of the client.

    Keys in the environment go before those of files, as with Amazon's own tools; files that cannot
    be read state nothing.
    """
    stated = _stated()
    found = {ours: stated[key] for key, ours in _KEYS.items() if key in stated}
    if _in_environment():
        keys = ("access_key_id", "secret_access_key", "token")
        found = {key: value for key, value in found.items() if key not in keys}
    return found


def provider() -> Any:
    """Who asks for the keys of such a profile (of SSO, of a role, of a program); None for others.

    That is boto3, which is needed only here. Raises ``StoreFailure`` (``UNAUTHENTICATED``) where it
    is not installed, or finds no keys.
    """
    stated = _stated()
    key = next((key for key in _ASKED_FOR if key in stated), None)
    if key is None or _in_environment():
        return None
    what = f"the keys of profile {_name()!r} are to be asked for ({key})"
    try:
        session = import_module("boto3.session")
        asking = import_module("obstore.auth.boto3")
    except ImportError as error:
        remedy = "`pip install 'drystone-fs-s3[profiles]'`, or put keys into the environment"
        raise StoreFailure("UNAUTHENTICATED", f"{what} by boto3: {remedy}") from error
    try:
        return asking.Boto3CredentialProvider(session.Session(profile_name=_name()))
    except Exception as error:  # botocore's have no base of their own that is imported for nothing
        said = f"{type(error).__name__}: {error}"
        raise StoreFailure("UNAUTHENTICATED", f"{what}, which failed: {said}") from error


def _name() -> str:
    return os.environ.get("AWS_PROFILE") or "default"


def _in_environment() -> bool:
    return any(os.environ.get(variable) for variable in _IN_ENVIRONMENT)


def _stated() -> dict[str, str]:
    """All that the two files state of the profile, in their own words."""
    name, found = _name(), dict[str, str]()
    for variable, file, prefix in _FILES:
        path = Path(os.environ.get(variable) or Path.home() / ".aws" / file)
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, OSError, UnicodeDecodeError):
            continue
        for section in (f"{prefix}{name}", name):
            if parser.has_section(section):
                found |= dict(parser.items(section))
                break
    return found
