"""Amazon S3, and what speaks its protocol, as ``s3://`` paths."""

from __future__ import annotations

import os
from typing import Any

try:
    from drystone_filesystem import ObjectStore, client_options, retry_options
    from drystone_fs_s3.profiles import profile, provider
except ImportError as error:
    from drystone_fs_s3._missing import named

    raise named(error) from None

__all__ = ["__version__", "store"]

__version__ = "0.1.1"

_PLACES = {
    "region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
    "endpoint": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
}


def store() -> ObjectStore:
    """The store of all buckets; places and credentials are those of the environment."""
    return ObjectStore(_client, sums=True)


def _client(bucket: str) -> Any:
    from obstore.store import S3Store

    stated: dict[str, Any] = {"region": "us-east-1", **profile()}
    for option, variables in _PLACES.items():
        value = next(filter(None, map(os.environ.get, variables)), None)
        stated |= {} if value is None else {option: value}
    return S3Store(
        bucket,
        credential_provider=provider(),
        checksum_algorithm="SHA256",
        client_options=client_options(http=stated.get("endpoint", "").startswith("http://")),
        retry_config=retry_options(),
        **stated,
    )
