"""The shared files of Amazon's tools: keys, place and endpoint of a profile."""

from __future__ import annotations

import configparser
import os
from pathlib import Path
from typing import Final

__all__ = ["profile"]

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
_IN_ENVIRONMENT: Final = ("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_SKIP_SIGNATURE")


def profile() -> dict[str, str]:
    """What the profile that ``AWS_PROFILE`` names (``default``) states, as options of the client.

    Keys in the environment go before those of files, as with Amazon's own tools; files that cannot
    be read state nothing.
    """
    name, found = os.environ.get("AWS_PROFILE") or "default", dict[str, str]()
    for variable, file, prefix in _FILES:
        path = Path(os.environ.get(variable) or Path.home() / ".aws" / file)
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, OSError, UnicodeDecodeError):
            continue
        for section in (f"{prefix}{name}", name):
            if parser.has_section(section):
                stated = dict(parser.items(section))
                found |= {ours: stated[key] for key, ours in _KEYS.items() if key in stated}
                break
    if any(os.environ.get(variable) for variable in _IN_ENVIRONMENT):
        keys = ("access_key_id", "secret_access_key", "token")
        found = {key: value for key, value in found.items() if key not in keys}
    return found
