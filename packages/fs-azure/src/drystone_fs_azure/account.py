"""Whose storage it is: accounts in paths, variables of Azure's tools, and connection strings.

The client reads most variables itself; here are those that it does not know.
"""

from __future__ import annotations

import os
import re
from typing import Any, Final
from urllib.parse import urlsplit

from drystone_filesystem import StoreFailure

__all__ = ["account", "over_http"]

_STRING: Final = "AZURE_STORAGE_CONNECTION_STRING"
_NAMES: Final = ("AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT")
_KEYS: Final = (
    "AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ACCESS_KEY", "AZURE_STORAGE_MASTER_KEY",
    "AZURE_STORAGE_KEY",
)  # fmt: skip
_SIGNATURES: Final = ("AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_SAS_KEY")
_ENDPOINTS: Final = ("AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT")
_HOST: Final = re.compile(
    r"(?P<account>[a-z0-9]{3,24})\.(?:dfs|blob)\."
    r"(?P<cloud>core\.windows\.net|core\.chinacloudapi\.cn|core\.usgovcloudapi\.net)"
)
"""Hosts of Azure's own: tokens are shown to no others that a path may name."""


def account(host: str) -> dict[str, Any]:
    """Options of the client for the account of a path's ``host``, or without one, of variables.

    Raises ``StoreFailure``: ``INVALID_ARGUMENT`` for a host that is not Azure's and where no
    account is stated, ``UNAUTHENTICATED`` for a connection string that is none and for keys of
    another account.
    """
    stated = _stated()
    if host:
        stated |= _of_host(host, stated)
    if not stated.get("account_name") and not stated.get("use_emulator"):
        raise StoreFailure(
            "INVALID_ARGUMENT",
            f"no storage account is stated: set {_NAMES[0]} or {_STRING}, or write "
            "abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH",
        )
    return stated


def over_http(stated: dict[str, Any]) -> bool:
    """Whether it was stated that requests go over plain HTTP: to an emulator."""
    return str(stated.get("endpoint", "")).startswith("http://")


def _first(variables: tuple[str, ...]) -> str | None:
    return next(filter(None, map(os.environ.get, variables)), None)


def _stated() -> dict[str, Any]:
    """By variables; a connection string stands for all others, as with Azure's own tools."""
    if text := os.environ.get(_STRING):
        return _of_string(text)
    options = {
        "account_name": _first(_NAMES),
        "account_key": _first(_KEYS),
        "sas_key": _first(_SIGNATURES),
        "endpoint": _first(_ENDPOINTS),
        "msi_endpoint": os.environ.get("IDENTITY_ENDPOINT"),
    }
    return {option: value for option, value in options.items() if value}


def _of_string(text: str) -> dict[str, Any]:
    """What a connection string states; its text never shows."""
    parts = [part.partition("=") for part in text.split(";") if part.strip()]
    said = {name.strip().lower(): value.strip() for name, _, value in parts}
    if said.get("usedevelopmentstorage", "").lower() == "true":
        return {"use_emulator": True}
    endpoint = said.get("blobendpoint", "").rstrip("/")
    name = said.get("accountname") or _account_at(endpoint)
    if not name or not all(equals for _, equals, _ in parts):
        raise StoreFailure(
            "UNAUTHENTICATED",
            f"{_STRING} is no connection string: NAME=VALUE;... with AccountName or BlobEndpoint "
            "is needed, as `az storage account show-connection-string` prints it",
        )
    if not endpoint and said.get("endpointsuffix"):
        protocol = said.get("defaultendpointsprotocol") or "https"
        endpoint = f"{protocol}://{name}.blob.{said['endpointsuffix']}"
    options = {
        "account_name": name,
        "account_key": said.get("accountkey"),
        "sas_key": said.get("sharedaccesssignature"),
        "endpoint": endpoint,
    }
    return {option: value for option, value in options.items() if value}


def _account_at(endpoint: str) -> str:
    """The account of an address: its path with emulators, else the first part of the host."""
    place = urlsplit(endpoint)
    return place.path.strip("/") or (place.hostname or "").partition(".")[0]


def _of_host(host: str, stated: dict[str, Any]) -> dict[str, Any]:
    """The account that a path names; keys and signatures are those of one account."""
    found = _HOST.fullmatch(host)
    if found is None:
        raise StoreFailure(
            "INVALID_ARGUMENT",
            f"{host!r} is no storage account: ACCOUNT.dfs.core.windows.net or ACCOUNT.blob.core"
            ".windows.net (or those of Azure's other clouds) is needed behind the @",
        )
    name, known = found["account"], stated.get("account_name", found["account"])
    if name != known and ("account_key" in stated or "sas_key" in stated):
        raise StoreFailure(
            "UNAUTHENTICATED",
            f"the path is of storage account {name!r}, and the key or signature that is stated is "
            f"of {known!r}: state that of {name!r}, or write the path without an account",
        )
    if name == known and "endpoint" in stated:
        return {}
    return {"account_name": name, "endpoint": f"https://{name}.blob.{found['cloud']}"}
